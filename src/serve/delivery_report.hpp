#pragma once

#include <cstddef>

#include "../delivery/delivery.hpp"
#include "../evidence/record.hpp"
#include "answer.hpp"

namespace mock_gateway {
namespace detail {

/// How the delivery of an answer ended.
struct DeliveryEnd {
  Delivery::Result result = Delivery::Result::completed;
  /// How many chunks a streamed completion had.
  std::size_t chunks = 0;
  /// A gate was not opened, or a manual clock not advanced, in time.
  bool is_guard_spent = false;
};

/// Notes in the record what of its script a reply came to, and reports to verify() what it did not come to, and the
/// guards that ended a wait.
void report_delivery(JournalState& journal, ExchangeRecord& record, const DeliveryPlan& plan, const Delivery& delivery,
                     const DeliveryEnd& end);

}  // namespace detail
}  // namespace mock_gateway
