#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "../answer/completion_events.hpp"
#include "../answer/events.hpp"
#include "../delivery/delivery.hpp"
#include "../evidence/record.hpp"
#include "../http/connection.hpp"
#include "../http/request_reader.hpp"
#include "../http/response.hpp"
#include "../keys/key_store.hpp"
#include "gateway_state.hpp"
#include "served_request.hpp"

namespace mock_gateway::detail {

/// One exchange, from the read request to the last byte of its answer. Records the request, has it judged, delivers the
/// answer and reports its end. Data for the judgement is freed before the delivery, because thousands of exchanges may
/// wait.
class RunningExchange {
 public:
  RunningExchange(GatewayState& gateway, Connection& connection);
  ~RunningExchange();

  /// Begins the exchange; called once, first. `position` is the request's number on its connection, from 1.
  void begin(IncomingRequest incoming, std::size_t position) noexcept;
  /// Continues the exchange. Returns whether it has ended; if not, the connection knows when to call it again.
  bool advance() noexcept;

 private:
  struct Judgement;

  /// Records the request with masked keys.
  void record_request();
  /// Has the request judged. Returns whether there is an answer, which is then published and can be delivered.
  bool judge_and_publish();
  void record_answer(ServedRequest& served);
  void begin_delivery(BodyFraming framing);
  Outcome::Kind end_delivery(Delivery::Result result);
  void end(Delivery::Result result);
  /// Releases the stub and the place among concurrent requests, and returns unused tokens to their limits.
  void give_back();
  /// Owes the reply to the next equal request, because a chaos fault breaks it.
  void owe(const Effect& effect);
  /// Uses up a reply that only stalled, and arrives whole.
  void settle_owed();
  void give_up(const std::exception& why) noexcept;
  /// Calls Options::on_exchange.
  void notify() const;

  GatewayState& gateway_;
  Connection& connection_;
  std::unique_ptr<Timeline> timeline_;
  std::shared_ptr<ExchangeRecord> record_;
  bool is_published_ = false;  // whether the journal has the record
  std::unique_ptr<Judgement> judgement_;
  Answer answer_;
  bool is_owed_ = false;
  bool is_broken_ = false;  // by a chaos fault other than a stall
  std::string head_;
  std::unique_ptr<ReplyData> plain_;  // default data, for answers without a reply
  std::unique_ptr<EventSource> events_;
  CompletionEvents* chunks_ = nullptr;  // events_ of a completion, or null
  std::optional<Delivery> delivery_;    // empty before the answer and after give_up()
};

}  // namespace mock_gateway::detail
