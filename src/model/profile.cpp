// The profiles of vendors: the names, sent keys, errors and accepted fields of each. Sources: docs/profiles.md

#include "profile.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <ostream>

#include "../core/error.hpp"
#include "../core/text.hpp"
#include "profile_traits.hpp"

namespace mock_gateway {
namespace detail {
namespace profiles {

Acceptance usual_acceptance() { return {}; }

const Acceptance& no_extra_fields() {
  static const Acceptance acceptance = Acceptance::strict();
  return acceptance;
}

/// Source: API reference of OpenAI, "Create chat completion" and "Retrieve model".
const Acceptance& documented_by_openai() {
  static const Acceptance acceptance = Acceptance::strict()
                                           .with(Extension::tool_role)
                                           .with(Extension::developer_role)
                                           .with(Extension::null_content_with_tool_calls)
                                           .with(Extension::text_parts)
                                           .with(Extension::other_parts)
                                           .with(Extension::tool_calls_in_messages)
                                           .with(Extension::stop_as_string)
                                           .with(Extension::tool_choice_required)
                                           .with(Extension::allowed_tools)
                                           .with(Extension::json_schema_without_schema)
                                           .with(Extension::custom_tools)
                                           .with(Extension::max_completion_tokens)
                                           .with(Extension::logprobs)
                                           .with(Extension::model_by_id);
  return acceptance;
}

/// Source: API reference of OpenAI, "Create chat completion".
inline constexpr std::string_view openai_fields =
    "audio frequency_penalty function_call functions logit_bias metadata modalities moderation prediction "
    "prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort safety_identifier service_tier "
    "store user verbosity web_search_options stream_options.include_obfuscation";

inline constexpr std::string_view own_fields = "enable_thinking repetition_penalty";

/// Source: API reference of OpenAI; fields documented as "or null".
inline constexpr std::string_view openai_nullable_fields =
    "audio frequency_penalty logit_bias logprobs max_completion_tokens max_tokens metadata modalities n "
    "prediction presence_penalty reasoning_effort seed service_tier stop store stream stream_options strict "
    "temperature top_logprobs top_p";

inline constexpr std::string_view invalid = "invalid_request_error";
inline constexpr std::string_view busy = "service_unavailable_error";

inline constexpr ErrorRow openai_errors[] = {
    {400, "value_below_minimum", "$number_below_min_value", invalid},
    {400, "value_above_maximum", "$number_above_max_value", invalid},
    {401, "", "invalid_api_key", invalid,
     "Incorrect API key provided: ****. You can find your API key at https://platform.openai.com/account/api-keys."},
    {403, "unauthorized", "unsupported_country_region_territory", "request_forbidden",
     "Country, region, or territory not supported",
     R"({"error":{"code":"$code","message":"$message","param":"$param","type":"$type"}})"},
    {429, "insufficient_quota", "", "insufficient_quota"},
    {429, "", "", "requests"},
    {5, "", "$null", "server_error"},
    {0, "unknown_path", "unknown_url", invalid},
    {0, "", "", invalid},
};

inline constexpr std::string_view two_ids =
    R"({"error":{"message":"$message","type":"$type","param":"$param","code":"$code"},)"
    R"("id":"chatcmpl-$request_id","request_id":"$request_id"})";

inline constexpr ErrorRow dashscope_errors[] = {
    {400, "", "invalid_parameter_error", invalid, "", two_ids},
    {401, "", "invalid_api_key", invalid,
     "Incorrect API key provided. For details, see: "
     "https://www.alibabacloud.com/help/en/model-studio/error-code#apikey-error"},
    {403, "", "AccessDenied", "AccessDenied", "Access denied", two_ids},
    {429, "insufficient_quota", "", "insufficient_quota"},
    {429, "", "limit_requests", "limit_requests", "You exceeded your current requests list."},
    {503, "", "ModelUnavailable", "ModelUnavailable", "Model is unavailable, please try again later."},
    {5, "", "internal_error", "internal_error",
     "An internal error has occured, please try again later or contact service support."},
    {0, "", "", invalid},
};

inline constexpr ErrorRow deepseek_errors[] = {
    {401, "", invalid, "authentication_error", "Authentication Fails, Your api key: **** is invalid"},
    {402, "", invalid, "unknown_error", "Insufficient Balance"},
    {429, "", "rate_limit_reached_error", "rate_limit_reached_error"},
    {5, "", busy, busy,
     "Service is too busy. We advise users to temporarily switch to alternative LLM API service providers."},
    {0, "", invalid, invalid},
};

inline constexpr ErrorRow siliconflow_errors[] = {
    {401, "", "#20015", "", "Invalid token", R"("$message")"},
    {403, "", "#30001", "", "Sorry, your account balance is insufficient"},
    {404, "unknown_path", "#20015", "", "", "404 page not found"},
    {429, "", "#20015", "", "Request was rejected due to rate limiting. Details: TPM limit reached.",
     R"({"message":"$message","data":null})"},
    {503, "", "#50508", "", "System is too busy now. Please try again later."},
    {5, "", "#50505"},
    {0, "model_not_found", "#20012"},
    {0, "", "#20015"},
};

inline constexpr std::string_view without_user = R"({"error":{"message":"$message","code":"$code"}})";

inline constexpr ErrorRow openrouter_errors[] = {
    {401, "", "#status", "", "Missing Authentication header", without_user},
    {402, "", "#status", "",
     "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford "
     "10114. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account",
     R"({"error":{"message":"$message","code":"$code","metadata":{"provider_name":null}},"user_id":"user_mock"})"},
    {403, "", "#status", "", "Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys"},
    {500, "", "#status", "", "Internal Server Error", without_user},
    {502, "", "#status", "", "Provider returned error", without_user},
    {503, "", "#status", "", "Service temporarily unavailable", without_user},
    {0, "", "#status"},
};

inline constexpr std::string_view usual_error =
    R"({"error":{"message":"$message","type":"$type","param":"$param","code":"$code"}})";
inline constexpr std::string_view hex_id = "################################";
inline constexpr std::string_view thinking_without_content = R"({"content":null,"reasoning_content":)";

constexpr ProfileTraits named(Profile profile, std::string_view name) {
  ProfileTraits row;
  row.profile = profile;
  row.name = name;
  row.acceptance = usual_acceptance;
  row.documented = no_extra_fields;
  return row;
}

constexpr ProfileTraits openai() {
  ProfileTraits row = named(Profile::openai, "openai");
  row.acceptance = Acceptance::openai;
  row.documented = documented_by_openai;
  row.further_fields = {openai_fields};
  row.own_fields = {own_fields};
  row.nullable_fields = {openai_nullable_fields};
  row.rejects_temperature_out_of_range = true;
  row.documents_stop_as_string = true;
  row.content_may_be_replaced = true;
  row.documents_embeddings = true;
  row.checks_other_parts = true;
  row.error_body = usual_error;
  row.errors = {openai_errors, std::size(openai_errors)};
  row.request_id = "req_********************************";
  row.id_header = "x-request-id";
  row.retry_after_ms = true;
  row.openai_headers = true;
  row.system_fingerprint = SystemFingerprint::made_up;
  row.refusal_key = true;
  row.logprobs_key = true;
  row.role_delta = {R"({"role":"assistant","content":"","refusal":null})",
                    R"({"role":"assistant","content":null,"refusal":null})", ""};
  row.cached_tokens_key = true;
  return row;
}

constexpr ProfileTraits dashscope() {
  ProfileTraits row = named(Profile::dashscope, "dashscope");
  row.error_body = R"({"error":{"message":"$message","type":"$type","param":"$param","code":"$code"},)"
                   R"("request_id":"$request_id"})";
  row.errors = {dashscope_errors, std::size(dashscope_errors)};
  row.request_id = "########-####-####-####-############";
  row.id_header = "x-request-id";
  row.system_fingerprint = SystemFingerprint::null;
  row.logprobs_key = true;
  row.thinking_delta.open = thinking_without_content;
  row.role_delta = {R"({"content":"","role":"assistant"})", R"({"content":null,"role":"assistant"})",
                    R"({"content":null,"role":"assistant","reasoning_content":""})"};
  row.finish_delta = R"({"content":""})";
  return row;
}

constexpr ProfileTraits deepseek() {
  constexpr std::string_view role = R"({"role":"assistant","content":null,"reasoning_content":""})";
  ProfileTraits row = named(Profile::deepseek, "deepseek");
  row.error_body = usual_error;
  row.errors = {deepseek_errors, std::size(deepseek_errors)};
  row.request_id = hex_id;
  row.id_header = "x-ds-trace-id";
  row.system_fingerprint = SystemFingerprint::made_up;
  row.logprobs_key = true;
  row.no_thinking = R"(,"reasoning_content":null)";
  row.thinking_delta.open = thinking_without_content;
  row.text_delta.close = R"(,"reasoning_content":null})";
  row.role_delta = {role, role, ""};
  row.finish_delta = R"({"content":""})";
  row.prompt_cache_tokens = true;
  row.usage_on_finish = true;
  return row;
}

constexpr ProfileTraits siliconflow() {
  ProfileTraits row = named(Profile::siliconflow, "siliconflow");
  row.error_body = R"({"code":"$code","message":"$message","data":null})";
  row.errors = {siliconflow_errors, std::size(siliconflow_errors)};
  row.request_id = hex_id;
  row.id_header = "x-siliconcloud-trace-id";
  row.completion_id = hex_id;
  row.system_fingerprint = SystemFingerprint::empty;
  row.no_thinking = R"(,"reasoning_content":null)";
  row.thinking_delta.open = thinking_without_content;
  row.text_delta.close = R"(,"reasoning_content":null})";
  row.role_delta = {R"({"content":"","reasoning_content":null,"role":"assistant"})",
                    R"({"content":null,"reasoning_content":null,"role":"assistant"})",
                    R"({"content":null,"reasoning_content":"","role":"assistant"})"};
  row.finish_delta = R"({"content":"","reasoning_content":null})";
  row.usage_so_far = true;
  return row;
}

constexpr ProfileTraits openrouter() {
  constexpr std::string_view role = R"({"content":"","role":"assistant"})";
  constexpr std::string_view details = R"(,"reasoning_details":[{"type":"reasoning.text","text":)";
  ProfileTraits row = named(Profile::openrouter, "openrouter");
  row.error_body = R"({"error":{"message":"$message","code":"$code"},"user_id":"user_mock"})";
  row.error_event =
      R"({"id":"$request_id","object":"chat.completion.chunk","created":"$created","model":"$model","provider":"Mock",)"
      R"("error":{"code":"$code","message":"$message"},)"
      R"("choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]})";
  row.errors = {openrouter_errors, std::size(openrouter_errors)};
  row.request_id = "gen-@-********************";
  row.id_header = "x-generation-id";
  row.identifies_errors = false;
  row.completion_id = "";
  row.opening_comment = ": OPENROUTER PROCESSING\n\n";
  row.provider = R"(,"provider":"Mock")";
  row.refusal_key = true;
  row.native_finish_reason = true;
  row.thinking = {R"(,"reasoning":)", R"(,"format":"unknown","index":0}])", details};
  row.no_thinking = R"(,"reasoning":null)";
  row.thinking_delta = {R"({"content":"","role":"assistant","reasoning":)", R"(,"format":"unknown","index":0}]})",
                        details};
  row.text_delta.close = R"(,"role":"assistant"})";
  row.calls_delta = R"({"content":null,"role":"assistant","tool_calls":[{)";
  row.begins_with_role = false;
  row.role_delta = {role, role, ""};
  row.finish_delta = role;
  row.cached_tokens_key = true;
  row.further_usage = R"(,"cost":0,"is_byok":false)";
  row.usage_repeats_finish = true;
  return row;
}

