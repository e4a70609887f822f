#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../answer/completion.hpp"
#include "../core/duration.hpp"
#include "../core/random.hpp"
#include "../core/timeline.hpp"
#include "../delivery/pace_schedule.hpp"
#include "../evidence/record.hpp"
#include "../http/connection.hpp"
#include "../http/request_reader.hpp"
#include "../keys/key_store.hpp"
#include "../model/failure.hpp"
#include "../model/reply.hpp"
#include "../request/chat_request.hpp"
#include "../request/embedding_request.hpp"
#include "../script/chaos_rules.hpp"
#include "../script/script.hpp"
#include "gateway_state.hpp"
#include "operations.hpp"

namespace mock_gateway::detail {

/// How an answer is sent. Default: at once and completely.
struct DeliveryPlan {
  /// The reply with the faults, the holds and the dialect, or null.
  std::shared_ptr<const Reply> reply;
  std::vector<ChaosRules::Hit> chaos;
  /// With chaos, the number of scripted faults of the reply. The chaos faults follow them.
  std::size_t scripted_faults = 0;
  std::string interim;
  PaceSchedule pace;
  /// The start of the pace. Default: the time when the request was complete.
  std::optional<TimePoint> start;
  bool stream = false;
  std::optional<Completion> completion;
  /// The number of content deltas of a plain completion, for the pace.
  std::size_t token_count = 0;
  /// Unusual parts of a completion that is sent completely: "finish_reason length was sent".
  std::string unusual;
};

/// The answer to one request. The judge makes and changes it in place, the runner delivers it.
struct Answer {
  Decision decision;
  int status = 200;
  std::string content_type = "application/json";
  wire::Headers headers;
  std::string body;
  std::string error_code;
  std::string request_id;
  /// The message of a documented rejection.
  std::string refusal;
  std::shared_ptr<StubState> stub;
  std::size_t stub_call = 0;  // from 0
  StubState::Use use;
  /// A hash that a retry with an equal body and key has too; 0 if no reply can be owed to it.
  std::uint64_t identity = 0;
  /// The tokens taken from token limits; null without limits.
  std::unique_ptr<LimitUse> tokens;
  /// The request's place among the concurrent ones; null without a limit.
  std::unique_ptr<LimitUse> place;
  /// Whether a limit of concurrent requests refused it.
  bool exceeds_concurrency = false;
  DeliveryPlan delivery;

  /// Resets all members except `place`.
  void restart();
};

/// A chat request that waits for the test's reply.
struct AskedChat;

/// A request that is being served, with its answer. Every step of serving gets it.
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
  const IncomingRequest& incoming;  // without its request, which is in `request`
  const ReceivedRequest& request;   // keys are masked
  const KeyStore::Presented& presented;
  Timeline& timeline;

  Answer& answer;
  Route route;
  /// Set once the body is a valid chat request.
  std::optional<ChatRequest> chat;
  std::vector<Finding> findings;
  /// A hash of the content of a chat request and the gateway's seed.
  std::uint64_t fingerprint = 0;
  /// Whether it gets the owed reply of an earlier request.
  bool repeats = false;
  /// The id reserved for the request's exchange; 0 if none.
  std::uint64_t exchange = 0;
  bool under_chaos = false;
  std::vector<RecordedProblem> problems;
  std::vector<NearMiss> near_misses;
  /// Set while the chosen stub waits for the test's reply.
  std::shared_ptr<AskedChat> asked;

  /// Returns the answer's id, which only depends on the seed and the request. Empty if the profile has none.
  const std::string& request_id();
  /// Sets status, headers and body of the answer to those of a failure. `scripted`: the test sent it.
  void become(const Failure& failure, bool scripted);

  // Each of these functions answers the request and returns true, so that a check can return the result.
  /// Turns the answer into the failure. Drops what a reply has set, but keeps the stub.
  bool fail(const Failure& failure, Decision::Kind kind);
  /// Refuses with a documented failure, which replaces any earlier answer.
  bool reject(const Failure& failure);
  bool callback_failed(const std::string& what);
  /// Answers 500 because the gateway could not make an answer.
  bool answer_failed(const std::string& reason);
  bool never_replied(const std::string& what);

 private:
  bool internal_error(Decision::Kind decision, Problem::Kind kind, const Failure& error, const std::string& reason);

  std::string request_id_;
};

// The steps that make the answer, each with its .cpp file.

// judge.cpp

