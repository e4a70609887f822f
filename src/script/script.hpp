#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../core/change_count.hpp"
#include "../core/shared.hpp"
#include "../core/source_location.hpp"
#include "../model/range.hpp"
#include "../model/received_request.hpp"
#include "../model/reply.hpp"
#include "../request/chat_request.hpp"
#include "matcher.hpp"
#include "matcher_node.hpp"
#include "scope.hpp"

namespace mock_gateway::detail {

/// One element of a stub's sequence.
struct ReplyStep {
  /// The default reply.
  ReplyStep() = default;
  ReplyStep(std::shared_ptr<const Reply> ready_reply) : reply(std::move(ready_reply)) {}               // NOLINT
  ReplyStep(std::shared_ptr<const ReplyFunction> its_function) : function(std::move(its_function)) {}  // NOLINT

  /// A step for which the request waits until the test gives the reply.
  static ReplyStep asked() {
    ReplyStep step;
    step.asks = true;
    return step;
  }

  bool is_default() const { return !reply && !function && !asks; }

  /// At least one of `reply` and `function` is null.
  std::shared_ptr<const Reply> reply;
  std::shared_ptr<const ReplyFunction> function;
  bool asks = false;  // then both are null
};

struct MachineState {
  std::string machine;
  std::string state;
};

/// The configuration of a stub.
struct StubPlan {
  std::vector<Matcher> matchers;    // all must match
  std::vector<Matcher> validators;  // checks of requests that it answers
  std::vector<ReplyStep> replies;   // empty: it must never be called
  bool nothing_more = false;
  std::optional<std::size_t> at_most;
  std::optional<Range> expected_calls;
  int priority = 0;
  std::vector<MachineState> in_states;
  std::vector<MachineState> then_states;
  std::string name;
  SourceLocation where;
  /// Whether a scenario of the catalogue mounted it, instead of the test.
  bool of_catalogue = false;
  /// Its JSON in a script, without "source"; null if it is not from a script. When a script is read again, a stub with
  /// equal JSON is the same stub.
  std::shared_ptr<const std::string> json;
  /// The newest exchange at the time of mounting. The stub can only have answered later ones.
  std::uint64_t newest_exchange = 0;
};

class Script;

/// A mounted stub. Its plan never changes; its counts and its source location do.
class StubState {
 public:
  explicit StubState(StubPlan plan);

  std::uint64_t id() const { return id_; }
  const StubPlan& plan() const { return plan_; }
  /// The current source location. The plan has the original one.
  SourceLocation where() const;
  /// The tests to which its isolating matchers assign it; empty for all tests.
  const std::vector<RequestScope>& scopes() const { return scopes_; }
  /// Its name, or else its conditions; for reports.
  const std::string& to_string() const { return description_; }
  /// Returns `"weather question" (agent_test.cpp:41)`, or `the stub at agent_test.cpp:41` without a name. If another
  /// stub is on that line, adds the conditions: `the stub at agent_test.cpp:41 (model is "fast")`.
  std::string title() const;

  /// The number of calls, including requests that are not yet in the journal.
  std::size_t calls() const { return calls_; }
  /// Whether it has answered as many requests as `times` or its sequence allows.
  bool exhausted() const;
  bool removed() const { return removed_; }

  /// Notes that a request that it answers is now in the journal.
  void count_recorded(std::uint64_t exchange);
  std::size_t recorded() const { return recorded_; }
  /// Ids of the first and last exchange that it answered; 0 if there is none.
  std::uint64_t first_exchange() const { return first_exchange_; }
  std::uint64_t last_exchange() const { return last_exchange_; }

  /// An exchange that the stub is answering, from its choice to its end.
  class Use {
   public:
    Use() = default;
    explicit Use(std::shared_ptr<StubState> stub);
    Use(Use&& other) noexcept = default;
    Use& operator=(Use&& other) noexcept;
    ~Use();

   private:
    std::shared_ptr<StubState> stub_;
  };
  /// The peak number of requests that it was answering at the same time.
  std::size_t peak_concurrency() const { return peak_; }

