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

/// A mounted stub. A handle that may outlive its gateway.
class Stub {
 public:
  Stub(std::shared_ptr<detail::StubState> state, std::shared_ptr<detail::Script> script,
       std::shared_ptr<detail::JournalState> journal);

  /// Returns the number of requests it has answered. Each is in the journal before it counts.
  std::size_t calls() const;
  /// Waits in real time until it has answered `count` requests.
  Wait wait_for_calls(std::size_t count, Duration timeout) const;
  /// Returns the newest exchange that it answered. Throws GatewayError if the journal has none.
  Exchange last_call() const;
  /// Returns the exchanges that it answered and the journal still keeps, oldest first.
  std::vector<Exchange> exchanges() const;
  /// Returns the peak number of requests this stub was answering at the same time, until their last bytes were sent.
  std::size_t peak_concurrency() const;
  /// Returns its name and source location: `"weather question" (agent_test.cpp:41)`.
  std::string title() const;
  /// Returns the location of the `gateway.chat()` call that began it.
  SourceLocation where() const;

  /// Unmounts the stub: later requests no longer match it. Expectations still count. Repeated calls have no effect.
  void remove() const;
  /// Returns a handle that removes the stub when it goes out of scope.
  [[nodiscard]] ScopedStub scoped() const;

 private:
  friend struct detail::Access;
  detail::HandlePointer<detail::StubState> state_;
  detail::HandlePointer<detail::Script> script_;
  detail::HandlePointer<detail::JournalState> journal_;
};

/// A stub that is removed when it goes out of scope, for a test on a shared gateway.
class [[nodiscard]] ScopedStub : public Stub {
 public:
  explicit ScopedStub(Stub stub) : Stub(std::move(stub)) {}
  ScopedStub(ScopedStub&& other) noexcept;
  ScopedStub& operator=(ScopedStub&&) = delete;
  ~ScopedStub();

 private:
  bool owns_ = true;
};

/// A builder of stubs: `gateway.chat().when(…).times(2).reply(…)`. `reply` or `never` comes last and mounts the stub.
/// Of the matching stubs, the newest of the highest priority answers.
class [[nodiscard]] StubBuilder {
 public:
  StubBuilder(std::shared_ptr<detail::Script> script, std::shared_ptr<detail::JournalState> journal,
              SourceLocation where);
  // Defined once, in the library, instead of in every including file.
  StubBuilder(StubBuilder&&) noexcept;
  StubBuilder& operator=(StubBuilder&&) noexcept;
  ~StubBuilder();

  /// Restricts the stub to requests that match every matcher, up to the first mismatch. Default: all requests.
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
  /// Sets conditions that every request answered by this stub should meet. They do not affect matching: a request that
  /// violates one still gets its reply, and verify() reports it.
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
  /// Answers `count` requests, at least 1; later ones go to the next matching stub. Default: unlimited.
  StubBuilder times(std::size_t count) &&;
  /// Sets the number of calls that verify() expects: `expect(2)`, `expect(at_least(1))`, `expect(between(1, 3))`. Does
  /// not limit calls. Whole numbers, not negative.
  StubBuilder expect(Range calls) &&;
  /// Sets the priority: higher ones are tried first, regardless of age. Default: 0.
  StubBuilder priority(int priority) &&;
  /// Restricts the stub to a state of a state machine. The state is "started" until a stub or the test changes it.
  StubBuilder in_state(std::string machine, std::string state) &&;
  /// Moves the state machine to this state with each answer, atomically with the choice of the stub.
  StubBuilder then_state(std::string machine, std::string state) &&;
  /// Sets the name in reports. Default: its source line.
  StubBuilder named(std::string name) &&;

  /// Answers one request with each of these, in order; the last one repeats, unless it is then_nothing_more(). Each is
  /// a Reply, a string (text), a Failure, or a function from `const ChatRequest&` to one of them. Throws GatewayError
  /// for contradictory settings such as expect(3).times(2).
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
  /// Mounts a stub that must not be called, instead of reply(): a matching request gets 422 `never_expected`, and
  /// verify() reports it.
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
  /// Returns the settings. Throws GatewayError if they were moved to another builder or mounted.
  detail::StubPlan& plan();

  std::shared_ptr<detail::Script> script_;
  std::shared_ptr<detail::JournalState> journal_;
  std::unique_ptr<detail::StubPlan> plan_;
};

}  // namespace mock_gateway
