// Header fields of every answer: those for allowed origins (CORS), and a profile's request id and `x-ratelimit-…`. The
// answer to a CORS preflight.

#include "served_request.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "../core/calendar.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../model/profile_traits.hpp"

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

std::string reset_time(Duration left) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  if (milliseconds < 1000) return std::to_string(milliseconds) + "ms";
  if (milliseconds < 60'000) return text::decimal(milliseconds, 1000) + "s";
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
  const std::string hours = seconds >= 3600 ? std::to_string(seconds / 3600) + "h" : "";
  return hours + std::to_string(seconds / 60 % 60) + "m" + std::to_string(seconds % 60) + "s";
}

std::string make_id(std::string_view form, Random random, TimePoint now) {
  std::string id;
  id.reserve(form.size());
  for (const char part : form) {
    if (part == '@')
      id += std::to_string(calendar::unix_seconds(now));
    else
      id += part == '*' ? random.alphanumeric() : part == '#' ? text::hex_digits[random.below(16)] : part;
  }
  return id;
}

void add_profile_headers(ServedRequest& served) {
  GatewayState& gateway = served.gateway;
  const ProfileTraits& profile = traits_of(gateway.settings.profile);
  if (profile.request_id.empty()) return;
  wire::Headers& headers = served.answer.headers;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!headers.has(name)) headers.add(name, value);
  };
  served.answer.request_id = served.request_id();
  if (profile.identifies_errors || (served.chat && served.answer.status < 400))
    add(std::string(profile.id_header), served.answer.request_id);
  if (!profile.openai_headers) return;
  add("openai-processing-ms", "1");
  add("openai-version", "2020-10-01");
  const std::string& key = served.presented.key.id;
  if (key.empty()) return;
  const auto tell = [&](const std::optional<KeyStore::Quota>& quota, const std::string& what) {
    if (!quota) return;
    add("x-ratelimit-limit-" + what, std::to_string(quota->limit));
    add("x-ratelimit-remaining-" + what, std::to_string(quota->remaining));
    add("x-ratelimit-reset-" + what, reset_time(quota->reset));
  };
  const TimePoint now = gateway.clock.now();
  tell(gateway.keys->quota(key, now), "requests");
  tell(gateway.keys->quota_of_tokens(key, now), "tokens");
}

}  // namespace mock_gateway::detail