 private:
  friend class Script;
  std::uint64_t id_ = 0;  // assigned by mounting
  StubPlan plan_;
  std::string description_;
  std::vector<RequestScope> scopes_;
  std::size_t limit_;  // maximum number of calls
  // Changed under the script's mutex only: taking a reply and changing a state must be one step.
  std::atomic<std::size_t> calls_{0};
  std::atomic<bool> removed_{false};
  std::uint64_t place_ = 0;               // at equal priority, the greater is evaluated first
  std::atomic<bool> shares_line_{false};  // whether another stub has the same source line
  mutable std::mutex where_mutex_;        // for reading without the script's mutex
  SourceLocation where_;
  // Changed under the journal's mutex only.
  std::atomic<std::size_t> recorded_{0};
  std::atomic<std::uint64_t> first_exchange_{0};
  std::atomic<std::uint64_t> last_exchange_{0};
  std::atomic<std::size_t> active_{0};
  std::atomic<std::size_t> peak_{0};
};

namespace scripts {

/// A source line, and the number of stubs on it.
struct Line {
  SourceLocation where;
  std::size_t stubs = 0;
};

}  // namespace scripts

/// Throws GatewayError for contradictory settings.
void require_consistent(const StubPlan& plan);

/// Returns the step for a call, counted from 0; the last step repeats. There must be at least one.
const ReplyStep& step_of(const StubPlan& plan, std::size_t call);

/// Returns a description of the conditions: "user text contains \"weather\" and has tool \"f\""; "any request" without
/// one.
std::string conditions(const StubPlan& plan);

/// The stubs of one gateway, in order of evaluation: by priority, then newest first. No lock is held while matchers
/// run.
class Script {
 public:
  using Stubs = std::vector<std::shared_ptr<StubState>>;
  using States = std::map<std::string, std::string>;
  /// Returns the state of a state machine; initially "started".
  static const std::string& state_in(const States& states, const std::string& machine);

  struct Choice {
    /// Null if no stub answers.
    std::shared_ptr<StubState> stub;
    /// Empty if the stub refuses: it must never be called, its sequence is used up, or `is_unanswerable`.
    std::optional<ReplyStep> reply;
    /// Number of this call of the stub, from 0.
    std::size_t call = 0;
    /// True if the default reply is due but cannot be made for this request. Does not count as a call.
    bool is_unanswerable = false;
    /// Results of the test's functions.
    FunctionResults function_results;
    /// The candidate stubs: all mounted ones, without those of other tests.
    std::shared_ptr<const Stubs> considered;
  };

  /// Mounts a stub. Throws GatewayError if `at_most` is 0.
  std::shared_ptr<StubState> mount(StubPlan plan);
  /// An element of a block of stubs.
  struct BlockStub {
    /// A mounted stub that stays, unless it is removed before the block is mounted; null for a new stub.
    std::shared_ptr<StubState> kept;
    /// The plan of a new stub, or the new source location of one that stays.
    StubPlan plan;
  };
  /// Mounts a block of stubs in one step, evaluated in order, and removes those of `replaced` that are not kept.
  /// Removed stubs answer no requests, and their expectations are dropped. `place` is the result of an earlier call.
  /// With 0 the block goes before all mounted stubs, and `place` is set.
  Stubs mount_block(std::vector<BlockStub> block, const Stubs& replaced, std::uint64_t& place);
  /// Removes a stub: it answers no more requests, but its calls still count. Calling it again has no effect.
  void remove(const std::shared_ptr<StubState>& stub);
  /// Removes several stubs in one step.
  void remove(const Stubs& stubs);
  /// The matcher being evaluated, for the handler of its exceptions.
  struct MatcherInProgress {
    const StubState* stub = nullptr;
    const Matcher* matcher = nullptr;
    std::shared_ptr<const Stubs> considered;  // keeps both alive
  };
  /// Chooses the first stub that matches and may still answer. Empty if no mounted stub could concern the request.
  /// Exceptions of matchers propagate. `has_default_reply` tells whether the default reply can be made for the request;
  /// called at most once, and only if a stub needs it.
  std::optional<Choice> choose(const ChatCall& call, MatcherInProgress& in_progress,
                               const std::function<bool()>& has_default_reply);
  /// Predicts choose(). Counts no call, changes no state and calls no functions of the test. A condition that depends
  /// on such a function counts as not met.
  std::optional<Choice> would_choose(const ChatCall& call, const std::function<bool()>& has_default_reply);

