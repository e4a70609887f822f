// Shared checks that throw `GatewayError`: header names and values, UTF-8, counts from 1.

#include "checks.hpp"

#include "../core/error.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {

void require_header_field(const std::string& name, const std::string& value) {
  if (!text::is_token(name)) {
    throw GatewayError("\"" + text::excerpt(name, 60) +
                       "\" is not a header name: it must consist of letters, digits and !#$%&'*+-.^_`|~");
  }
  if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    throw GatewayError("the value of header \"" + text::excerpt(name, 60) +
                       "\" holds CR, LF or NUL, which would split the response; leave it out");
  }
}

std::string require_utf8(std::string value, std::string_view what) {
  const std::size_t valid = text::valid_utf8_prefix(value);
  if (valid != value.size()) {
    throw GatewayError("the " + std::string(what) + " is sent as JSON and must be UTF-8, but byte " +
                       std::to_string(valid + 1) + " is not");
  }
  return value;
}

std::size_t counted_from_one(std::size_t number, const char* function, const char* what) {
  if (number == 0) throw GatewayError(std::string(function) + ": " + what + " count from 1, but 0 was given");
  return number;
}

void refuse_moved_from(const char* type) {
  throw GatewayError(std::string("this ") + type + " was moved from and is empty; copy it if you need it again");
}

}  // namespace mock_gateway::detail
