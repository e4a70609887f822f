// Gateways for the table of the catalogue: one at a time for each scenario and client, so that none disturbs another.
// First prints one line of JSON: all scenarios, as describe() gives them. Then answers each line of JSON on stdin with
// one on stdout, until stdin closes, so that it never outlives the table:
//   {"start": name}                       -> {"gateway", "base_url", "api_key"}; "" is a gateway in good order
//   {"judge": name, "outcome": {"text", "tool_calls": [{"name", "arguments"}], "finish_reason", "error", "hung"}}
//                                         -> {"kind", "acceptable", "message"}; the reason is null where none was told
//   {"stop": gateway}                     -> {"stopped"}
// What cannot be done is answered with {"problem": why}.

#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "mock_gateway.hpp"

using namespace mock_gateway;

namespace {

class Gateways {
 public:
  Json answer(const Json& asked) {
    if (asked.contains("start")) return start(asked.at("start").get<std::string>());
    if (asked.contains("judge")) return judge(asked.at("judge").get<std::string>(), asked.at("outcome"));
    if (asked.contains("stop")) return stop(asked.at("stop").get<int>());
    throw std::invalid_argument("say start, judge or stop");
  }

 private:
  Json start(const std::string& name) {
    std::unique_ptr<Gateway> gateway;
    if (name.empty()) {
      gateway = std::make_unique<Gateway>(Options{}.verify_on_destruction(false));
      gateway->chat().reply("It is 21 degrees.");
      gateway->chat().when(has_tool("get_weather")).reply(tool_call("get_weather", {{"city", "Paris"}}));
    } else {
      const Scenario which = scenario(name);
      gateway = std::make_unique<Gateway>(which.options());
      which.mount(*gateway);
    }
    const int number = ++last_;
    const Json place = {{"gateway", number}, {"base_url", gateway->base_url()}, {"api_key", gateway->api_key()}};
    running_.emplace(number, std::move(gateway));
    return place;
  }

  static Json judge(const std::string& name, const Json& seen) {
    ClientOutcome outcome;
    outcome.text = seen.at("text").get<std::string>();
    for (const Json& call : seen.at("tool_calls")) {
      // A caller that looks for the name in the first fragment alone may have none.
      const Json called = call.value("name", Json());
      outcome.tool_calls.push_back({"", called.is_string() ? called.get<std::string>() : "", call.at("arguments")});
    }
    const Json& reason = seen.at("finish_reason");
    if (reason.is_string()) outcome.finish_reason = reason.get<std::string>();
    outcome.error = seen.at("error").get<bool>();
    outcome.hung = seen.at("hung").get<bool>();
    const Verdict verdict = scenario(name).judge(outcome);
    return {{"kind", to_string(verdict.kind())},
            {"acceptable", static_cast<bool>(verdict)},
            {"message", verdict.message()}};
  }

  Json stop(int number) {
    if (running_.erase(number) == 0) throw std::invalid_argument("no gateway " + std::to_string(number) + " runs");
    return {{"stopped", number}};
  }

  std::map<int, std::unique_ptr<Gateway>> running_;
  int last_ = 0;
};

void run() {
  Json scenarios = Json::array();
  for (const Scenario& one : catalogue()) scenarios.push_back(as_json(one));
  std::cout << scenarios.dump() << std::endl;

  Gateways gateways;
  for (std::string line; std::getline(std::cin, line);) {
    Json answer;
    try {
      answer = gateways.answer(Json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"problem", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
