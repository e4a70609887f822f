#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
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
#include "owed_replies.hpp"
#include "scope.hpp"

namespace mock_gateway::detail {

struct ReplyStep {
  /// Makes a step that sends the default reply, as a gateway without stubs does.
  ReplyStep() = default;
  ReplyStep(std::shared_ptr<const Reply> ready_reply) : reply(std::move(ready_reply)) {}               // NOLINT
  ReplyStep(std::shared_ptr<const ReplyFunction> its_function) : function(std::move(its_function)) {}  // NOLINT

  /// Returns a step for which the request waits until the test gives the reply.
  static ReplyStep asked() {
    ReplyStep step;
    step.asks = true;
    return step;
  }

  bool is_default() const { return !reply && !function && !asks; }

  /// At most one of the two is set.
  std::shared_ptr<const Reply> reply;
  std::shared_ptr<const ReplyFunction> function;
  bool asks = false;  // if true, `reply` and `function` are null
};

struct MachineState {
  std::string machine;
  std::string state;
};

struct StubPlan {
  std::vector<Matcher> matchers;
  std::vector<Matcher> validators;  // for the requests that it answers
  std::vector<ReplyStep> replies;   // empty: never()
  bool nothing_more = false;
  std::optional<std::size_t> at_most;
  std::optional<Range> expected_calls;
  int priority = 0;
  std::vector<MachineState> in_states;
  std::vector<MachineState> then_states;
  std::string name;
  SourceLocation where;
  bool of_catalogue = false;
  /// Its JSON in a script, without "source", or null. A stub with equal JSON is the same stub when read again.
  std::shared_ptr<const std::string> json;
  /// The newest exchange at the time of mounting: the stub did not answer it or earlier ones.
  std::uint64_t newest_exchange = 0;
};

namespace scripts {

/// The order of evaluation: by descending priority, descending place, and ascending index in the block.
using Rank = std::tuple<std::int64_t, std::uint64_t, std::size_t>;

}  // namespace scripts

class Script;

class StubState {
 public:
  explicit StubState(StubPlan plan);

  std::uint64_t id() const { return id_; }
  const StubPlan& plan() const { return plan_; }
  /// Returns the current location. The plan has the location at the time of mounting.
  SourceLocation where() const;
  /// Returns the tests that the stub belongs to, from its key_is and header_is. Empty for all tests.
  const std::vector<RequestScope>& scopes() const { return scopes_; }
  /// Its name or else its conditions, for reports.
  const std::string& to_string() const { return description_; }
  /// `"weather question" (agent_test.cpp:41)`; without a name, `the stub at agent_test.cpp:41`, with its conditions if
  /// another stub was mounted on that line.
  std::string title() const;

  /// Returns the number of calls, including requests that are not in the journal yet.
  std::size_t calls() const { return calls_; }
  bool exhausted() const;
  bool removed() const { return removed_; }

  /// Counts a request that is now in the journal.
  void count_recorded(std::uint64_t exchange);
  std::size_t recorded() const { return recorded_; }
  /// Returns the id of the first answered exchange, or 0 if there is none.
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
  std::size_t peak_concurrency() const { return peak_; }

 private:
  friend class Script;
  std::uint64_t id_ = 0;  // set when mounted
  StubPlan plan_;
  std::string description_;
  std::vector<RequestScope> scopes_;
  std::size_t limit_;
  // Only changed under the script's mutex, so that taking a reply and moving a state machine are atomic.
  std::atomic<std::size_t> calls_{0};
  std::atomic<bool> removed_{false};
  scripts::Rank rank_{};
  std::atomic<bool> shares_line_{false};  // whether another stub was mounted on this line
  mutable std::mutex where_mutex_;        // for readers without the script's mutex
  SourceLocation where_;
  // Only changed under the journal's mutex.
  std::atomic<std::size_t> recorded_{0};
  std::atomic<std::uint64_t> first_exchange_{0};
  std::atomic<std::uint64_t> last_exchange_{0};
  std::atomic<std::size_t> active_{0};
  std::atomic<std::size_t> peak_{0};
};

void require_consistent(const StubPlan& plan);

/// Returns the step for a call, counted from 0. The last step repeats. The plan must have at least one step.
const ReplyStep& step_of(const StubPlan& plan, std::size_t call);

/// Returns the conditions as text: `user text contains "weather" and has tool "f"`; `any request` if there are none.
std::string conditions(const StubPlan& plan);

/// The stubs of one gateway in evaluation order: by priority, then newest first. No lock is held while matchers run.
class Script {
 public:
  using Stubs = std::vector<std::shared_ptr<StubState>>;
  using States = std::map<std::string, std::string>;
  /// Returns the state of a machine, which is "started" until it is changed.
  static const std::string& state_in(const States& states, const std::string& machine);

  struct Choice {
    std::shared_ptr<StubState> stub;
    /// Empty if the stub refuses: because of never(), a finished sequence, or `is_unanswerable`.
    std::optional<ReplyStep> reply;
    /// The number of the call, from 0.
    std::size_t call = 0;
    /// Whether the default reply is due but cannot be made for the request; then no call is counted.
    bool is_unanswerable = false;
    FunctionResults function_results;
    /// The stubs whose conditions failed, or held for `stub`, while a text was too long to be searched by a pattern.
    Stubs not_searched;
    /// The stubs considered; excludes those of other tests.
    std::shared_ptr<const Stubs> considered;
  };

