// `/`, `/schema`, `/openapi.json`, `/metrics`, `/session`, `/stop`.

#include <unistd.h>

#include <cstdint>

#include "../serving.hpp"
#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

Json script_json(const Control& control) {
  const ScriptState script = control.serving.script_state();
  return Json{{"files", script.files},
              {"errors", script.errors},
              {"problems", as_json(script.problems)},
              {"warnings", as_json(script.warnings)}};
}

ControlAnswer show_root(Control& control, const ControlRequest&) {
  const internal::Inside inside = control.inside();
  const Json counts{{"requests", control.gateway().journal().count()},
                    {"open", inside.open_requests()},
                    {"evicted", control.gateway().journal().evicted()},
                    {"stubs", inside.stub_count()},
                    {"keys", control.gateway().keys().list().size()},
                    {"scopes", control.scopes.all().size()},
                    {"asked", inside.asked({}).size()}};
  return {200, Json{{"instance", control.instance},
                    {"version", MOCK_GATEWAY_VERSION},
                    {"pid", static_cast<std::int64_t>(::getpid())},
                    {"base_url", control.gateway().base_url()},
                    {"control_url", control.url},
                    {"started", as_json(std::chrono::time_point_cast<TimePoint::duration>(control.started))},
                    {"now", as_json(inside.now())},
                    {"clock", inside.clock_kind()},
                    {"listening", control.listening.load()},
                    {"script", script_json(control)},
                    {"counts", counts}}};
}

ControlAnswer show_schema(Control&, const ControlRequest&) { return {200, script_schema()}; }

ControlAnswer show_openapi(Control&, const ControlRequest&) { return {200, openapi_document()}; }

ControlAnswer show_metrics(Control& control, const ControlRequest&) {
  const std::size_t open = control.inside().open_requests();
  return {200,
          {},
          control.serving.metrics().text(control.instance, open),
          nullptr,
          "text/plain; version=0.0.4; charset=utf-8"};
}

/// Returns the token: the request had a valid code in its place.
ControlAnswer open_session(Control& control, const ControlRequest& request) {
  static_cast<void>(request.object({}));
  return {200, Json{{"token", control.token}}};
}

ControlAnswer stop(Control& control, const ControlRequest& request) {
  static_cast<void>(request.object({}));
  return {202, Json{{"stopping", true}}, std::nullopt, control.stop};
}

}  // namespace

std::vector<ControlRoute> root_routes() {
  return {{"GET", "", {}, &show_root, of_server},
          {"GET", "/schema", {}, &show_schema, of_server},
          {"GET", "/openapi.json", {}, &show_openapi, of_server},
          {"GET", "/metrics", {}, &show_metrics, of_server},
          {"POST", "/session", {}, &open_session, of_server},
          {"POST", "/stop", {}, &stop, of_server}};
}

}  // namespace endpoint
}  // namespace mock_gateway