  /// Returns the mounted stubs in order of evaluation.
  std::shared_ptr<const Stubs> stubs() const;
  /// Returns the mounted stubs, and those removed since the last reset with unmet expectations, in order of mounting.
  Stubs all() const;
  /// Returns the state of a machine; initially "started".
  std::string state(const std::string& machine) const;
  /// Sets the state of a machine. `key` is the id of the only key whose stubs use the machine; empty if any may.
  void set_state(const std::string& machine, std::string state, const std::string& key = {});
  States states() const;
  /// Counts changes of stubs and states by the test.
  const ChangeCount& changes() const { return changes_; }
  /// Drops the expectations of removed stubs of a test.
  void forget_removed(const RequestScope& scope);
  /// Drops the states of machines whose names have this prefix, and which only stubs of this key use.
  void forget_states(const std::string& machines, const std::string& key);
  /// Drops all stubs, all states, or both.
  void reset(bool its_stubs = true, bool its_states = true);
  /// Frees the test's functions and replies after the last answer, because they may hold a reference to the script.
  void retire(const Stubs& others);

 private:
  /// A stub in the evaluation loop. Copies what the loop reads first, because following pointers costs more than most
  /// matchers.
  struct Entry {
    StubState* stub;
    const MatcherNode* first;  // its first matcher; null without any
    bool always;               // it has neither a limit nor states
  };
  struct Snapshot {
    Stubs stubs;
    std::vector<Entry> entries;
    bool isolated = false;  // whether a stub belongs to one test

    void add(std::shared_ptr<StubState> stub);
  };
  /// The purpose of choosing a stub.
  enum class Purpose {
    /// Answer the call.
    answer,
    /// Predict the answer: nothing is counted, and no functions of the test are called.
    forecast,
  };
  std::optional<Choice> choose(const ChatCall& call, MatcherInProgress& in_progress,
                               const std::function<bool()>& has_default_reply, Purpose purpose);
  /// Returns false if a stub that might have answered was removed meanwhile: the caller must retry with a new snapshot.
  bool choose_from(const Snapshot& mounted, const ChatCall& call, MatcherInProgress& in_progress,
                   const std::function<bool()>& has_default_reply, Purpose purpose, Choice& choice);
  /// Marks stubs that share a source line with another one, on these lines. The caller must hold the mutex.
  static void note_shared_lines(const Stubs& all, std::vector<scripts::Line>& lines);
  static std::shared_ptr<const Snapshot> covering(const Snapshot& all, const ReceivedRequest& request);
  /// Whether the stub's matchers match, except the first `from`, which have matched already. For a forecast, whether
  /// they are known to match.
  static bool matches(const StubState& stub, std::ptrdiff_t from, const ChatCall& call,
                      FunctionResults& function_results, MatcherInProgress& in_progress, Purpose purpose);
  bool in_states(const StubPlan& plan) const;  // the caller must hold the mutex
  bool may_answer(const StubState& stub) const;
  struct Turn {
    enum class Kind {
      taken,
      /// Another request took it first.
      missed,
      /// The default reply is due, and cannot be made.
      unanswerable,
      /// The default reply is due, and it is not known whether it can be made.
      undecided,
    };
    Kind kind = Kind::missed;
    std::size_t number = 0;  // number of the call, from 0
  };
  /// Takes the stub's turn: counts the call and changes states, except for a forecast or if the stub cannot take it.
  Turn take(StubState& stub, std::optional<bool> has_default_reply, Purpose purpose);

  mutable std::mutex mutex_;
  // Copy on write: a request keeps the snapshot with which it began.
  std::shared_ptr<const Snapshot> mounted_ = share<Snapshot>();
  Stubs removed_;  // with unmet expectations
  States states_;
  std::uint64_t next_id_ = 1;
  std::uint64_t last_place_ = 0;  // a counter, because an empty block has a place too
  ChangeCount changes_;
};

}  // namespace mock_gateway::detail
