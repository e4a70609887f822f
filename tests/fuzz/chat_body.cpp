// Fuzzes bodies of chat requests, with several profiles and enabled extensions. An invalid request must get a 400 with
// a reason, a valid request its reply. If an input starts with a digit, the digit selects profile and extensions.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "finding.hpp"
#include "model/request_error.hpp"
#include "request/chat_parser.hpp"
#include "request/chat_request.hpp"

namespace fuzz {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::RawConnection;
using test_support::Response;

constexpr auto patience = 20000ms;
constexpr double parse_limit_seconds = 3;
constexpr std::int64_t max_n = 8;

/// A gateway with one profile and its extensions, and one open connection to it.
class ConnectedGateway {
 public:
  ConnectedGateway(Profile profile, Acceptance acceptance)
      : acceptance_(acceptance),
        limits_{max_n, profile},
        gateway_(Options{}
                     .profile(profile)
                     .acceptance(acceptance)
                     .clock(InstantClock{})
                     .max_n(max_n)
                     .journal_limits(64, std::size_t{4} << 20)
                     .verify_on_destruction(false)) {}

  /// Returns whether the parser accepts the body. If not, checks that the parser gives a reason.
  bool accepts(std::string_view body) const {
    const TimeLimit limit(parse_limit_seconds, "reading a body");
    try {
      detail::parse_chat_request(body, acceptance_, limits_);
      return true;
    } catch (const detail::RequestError& error) {
      const Failure& failure = error.failure;
      require(failure.status() == 400, "a body is refused with status " + std::to_string(failure.status()));
      require(detail::text::is_valid_utf8(failure.message()), "a reason is not UTF-8: " + failure.message());
      require(detail::text::is_valid_utf8(failure.param()), "a path is not UTF-8: " + failure.param());
      return false;
    }
  }
  Response post(std::string_view body) {
    require(connection_.send(http_.format("POST", test_support::chat_path, std::string(body)), patience),
            "the gateway closed the connection");
    return connection_.receive_response(patience);
  }

 private:
  Acceptance acceptance_;
  detail::ChatLimits limits_;
  Gateway gateway_;
  test_support::Http http_{gateway_};
  RawConnection connection_{gateway_};
};

class Target {
 public:
  void attack(std::string_view input) {
    std::size_t chosen = 0;
    if (!input.empty() && input.front() >= '0' && input.front() <= '9') {
      chosen = static_cast<std::size_t>(input.front() - '0') % gateways_.size();
      input.remove_prefix(1);
    }
    ConnectedGateway& gateway = gateways_[chosen];
    const bool valid = gateway.accepts(input);
    const Response response = gateway.post(input);
    require_answer(response, false);
    // A valid request may get an error too, for example for an unknown model or an impossible schema.
    if (!valid) require(response.status == 400, "an invalid request got the answer " + response.raw);
    if (response.status == 200) require(valid, "an invalid request got status 200");
  }

 private:
  std::array<ConnectedGateway, 5> gateways_{ConnectedGateway{Profile::documented, Acceptance{}},
                                            ConnectedGateway{Profile::openai, Acceptance{}},
                                            ConnectedGateway{Profile::dashscope, Acceptance::strict()},
                                            ConnectedGateway{Profile::deepseek, Acceptance::lenient()},
                                            ConnectedGateway{Profile::documented, Acceptance::lenient()}};
};

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::Target target;
  target.attack({reinterpret_cast<const char*>(data), size});
  return 0;
}
