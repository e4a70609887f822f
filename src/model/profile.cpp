// The profiles of vendors: the names, sent keys and accepted fields of each, and the fields that only OpenAI documents.

#include "profile.hpp"

#include <algorithm>
#include <array>
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
inline constexpr std::array<std::string_view, 20> openai_fields = {"audio",
                                                                   "frequency_penalty",
                                                                   "function_call",
                                                                   "functions",
                                                                   "logit_bias",
                                                                   "metadata",
                                                                   "modalities",
                                                                   "moderation",
                                                                   "prediction",
                                                                   "prompt_cache_key",
                                                                   "prompt_cache_options",
                                                                   "prompt_cache_retention",
                                                                   "reasoning_effort",
                                                                   "safety_identifier",
                                                                   "service_tier",
                                                                   "store",
                                                                   "user",
                                                                   "verbosity",
                                                                   "web_search_options",
                                                                   "stream_options.include_obfuscation"};

inline constexpr std::array<std::string_view, 2> own_fields = {"enable_thinking", "repetition_penalty"};

/// Source: API reference of OpenAI; fields documented as "or null".
inline constexpr std::array<std::string_view, 22> openai_nullable_fields = {"audio",
                                                                            "frequency_penalty",
                                                                            "logit_bias",
                                                                            "logprobs",
                                                                            "max_completion_tokens",
                                                                            "max_tokens",
                                                                            "metadata",
                                                                            "modalities",
                                                                            "n",
                                                                            "prediction",
                                                                            "presence_penalty",
                                                                            "reasoning_effort",
                                                                            "seed",
                                                                            "service_tier",
                                                                            "stop",
                                                                            "store",
                                                                            "stream",
                                                                            "stream_options",
                                                                            "strict",
                                                                            "temperature",
                                                                            "top_logprobs",
                                                                            "top_p"};

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
  row.further_fields = {openai_fields.data(), openai_fields.size()};
  row.own_fields = {own_fields.data(), own_fields.size()};
  row.nullable_fields = {openai_nullable_fields.data(), openai_nullable_fields.size()};
  row.rejects_temperature_out_of_range = true;
  row.documents_stop_as_string = true;
  row.content_may_be_replaced = true;
  row.documents_embeddings = true;
  row.checks_other_parts = true;
  row.error_shape = ErrorShape::openai;
  row.retry_after_ms = true;
  row.request_headers = true;
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
  row.system_fingerprint = SystemFingerprint::null;
  row.logprobs_key = true;
  row.null_content_while_thinking = true;
  row.role_delta = {R"({"content":"","role":"assistant"})", R"({"content":null,"role":"assistant"})",
                    R"({"content":null,"role":"assistant","reasoning_content":""})"};
  row.finish_delta = R"({"content":""})";
  return row;
}

constexpr ProfileTraits deepseek() {
  constexpr std::string_view role = R"({"role":"assistant","content":null,"reasoning_content":""})";
  ProfileTraits row = named(Profile::deepseek, "deepseek");
  row.system_fingerprint = SystemFingerprint::made_up;
  row.logprobs_key = true;
  row.null_reasoning = true;
  row.null_content_while_thinking = true;
  row.role_delta = {role, role, ""};
  row.finish_delta = R"({"content":""})";
  row.prompt_cache_tokens = true;
  row.usage_on_finish = true;
  return row;
}

inline constexpr std::array rows = {named(Profile::documented, "documented"), openai(), dashscope(), deepseek()};

}  // namespace profiles

bool NameList::has(std::string_view name) const { return std::find(names, names + count, name) != names + count; }

const ProfileTraits& traits_of(Profile profile) {
  for (const ProfileTraits& row : profiles::rows) {
    if (row.profile == profile) return row;
  }
  throw GatewayError("profile " + std::to_string(static_cast<int>(profile)) + " has no row in model/profile.cpp");
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
