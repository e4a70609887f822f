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

namespace mock_gateway::detail {

/// What a method and a path lead to.
struct Route {
  enum class Kind { chat, models, model, embeddings, mounted, wrong_method, unknown };
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
  Operations(bool model_by_id, bool embeddings) : model_by_id_(model_by_id), embeddings_(embeddings) {}

  struct Handled {
    Operation operation;
    OperationHandler handler;
  };
  struct Owned {
    Operation operation;
    std::uint64_t owner;
  };

  /// Mounts one of the test's. Takes the place of an equal one that the test has mounted. Throws GatewayError for what
  /// cannot be mounted.
  void mount(const std::string& method, const std::string& path, OperationHandler handler);
  /// Gives a document these and no others, each once; one that it had stays where it was. `owner` is the document's
  /// number, which is greater for a newer one. Throws as mount does, with nothing changed.
  void replace(std::vector<Handled> all, std::uint64_t owner);
  /// Takes operations away from the documents that own them. Nothing happens with what a document does not have.
  void unmount(const std::vector<Owned>& those);
  /// Those that were mounted, each once.
  std::vector<Operation> mounted() const;
  /// How often an operation was mounted or taken away.
  std::uint64_t changes() const { return changes_; }
  /// `path` as sent, without the query.
  Route find(const std::string& method, std::string_view path) const;
  /// What a client that asked for an unknown path may have meant, and why: "/v1/chat/completions is near: the base
  /// address ends with /v1 already". Empty when nothing is near.
  std::string near_path(const std::string& path) const;
  /// "GET /v1/models, POST /v1/chat/completions": what is served, the first mounted ones among it.
  std::string served() const;

 private:
  struct Mounted {
    Operation operation;
    std::uint64_t owner;   // the document that the operation came from; 0: the test
    std::uint64_t newest;  // the newest document when the operation was mounted; of a document's own: that document
    std::shared_ptr<const OperationHandler> handler;
  };

  void require_mountable(const Operation& operation, const OperationHandler& handler) const;
  bool serves(const std::string& path) const { return find({}, path).kind != Route::Kind::unknown; }

  const bool model_by_id_;
  const bool embeddings_;  // whether the gateway serves them itself where nothing is mounted
  mutable std::mutex mutex_;
  std::vector<Mounted> mounted_;  // of two that match, the first one answers
  std::uint64_t newest_ = 0;      // the newest document that has mounted one
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace mock_gateway::detail
