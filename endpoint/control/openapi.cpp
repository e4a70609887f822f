// Builds the OpenAPI document from the short forms of `openapi.json` and from data of the program.

#include <string>
#include <utility>

#include "control.hpp"
#include "embedded.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// Adjusts references in a schema that was moved to `place` in another document.
void move_references(Json& value, const std::string& place) {
  if (value.is_array()) {
    for (Json& element : value) move_references(element, place);
  }
  if (!value.is_object()) return;
  for (auto& [key, member] : value.get_ref<Json::object_t&>()) {
    if (key == "$ref" && member.is_string() && member.get_ref<const std::string&>().compare(0, 2, "#/") == 0)
      member = "#" + place + member.get<std::string>().substr(1);
    else
      move_references(member, place);
  }
}

Json reference_to(const std::string& schema) { return {{"$ref", "#/components/schemas/" + schema}}; }

/// Returns the schema of a word: "count" is an integer from 0, "moment" a date and time, "any" any value; an upper case
/// letter begins the name of a schema of the document; other words are types. "string?" may also be null.
Json schema_of_word(std::string word) {
  const bool nullable = word.back() == '?';
  if (nullable) word.pop_back();
  if (word == "any") return Json::object();
  if (word.front() >= 'A' && word.front() <= 'Z') {
    if (!nullable) return reference_to(word);
    return {{"anyOf", {reference_to(word), {{"type", "null"}}}}};
  }
  Json schema{{"type", word}};
  if (word == "count") schema = {{"type", "integer"}, {"minimum", 0}};
  if (word == "moment") schema = {{"type", "string"}, {"format", "date-time"}};
  if (nullable) schema["type"] = {schema["type"], "null"};
  return schema;
}

Json schema_of(const Json& form);

/// Returns an object's schema with all of these properties.
Json object_with(const Json& properties) {
  Json schema{{"type", "object"}, {"properties", Json::object()}};
  for (const auto& [name, form] : properties.items()) {
    schema["properties"][name] = schema_of(form);
    schema["required"].push_back(name);
  }
  return schema;
}

/// Expands a schema. Short forms: a word; [FORM], a list; an object without "type", which has the properties of an
/// object that has all of these and no others. Otherwise "type" is a form, "open" allows other properties, "and" adds
/// properties, and the other members are as in a JSON Schema.
Json schema_of(const Json& form) {
  if (form.is_string()) return schema_of_word(form);
  if (form.is_array()) return {{"type", "array"}, {"items", schema_of(form.front())}};
  if (!form.contains("type")) {
    Json closed = object_with(form);
    closed["additionalProperties"] = false;
    return closed;
  }
  Json schema = schema_of(form["type"]);
  for (const auto& [key, member] : form.items()) {
    if (key == "open")
      schema.erase("additionalProperties");
    else if (key == "and")
      schema.update(object_with(member));
    else if (key == "anyOf")
      for (const Json& one : member) schema[key].push_back(schema_of(one));
    else if (key != "type")
      schema[key] = member;
  }
  return schema;
}

Json content_of(const Json& schema) { return {{"application/json", {{"schema", schema}}}}; }

/// Returns a parameter. `form` is its schema, with its description.
Json parameter(const std::string& name, const char* place, const Json& form) {
  Json schema = schema_of(form);
  Json all{{"name", name}, {"in", place}, {"required", place == std::string("path")}};
  if (schema.contains("description")) all["description"] = schema["description"];
  schema.erase("description");
  all["schema"] = std::move(schema);
  return all;
}

/// Returns the parameters of a path. One that `forms` does not describe is a string.
Json path_parameters(const std::string& path, const Json& forms) {
  Json all = Json::array();
  for (std::size_t end = 0, begin = path.find('{'); begin != std::string::npos; begin = path.find('{', end)) {
    end = path.find('}', begin);
    const std::string name = path.substr(begin + 1, end - begin - 1);
    all.push_back(parameter(name, "path", forms.value(name, Json("string"))));
  }
  return all;
}

/// Returns the body of a route that mounts one entry of a section of scripts, or a list.
Json mounted(const std::string& section) {
  const std::string list = "Script/properties/" + section;
  return {{"anyOf", {reference_to(list + "/items"), object_with({{section, list}})}}};
}

/// Returns a route's operation. `forms` has "query", which describes parameters that have another meaning elsewhere;
/// "body", or "optional_body" without required members, or a section of scripts that it "mounts"; "answer" and
/// "status", 200 unless given.
Json operation_of(const ControlRoute& route, Json forms, const Json& parameters) {
  Json operation = Json::object();
  for (const char* const name : route.query)
    operation["parameters"].push_back(
        parameter(name, "query", forms.value("query", Json::object()).value(name, parameters.at(name))));
  if (forms.contains("body"))
    operation["requestBody"] = {{"required", true}, {"content", content_of(schema_of(forms["body"]))}};
  if (forms.contains("optional_body")) {
    Json schema = schema_of(forms["optional_body"]);
    schema.erase("required");
    operation["requestBody"] = {{"required", false}, {"content", content_of(schema)}};
  }
  if (forms.contains("mounts"))
    operation["requestBody"] = {{"required", true}, {"content", content_of(mounted(forms["mounts"]))}};
  const Json answer = forms["answer"] == "text" ? Json{{"text/plain", {{"schema", schema_of("string")}}}}
                                                : content_of(schema_of(forms["answer"]));
  operation["responses"] = {{forms.value("status", forms.contains("mounts") ? "201" : "200"),
                             {{"description", "Done."}, {"content", answer}}},
                            {"default", {{"$ref", "#/components/responses/Error"}}}};
  for (const char* const name : {"summary", "description", "security"})
    if (forms.contains(name)) operation[name] = forms[name];
  return operation;
}

}  // namespace

Json openapi_document() {
  const Json forms = Json::parse(embedded_openapi);
  Json document = forms;
  for (const char* const name : {"parameters", "routes", "schemas", "securitySchemes"}) document.erase(name);
  document["info"]["version"] = MOCK_GATEWAY_VERSION;
  for (const ControlRoute& route : control_routes()) {
    const std::string path = route.path;
    Json& operations = document["paths"]["/control/v1" + path];
    const Json parameters = path_parameters(path, forms["parameters"]);
    if (!parameters.empty()) operations["parameters"] = parameters;
    operations[internal::text::lower_ascii(route.method)] = operation_of(
        route, forms["routes"].at(route.method + (" " + (path.empty() ? "/" : path))), forms["parameters"]);
  }
  Json& components = document["components"];
  components["securitySchemes"] = forms["securitySchemes"];
  components["responses"]["Error"] = {{"description", "What is wrong."},
                                      {"content", content_of(reference_to("Error"))}};
  for (const auto& [name, form] : forms["schemas"].items()) components["schemas"][name] = schema_of(form);
  Json script = script_schema();
  script.erase("$schema");
  move_references(script, "/components/schemas/Script");
  components["schemas"]["Script"] = std::move(script);
  return document;
}

}  // namespace endpoint
}  // namespace mock_gateway