inline constexpr std::array rows = {
    named(Profile::documented, "documented"), openai(), dashscope(), deepseek(), siliconflow(), openrouter()};

}  // namespace profiles

bool NameList::has(std::string_view name) const {
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(' ', begin), names.size());
    if (names.substr(begin, end - begin) == name) return true;
    begin = end + 1;
  }
  return false;
}

const ProfileTraits& traits_of(Profile profile) {
  for (const ProfileTraits& row : profiles::rows) {
    if (row.profile == profile) return row;
  }
  throw GatewayError("profile " + std::to_string(static_cast<int>(profile)) + " has no row in model/profile.cpp");
}

const ErrorRow& error_row_of(const ProfileTraits& profile, int status, std::string_view code) {
  static const ErrorRow unchanged;
  for (const ErrorRow& row : profile.errors) {
    const bool has_status = row.status == 0 || row.status == status || row.status == status / 100;
    if (has_status && (row.when.empty() || row.when == code)) return row;
  }
  return unchanged;
}

}  // namespace detail

std::string to_string(Profile profile) { return std::string(detail::traits_of(profile).name); }

std::ostream& operator<<(std::ostream& out, Profile profile) { return out << to_string(profile); }

Profile profile_named(std::string_view name) {
  std::string names;
  for (const detail::ProfileTraits& row : detail::profiles::rows) {
    if (row.name == name) return row.profile;
    if (!names.empty()) names += &row == &detail::profiles::rows.back() ? " or " : ", ";
    names += row.name;
  }
  throw GatewayError("no profile is named \"" + detail::text::excerpt(name, 40) + "\"; use " + names);
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const detail::ProfileTraits& row : detail::profiles::rows) names.emplace_back(row.name);
  return names;
}

}  // namespace mock_gateway
