// The JSON Schema of scripts: its title, and the types with names in it.

#include <set>

#include "../core/json_reader.hpp"
#include "script_document.hpp"
#include "script_sections.hpp"
#include "script_values.hpp"

namespace mock_gateway {
namespace detail {
namespace script_schemas {

void put(Json& schema, const char* name, const Json& part) {
  if (schema == name) {
    schema = part;
    return;
  }
  if (!schema.is_structured()) return;
  for (Json& inner : schema) put(inner, name, part);
}

Json with_keys(const Json& rules, const ScriptTable& table) {
  if (rules.is_array()) {
    Json made = Json::array();
    for (const Json& rule : rules) {
      std::vector<const char*> keys;
      if (rule.is_string()) keys = table.keys_of(rule.get_ref<const std::string&>());
      for (const char* key : keys) made.push_back(Json{{"required", {key}}});
      if (keys.empty()) made.push_back(with_keys(rule, table));
    }
    return made;
  }
  if (!rules.is_object()) return rules;
  Json made = Json::object();
  for (const auto& [name, rule] : rules.get_ref<const Json::object_t&>()) {
    const std::vector<const char*> keys = table.keys_of(name);
    for (const char* key : keys) made[key] = rule;
    if (keys.empty()) made[name] = with_keys(rule, table);
  }
  return made;
}

Json object_of(const ScriptTable& table);

/// Types that others refer to, or whose keys refer back to them.
inline constexpr std::pair<const char*, ScriptType (*)()> definitions[] = {
    {"duration", &script_types::duration},
    {"operation", &script_types::operation},
    {"text_matcher", &script_types::text_matcher},
    {"when", &script_types::when},
    {"reply", &script_types::reply},
    {"written_reply", &script_types::written_reply},
    {"fault", &script_types::fault},
    {"effect", &script_types::effect},
    {"connection_fault", &script_types::connection_fault},
    {"failure", &script_types::failure},
    {"stub", &script_types::stub},
    {"operation_reply", &script_types::http_reply},
    {"tool_call", &script_types::tool_call_type},
    {"timing", &script_types::timing},
    {"rate", &script_types::rate},
    {"chunking", &script_types::chunking},
    {"headers", &script_types::headers},
    {"header_value", &script_types::header_value},
    {"range", &script_types::range},
    {"pace", &script_types::pace},
    {"sse", &script_types::dialect},
};

Json whole(const ScriptType& type) {
  Json schema = type.schema ? read_json(type.schema) : Json("$rows");
  if (type.table) put(schema, "$rows", object_of(*type.table));
  if (type.names) put(schema, "$names", type.names());
  return schema;
}

Json schema_of(const ScriptRow& row) {
  Json schema;
  for (const auto& [name, type] : definitions) {
    if (type != row.type) continue;
    schema["$ref"] = std::string("#/$defs/") + name;
  }
  if (schema.is_null()) schema = whole(row.type());
  if (!schema.is_object()) schema = Json::object();
  if (*row.limits) schema.update(read_json("{" + std::string(row.limits) + "}"));
  if (*row.text) schema["description"] = std::string(row.lead) + row.text;
  return schema;
}

void add_rows(const ScriptTable& table, Json& properties, Json& required) {
  for (std::size_t index = 0; index < table.count; ++index) {
    const ScriptRow& row = table.rows[index];
    if (properties.contains(row.name)) continue;
    properties[row.name] = schema_of(row);
    if (row.required) required.push_back(row.name);
  }
}

Json object_of(const ScriptTable& table) {
  Json properties = Json::object();
  Json required = Json::array();
  add_rows(table, properties, required);
  if (table.beside) add_rows(table.beside(), properties, required);
  for (const char* remark : {"comment", "$schema"})
    if (!properties.contains(remark)) properties[remark] = true;
  Json schema;
  schema["type"] = "object";
  schema["properties"] = std::move(properties);
  schema["patternProperties"]["^x-"] = true;
  schema["additionalProperties"] = false;
  if (!required.empty()) schema["required"] = std::move(required);
  if (*table.rules) schema.update(with_keys(read_json("{" + std::string(table.rules) + "}"), table));
  return schema;
}

}  // namespace script_schemas
}  // namespace detail

Json script_schema() {
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Script of mock_gateway, version 1";
  schema.update(detail::script_schemas::whole(detail::script_types::document()));
  Json& definitions = schema["$defs"] = Json::object();
  for (const auto& [name, type] : detail::script_schemas::definitions)
    definitions[name] = detail::script_schemas::whole(type());
  return schema;
}

}  // namespace mock_gateway
