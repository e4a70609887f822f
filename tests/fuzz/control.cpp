// Fuzzes requests of the control API. With the token, each request must get a response, and errors must have the
// documented form. Without the token, each request must be refused. The first line of an input is "METHOD TARGET", the
// rest is the body.

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "control/control_server.hpp"
#include "on_the_wire.hpp"
#include "serving.hpp"

namespace fuzz {

bool is_plain(std::string_view text) {
  for (const char c : text)
    if (c <= ' ' || c == '\x7f') return false;
  return true;
}

/// The gateway program, started within this process.
class Program {
 public:
  Program() {
    flags_.quiet = true;
    endpoint::ControlSettings settings;
    settings.token = std::string(secret);
    settings.instance = "fuzz";
    const endpoint::RunIdentity identity{settings.instance, settings.token};
    serving_ = std::make_unique<endpoint::Serving>(flags_, 0, false, identity);
    control_ = std::make_unique<endpoint::ControlServer>(*serving_, settings);
    host_ = control_->url().substr(control_->url().rfind('/') + 1);
  }

  /// Sends a request. Keeps the connection open until the program ends it, because connecting takes longer than most
  /// requests.
  Response send(const std::string& line, std::string_view body, bool with_token) {
    if (!connection_) connection_.emplace("127.0.0.1", std::stoi(host_.substr(host_.find(':') + 1)));
    std::string request = line + " HTTP/1.1\r\nHost: " + host_ + "\r\n";
    if (with_token) request += "Authorization: Bearer " + std::string(secret) + "\r\n";
    request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
    connection_->send(request, patience);
    Response response = connection_->receive_response(patience, line.compare(0, 5, "HEAD ") == 0);
    if (!response.complete || response.header("Connection") == "close") connection_.reset();
    return response;
  }

 private:
  endpoint::Flags flags_;
  std::unique_ptr<endpoint::Serving> serving_;
  std::unique_ptr<endpoint::ControlServer> control_;
  std::string host_;
  std::optional<RawConnection> connection_;
};

void require_documented(const Response& response, bool to_head) {
  require(response.complete, "an incomplete response: " + response.raw);
  require(response.status != 500, "an internal error: " + response.raw);
  require_no_secret(response.raw, "an answer");
  // Searches only the head, because a body may quote a path with this text.
  require(response.head.find("Access-Control") == std::string::npos, "other origins may read this: " + response.raw);
  if (response.status < 400 || to_head) return;
  const Json error = Json::parse(response.body, nullptr, false);
  require(error.is_object() && error.size() == 3 && error.contains("code") && error["code"].is_string() &&
              error.contains("message") && error["message"].is_string() && !error["message"].empty() &&
              error.contains("problems") && error["problems"].is_array(),
          "an error that is none: " + response.raw);
}

void attack(std::string_view input) {
  if (input.find(secret) != std::string_view::npos) return;  // libFuzzer learns the secret from the comparison
  static std::unique_ptr<Program> program;
  static std::size_t attacks = 0;
  // Restarts the program now and then, because mounted objects accumulate.
  if (attacks++ % 500 == 0) program = std::make_unique<Program>();

  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string line(input.substr(0, end));
  const std::string_view body = input.substr(std::min(end + 1, input.size()));
  const std::size_t space = line.find(' ');
  if (space == std::string::npos || !is_plain(line.substr(0, space)) || !is_plain(line.substr(space + 1))) return;
  // Skips requests that wait. An escape in the query could also spell a wait.
  const std::string query = line.substr(std::min(line.find('?'), line.size()));
  if (query.find("wait") != std::string::npos || query.find("within") != std::string::npos ||
      query.find('%') != std::string::npos || line.find("/wait") != std::string::npos)
    return;

  const bool to_head = line.compare(0, 5, "HEAD ") == 0;
  require_documented(program->send(line, body, true), to_head);
  const Response outside = program->send(line, body, false);
  require_documented(outside, to_head);
  if (line.compare(space + 1, 8, "/control") == 0)
    require(outside.status >= 400, "a request without the token was answered: " + outside.raw);
}

}  // namespace fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // POST /stop sends this signal, for which libFuzzer would end the run, even if the signal is ignored. libFuzzer keeps
  // an existing handler, so this one does nothing.
  std::signal(SIGTERM, [](int) {});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::attack({reinterpret_cast<const char*>(data), size});
  return 0;
}
