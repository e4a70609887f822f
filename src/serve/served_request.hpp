#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../answer/completion.hpp"
#include "../core/duration.hpp"
#include "../core/timeline.hpp"
#include "../delivery/pace_schedule.hpp"
#include "../evidence/record.hpp"
#include "../http/connection.hpp"
#include "../http/request_reader.hpp"
#include "../keys/key_store.hpp"
#include "../model/failure.hpp"
#include "../model/profile.hpp"
#include "../model/reply.hpp"
#include "../request/chat_request.hpp"
#include "../request/embedding_request.hpp"
#include "../script/chaos_rules.hpp"
#include "../script/script.hpp"
#include "gateway_state.hpp"
#include "operations.hpp"

namespace mock_gateway::detail {

/// How an answer leaves. By default at once and whole.
struct DeliveryPlan {
  /// Says the faults, the holds and the dialect; null: none.
  std::shared_ptr<const Reply> reply;
  /// The rules of chaos that are applied to the reply.
  std::vector<ChaosRules::Hit> chaos;
  /// How many of the reply's faults were scripted, where there is chaos. The faults of chaos follow the scripted ones.
  std::size_t scripted_faults = 0;
  /// Interim responses in front of the answer.
  std::string interim;
  PaceSchedule pace;
  /// When the pace begins; nothing: when the request was complete.
  std::optional<TimePoint> start;
  bool stream = false;
  /// What the events of a streamed completion are made from.
  std::optional<Completion> completion;
  /// The content deltas of a plain completion, which the pace counts.
  std::size_t token_count = 0;
  /// What a completion has that the simplest has not, once it was sent whole: "finish_reason length was sent".
  std::string unusual;
};

/// The answer to one request. There is one for each request: the judge makes it and changes it in place, the runner
/// delivers it.
struct Answer {
  Decision decision;
  int status = 200;
  std::string content_type = "application/json";
  wire::Headers headers;
  std::string body;
  /// The code of a failure.
  std::string error_code;
  /// The message of a failure of the documented rules.
  std::string refusal;
  /// The stub that answers; null when none does.
  std::shared_ptr<StubState> stub;
  StubState::Use use;
  /// What the request has taken of limits of tokens; null where there are none.
  std::unique_ptr<TokenUse> tokens;
  DeliveryPlan delivery;

  /// Status, headers and body become those of a failure at that time. The rest stays.
  void become(const Failure& failure, Profile profile, TimePoint now);
  /// The answer becomes the failure, decided as `kind`. What a reply gave to it is dropped; the stub stays.
  void fail(const Failure& failure, Decision::Kind kind, Profile profile, TimePoint now);
};

/// A chat request that waits for the test's reply.
struct AskedChat;

/// One request that is being served: what is known of it, and the answer that is made. Each step of serving gets it.
struct ServedRequest {
  ServedRequest(GatewayState& its_gateway, Connection& its_connection, const IncomingRequest& its_incoming,
                const ReceivedRequest& its_request, const KeyStore::Presented& its_presented, Timeline& its_timeline,
                Answer& its_answer)
      : gateway(its_gateway),
        connection(its_connection),
        incoming(its_incoming),
        request(its_request),
        presented(its_presented),
        timeline(its_timeline),
        answer(its_answer) {}

  GatewayState& gateway;
  Connection& connection;
  const IncomingRequest& incoming;  // without the request itself
  const ReceivedRequest& request;   // keys are masked
  const KeyStore::Presented& presented;
  Timeline& timeline;

  Answer& answer;
  Route route;
  /// Set once the body is a valid chat request.
  std::optional<ChatRequest> chat;
  /// What the review has to say of it.
  std::vector<Finding> findings;
  /// Tells apart what chat requests ask for, and gateways of different seeds.
  std::uint64_t fingerprint = 0;
  /// The id that was reserved for its exchange; 0: none.
  std::uint64_t exchange = 0;
  /// Whether there were rules of chaos that could strike it.
  bool under_chaos = false;
  /// What verify() has to report of it.
  std::vector<RecordedProblem> problems;
  /// The stubs that came closest to a request that none answers.
  std::vector<NearMiss> near_misses;
  /// Not null while the stub that was chosen asks the test for its reply.
  std::shared_ptr<AskedChat> asked;

