#pragma once

#include <atomic>
#include <cstdint>
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

/// The operations of one gateway: documented ones, and those that the test and script documents mounted. Where several
/// are equal, the newest document's answers, or the test's if that was mounted later. Thread-safe.
class Operations {
 public:
  explicit Operations(bool model_by_id) : model_by_id_(model_by_id) {}

  /// Mounts an operation, in place of an equal one of the same owner. The owner is the number of a document, greater
  /// for newer documents; 0: the test. Throws GatewayError for what cannot be mounted.
  void mount(const std::string& method, const std::string& path, OperationHandler handler, std::uint64_t owner = 0);
  /// Takes an owner's operation away. Nothing happens when the owner has none like it.
  void unmount(const Operation& operation, std::uint64_t owner);
  /// The mounted operations, each once.
  std::vector<Operation> mounted() const;
  /// How often an operation was mounted or taken away.
  std::uint64_t changes() const { return changes_; }
  /// `path` as sent, without the query.
  Route find(const std::string& method, const std::string& path) const;
  /// What a client that asked for an unknown path may have meant, and why: "/v1/chat/completions is near: the base
  /// address ends with /v1 already". Empty when nothing is near.
  std::string near_path(const std::string& path) const;

 private:
  struct Mounted {
    Operation operation;
    std::uint64_t owner;
    std::uint64_t newest;  // the newest document when the operation was mounted; for a document's own: that document
    std::shared_ptr<const OperationHandler> handler;
  };

  bool serves(const std::string& path) const { return find({}, path).kind != Route::Kind::unknown; }

  bool model_by_id_;
  mutable std::mutex mutex_;
  std::vector<Mounted> mounted_;  // of two that match, the first one answers
  std::uint64_t newest_ = 0;      // the newest document that has mounted one
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace detail
}  // namespace mock_gateway
