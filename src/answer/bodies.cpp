// Error bodies: how templates and rows of a profile are filled; the list of models.

#include "bodies.hpp"

#include <utility>

#include "../core/text.hpp"
#include "../model/failure_rows.hpp"
#include "../model/profile_traits.hpp"

namespace mock_gateway::detail {
namespace bodies {

/// Serializes JSON. Replaces bytes in strings that are not UTF-8.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Returns the word of the row unless the test has `chosen` its own.
std::string word_of(const std::string& own, std::string_view of_row, bool chosen) {
  return chosen || of_row.empty() ? own : std::string(of_row);
}

/// Returns the code: null, a number if the row has one, or a string.
Json code_of(const Failure& failure, const ErrorRow& row, bool chosen) {
  constexpr std::string_view limit = "$number";  // OpenAI's codes differ for integers and decimals
  const std::string& own = failure.code();
  if (!row.code.empty() && row.code.front() == '#')
    return text::whole_number(own).value_or(text::whole_number(row.code.substr(1)).value_or(failure.status()));
  const std::string code = word_of(own, row.code, chosen);
  if (code.empty() || code == "$null") return Json();
  if (code.compare(0, limit.size(), limit) != 0) return code;
  const std::string& param = failure.param();
  if (param.empty()) return own;
  const bool is_integer = param == "n" || param == "max_tokens" || param == "max_completion_tokens" ||
                          param == "seed" || param == "top_logprobs";
  return (is_integer ? "integer" : "decimal") + code.substr(limit.size());
}

/// Returns the values that templates name.
Json error_values(const Failure& failure, const ErrorContext& context, const ErrorRow& row) {
  const Failure usual = failure_with_status(failure.status());
  const bool is_usual = failure.code() == usual.code() && failure.message() == usual.message();
  const bool has_own_code = context.scripted && !is_usual && row.when.empty();
  return {{"code", context.profile == Profile::documented ? Json(failure.code()) : code_of(failure, row, has_own_code)},
          {"message", word_of(failure.message(), row.message, !is_usual)},
          {"type", word_of(failure.type(), row.type, failure.type() != "error")},
          {"param", failure.param().empty() ? Json() : Json(failure.param())},
          {"request_id", context.request_id},
          {"created", context.stream ? context.stream->context().created : 0},
          {"model", context.stream ? context.stream->model() : std::string()}};
}

/// Fills a template: replaces strings such as "$code" by values, and "id-$request_id" by a text with the value.
std::string filled(std::string_view form, const Json& values) {
  std::string body;
  for (std::size_t mark; (mark = form.find('$')) != form.npos;) {
    const std::size_t begin = form.rfind('"', mark) + 1;
    const std::size_t end = form.find('"', mark);
    const std::string before(form.substr(begin, mark - begin));
    const Json& value = values.at(std::string(form.substr(mark + 1, end - mark - 1)));
    body += form.substr(0, begin - 1);
    body += text_of(before.empty() ? value : Json(before + value.get<std::string>()));
    form.remove_prefix(end + 1);
  }
  return body.append(form);
}

Json json_of(const wire::Model& model, std::int64_t created) {
  return {{"id", model.id}, {"object", "model"}, {"created", created}, {"owned_by", model.owner}};
}

}  // namespace bodies

std::string error_body(const Failure& failure, const ErrorContext& context, bool event) {
  if (failure.raw_body()) return *failure.raw_body();
  const ProfileTraits& profile = traits_of(context.profile);
  const ErrorRow& row = error_row_of(profile, failure.status(), failure.code());
  std::string_view body = row.body.empty() ? profile.error_body : row.body;
  if (event && !profile.error_event.empty()) body = profile.error_event;
  return bodies::filled(body, bodies::error_values(failure, context, row));
}

std::string model_body(const wire::Model& model, std::int64_t created) {
  return bodies::text_of(bodies::json_of(model, created));
}

std::string models_body(const std::vector<wire::Model>& models, std::int64_t created) {
  Json data = Json::array();
  for (const wire::Model& model : models) data.push_back(bodies::json_of(model, created));
  return bodies::text_of({{"object", "list"}, {"data", std::move(data)}});
}

}  // namespace mock_gateway::detail
