#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../core/timeline.hpp"
#include "../evidence/record.hpp"
#include "../http/connection.hpp"
#include "../http/request_reader.hpp"
#include "../keys/key_store.hpp"
#include "../model/chat_request.hpp"
#include "answer.hpp"
#include "gateway_state.hpp"
#include "operations.hpp"

namespace mock_gateway {
namespace detail {

/// One request under judgement: what is known of it, and the answer that is made.
struct Judgement {
  Judgement(GatewayState& its_gateway, Connection& its_connection, const IncomingRequest& its_incoming,
            const ReceivedRequest& its_request, const KeyStore::Presented& its_presented, Timeline& its_timeline)
      : gateway(its_gateway),
        connection(its_connection),
        incoming(its_incoming),
        request(its_request),
        presented(its_presented),
        timeline(its_timeline) {}

  GatewayState& gateway;
  Connection& connection;
  const IncomingRequest& incoming;  // without the request itself
  const ReceivedRequest& request;   // keys are masked
  const KeyStore::Presented& presented;
  Timeline& timeline;

  Answer answer;
  Route route;
  /// Set once the body is a valid chat request.
  std::optional<ChatRequest> chat;
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

  // Each of these answers, and returns true, as a check does that has answered.
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

}  // namespace detail
}  // namespace mock_gateway
