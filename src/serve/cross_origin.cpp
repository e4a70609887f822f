// Allowed origins of browsers (CORS): the answer to a preflight, and the header fields of every answer.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "served_request.hpp"

namespace mock_gateway::detail {

std::optional<std::string> named_origin(const ServeSettings& settings, const ReceivedRequest& request) {
  std::optional<std::string> origin = request.headers.find("Origin");
  const std::vector<std::string>& named = settings.cors;
  const bool is_named = origin && (std::find(named.begin(), named.end(), *origin) != named.end() ||
                                   std::find(named.begin(), named.end(), "*") != named.end());
  return is_named ? origin : std::nullopt;
}

bool answer_preflight(ServedRequest& served) {
  const wire::Headers& sent = served.request.headers;
  const std::optional<std::string> method = sent.find("Access-Control-Request-Method");
  if (served.request.method != "OPTIONS" || !method || !named_origin(served.gateway.settings, served.request))
    return false;
  Answer& answer = served.answer;
  answer.decision = {Decision::Kind::preflight, *method};
  answer.status = 204;
  answer.content_type.clear();
  answer.headers.set("Access-Control-Allow-Methods", *method);
  if (const auto fields = sent.find("Access-Control-Request-Headers"))
    answer.headers.set("Access-Control-Allow-Headers", *fields);
  if (sent.has("Access-Control-Request-Private-Network"))
    answer.headers.set("Access-Control-Allow-Private-Network", "true");
  answer.headers.set("Access-Control-Max-Age", "600");
  return true;
}

void add_cross_origin_headers(ServedRequest& served) {
  const std::optional<std::string> origin = named_origin(served.gateway.settings, served.request);
  if (!origin) return;
  wire::Headers& headers = served.answer.headers;
  headers.set("Access-Control-Allow-Origin", *origin);
  headers.set("Access-Control-Expose-Headers", "*");
  headers.add("Vary", "Origin");
}

}  // namespace mock_gateway::detail
