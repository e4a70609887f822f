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
  /// The reply that a gateway without stubs gives.
  ReplyStep() = default;
  ReplyStep(std::shared_ptr<const Reply> ready_reply) : reply(std::move(ready_reply)) {}               // NOLINT
  ReplyStep(std::shared_ptr<const ReplyFunction> its_function) : function(std::move(its_function)) {}  // NOLINT

  /// The reply that the test gives while the request waits.
  static ReplyStep asked() {
    ReplyStep step;
    step.asks = true;
    return step;
  }

  bool is_default() const { return !reply && !function && !asks; }

  /// At least one of the two is null.
  std::shared_ptr<const Reply> reply;
  std::shared_ptr<const ReplyFunction> function;
  bool asks = false;  // then both are null
};

struct MachineState {
  std::string machine;
  std::string state;
};

/// Everything that a stub is told before it goes live.
struct StubPlan {
  std::vector<Matcher> matchers;    // all must match
  std::vector<Matcher> validators;  // of requests that it answers
  std::vector<ReplyStep> replies;   // none: it must never be asked
  bool nothing_more = false;
  std::optional<std::size_t> at_most;
  std::optional<Range> expected_calls;
  int priority = 0;
  std::vector<MachineState> in_states;
  std::vector<MachineState> then_states;
  std::string name;
  SourceLocation where;
  /// A scenario of the catalogue mounted it, and not the test.
  bool of_catalogue = false;
  /// What a script says of it, without its "source"; null: it is of no script. A stub of another reading that has the
  /// same is the same stub.
  std::shared_ptr<const std::string> json;
  /// The newest exchange when it was mounted: none before it could have been its own.
  std::uint64_t newest_exchange = 0;
};

class Script;

/// A mounted stub. The plan never changes; its counts do, and its place in a file that is edited.
class StubState {
 public:
  explicit StubState(StubPlan plan);

  std::uint64_t id() const { return id_; }
  const StubPlan& plan() const { return plan_; }
  /// Where it stands now: the plan has where it stood first.
  SourceLocation where() const;
  /// The tests that it belongs to, by its isolating matchers. Empty: every one.
  const std::vector<RequestScope>& scopes() const { return scopes_; }
  /// Its name, else what it matches; for reports.
  const std::string& to_string() const { return description_; }
  /// `"weather question" (agent_test.cpp:41)`, or `the stub at agent_test.cpp:41` without a name; with what it matches
  /// where another was mounted on that line: `the stub at agent_test.cpp:41 (model is "fast")`.
  std::string title() const;

  /// How often it was taken, requests included that are not yet in the journal.
  std::size_t calls() const { return calls_; }
  /// It has answered as many requests as `times` or its sequence allows.
  bool exhausted() const;
  bool removed() const { return removed_; }

  /// A request that it answers is in the journal now.
  void count_recorded(std::uint64_t exchange);
  std::size_t recorded() const { return recorded_; }
  /// The ids of the first and the last exchange that it answered; 0 when there is none.
  std::uint64_t first_exchange() const { return first_exchange_; }
  std::uint64_t last_exchange() const { return last_exchange_; }

  /// One exchange that the stub is answering, from its choice to its end.
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
  /// The most that it was answering at one time.
  std::size_t peak_concurrency() const { return peak_; }

 private:
  friend class Script;
  std::uint64_t id_ = 0;  // given when it is mounted
  StubPlan plan_;
  std::string description_;
  std::vector<RequestScope> scopes_;
  std::size_t limit_;  // of calls
  // Changed under the script's mutex only, so that taking a reply and moving a state machine are one step.
  std::atomic<std::size_t> calls_{0};
  std::atomic<bool> removed_{false};
  std::uint64_t place_ = 0;               // among stubs of one priority, the greater is asked first
  std::atomic<bool> shares_line_{false};  // another stub was mounted on the line of this one
  mutable std::mutex where_mutex_;        // for those who read without the script's mutex
  SourceLocation where_;
  // Changed under the journal's mutex only.
  std::atomic<std::size_t> recorded_{0};
  std::atomic<std::uint64_t> first_exchange_{0};
  std::atomic<std::uint64_t> last_exchange_{0};
  std::atomic<std::size_t> active_{0};
  std::atomic<std::size_t> peak_{0};
};

namespace scripts {

/// A line at which stubs are mounted, and how many.
struct Line {
  SourceLocation where;
  std::size_t stubs = 0;
};

}  // namespace scripts

/// Throws GatewayError for what cannot be meant.
void require_consistent(const StubPlan& plan);

/// The step of the sequence that answers a call, from 0; the last one stays. There is at least one.
const ReplyStep& step_of(const StubPlan& plan, std::size_t call);

/// What a request matches: "user text contains \"weather\" and has tool \"f\""; "any request" without a condition.
std::string conditions(const StubPlan& plan);

/// The stubs of one gateway, in the order in which they are asked: by priority, then newest first. Choosing takes no
/// lock while matchers run.
class Script {
 public:
  using Stubs = std::vector<std::shared_ptr<StubState>>;
  using States = std::map<std::string, std::string>;
  /// The state of a state machine: "started" until it was moved.
  static const std::string& state_in(const States& states, const std::string& machine);

  struct Choice {
    /// Null when none answers.
    std::shared_ptr<StubState> stub;
    /// Nothing when the stub refuses: it must never be asked, its sequence has nothing more, or `is_unanswerable`.
    std::optional<ReplyStep> reply;
    /// Which call of the stub it is, from 0.
    std::size_t call = 0;
    /// It is the turn of the default reply, and none can be made for the request: it counts as no call.
    bool is_unanswerable = false;
    /// What the tester's functions said.
    FunctionResults function_results;
    /// The stubs that could have been asked: those of other tests are left out.
    std::shared_ptr<const Stubs> considered;
  };

