// Builds the OpenAPI document from the short forms of `openapi.json` and from data of the program.

#include "openapi.hpp"

#include <string>
#include <utility>

#include "embedded.hpp"
#include "router.hpp"

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

/// Expands a schema. Short forms: "Stub" or {"$ref": "Stub"} refers to a schema of the document; {"exactly":
/// PROPERTIES} is an object with all of these properties and no others; {"only": PROPERTIES} makes them optional.
Json schema_of(const Json& form) {
  if (form.is_array()) {
    Json list = Json::array();
    for (const Json& element : form) list.push_back(element.is_structured() ? schema_of(element) : element);
    return list;
  }
  if (form.is_string()) return {{"$ref", "#/components/schemas/" + form.get<std::string>()}};
  Json schema = Json::object();
  for (const auto& [key, member] : form.items()) {
    if (key == "$ref") {
      schema.update(schema_of(member));
    } else if (key == "exactly" || key == "only") {
      schema["type"] = "object";
      schema["properties"] = schema_of(member);
      for (const auto& property : member.items())
        if (key == "exactly") schema["required"].push_back(property.key());
      schema["additionalProperties"] = false;
    } else {
      schema[key] = member.is_structured() ? schema_of(member) : member;
    }
  }
  return schema;
}

Json content_of(const Json& form) {
  if (form == "text") return {{"text/plain", {{"schema", {{"type", "string"}}}}}};
  return {{"application/json", {{"schema", schema_of(form)}}}};
}

/// Expands an operation. `query` has parameters, or names of shared ones. `body` or `optional_body`, and `answer`, are
/// schemas.
Json operation_of(Json operation, const Json& shared_parameters) {
  for (const Json& form : operation.value("query", Json::array())) {
    Json parameter = form.is_string() ? shared_parameters.at(form.get<std::string>()) : form;
    if (form.is_string()) parameter["name"] = form;
    parameter["in"] = "query";
    parameter["schema"] = schema_of(parameter["schema"]);
    operation["parameters"].push_back(std::move(parameter));
  }
  for (const char* const name : {"body", "optional_body"})
    if (operation.contains(name))
      operation["requestBody"] = {{"required", name == std::string("body")}, {"content", content_of(operation[name])}};
  operation["responses"] = {
      {operation.value("status", "200"),
       {{"description", operation.value("answer_description", "Done.")}, {"content", content_of(operation["answer"])}}},
      {"default", {{"$ref", "#/components/responses/Error"}}}};
  for (const char* const name : {"query", "body", "optional_body", "status", "answer_description", "answer"})
    operation.erase(name);
  return operation;
}

/// Expands the operations of a path. A path parameter such as "{id}" is a string unless the operations describe it.
Json path_of(const std::string& path, const Json& operations, const Json& shared_parameters) {
  Json all = Json::object();
  for (std::size_t end = 0, begin = path.find('{'); begin != std::string::npos; begin = path.find('{', end)) {
    end = path.find('}', begin);
    all["parameters"].push_back({{"name", path.substr(begin + 1, end - begin - 1)},
                                 {"in", "path"},
                                 {"required", true},
                                 {"schema", {{"type", "string"}}}});
  }
  for (const auto& [method, operation] : operations.items())
    all[method] = method == "parameters" ? operation : operation_of(operation, shared_parameters);
  return all;
}

}  // namespace

Json openapi_document() {
  const Json forms = Json::parse(embedded_openapi);
  Json document = forms;
  for (const char* const name : {"query", "schemas", "securitySchemes"}) document.erase(name);
  document["info"]["version"] = MOCK_GATEWAY_VERSION;
  document["paths"] = Json::object();
  for (const auto& [path, operations] : forms["paths"].items())
    document["paths"]["/control/v1" + (path == "/" ? "" : path)] = path_of(path, operations, forms["query"]);
  Json& components = document["components"];
  components["securitySchemes"] = forms["securitySchemes"];
  components["responses"]["Error"] = {{"description", "What is wrong."}, {"content", content_of("Error")}};
  for (const auto& [name, form] : forms["schemas"].items()) components["schemas"][name] = schema_of(form);
  Json script = script_schema();
  script.erase("$schema");
  move_references(script, "/components/schemas/Script");
  components["schemas"]["Script"] = std::move(script);
  return document;
}

std::string route_lines() {
  std::string lines;
  const ControlRouter router;
  for (const ControlRoute& route : router.routes())
    lines += std::string(route.method) + " /control/v1" + route.path + "\n";
  return lines;
}

}  // namespace endpoint
}  // namespace mock_gateway