/// Makes the answer to a request. Runs the documented checks in order. If none answers, the requested operation
/// answers. Counts the request for forced failures, rate limits and a stub's sequence. Runs the test's functions and
/// answers their exceptions with 500.
///
/// Returns whether there is an answer. If not, the request waits for the test's reply. The connection's wait ends when
/// this function must be called again.
bool judge(ServedRequest& served);

/// Whether this is the program's GET or HEAD /health: neither an operation nor a forced failure is for it.
bool is_health_check(const GatewayState& gateway, const IncomingRequest& incoming);

/// Returns the refusal, if any, that does not depend on the body: because of the key, the path, the method or the
/// content type. Counts nothing and runs no function of the test.
std::optional<Failure> refusal_of_head(const GatewayState& gateway, const IncomingRequest& head);

// request_checks.cpp

/// Whether the Content-Type allows reading the body as JSON. A missing one does.
bool allows_json(const ReceivedRequest& request, const Acceptance& acceptance);
/// Whether allows_json() may become true after the body is read.
bool may_hold_json(const ReceivedRequest& request, const Acceptance& acceptance);
Failure unsupported_content_type(const ReceivedRequest& request);

/// Whether a key may use a model, which need not exist.
bool may_use(const ApiKey& key, const std::string& model);

Failure model_not_found(const std::string& model, const GatewayState& gateway, const ApiKey& key);

/// Refuses a model: 403 if the key may not use it, otherwise 404 if it is not served. Returns whether it refused.
bool refuse_model(ServedRequest& served, const std::string& model);

/// Returns the 400 for a chat whose prompt and max_tokens exceed its model's context window. Runs the test's tokenizer.
std::optional<Failure> context_length_exceeded(const GatewayState& gateway, const ChatRequest& chat);
/// Refuses such a chat. Returns whether it refused.
bool refuse_length(ServedRequest& served);

// chat_judge.cpp

/// Answers a chat request that has passed the checks of every request. Checks in the documented order: content type,
/// body, model, its context window, failures forced for the model, token limits; then chaos and the script answer.
/// Throws RequestError for an invalid body, and for a schema or grammar that the default reply cannot satisfy. Makes no
/// answer yet if the stub asks the test for the reply.
void judge_chat(ServedRequest& served);

/// Continues a chat request that waits for the test's reply, if the wait is over.
void judge_asked(ServedRequest& served);

std::uint64_t fingerprint_of(const GatewayState& gateway, const ChatRequest& chat);

// limits.cpp

// The first three functions count the request against limits, and return whether they refused it.

bool take_request(ServedRequest& served);
/// Runs the test's tokenizer, which may throw.
bool take_tokens_of_chat(ServedRequest& served);
bool take_tokens_of_embeddings(ServedRequest& served, const EmbeddingRequest& request);
/// Keeps the tokens that the answer's usage counts, and gives the others back.
void keep_tokens(Answer& answer, const TokenUsage& usage);

// reply_answer.cpp

/// Makes the answer to a chat request: status, headers, body or events, and times. Uses the reply in its delivery plan
/// and the chaos possible for it. Runs the test's tokenizer; its exception becomes a 500.
void answer_with_reply(ServedRequest& served, const std::vector<ChaosRules::Hit>& hits);

/// Applies chaos to a failure: adds the possible faults to its delivery plan and decides when it is sent.
void strike_delivery(ServedRequest& served, const std::vector<ChaosRules::Hit>& hits);

// answer_headers.cpp

/// Returns the request's Origin if Options::cors allows it.
std::optional<std::string> named_origin(const ServeSettings& settings, const ReceivedRequest& request);

/// Answers a browser's preflight from an allowed origin. Returns whether it was one.
bool answer_preflight(ServedRequest& served);

/// Allows a page of an allowed origin to read the answer.
void add_cross_origin_headers(ServedRequest& served);

/// Returns the time until a limit resets in OpenAI's format: "1h0m0s", "6m0s", "8.64s", "6ms". Rounded up, to
/// milliseconds below a minute and to seconds above, so that a client that waits is not early.
std::string reset_time(Duration left);

/// Adds the headers that the profile has on every answer, except those already set. Sets the answer's request id.
void add_profile_headers(ServedRequest& served);

/// Returns an id of this form: `*` is a letter or digit, `#` a hexadecimal digit, `@` the time in Unix seconds.
std::string make_id(std::string_view form, Random random, TimePoint now);

}  // namespace mock_gateway::detail
