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

/// How the delivery of an answer ended.
struct DeliveryEnd {
  Delivery::Result result = Delivery::Result::completed;
  /// How many chunks a streamed completion had.
  std::size_t chunks = 0;
  /// A gate was not opened, or a manual clock not advanced, in time.
  bool is_guard_spent = false;
};

/// Notes in the record to which parts of its script a reply came. Reports to verify() the parts to which it did not
/// come, and the guards that ended a wait.
void report_delivery(JournalState& journal, ExchangeRecord& record, const DeliveryPlan& plan, const Delivery& delivery,
                     const DeliveryEnd& end);

/// One exchange, from the request that was read to the last byte of its answer: records the request, has it judged,
/// delivers the answer, and reports how that ended. What is needed for the judgement alone is gone while the answer is
/// delivered: thousands may wait.
class RunningExchange {
 public:
  RunningExchange(GatewayState& gateway, Connection& connection);
  ~RunningExchange();

  /// To be called first, once. `position` is the request's on its connection, from 1.
  void begin(IncomingRequest incoming, std::size_t position) noexcept;
  /// Does what can be done now. False: the connection knows when to call this again. True: it has ended.
  bool go_on() noexcept;

 private:
  /// What is needed until there is an answer.
  struct Judgement;

  /// Writes down what arrived, and masks its keys.
  void record_request();
  /// Has the request judged. Returns whether there is an answer, which then is published, and can be delivered.
  bool judge_and_publish();
  /// Writes down what is answered, and masks keys in it.
  void record_answer(ServedRequest& served);
  void begin_delivery(BodyFraming framing);
  Outcome::Kind end_delivery(Delivery::Result result);
  void end(Delivery::Result result);
  /// Lets others have what the exchange has of the stub and of limits of tokens.
  void give_back();
  void give_up(const std::exception& why) noexcept;
  /// Calls Options::on_exchange.
  void notify() const;

  GatewayState& gateway_;
  Connection& connection_;
  std::unique_ptr<Timeline> timeline_;
  std::shared_ptr<ExchangeRecord> record_;
  bool is_published_ = false;  // the journal has the record
  std::unique_ptr<Judgement> judgement_;
  Answer answer_;
  std::string head_;
  std::unique_ptr<ReplyData> plain_;  // where no reply was made
  std::unique_ptr<EventSource> events_;
  CompletionEvents* chunks_ = nullptr;  // the same, of a completion
  std::optional<Delivery> delivery_;    // null: there is no answer yet, or it was given up
};

}  // namespace mock_gateway::detail
