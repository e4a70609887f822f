// Fuzzes JSON Schemas. An unsupported schema must be rejected with a reason. For any other schema, the library must
// generate the same instance each time. Its checker must accept the instance, and the gateway must send an instance.
// Each step has a time limit.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "answer/schema_checker.hpp"
#include "core/random.hpp"
#include "finding.hpp"

namespace fuzz {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::RawConnection;
using test_support::Response;

constexpr auto patience = 20000ms;
constexpr double seconds = 5;

class Target {
 public:
  void attack(std::string_view input) {
    const Json schema = Json::parse(input, nullptr, false);
    if (schema.is_discarded() || !(schema.is_object() || schema.is_boolean())) return;
    const std::optional<Json> made = instance(schema);
    if (made) {
      require(instance(schema) == made, "the second instance differs: " + made->dump());
      require(accepts(schema, *made), "the checker rejects the instance: " + made->dump());
    }
    if (schema.is_object() && ++attacks_ % 8 == 0) ask(schema);
  }

 private:
  static std::optional<Json> instance(const Json& schema) {
    const TimeLimit limit(seconds, "making an instance");
    try {
      detail::Random random(1);
      detail::schema::Budget budget(detail::schema::request_work_limit);
      return Json::parse(detail::schema::instance_of(schema, random, budget));
    } catch (const detail::schema::Unsupported& unsupported) {
      require(detail::text::is_valid_utf8(unsupported.reason), "a reason is not UTF-8: " + unsupported.reason);
      return std::nullopt;
    }
  }

  static bool accepts(const Json& schema, const Json& value) {
    const TimeLimit limit(seconds, "checking an instance");
    try {
      detail::schema::Budget budget;
      return detail::schema::Checker(schema, budget).validity(schema, value) == detail::schema::Validity::yes;
    } catch (const detail::schema::Unsupported& unsupported) {
      found("the checker refuses a schema that has an instance: " + unsupported.reason);
    }
  }

  /// Requests a reply for the schema from a gateway. The instance may differ, because the gateway uses other random
  /// numbers.
  void ask(const Json& schema) {
    const Json format{{"type", "json_schema"}, {"json_schema", {{"name", "fuzz"}, {"schema", schema}}}};
    require(connection_.send(http_.format_chat({{"response_format", format}}), patience), "connection was closed");
    const Response response = connection_.receive_response(patience);
    require_answer(response, false);
    if (response.status != 200) return;
    const Json value = Json::parse(response.text(), nullptr, false);
    require(!value.is_discarded() && accepts(schema, value), "the checker rejects the answer: " + response.text());
  }

  Gateway gateway_{
      Options{}.clock(InstantClock{}).journal_limits(64, std::size_t{4} << 20).verify_on_destruction(false)};
  test_support::Http http_{gateway_};
  RawConnection connection_{gateway_};
  std::size_t attacks_ = 0;
};

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::Target target;
  target.attack({reinterpret_cast<const char*>(data), size});
  return 0;
}
