#pragma once

// Support for tests of replies: a gateway with one reply, the list of profiles, and fields of requests.

#include <string>

#include "client.hpp"
#include "mock_gateway.hpp"

namespace test_support {

constexpr mock_gateway::Profile all_profiles[] = {mock_gateway::Profile::documented, mock_gateway::Profile::openai,
                                                  mock_gateway::Profile::dashscope, mock_gateway::Profile::deepseek};

/// The field of a stream request that asks for usage.
inline const Json with_usage = {{"stream_options", {{"include_usage", true}}}};

/// Returns `fields` with the fields of `more`, which override fields of the same name.
inline Json merged(Json fields, const Json& more) {
  for (const auto& [name, value] : more.items()) fields[name] = value;
  return fields;
}

inline Json function_tool(const std::string& name, const Json& parameters) {
  return {{"type", "function"}, {"function", {{"name", name}, {"parameters", parameters}}}};
}

/// Returns a tool whose schema restricts its arguments.
inline Json weather_function() {
  return function_tool("get_weather", {{"type", "object"},
                                       {"properties",
                                        {{"city", {{"type", "string"}, {"minLength", 2}}},
                                         {"days", {{"type", "integer"}, {"minimum", 1}, {"maximum", 7}}}}},
                                       {"required", {"city", "days"}},
                                       {"additionalProperties", false}});
}

/// A gateway with one reply, whose clock is stopped at 2024-01-01T00:00:00Z.
struct Scripted {
  explicit Scripted(const mock_gateway::Reply& reply, mock_gateway::Profile profile = mock_gateway::Profile::documented)
      : gateway(mock_gateway::Options{}.clock(clock).profile(profile)), http(gateway) {
    gateway.chat().reply(reply);
  }

  mock_gateway::ManualClock clock;
  mock_gateway::Gateway gateway;
  Http http;
};

}  // namespace test_support
