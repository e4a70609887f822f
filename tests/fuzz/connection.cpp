// Fuzzes the bytes on a connection. For any bytes, the gateway must answer in HTTP or close the connection. It must
// record its response, hide its key, and keep serving other clients.

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "on_the_wire.hpp"

namespace fuzz {

class Target {
 public:
  void attack(std::string_view bytes) {
    gateway_.journal().clear();
    RawConnection connection(gateway_);
    // The gateway may close the connection before it has read all bytes, so sending may fail.
    connection.send(bytes, patience);
    connection.shutdown_write();
    RawConnection::Received received = connection.receive_all(patience);
    require(received.end != End::open, "the gateway neither answers nor closes the connection: " + received.bytes);
    require_no_secret(received.bytes, "an answer");
    require_answers(received.bytes);
    if (++attacks_ % 16 == 0) require_service();
  }

 private:
  /// Checks that the bytes are one response for each exchange in the journal, in order, and nothing else.
  void require_answers(std::string& bytes) {
    const std::vector<Exchange> exchanges = gateway_.journal().all();
    for (const Exchange& exchange : exchanges) {
      const bool to_head = exchange.method() == "HEAD";
      Response response = next(bytes, to_head);
      while (response.status == 100) response = next(bytes, to_head);
      require_answer(response, to_head);
      require(exchange.status() == response.status,
              "the journal has status " + std::to_string(exchange.status()) + " for " + response.raw);
      for (const std::string& text : {exchange.raw(), exchange.as_curl(), exchange.summary(), as_json(exchange).dump()})
        require_no_secret(text, "the journal");
    }
    require(bytes.empty(), "bytes without a request: " + bytes);
  }

  static Response next(std::string& bytes, bool to_head) {
    require(!bytes.empty(), "a request in the journal has no answer");
    try {
      test_support::detail::ResponseParser parser(to_head);
      parser.parse(bytes);
      return parser.finish(bytes, End::fin);
    } catch (const std::exception& exception) {
      found(exception.what());
    }
  }

  /// Checks that a client with an older connection is still served.
  void require_service() {
    require(bystander_.send(known_, patience), "the gateway closed another client's connection");
    const Response response = bystander_.receive_response(patience);
    require(response.complete && response.status == 200, "another client got " + response.raw);
    std::ostringstream verdicts;
    verdicts << gateway_.verify() << gateway_.review();
    require_no_secret(verdicts.str(), "a verdict");
  }

  Gateway gateway_{Options{}
                       .api_key(std::string(secret))
                       .clock(InstantClock{})
                       .max_head(2048)
                       .max_body(8192)
                       .journal_limits(200, std::size_t{4} << 20)
                       .verify_on_destruction(false)};
  RawConnection bystander_{gateway_};
  std::string known_ = test_support::Http(gateway_).format_chat();
  std::size_t attacks_ = 0;
};

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::Target target;
  target.attack({reinterpret_cast<const char*>(data), size});
  return 0;
}