  /// Mounts a stub. Throws GatewayError if `at_most` is 0.
  std::shared_ptr<StubState> mount(StubPlan plan);
  struct BlockStub {
    /// A mounted stub to keep, unless it is removed before the block is mounted; null: a new one.
    std::shared_ptr<StubState> kept;
    /// The settings of a new stub, or the current location of a kept one.
    StubPlan plan;
  };
  /// Replaces stubs atomically; the first of the block is tried first. Replaced stubs that are not kept no longer
  /// answer, and their expectations are dropped. If `place` is 0, puts the block before all mounted stubs, and sets
  /// `place`.
  Stubs mount_block(std::vector<BlockStub> block, const Stubs& replaced, std::uint64_t& place);
  /// Removes a stub. Later requests no longer match it, but earlier calls still count. Repeated calls have no effect.
  void remove(const std::shared_ptr<StubState>& stub);
  /// Removes several stubs atomically.
  void remove(const Stubs& stubs);
  /// The matcher that is running, for error reports if it throws.
  struct MatcherInProgress {
    const StubState* stub = nullptr;
    const Matcher* matcher = nullptr;
    std::shared_ptr<const Stubs> considered;  // keeps both alive
  };
  enum class Purpose {
    answer,
    /// Changes nothing. A condition that depends on a function of the test does not hold.
    forecast,
  };
  /// Chooses the stub for a request; empty if none applies. Lets exceptions of matchers pass. `has_default_reply` tells
  /// whether the default reply can be made. It is called at most once, and only for a stub that sends this reply.
  std::optional<Choice> choose(const ChatCall& call, MatcherInProgress& in_progress,
                               const std::function<bool()>& has_default_reply, Purpose purpose = Purpose::answer);

  /// Returns the choice of an equal request whose reply was broken, if any, without counting a call.
  std::optional<Choice> choose_owed(std::uint64_t request);
  OwedReplies& owed() { return owed_; }

  std::shared_ptr<const Stubs> stubs() const;
  /// Returns the mounted stubs, and those removed with unmet expectations since the last reset, in the order mounted.
  Stubs all() const;
  std::string state(const std::string& machine) const;
  /// `key` is the id of the only key whose stubs use the machine; empty: any key.
  void set_state(const std::string& machine, std::string state, const std::string& key = {});
  States states() const;
  /// Returns the number of changes to stubs and states by the test.
  const ChangeCount& changes() const { return changes_; }
  void forget_removed(const RequestScope& scope);
  /// Deletes the states of state machines whose names have this prefix and that only stubs of this key use.
  void forget_states(const std::string& machines, const std::string& key);
  void reset(bool its_stubs = true, bool its_states = true);
  /// Frees the test's functions and replies once no request is open: they may hold references to the script.
  void retire(const Stubs& others);

 private:
  /// A stub with the data for choosing in one place, because cache misses cost more than most matchers.
  struct Entry {
    StubState* stub;
    const MatcherNode* first;  // its first matcher, or null
    bool always;               // whether neither a limit nor a state can keep it from answering
  };
  struct Snapshot {
    Stubs stubs;
    std::vector<Entry> entries;
    bool isolated = false;  // whether some stubs belong to a single test

    void add(std::shared_ptr<StubState> stub);
  };
  /// Returns false if a stub that might have answered has just been removed. Then the caller must choose again.
  bool choose_from(const Snapshot& mounted, const ChatCall& call, MatcherInProgress& in_progress,
                   const std::function<bool()>& has_default_reply, Purpose purpose, Choice& choice);
  // These require the mutex.
  /// Adds a stub, and marks the stubs that share its line.
  void put_in(std::shared_ptr<StubState> stub);
  /// Returns null if the stub is not mounted.
  std::shared_ptr<StubState> take_out(StubState& stub);
  /// Makes the snapshot after a change, so that mounting stubs one by one takes linear time.
  const std::shared_ptr<const Snapshot>& snapshot() const;
  static std::shared_ptr<const Snapshot> covering(const Snapshot& all, const ReceivedRequest& request);
  /// Whether the matchers from index `from` on match; for a forecast, whether they are known to match.
  static bool matches(const StubState& stub, std::ptrdiff_t from, const ChatCall& call,
                      FunctionResults& function_results, MatcherInProgress& in_progress, Purpose purpose);
  bool in_states(const StubPlan& plan) const;  // requires the mutex
  bool may_answer(const StubState& stub) const;
  struct Turn {
    enum class Kind {
      taken,
      /// The stub is removed, exhausted or in another state, perhaps because of a concurrent request.
      missed,
      /// The default reply is due but cannot be made.
      unanswerable,
      /// The default reply is due, and it is unknown whether it can be made.
      undecided,
    };
    Kind kind = Kind::missed;
    std::size_t number = 0;  // number of the call, from 0
  };
  /// Checks whether it is the stub's turn. If so, counts the call and moves the state machines, except for a forecast.
  Turn take(StubState& stub, std::optional<bool> has_default_reply, Purpose purpose);

  mutable std::mutex mutex_;
  std::multimap<scripts::Rank, std::shared_ptr<StubState>> mounted_;
  std::map<std::pair<std::string, int>, std::set<StubState*>> lines_;  // the mounted stubs on each line of a file
  // Replaced as a whole, never changed: a request keeps the version it began with. Null after a change.
  mutable std::shared_ptr<const Snapshot> snapshot_;
  Stubs removed_;  // removed stubs with unmet expectations
  States states_;
  OwedReplies owed_;
  std::uint64_t next_id_ = 1;
  std::uint64_t last_place_ = 0;  // a separate number, because a block without stubs has a place too
  ChangeCount changes_;
};

}  // namespace mock_gateway::detail