  // Each of these functions answers, and returns true like a check that has answered.
  bool fail(const Failure& failure, Decision::Kind kind);
  /// Refuses by a failure of the documented rules, in place of whatever was answered so far.
  bool reject(const Failure& failure);
  /// A function of the tester's threw.
  bool callback_failed(const std::string& what);
  /// The gateway could not make an answer for another reason.
  bool answer_failed(const std::string& reason);
  /// The test was asked for the reply, and gave none in time.
  bool never_replied(const std::string& what);

 private:
  bool internal_error(Decision::Kind decision, Problem::Kind kind, const Failure& error, const std::string& reason);
};

// The steps that make the answer, each in the .cpp that the comment names.

// judge.cpp

/// Makes the answer to a request: runs the documented checks in their order, of which the first that answers decides,
/// and then the operation that the request asks for. What takes part of the test's (forced failures, rate limits, a
/// stub's sequence) counts the request. Runs the tester's functions; what they throw is answered.
///
/// Returns whether there is an answer. Else the test is asked for it: the connection knows when this is to be called
/// again, and then goes on there.
bool judge(ServedRequest& served);

/// Why a request is refused whatever its body holds, if it is, for its key, its path, its method or the type of its
/// body. Counts nothing, and runs nothing of the test's.
std::optional<Failure> refusal_of_head(const GatewayState& gateway, const IncomingRequest& head);

// chat_judge.cpp

/// Makes the answer to a chat request that has passed the checks of every request. Checks in the documented order:
/// content type, body, model, failures forced for the model, limits of tokens; then chaos and the script answer. Throws
/// RequestError for a body that is to be refused, and for a schema or grammar of which the default reply can make no
/// instance. Where the test is asked for the reply, there is no answer yet.
void judge_chat(ServedRequest& served);

/// Goes on with a chat request for which the test is asked, if it has replied.
void judge_asked(ServedRequest& served);

/// Tells apart what chat requests ask for, and gateways of different seeds.
std::uint64_t fingerprint_of(const GatewayState& gateway, const ChatRequest& chat);

// limits.cpp

// Each of the first three counts the request against limits, and returns whether it has refused it.

bool take_request(ServedRequest& served);
/// Runs the tester's tokenizer, which may throw.
bool take_tokens_of_chat(ServedRequest& served);
bool take_tokens_of_embeddings(ServedRequest& served, const EmbeddingRequest& request);
/// The answer keeps the tokens of its usage.
void keep_tokens(Answer& answer, const Usage& usage);

// reply_answer.cpp

/// Makes the answer to a chat request from the reply in its delivery plan, struck by what of chaos can happen to it:
/// status, headers and body or events, and when they leave. Runs the tester's tokenizer, which may throw.
void answer_with_reply(ServedRequest& served, const std::vector<ChaosRules::Hit>& hits);

/// Strikes a failure whose status, headers and body stay: adds to the reply in the delivery plan what of chaos can
/// happen to it, and decides when it leaves.
void strike_delivery(ServedRequest& served, const std::vector<ChaosRules::Hit>& hits);

// cross_origin.cpp

/// The request's Origin, where Options::cors names it.
std::optional<std::string> named_origin(const ServeSettings& settings, const ReceivedRequest& request);

/// Answers what a browser asks before a request from a page of a named origin. Returns whether it was that.
bool answer_preflight(ServedRequest& served);

/// Lets a page of a named origin read the answer.
void add_cross_origin_headers(ServedRequest& served);

// profile_headers.cpp

/// "1h0m0s", "6m0s", "8.64s", "6ms": how OpenAI writes the time until a limit resets. Rounded up, to milliseconds below
/// a minute and to seconds from there on: a client that waits so long must not be a moment too early.
std::string reset_time(Duration left);

/// Adds to the answer the headers that the profile has on every answer, except those that the answer has already. The
/// documented profile has none; OpenAI's has a request id, the time that the request took, and what is left of the
/// key's limits.
void add_profile_headers(ServedRequest& served);

}  // namespace mock_gateway::detail
