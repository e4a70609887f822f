#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/source_location.hpp"
#include "../core/wait.hpp"
#include "../evidence/journal.hpp"
#include "../model/reply.hpp"
#include "../script/matcher.hpp"
#include "../script/script.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

/// A stub that is live. A handle: may outlive its gateway.
class Stub {
 public:
  Stub(std::shared_ptr<detail::StubState> state, std::shared_ptr<detail::JournalState> journal)
      : state_(std::move(state)), journal_(std::move(journal)) {}

  /// How many requests it has answered; each is in the journal.
  std::size_t calls() const { return state_->recorded(); }
  /// Waits, in real time, until it has answered `count` requests.
  Wait wait_for_calls(std::size_t count, Duration timeout) const;
  /// The newest exchange that it answered. Throws GatewayError when there is none in the journal.
  Exchange last_call() const;

 private:
  std::shared_ptr<detail::StubState> state_;
  std::shared_ptr<detail::JournalState> journal_;
};

/// Builds a stub: `gateway.chat().when(…).at_most(2).reply(…)`. Options first; the stub goes live, whole, when
/// `reply` returns. The newest stub that matches answers.
class [[nodiscard]] StubBuilder {
 public:
  StubBuilder(std::shared_ptr<detail::Script> script, std::shared_ptr<detail::JournalState> journal,
              SourceLocation where);
  // Defined once, in the library: every test file that names one would compile them again.
  StubBuilder(StubBuilder&&) noexcept;
  ~StubBuilder();

  /// Answers only requests that match all of these; without any `when`, every request.
  template <class... Matchers>
  StubBuilder when(Matcher first, Matchers... others) && {
    plan_.matchers.push_back(std::move(first));
    (plan_.matchers.push_back(Matcher(std::move(others))), ...);
    return std::move(*this);
  }
  /// Answers `count` requests, then steps aside for older stubs. At least 1, or GatewayError.
  StubBuilder at_most(std::size_t count) &&;
  /// The name that reports show.
  StubBuilder named(std::string name) &&;

  /// Answers with these, one request each, in order; the last stays. Each is a Reply, a string that means text, a
  /// Failure, or a function from `const ChatRequest&` to one of them.
  template <class... Replies>
  Stub reply(Replies&&... replies) && {
    static_assert(sizeof...(replies) > 0, "reply(...) needs at least one reply");
    static_assert(((std::is_convertible_v<Replies, Reply> || std::is_convertible_v<Replies, ReplyFunction>)&&...),
                  "a reply is a Reply, a string, a Failure, or a function of const ChatRequest& to one of them");
    (add(std::forward<Replies>(replies)), ...);
    return mount();
  }

 private:
  void add(Reply reply);
  void add(ReplyFunction function);
  Stub mount();

  std::shared_ptr<detail::Script> script_;
  std::shared_ptr<detail::JournalState> journal_;
  detail::StubPlan plan_;
};

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
