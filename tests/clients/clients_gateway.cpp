// Gateways for the suites of real clients: a scripted and an unscripted one per profile, one whose limit all keys
// share, one that takes only what the documentation lists, a scripted one for reviews. Prints one line of JSON that
// says where they are, and runs until stdin closes, so that it never outlives the suites.
//
// The user's message chooses what the scripted gateways say; see script.jsonc and mount_script. Five operations beside
// the documented ones let a test in another language do what a C++ test does with the Gateway object:
//   POST /console/keys             {disabled, limit, window_ms, models, fail: [failure…]} -> {id, secret}
//   POST /console/keys/{id}/state  {state: enabled | disabled | deleted}
//   GET  /console/arrived?marker   waits until a request whose body contains the marker has arrived
//   GET  /console/seen?marker      the exchanges whose body contains the marker, each with how it ended
//   GET  /console/review?id        {clean, judged, message}: what the client with this key did wrong
// The console is asked with another key than the client has that is under review.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;

namespace {

const char* const disabled_secret = "sk-disabled-from-the-start";
const char* const small_model = "mock-small";
const char* const model_with_slash = "team/large model";

/// How often each message was said, so that a reply can differ from one attempt to the next whatever other tests do.
class Attempts {
 public:
  std::size_t next(const std::string& message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ++counts_[message];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::size_t> counts_;
};

Failure failure_from(const Json& spec, const std::string& message) {
  Failure made = failure(spec.value("status", 500), spec.value("code", "scripted"), message);
  if (spec.contains("retry_after")) made = made.retry_after(spec.at("retry_after").get<std::string>());
  if (spec.contains("retry_after_ms")) {
    made = made.retry_after_ms(std::chrono::milliseconds{spec.at("retry_after_ms").get<int>()});
  }
  if (spec.contains("retry_after_date_ms")) {
    made = made.retry_after_date(std::chrono::milliseconds{spec.at("retry_after_date_ms").get<int>()});
  }
  if (spec.contains("should_retry")) made = made.should_retry(spec.at("should_retry").get<bool>());
  return made;
}

Trigger trigger_from(const Json& spec) {
  const std::string name = spec.at("trigger").get<std::string>();
  const std::size_t count = spec.value("count", std::size_t{1});
  if (name == "before_headers") return before_headers();
  if (name == "after_headers") return after_headers();
  if (name == "after_events") return after_events(count);
  if (name == "after_tokens") return after_tokens(count);
  if (name == "before_done") return before_done();
  if (name == "at_end") return at_end();
  throw std::invalid_argument("no trigger is called " + name);
}

Effect effect_from(const Json& spec) {
  const std::string name = spec.at("effect").get<std::string>();
  if (name == "close") return close_connection();
  if (name == "reset") return reset_connection();
  if (name == "stall") return stall();
  throw std::invalid_argument("no effect is called " + name);
}

Json after_first_word(const ChatRequest& request) {
  const std::string said = request.last_user_text();
  return Json::parse(said.substr(said.find(' ') + 1));
}

void mount_script(Gateway& gateway) {
  const auto attempts = std::make_shared<Attempts>();

  // A file says what no function is needed for.
  gateway.load((std::filesystem::path(__FILE__).parent_path() / "script.jsonc").string());

  // fail {"status": 429, "times": 1, "retry_after_ms": 5, "id": "…"}: the first `times` requests with this very
  // message fail with their number as the message; the next is told how many there were.
  gateway.chat().when(user_says(starts_with("fail {"))).reply([attempts](const ChatRequest& request) -> Reply {
    const Json spec = after_first_word(request);
    const std::size_t attempt = attempts->next(request.last_user_text());
    if (attempt <= spec.value("times", std::size_t{1})) return failure_from(spec, "attempt " + std::to_string(attempt));
    return text("ok at attempt " + std::to_string(attempt));
  });

  // break {"trigger": "after_tokens", "count": 2, "effect": "reset", "times": 1, "id": "…"}: the reply to the first
  // `times` requests with this very message breaks; later ones arrive whole.
  gateway.chat().when(user_says(starts_with("break {"))).reply([attempts](const ChatRequest& request) -> Reply {
    const Json spec = after_first_word(request);
    const Reply whole = text("one two three four");
    if (attempts->next(request.last_user_text()) > spec.value("times", std::size_t{1})) return whole;
    return whole.fault(trigger_from(spec), effect_from(spec));
  });
}

std::int64_t milliseconds(TimePoint time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::vector<Exchange> exchanges_with(const Journal& journal, const std::string& marker) {
  std::vector<Exchange> found;
  for (const Exchange& exchange : journal.all()) {
    if (exchange.body().find(marker) != std::string::npos) found.push_back(exchange);
  }
  return found;
}

void mount_console(Gateway& gateway) {
  gateway.on("POST", "/console/keys", [&gateway](const ReceivedRequest& request) -> HttpReply {
    const Json wanted = Json::parse(request.body);
    KeyOptions options = KeyOptions().disabled(wanted.value("disabled", false));
    if (wanted.contains("models")) options = options.models(wanted.at("models").get<std::vector<std::string>>());
    if (wanted.contains("limit")) {
      options = options.limit(wanted.at("limit").get<std::size_t>(),
                              std::chrono::milliseconds{wanted.at("window_ms").get<int>()});
    }
    const CreatedKey key = gateway.keys().create("made by a test", options);
    for (const Json& spec : wanted.value("fail", Json::array())) {
      gateway.fail_next(failure_from(spec, spec.value("message", "forced")), spec.value("times", std::size_t{1}),
                        for_key(key.id));
    }
    return Json{{"id", key.id}, {"secret", key.secret}};
  });

  gateway.on("POST", "/console/keys/{id}/state", [&gateway](const ReceivedRequest& request) -> HttpReply {
    const std::string start = "/console/keys/";
    const std::string path = request.path();
    const std::string id = path.substr(start.size(), path.find('/', start.size()) - start.size());
    const std::string state = Json::parse(request.body).at("state").get<std::string>();
    if (state == "enabled") gateway.keys().enable(id);
    if (state == "disabled") gateway.keys().disable(id);
    if (state == "deleted") gateway.keys().remove(id);
    return Json{{"state", to_string(gateway.keys().find(id).state)}};
  });

  gateway.on("GET", "/console/arrived", [&gateway](const ReceivedRequest& request) -> HttpReply {
    const Journal journal = gateway.journal();
    const auto deadline = std::chrono::steady_clock::now() + 5s;
    for (;;) {
      const std::size_t count = journal.count();
      if (!exchanges_with(journal, request.query()).empty()) return Json{{"arrived", true}};
      if (!journal.wait_for(count + 1, deadline - std::chrono::steady_clock::now())) {
        return failure(408, "not_arrived", "no request with this marker arrived");
      }
    }
  });

  gateway.on("GET", "/console/seen", [&gateway](const ReceivedRequest& request) -> HttpReply {
    Json seen = Json::array();
    for (const Exchange& exchange : exchanges_with(gateway.journal(), request.query())) {
      Json headers = Json::object();
      for (const wire::Header& header : exchange.headers()) headers[header.name] = header.value;
      seen.push_back({{"status", exchange.status()},
                      {"outcome", to_string(exchange.outcome(2s).kind)},
                      {"tokens", exchange.tokens_sent()},
                      {"received_ms", milliseconds(exchange.received())},
                      {"headers", headers},
                      {"body", exchange.body()}});
    }
    return seen;
  });

  gateway.on("GET", "/console/review", [&gateway](const ReceivedRequest& request) -> HttpReply {
    const Review review = gateway.review(request.query());
    return Json{{"clean", static_cast<bool>(review)}, {"judged", review.judged()}, {"message", review.message()}};
  });
}

Options usual_options() {
  return Options{}
      .model("mock-model")
      .model(small_model)
      .model(model_with_slash, "a team")
      .key("disabled from the start", KeyOptions{}.secret(disabled_secret).disabled())
      .verify_on_destruction(false);  // the suites break what they ask for
}

Json describe(const Gateway& gateway) {
  return {{"base_url", gateway.base_url()},
          {"root_url", gateway.root_url()},
          {"api_key", gateway.api_key()},
          {"disabled_key", disabled_secret}};
}

void run() {
  std::vector<std::unique_ptr<Gateway>> gateways;
  const auto start = [&gateways](const Options& options) -> Gateway& {
    gateways.push_back(std::make_unique<Gateway>(options));
    return *gateways.back();
  };

  Json places;
  for (const Profile profile : {Profile::documented, Profile::openai, Profile::dashscope, Profile::deepseek}) {
    Gateway& scripted = start(usual_options().profile(profile));
    mount_script(scripted);
    mount_console(scripted);
    Gateway& unscripted = start(usual_options().profile(profile));
    mount_console(unscripted);
    places[to_string(profile)] = {{"scripted", describe(scripted)}, {"unscripted", describe(unscripted)}};
  }
  // Of its own: whatever another suite changes at a console makes a retry another question.
  Gateway& reviewed = start(usual_options());
  mount_script(reviewed);
  mount_console(reviewed);
  places["reviewed"] = describe(reviewed);
  places["limited"] = describe(start(usual_options().limit(2, 1h)));
  places["strict"] = describe(start(usual_options().acceptance(Acceptance::strict())));

  std::cout << places.dump() << std::endl;
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
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
