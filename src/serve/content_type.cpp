// Which content types are accepted; the text of 415.

#include "content_type.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "../core/json_reader.hpp"
#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {

namespace content_type {

enum class Form { json, form, other };

/// What the Content-Type says, so far as the acceptance takes it.
Form form_of(const ReceivedRequest& request, const Acceptance& acceptance) {
  const std::optional<std::string> sent = request.headers.find("Content-Type");
  if (!sent || sent->empty() || acceptance.anything_with_model_and_messages()) return Form::json;
  const std::size_t semicolon = sent->find(';');
  const std::string_view type = text::trim(std::string_view(*sent).substr(0, semicolon));
  if (text::equals_ignoring_case(type, "application/json"))
    return semicolon == std::string::npos || acceptance.content_type_parameters() ? Form::json : Form::other;
  const bool is_form = text::equals_ignoring_case(type, "application/x-www-form-urlencoded");
  return is_form && acceptance.json_as_form() ? Form::form : Form::other;
}

}  // namespace content_type

bool may_hold_json(const ReceivedRequest& request, const Acceptance& acceptance) {
  return content_type::form_of(request, acceptance) != content_type::Form::other;
}

bool allows_json(const ReceivedRequest& request, const Acceptance& acceptance) {
  const content_type::Form form = content_type::form_of(request, acceptance);
  return form == content_type::Form::json ||
         (form == content_type::Form::form && !read_json_if_valid(request.body).is_discarded());
}

Failure unsupported_content_type(const ReceivedRequest& request) {
  const std::string sent = text::as_utf8(request.headers.find("Content-Type").value_or(""));
  return failure(415, "unsupported_content_type",
                 "Content-Type: expected application/json, got \"" + text::excerpt(sent, 100) + "\"");
}

}  // namespace detail
}  // namespace mock_gateway
