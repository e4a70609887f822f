#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../model/http_reply.hpp"
#include "../model/operation.hpp"

namespace mock_gateway {
namespace detail {

/// What a method and a path lead to.
struct Route {
  enum class Kind { chat, models, model, mounted, wrong_method, unknown };
  Kind kind = Kind::unknown;
  Operation operation;
  std::string model;                                // of Kind::model: the id, still percent-encoded
  std::shared_ptr<const OperationHandler> handler;  // of Kind::mounted
  std::string allow;                                // of Kind::wrong_method: the methods the path has
};

/// The operations of one gateway: the documented ones and those that the test mounted. Thread-safe.
class Operations {
 public:
  explicit Operations(bool model_by_id) : model_by_id_(model_by_id) {}

  /// Throws GatewayError for what cannot be mounted.
  void mount(const std::string& method, const std::string& path, OperationHandler handler);
  /// Nothing happens when no such operation is mounted.
  void unmount(const Operation& operation);
  /// `path` as sent, without the query.
  Route find(const std::string& method, const std::string& path) const;

 private:
  struct Mounted {
    Operation operation;
    std::shared_ptr<const OperationHandler> handler;
  };

  bool model_by_id_;
  mutable std::mutex mutex_;
  std::vector<Mounted> mounted_;
};

}  // namespace detail
}  // namespace mock_gateway
