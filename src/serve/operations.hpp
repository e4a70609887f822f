#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../model/http_reply.hpp"
#include "../model/operation.hpp"

namespace mock_gateway::detail {

struct Route {
  enum class Kind { chat, models, model, embeddings, mounted, wrong_method, unknown };
  Kind kind = Kind::unknown;
  Operation operation;
  std::string model;                                // for Kind::model: the id, still percent-encoded
  std::shared_ptr<const OperationHandler> handler;  // for Kind::mounted
  bool open = false;                                // for Kind::mounted: it needs no key
  std::string allow;                                // for Kind::wrong_method: the methods of the path
};

/// The operations of one gateway: the documented ones, and those mounted by the test and script documents. If several
/// have the same method and path, the newest document's answers, or the test's if it was mounted later. Thread-safe.
class Operations {
 public:
  /// The name of an operation begins with "/v1". Its address begins with one of `base_paths`; "" stands for "/".
  Operations(bool model_by_id, bool embeddings, std::vector<std::string> base_paths = {"/v1"})
      : model_by_id_(model_by_id), embeddings_(embeddings), base_paths_(std::move(base_paths)) {}

  struct Handled {
    Operation operation;
    OperationHandler handler;
    NeedsKey needs_key = NeedsKey::yes;
  };
  struct Owned {
    Operation operation;
    std::uint64_t owner;
  };

  /// Mounts an operation of the test, or replaces its handler. Throws GatewayError for one that cannot be mounted.
  void mount(Handled handled);
  /// Replaces the operations of a document; existing ones keep their place. `owner` is the document's number, larger
  /// for newer documents. Throws like mount(), and then changes nothing.
  void replace(std::vector<Handled> all, std::uint64_t owner);
  /// Removes operations from the documents that own them. Ignores unknown ones.
  void unmount(const std::vector<Owned>& those);
  /// Returns the mounted operations without duplicates.
  std::vector<Operation> mounted() const;
  /// Returns the names of the mounted operations that need no key.
  std::set<std::string> open() const;
  std::uint64_t changes() const { return changes_; }
  /// Finds the operation for a method and a path. `path` is as sent, without the query.
  Route find(const std::string& method, std::string_view path) const;
  /// Finds an operation by its name, for any base paths.
  Route find(const Operation& named) const { return route(named.method, named.path, named.path); }
  /// Returns the name of a path as sent: "/v1/models" for "/api/paas/v4/models". Empty if it is below no base path.
  std::string name_at(std::string_view path) const;
  bool is_chat(std::string_view path) const;
  /// Returns the path that a client probably meant and why: "/v1/chat/completions is near: the base address ends with
  /// /v1 already". Empty if none is similar.
  std::string near_path(const std::string& path) const;
  /// Returns the served operations, with the first mounted ones: "GET /v1/models, POST /v1/chat/completions".
  std::string served() const;

 private:
  struct Answering {
    explicit Answering(Handled& handled);

    std::shared_ptr<const OperationHandler> handler;
    bool open;
  };
  struct Mounted {
    Operation operation;
    std::uint64_t owner;   // the number of the document; 0: the test
    std::uint64_t newest;  // the newest document at the time of mounting; for a document's operation, that document
    Answering answering;
  };

  void require_mountable(const Operation& operation, const OperationHandler& handler) const;
  bool serves(const std::string& path) const { return find({}, path).kind != Route::Kind::unknown; }
  /// Finds an operation by its address and its name; see name_at().
  Route route(const std::string& method, std::string_view path, std::string_view name) const;

  const bool model_by_id_;
  const bool embeddings_;  // whether the gateway serves them if nothing is mounted
  const std::vector<std::string> base_paths_;
  mutable std::mutex mutex_;
  std::vector<Mounted> mounted_;  // the first match answers
  std::uint64_t newest_ = 0;      // the newest document that mounted an operation
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace mock_gateway::detail
