// What the program adds to the OpenAPI document.

#include "openapi.hpp"

#include <string>
#include <utility>

#include "embedded.hpp"
#include "router.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// References into a schema of its own lead on where it has become a part of a document.
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

}  // namespace

Json openapi_document() {
  Json document = Json::parse(embedded_openapi);
  Json script = script_schema();
  script.erase("$schema");
  move_references(script, "/components/schemas/Script");
  document["components"]["schemas"]["Script"] = std::move(script);
  document["info"]["version"] = MOCK_GATEWAY_VERSION;
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
