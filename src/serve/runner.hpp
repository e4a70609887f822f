#pragma once

#include <cstddef>
#include <memory>

#include "../delivery/delivery.hpp"
#include "../evidence/record.hpp"
#include "../http/connection.hpp"
#include "../http/request_reader.hpp"
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

/// Runs exchanges: records the request, has it judged, delivers the answer, and reports how that ended. Used by the
/// threads of all connections.
class Runner {
 public:
  explicit Runner(GatewayState& gateway) : gateway_(gateway) {}

  /// One exchange, from the request that was read to the last byte of its answer. `position` is the request's on its
  /// connection, from 1. Throws nothing.
  void run(Connection& connection, IncomingRequest incoming, std::size_t position) noexcept;

 private:
  /// `published` is set as soon as the journal has the record.
  void exchange(Connection& connection, IncomingRequest& incoming, std::size_t position,
                std::shared_ptr<ExchangeRecord>& published);
  /// Writes down what arrived. Takes it out of `incoming`, and masks its keys.
  void record_request(ExchangeRecord& record, const Connection& connection, IncomingRequest& incoming,
                      const KeyStore::Presented& presented) const;
  /// Writes down what is answered, and masks keys in it.
  void record_answer(ExchangeRecord& record, ServedRequest& served) const;
  Outcome::Kind deliver(ServedRequest& served, ExchangeRecord& record) const;
  /// Calls Options::on_exchange.
  void notify(Connection& connection, const std::shared_ptr<ExchangeRecord>& record) const;

  GatewayState& gateway_;
};

}  // namespace mock_gateway::detail
