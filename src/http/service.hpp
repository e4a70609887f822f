#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../answer/bodies.hpp"
#include "../answer/completion.hpp"
#include "../answer/occurrences.hpp"
#include "../answer/tokens.hpp"
#include "../delivery/delivery.hpp"
#include "../evidence/journal.hpp"
#include "../evidence/record.hpp"
#include "../keys/key_store.hpp"
#include "../model/acceptance.hpp"
#include "../model/chat_parser.hpp"
#include "../model/profile.hpp"
#include "../script/chaos_rules.hpp"
#include "../script/connection_faults.hpp"
#include "../script/forced_failures.hpp"
#include "../script/script.hpp"
#include "connection.hpp"
#include "operations.hpp"
#include "request_reader.hpp"

namespace mock_gateway {
namespace detail {

struct ServiceSettings {
  std::vector<Model> models;
  std::uint64_t seed = 1;
  Profile profile = Profile::documented;
  Acceptance acceptance;
  ChatLimits chat_limits;
  Tokenizer tokenizer;
  Pace pace;
  std::string root_url;
  bool unmatched_get_default_reply = false;
  bool unmatched_are_allowed = false;
  std::optional<Duration> stall_guard;
  std::function<void(const Exchange&)> on_exchange;
  std::function<void(const ConnectionHit&)> on_connection_hit;
};

/// The gateway's behaviour behind its socket: judges each request in the documented order of checks, answers it, and
/// keeps the record.
class Service {
 public:
  Service(ServiceSettings settings, Clock clock, std::shared_ptr<KeyStore> keys, std::shared_ptr<Script> script,
          std::shared_ptr<JournalState> journal, std::shared_ptr<ConnectionFaults> connection_faults,
          std::shared_ptr<ChaosRules> chaos);

  /// One exchange, from the request read to the last byte of its answer. Throws nothing.
  void serve(Connection& connection, IncomingRequest incoming, std::size_t position) noexcept;
  /// Records that a fault strikes a connection, and lets the test know.
  void note_hit(Connection& connection, const ConnectionFault& fault);

  ForcedFailures& failures() { return failures_; }
  ConnectionFaults& connection_faults() { return *connection_faults_; }
  Operations& operations() { return operations_; }
  JournalState& journal() { return *journal_; }
  const Clock& clock() const { return clock_; }
  void set_root_url(std::string root_url) { settings_.root_url = std::move(root_url); }
  /// Forgets stubs, forced failures, chaos, faults of connections, the journal, and how often each request came.
  void reset();

 private:
  /// What is to be sent, decided.
  struct Answer {
    Decision decision;
    int status = 200;
    std::string content_type = "application/json";
    Headers headers;
    std::string body;
    std::shared_ptr<const Reply> reply;    // of a stub or the default: pace, faults, dialect
    std::optional<Completion> completion;  // of a streamed chat answer
    std::size_t token_count = 0;           // of a plain one: its content deltas
    std::size_t chunk_count = 0;           // of a streamed one: its chunks, once it is delivered
    std::string unusual_finish;            // finish reasons other than stop and tool_calls
    PaceSchedule pace;
    bool stream = false;
    std::shared_ptr<StubState> stub;
    StubState::Use use;  // of the stub
    std::string error_code;
    std::string refusal;                 // the message of a failure of the documented rules
    std::vector<ChaosRules::Hit> chaos;  // that is applied
    std::size_t scripted_faults = 0;     // those of the reply that come before those of chaos
    std::string interim;                 // responses of chaos and of the reply in front of the answer
  };
  struct Asked;  // a request under judgement

  /// `published` is set as soon as the journal has the record.
  void answer_and_record(Connection& connection, IncomingRequest& incoming, std::size_t position,
                         std::shared_ptr<ExchangeRecord>& published);
  Answer decide(Asked& asked);
  Answer answer_chat(Asked& asked);
  /// What a failure of chaos, a stub or the default reply says, with what of chaos can happen to it. Without a reply
  /// when the request is refused or the answer fails. Throws RequestError.
  Answer answer_from_script(Asked& asked, const ChatCall& call, const std::vector<ChaosRules::Hit>& hits);
  /// The rules of chaos that strike a request; nothing when a matcher threw, which `failed` then answers. Runs the
  /// tester's functions.
  std::optional<std::vector<ChaosRules::Hit>> strike(Asked& asked, const ChatCall& call, Answer& failed) const;
  /// Does to the reply what of chaos it can suffer.
  static void apply_chaos(const std::vector<ChaosRules::Hit>& hits, Answer& answer);
  /// The answer of a request that no stub answers, or whose stub refuses it.
  Answer refuse(Asked& asked, const Script::Choice& choice, const ChatCall& call) const;
  /// Notes what a stub's request is not and should be. Runs the tester's functions.
  void validate(Asked& asked, Script::Choice& choice, const ChatCall& call) const;
  /// Decides when the tokens of a scripted reply leave.
  PaceSchedule schedule(const Asked& asked, const Pace& pace);
  Answer answer_models(const Asked& asked) const;
  Answer answer_model(Asked& asked) const;
  Answer answer_mounted(Asked& asked) const;
  Answer fail(const Asked& asked, const Failure& failure, Decision::Kind kind) const;
  /// A function of the tester's threw.
  Answer callback_failed(Asked& asked, const std::string& what) const;
  /// The gateway could not make an answer for another reason.
  Answer answer_failed(Asked& asked, const std::string& reason) const;
  Answer internal_error(Asked& asked, Decision::Kind decision, Problem::Kind kind, const char* message,
                        const std::string& reason) const;
  const Model* find_model(const std::string& id) const;
  void add_profile_headers(const Asked& asked, Answer& answer);
  /// Notes what of the script a delivery did not come to.
  void report_delivery(ExchangeRecord& record, Answer& answer, const Delivery& delivery, Delivery::Result result,
                       bool is_guard_spent);
  Outcome::Kind deliver(Connection& connection, const IncomingRequest& incoming, Asked& asked, Answer& answer,
                        ExchangeRecord& record);

  ServiceSettings settings_;
  Clock clock_;
  std::shared_ptr<KeyStore> keys_;
  std::shared_ptr<Script> script_;
  std::shared_ptr<JournalState> journal_;
  std::shared_ptr<ConnectionFaults> connection_faults_;
  std::shared_ptr<ChaosRules> chaos_;
  ForcedFailures failures_;
  Operations operations_;
  Occurrences occurrences_;
  Tokens tokens_;
  std::int64_t started_;  // Unix seconds: when the models were created, as the list says
};

}  // namespace detail
}  // namespace mock_gateway
