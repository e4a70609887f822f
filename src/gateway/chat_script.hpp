#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/duration.hpp"
#include "../core/forward.hpp"
#include "../core/shared.hpp"
#include "../core/source_location.hpp"

namespace mock_gateway {

namespace detail {

struct Access;
class JournalState;
class Script;
class StubState;
struct StubPlan;

}  // namespace detail

/// A stub that is live. A handle: may outlive its gateway.
class Stub {
 public:
  Stub(std::shared_ptr<detail::StubState> state, std::shared_ptr<detail::Script> script,
       std::shared_ptr<detail::JournalState> journal);

  /// How many requests it has answered; each is in the journal.
  std::size_t calls() const;
  /// Waits, in real time, until it has answered `count` requests.
  Wait wait_for_calls(std::size_t count, Duration timeout) const;
  /// The newest exchange that it answered. Throws GatewayError when there is none in the journal.
  Exchange last_call() const;
  /// The exchanges that it answered and the journal still holds, oldest first.
  std::vector<Exchange> exchanges() const;
  /// The most requests that it was answering at one time, each from being chosen for it until its last bytes are sent.
  std::size_t peak_concurrency() const;
  /// Its name and where it was written: `"weather question" (agent_test.cpp:41)`.
  std::string title() const;
  /// The line of `gateway.chat()` that began it.
  SourceLocation where() const;

  /// Ends the stub: it answers no request that begins after this returned. What it expects still counts. Nothing
  /// happens the second time.
  void remove() const;
  /// A handle that removes the stub when it is destroyed.
  [[nodiscard]] ScopedStub scoped() const;

 private:
  friend struct detail::Access;
  detail::Lasting<detail::StubState> state_;
  detail::Lasting<detail::Script> script_;
  detail::Lasting<detail::JournalState> journal_;
};

/// A stub that is removed when this is destroyed: for one test on a gateway that others use.
class [[nodiscard]] ScopedStub : public Stub {
 public:
  explicit ScopedStub(Stub stub) : Stub(std::move(stub)) {}
  ScopedStub(ScopedStub&& other) noexcept;
  ScopedStub& operator=(ScopedStub&&) = delete;
  ~ScopedStub();

 private:
  bool owns_ = true;
};

/// Builds a stub: `gateway.chat().when(…).times(2).reply(…)`. The stub is live when `reply` or `never` returns, so they
/// come last. Of the stubs that match, the one of the highest priority answers, and of those of one priority the
/// newest.
class [[nodiscard]] StubBuilder {
 public:
  StubBuilder(std::shared_ptr<detail::Script> script, std::shared_ptr<detail::JournalState> journal,
              SourceLocation where);
  // Defined once, in the library: every test file that names one would compile them again.
  StubBuilder(StubBuilder&&) noexcept;
  StubBuilder& operator=(StubBuilder&&) noexcept;
  ~StubBuilder();

  /// Answers only requests that match all of these; without any `when`, every request. They are asked in this order,
  /// up to the first that does not match.
  template <class... Matchers>
  StubBuilder when(Matchers&&... matchers) && {
    static_assert(sizeof...(matchers) > 0, "when(...) needs at least one matcher; leave it out to match every request");
    static_assert((std::is_convertible_v<Matchers, Matcher> && ...),
                  "when(...) takes matchers, such as user_says(\"weather\"); pass replies to reply(...)");
    if constexpr ((std::is_convertible_v<Matchers, Matcher> && ...)) {
      (match(std::forward<Matchers>(matchers)), ...);
    }
    return std::move(*this);
  }
  /// What every request that this stub answers should match. It chooses nothing: a request that breaks it gets its
  /// reply all the same, and verify() reports it.
  template <class... Matchers>
  StubBuilder should(Matchers&&... matchers) && {
    static_assert(sizeof...(matchers) > 0, "should(...) needs at least one matcher");
    static_assert((std::is_convertible_v<Matchers, Matcher> && ...),
                  "should(...) takes matchers, such as temperature_is(0.2); pass replies to reply(...)");
    if constexpr ((std::is_convertible_v<Matchers, Matcher> && ...)) {
      (validate(std::forward<Matchers>(matchers)), ...);
    }
    return std::move(*this);
  }
  /// Answers `count` requests, then steps aside for older stubs. At least 1, or GatewayError. Any number unless set.
  StubBuilder times(std::size_t count) &&;
  /// How many calls verify() expects: `expect(2)`, `expect(at_least(1))`, `expect(between(1, 3))`. It limits nothing.
  /// Whole numbers that are not negative, or GatewayError.
  StubBuilder expect(Range calls) &&;
  /// Stubs of a higher priority are asked first, whatever their age. 0 unless set.
  StubBuilder priority(int priority) &&;
  /// Answers only while that state machine is in that state, which is "started" until a stub or the test moves it.
  StubBuilder in_state(std::string machine, std::string state) &&;
  /// Each answer moves the state machine to that state, in one step with the choice of the stub: of two requests at one
  /// time, one finds the new state.
  StubBuilder then_state(std::string machine, std::string state) &&;
  /// The name that reports show. Unless set, its line stands for it.
  StubBuilder named(std::string name) &&;

  /// Answers with these, one request each, in order; the last stays, unless it is then_nothing_more(). Each is a Reply,
  /// a string that means text, a Failure, or a function from `const ChatRequest&` to one of them. Throws GatewayError
  /// for settings that contradict each other, such as expect(3).times(2).
  template <class... Replies>
  Stub reply(Replies&&... replies) && {
    static_assert(sizeof...(replies) > 0, "reply(...) needs at least one reply; never() answers nothing");
    constexpr bool known = (is_reply<Replies> && ...);
    static_assert(known,
                  "a reply is a Reply, a string, a Failure, or a function of const ChatRequest& to one of them; pass "
                  "matchers to when(...)");
    if constexpr (known) (add(std::forward<Replies>(replies)), ...);
    return mount();
  }
  /// Mounts a stub that must not be called, in place of reply(): a request that matches is refused with 422
  /// `never_expected`, and verify() reports it.
  Stub never() &&;

 private:
  template <class T>
  static constexpr bool is_reply = std::is_convertible_v<T, Reply> || std::is_convertible_v<T, ReplyFunction> ||
                                   std::is_convertible_v<T, NothingMore>;

  friend struct detail::Access;
  void match(Matcher matcher);
  void validate(Matcher matcher);
  void add(Reply reply);
  void add(ReplyFunction function);
  void add(NothingMore);
  Stub mount();
  Stub live();
  /// What it has been told. Throws GatewayError when that is with another builder, or mounted.
  detail::StubPlan& plan();

  std::shared_ptr<detail::Script> script_;
  std::shared_ptr<detail::JournalState> journal_;
  std::unique_ptr<detail::StubPlan> plan_;
};

}  // namespace mock_gateway
