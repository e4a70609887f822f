#include "content_type.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "../core/json_reader.hpp"
#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {

bool allows_json(const ReceivedRequest& request, const Acceptance& acceptance) {
  const std::optional<std::string> sent = request.headers.find("Content-Type");
  if (!sent || sent->empty() || acceptance.anything_with_model_and_messages()) return true;
  const std::size_t semicolon = sent->find(';');
  const std::string_view type = text::trim(std::string_view(*sent).substr(0, semicolon));
  if (text::equals_ignoring_case(type, "application/json"))
    return semicolon == std::string::npos || acceptance.content_type_parameters();
  return acceptance.json_as_form() && text::equals_ignoring_case(type, "application/x-www-form-urlencoded") &&
         !read_json_if_valid(request.body).is_discarded();
}

}  // namespace detail
}  // namespace mock_gateway
