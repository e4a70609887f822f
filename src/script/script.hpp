#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "../core/source_location.hpp"
#include "../model/chat_request.hpp"
#include "../model/reply.hpp"
#include "matcher.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

/// A reply made from the request. It runs on the connection's thread; what it throws becomes a 500 on the wire and a
/// line in the exchange's decision.
using ReplyFunction = std::function<Reply(const ChatRequest&)>;

namespace detail {

/// One element of a stub's sequence.
using ReplyStep = std::variant<std::shared_ptr<const Reply>, ReplyFunction>;

/// Everything that a stub is told before it goes live.
struct StubPlan {
  std::vector<Matcher> matchers;  // all must match
  std::vector<ReplyStep> replies;
  std::optional<std::size_t> at_most;
  std::string name;
  SourceLocation where;
};

/// A mounted stub. The plan never changes; the position in its sequence does.
class StubState {
 public:
  StubState(std::uint64_t id, StubPlan plan) : id_(id), plan_(std::move(plan)) {}

  std::uint64_t id() const { return id_; }
  const StubPlan& plan() const { return plan_; }
  /// Its name, else what it matches; for reports.
  std::string describe() const;
  /// Takes the next reply of the sequence, the last again and again; nothing when `at_most` is reached.
  std::optional<ReplyStep> take();
  /// How often it was taken, requests included that are not yet in the journal.
  std::size_t calls() const;
  /// A request that it answers is in the journal now.
  void count_recorded() { ++recorded_; }
  std::size_t recorded() const { return recorded_; }
  /// It has answered as many requests as `at_most` allows.
  bool exhausted() const;

 private:
  std::uint64_t id_;
  StubPlan plan_;
  mutable std::mutex mutex_;
  std::size_t calls_ = 0;
  std::atomic<std::size_t> recorded_{0};
};

/// The stubs of one gateway, newest first. Choosing takes no lock while matchers run.
class Script {
 public:
  struct Choice {
    std::shared_ptr<StubState> stub;
    ReplyStep reply;
  };

  /// Throws GatewayError for a plan without a reply or with `at_most` 0.
  std::shared_ptr<StubState> mount(StubPlan plan);
  /// No stub was mounted since the last reset.
  bool empty() const;
  /// The newest stub that matches and is not exhausted; nothing when there is none. Lets a matcher's exception pass.
  std::optional<Choice> choose(const ChatRequest& request) const;
  /// For the report of an unmatched request: what each stub wants, newest first, exhausted ones marked; at most `most`.
  std::string describe(std::size_t most) const;
  void reset();

 private:
  using Stubs = std::vector<std::shared_ptr<StubState>>;
  std::shared_ptr<const Stubs> snapshot() const;

  mutable std::mutex mutex_;
  // Newest first. Replaced whole, never changed: a request keeps the one it began with.
  std::shared_ptr<const Stubs> stubs_ = std::make_shared<Stubs>();
  std::uint64_t next_id_ = 1;
};

}  // namespace detail

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