  /// Throws GatewayError for `at_most` 0.
  std::shared_ptr<StubState> mount(StubPlan plan);
  /// An element of a block of stubs.
  struct BlockStub {
    /// One that is mounted and stays, unless it is removed before the block is mounted; null: a new one.
    std::shared_ptr<StubState> kept;
    /// What makes a new one; also says where one that stays stands now.
    StubPlan plan;
  };
  /// Mounts stubs in one step, the first of them asked first, in place of `replaced`: those of them that are not kept
  /// answer nothing any more, and nothing is expected of them. `place` is what an earlier call gave; 0: before all that
  /// is mounted now, and it becomes the block's place.
  Stubs mount_block(std::vector<BlockStub> block, const Stubs& replaced, std::uint64_t& place);
  /// From now on no request is answered by it; what it answered still counts. Nothing happens the second time.
  void remove(const std::shared_ptr<StubState>& stub);
  /// The same of several, in one step.
  void remove(const Stubs& stubs);
  /// The matcher that is being asked, for whoever catches what it throws.
  struct MatcherInProgress {
    const StubState* stub = nullptr;
    const Matcher* matcher = nullptr;
    std::shared_ptr<const Stubs> considered;  // keeps both
  };
  /// The first stub that matches and may still answer. Nothing when no stub is mounted that could concern the request.
  /// Lets a matcher's exception pass. `has_default_reply`: whether the default reply can be made for the request;
  /// called at most once, and only when a stub is to give it.
  std::optional<Choice> choose(const ChatCall& call, MatcherInProgress& in_progress,
                               const std::function<bool()>& has_default_reply);
  /// What choose() would choose. Takes no call, moves no state machine and runs none of the tester's functions: a
  /// condition that only such a function decides does not hold here.
  std::optional<Choice> would_choose(const ChatCall& call, const std::function<bool()>& has_default_reply);

  /// The mounted stubs, in the order in which they are asked.
  std::shared_ptr<const Stubs> stubs() const;
  /// The mounted stubs, and those removed since the last reset before they were met, in order of mounting.
  Stubs all() const;
  /// "started" until it was moved.
  std::string state(const std::string& machine) const;
  /// `key` is the id of the only key whose stubs know the machine; empty: of any.
  void set_state(const std::string& machine, std::string state, const std::string& key = {});
  States states() const;
  /// How often stubs or states were changed by the test.
  const ChangeCount& changes() const { return changes_; }
  /// Forgets what is expected of removed stubs that belong to a test.
  void forget_removed(const RequestScope& scope);
  /// Forgets the states of state machines whose names begin so, and which only stubs of this key know.
  void forget_states(const std::string& machines, const std::string& key);
  /// Forgets stubs and the states of state machines, or one of the two.
  void reset(bool its_stubs = true, bool its_states = true);
  /// Lets go of the tester's functions and replies, once nothing is answered any more: what they hold may hold the
  /// script.
  void retire(const Stubs& others);

 private:
  /// A stub as choosing reads it: without looking at what lies elsewhere, which costs more than most matchers.
  struct Entry {
    StubState* stub;
    const MatcherNode* first;  // of its matchers; null without any
    bool always;               // neither a limit nor a state keeps it from answering
  };
  struct Snapshot {
    Stubs stubs;
    std::vector<Entry> entries;
    bool isolated = false;  // some of them belong to one test

    void add(std::shared_ptr<StubState> stub);
  };
  /// What stubs are asked for.
  enum class Purpose {
    /// To answer the call.
    answer,
    /// To say what would answer the call: nothing is taken, and none of the tester's functions runs.
    forecast,
  };
  std::optional<Choice> choose(const ChatCall& call, MatcherInProgress& in_progress,
                               const std::function<bool()>& has_default_reply, Purpose purpose);
  /// False when a stub that might have answered was removed meanwhile: what is mounted then must be asked anew.
  bool choose_from(const Snapshot& mounted, const ChatCall& call, MatcherInProgress& in_progress,
                   const std::function<bool()>& has_default_reply, Purpose purpose, Choice& choice);
  /// Notes which of all stubs share a line with another one, on these lines. Expects the mutex to be held.
  static void note_shared_lines(const Stubs& all, std::vector<scripts::Line>& lines);
  static std::shared_ptr<const Snapshot> covering(const Snapshot& all, const ReceivedRequest& request);
  /// Whether the stub's matchers but the first `from`, which have matched, match. For a forecast: are known to match.
  static bool matches(const StubState& stub, std::ptrdiff_t from, const ChatCall& call,
                      FunctionResults& function_results, MatcherInProgress& in_progress, Purpose purpose);
  bool in_states(const StubPlan& plan) const;  // expects the mutex to be held
  bool may_answer(const StubState& stub) const;
  struct Turn {
    enum class Kind {
      taken,
      /// Another request was faster.
      missed,
      /// It is the default reply's, which cannot be made.
      unanswerable,
      /// It is the default reply's, and nobody has said whether it can be made.
      undecided,
    };
    Kind kind = Kind::missed;
    std::size_t number = 0;  // of the call, from 0
  };
  /// Whose turn it is. When it is the stub's, and not for a forecast, counts the call and moves the state machines.
  Turn take(StubState& stub, std::optional<bool> has_default_reply, Purpose purpose);

  mutable std::mutex mutex_;
  // Replaced whole, never changed: a request keeps the one it began with.
  std::shared_ptr<const Snapshot> mounted_ = share<Snapshot>();
  Stubs removed_;  // without being met
  States states_;
  std::uint64_t next_id_ = 1;
  std::uint64_t last_place_ = 0;  // a number of its own, since a block without stubs has a place too
  ChangeCount changes_;
};

}  // namespace mock_gateway::detail
