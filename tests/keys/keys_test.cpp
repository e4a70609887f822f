// The life of a key as clients see it: its states and the effect of changes. Its secret is shown only once.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/golden.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/threads.hpp"

namespace keys_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_path;
using test_support::contains;
using test_support::error_of;
using test_support::eventually;
using test_support::Http;
using test_support::in_threads;
using test_support::RawConnection;
using test_support::Response;
using test_support::unauthorized_body;

inline std::vector<std::string> ids(const std::vector<ApiKey>& keys) {
  std::vector<std::string> result;
  for (const ApiKey& key : keys) result.push_back(key.id);
  return result;
}

TEST_CASE("a gateway has a default key from the start, and its secret can be read again") {
  const Gateway gateway;
  CHECK(gateway.api_key().substr(0, 3) == "sk-");
  CHECK(gateway.api_key() == gateway.api_key());
  CHECK(Http(gateway).chat().status == 200);
  CHECK(gateway.keys().list().size() == 1);
}

TEST_CASE("the default key has the options that the test gives it, with either secret") {
  const KeyOptions twice = KeyOptions{}.deleted_after(2);
  for (const Options& options :
       {Options{}.default_key(twice), Options{}.api_key("sk-mine-0123").default_key(twice),
        Options{}.default_key(twice).api_key("sk-mine-0123"), Options{}.default_key(twice.secret("sk-mine-0123"))}) {
    const Gateway gateway{options};
    CHECK((gateway.api_key() == "sk-mine-0123") == (gateway.api_key() != Gateway().api_key()));
    const Http http(gateway);
    CHECK(http.chat().status == 200);
    CHECK(http.chat().status == 200);
    CHECK(http.chat().status == 401);
  }
  CHECK(Gateway(Options{}.api_key("sk-a-0123").default_key(KeyOptions{}.secret("sk-b-0123"))).api_key() == "sk-b-0123");
  CHECK(error_of([] { Gateway(Options{}.default_key(KeyOptions{}.limit_concurrent(0))); }) != "");
}

TEST_CASE("a created key is accepted, and the console shows everything except its secret") {
  const ManualClock clock;
  const Gateway gateway{Options{}.clock(clock)};
  const CreatedKey created = gateway.keys().create("billing service");
  CHECK(created.secret.substr(0, 3) == "sk-");
  CHECK(created.description == "billing service");
  CHECK(Http(gateway).with_key(created.secret).chat().status == 200);

  const ApiKey shown = gateway.keys().find(created.id);
  CHECK(shown.id == created.id);
  CHECK(shown.description == "billing service");
  CHECK(shown.state == KeyState::enabled);
  CHECK(shown.models.empty());
  CHECK(shown.operations.empty());
  CHECK_FALSE(shown.limit.has_value());
  CHECK(shown.created == ManualClock::default_start);
  CHECK(ids(gateway.keys().list()) == std::vector<std::string>{"key_1", created.id});

  gateway.keys().set_description(created.id, "billing, new");
  CHECK(gateway.keys().find(created.id).description == "billing, new");
}

TEST_CASE("a disabled key gets 403 until it is enabled again") {
  const Gateway gateway;
  const CreatedKey key = gateway.keys().create("billing service");
  const Http http = Http(gateway).with_key(key.secret);

  gateway.keys().disable(key.id);
  CHECK(gateway.keys().find(key.id).state == KeyState::disabled);
  for (const Response& response : {http.chat(), http.stream(), http.get("/v1/models"), http.get("/v1/nothing")}) {
    CHECK(response.status == 403);
    CHECK(response.body == unauthorized_body);
  }
  CHECK(Http(gateway).chat().status == 200);

  gateway.keys().enable(key.id);
  CHECK(gateway.keys().find(key.id).state == KeyState::enabled);
  CHECK(http.chat().status == 200);
  CHECK(http.stream().status == 200);
  CHECK(http.get("/v1/models").status == 200);
}

TEST_CASE("a key can be created disabled and enabled later") {
  const Gateway gateway;
  const CreatedKey key = gateway.keys().create("later", KeyOptions{}.disabled());
  CHECK(Http(gateway).with_key(key.secret).chat().status == 403);
  gateway.keys().enable(key.id);
  CHECK(Http(gateway).with_key(key.secret).chat().status == 200);
}

TEST_CASE("a key goes through its states, each for a number of its requests") {
  const Gateway gateway;
  const CreatedKey key = gateway.keys().create("later", KeyOptions{}
                                                            .state_for(KeyState::enabled, 1)
                                                            .state_for(KeyState::disabled, 2)
                                                            .state_for(KeyState::enabled, 1)
                                                            .disabled());
  const Http http = Http(gateway).with_key(key.secret);
  const auto state = [&] { return gateway.keys().find(key.id).state; };
  CHECK(state() == KeyState::enabled);
  CHECK(http.chat().status == 200);
  CHECK(state() == KeyState::disabled);
  CHECK(http.get("/v1/models").status == 403);
  CHECK(http.get("/v1/nothing").status == 403);
  CHECK(Http(gateway).chat().status == 200);  // another key's requests do not count
  CHECK(state() == KeyState::enabled);
  CHECK(http.get("/v1/nothing").status == 404);  // a request that gets a 404 counts
  CHECK(state() == KeyState::disabled);
  for (int i = 0; i < 3; ++i) CHECK(http.chat().status == 403);
}

TEST_CASE("a key disabled for some requests is enabled afterwards, unless the test changes it") {
  const Gateway gateway;
  const CreatedKey key = gateway.keys().create();
  const Http http = Http(gateway).with_key(key.secret);
  const auto statuses = [&](int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += std::to_string(http.chat().status) + " ";
    return all;
  };
  gateway.keys().disable_for(key.id, 2);
  CHECK(statuses(3) == "403 403 200 ");
  gateway.keys().disable_for(key.id, 2);
  gateway.keys().enable(key.id);
  CHECK(statuses(2) == "200 200 ");
  gateway.keys().disable_for(key.id, 2);
  gateway.keys().disable(key.id);
  CHECK(statuses(3) == "403 403 403 ");
  gateway.keys().disable_for(key.id, 1);
  CHECK(statuses(2) == "403 200 ");
  gateway.keys().disable_for(key.id, 1);
  gateway.keys().remove(key.id);
  CHECK(statuses(2) == "401 401 ");
  CHECK(contains(error_of([&] { gateway.keys().disable_for(key.id, 1); }), "deleted"));
  CHECK(contains(error_of([&] { gateway.keys().disable_for("key_1", 0); }), "lasts at least 1 request"));
  CHECK(
      contains(error_of([] { (void)KeyOptions{}.state_for(KeyState::deleted, 1); }), "delete a key with Keys::remove"));
}

TEST_CASE("disabling a disabled key and enabling an enabled key change nothing") {
  const Gateway gateway;
  const CreatedKey key = gateway.keys().create();
  const Http http = Http(gateway).with_key(key.secret);
  gateway.keys().enable(key.id);
  CHECK(http.chat().status == 200);
  gateway.keys().disable(key.id);
  gateway.keys().disable(key.id);
  CHECK(http.chat().status == 403);
  gateway.keys().enable(key.id);
  CHECK(http.chat().status == 200);
}

TEST_CASE("a deleted key gets 401, leaves the list and can still be looked up") {
  const Gateway gateway;
  const CreatedKey enabled = gateway.keys().create("enabled");
  const CreatedKey disabled = gateway.keys().create("disabled", KeyOptions{}.disabled());
  for (const CreatedKey& key : {enabled, disabled}) {
    gateway.keys().remove(key.id);
    const Response response = Http(gateway).with_key(key.secret).chat();
    CHECK(response.status == 401);
    CHECK(response.body == unauthorized_body);
    CHECK(gateway.keys().find(key.id).state == KeyState::deleted);
  }
  CHECK(ids(gateway.keys().list()) == std::vector<std::string>{"key_1"});
}

TEST_CASE("every operation on a deleted key throws with advice") {
  const Gateway gateway;
  const Keys keys = gateway.keys();
  const std::string id = keys.create("billing service").id;
  keys.remove(id);
  CHECK(error_of([&] { keys.enable(id); }) ==
        "mock_gateway: key \"key_2\" (\"billing service\") is deleted; a deleted key cannot be enabled, create a new "
        "one");
  CHECK(error_of([&] { keys.remove(id); }) == "mock_gateway: key \"key_2\" (\"billing service\") is already deleted");
  CHECK(contains(error_of([&] { keys.disable(id); }), "cannot be disabled"));
  CHECK(contains(error_of([&] { keys.set_description(id, "x"); }), "cannot be described"));
  CHECK(contains(error_of([&] { keys.limit_models(id, {"m"}); }), "cannot be limited"));
  CHECK(contains(error_of([&] { keys.limit_operations(id, {list_models()}); }), "cannot be limited"));
  CHECK(contains(error_of([&] { keys.limit_rate(id, 1, 1s); }), "cannot be limited"));
  CHECK(contains(error_of([&] { keys.unlimit_rate(id); }), "cannot be limited"));
}

TEST_CASE("an unknown id throws and says where to find ids") {
  const Gateway gateway;
  CHECK(error_of([&] { gateway.keys().disable("x"); }) ==
        "mock_gateway: no key has the id or description \"x\"; Keys::list() shows them");
  CHECK(contains(error_of([&] { gateway.keys().find(""); }), "no key has the id or description \"\""));
}

TEST_CASE("a description names a key wherever an id does") {
  Gateway gateway{Options{}.key("app", KeyOptions{})};
  const Keys keys = gateway.keys();
  const std::string id = keys.find("app").id;
  const Http http = Http(gateway).with_key(keys.create("other").secret);
  CHECK(id == "key_2");
  keys.disable("other");
  CHECK(http.get("/v1/models").status == 403);
  keys.disable_for("other", 1);
  CHECK(http.get("/v1/models").status == 403);
  CHECK(http.get("/v1/models").status == 200);
  keys.limit_rate("other", 1, 1min);
  CHECK(http.get("/v1/models").status == 200);
  CHECK(http.get("/v1/models").status == 429);
  keys.unlimit_rate("other");
  keys.limit_tokens("other", 1, 1min);
  keys.unlimit_tokens("other");
  keys.limit_operations("other", {chat_completions()});
  keys.limit_models("other", {"mock-model"});
  CHECK(http.get("/v1/models").status == 403);
  keys.limit_operations("other", {});
  gateway.fail_next(bad_gateway(), 2, for_key("other"));
  CHECK(Http(gateway).get("/v1/models").status == 200);
  CHECK(http.get("/v1/models").status == 502);
  gateway.clear_failures(for_key("other"));
  CHECK(http.get("/v1/models").status == 200);
  gateway.fail_always(bad_gateway(), for_key("other"));
  CHECK(http.get("/v1/models").status == 502);
  gateway.clear_failures(for_key("key_3"));
  keys.set_description("other", "renamed");
  keys.enable("renamed");
  keys.remove("renamed");
  CHECK(http.get("/v1/models").status == 401);
  CHECK(keys.find("renamed").state == KeyState::deleted);
  CHECK(contains(error_of([&] { keys.enable("renamed"); }), "key \"key_3\" (\"renamed\") is deleted"));
  CHECK(gateway.verify("app"));
}

TEST_CASE("an ambiguous description is an error with the ids; an id and a key that is not deleted come first") {
  Gateway gateway;
  const Keys keys = gateway.keys();
  keys.create("twin");
  keys.create("twin");
  const std::string error =
      "mock_gateway: several keys have the description \"twin\": key_2, key_3; name one of them by its id";
  CHECK(error_of([&] { keys.disable("twin"); }) == error);
  CHECK(error_of([&] { keys.find("twin"); }) == error);
  CHECK(error_of([&] { gateway.fail_next(bad_gateway(), 1, for_key("twin")); }) == error);
  keys.remove("key_2");
  CHECK(keys.find("twin").id == "key_3");
  keys.remove("key_3");
  CHECK(error_of([&] { keys.find("twin"); }) == error);
  keys.create("key_1");
  CHECK(keys.find("key_1").description == "default key");
  // Keys without a description share none.
  keys.create();
  CHECK(contains(error_of([&] { keys.disable(""); }), "no key has the id"));
}

TEST_CASE("the error for a secret in place of an id explains the mistake and does not repeat the secret") {
  const Gateway gateway;
  const Gateway other{Options{}.seed(2)};
  for (const std::string& secret : {gateway.api_key(), other.api_key()}) {
    const std::string error = error_of([&] { gateway.keys().disable(secret); });
    CHECK(contains(error, "by its id, not by its secret"));
    CHECK_FALSE(contains(error, secret.substr(3)));
    const std::string scope_error = error_of([&] { for_key(secret); });
    CHECK(contains(scope_error, "not its secret"));
    CHECK_FALSE(contains(scope_error, secret.substr(3)));
  }
}

TEST_CASE("generated secrets repeat between runs, differ by seed, and never equal a chosen secret") {
  const auto secrets = [](const Options& options) {
    const Gateway gateway{options};
    return std::vector<std::string>{gateway.api_key(), gateway.keys().create().secret, gateway.keys().create().secret};
  };
  const std::vector<std::string> first = secrets(Options{});
  CHECK(secrets(Options{}) == first);
  CHECK(first[0].size() == 51);
  CHECK(first[0] != first[1]);
  CHECK(first[1] != first[2]);
  CHECK(secrets(Options{}.seed(2)) != first);

  const std::vector<std::string> beside = secrets(Options{}.api_key(first[1]));
  CHECK(beside[0] == first[1]);
  CHECK(beside[1] != first[1]);
}

TEST_CASE("a test can choose a secret; the error for an invalid secret does not repeat it") {
  const Gateway gateway{Options{}.api_key("sk-default")};
  CHECK(gateway.api_key() == "sk-default");
  CHECK(Http(gateway).chat().status == 200);
  const CreatedKey key = gateway.keys().create("mine", KeyOptions{}.secret("sk-my/own=secret"));
  CHECK(key.secret == "sk-my/own=secret");
  CHECK(Http(gateway).with_key("sk-my/own=secret").chat().status == 200);

  for (const char* wrong :
       {"", "sk-", " ", "hidden ", " hidden", "hid\tden", "sk-hidd\xc3\xa9n", "sk-hidden\n", "hidden\x7f"}) {
    const std::string error = error_of([&] { gateway.keys().create("", KeyOptions{}.secret(wrong)); });
    CHECK(contains(error, "printable ASCII without a space at its beginning or end"));
    CHECK_FALSE(contains(error, "hid"));
  }
  const std::string taken = error_of([&] { gateway.keys().create("", KeyOptions{}.secret("sk-my/own=secret")); });
  CHECK(contains(taken, "belongs to key \"key_2\" (\"mine\")"));
  CHECK_FALSE(contains(taken, "own"));
  gateway.keys().remove(key.id);
  CHECK(contains(error_of([&] { gateway.keys().create("", KeyOptions{}.secret("sk-my/own=secret")); }),
                 "is deleted and cannot be restored"));
  // A long description is truncated.
  for (const std::size_t length : {std::size_t{60}, std::size_t{61}}) {
    const std::string name(length, 'n');
    const std::string secret = "sk-long-" + std::to_string(length);
    gateway.keys().create(name, KeyOptions{}.secret(secret));
    CHECK(contains(error_of([&] { gateway.keys().create("", KeyOptions{}.secret(secret)); }),
                   "(\"" + name.substr(0, 60) + (length > 60 ? "\u2026\")" : "\")")));
  }
}

TEST_CASE("a key of any form works like a key that begins with sk-") {
  const Gateway gateway{Options{}.api_key("EMPTY").key("off", KeyOptions{}.secret("hf_other=").disabled())};
  CHECK(gateway.api_key() == "EMPTY");
  const Http http(gateway);
  CHECK(http.chat().status == 200);
  CHECK(http.with_authorization("bearer  EMPTY").chat().status == 200);
  CHECK(http.with_key("hf_other=").chat().status == 403);
  for (const char* wrong : {"empty", "EMPT", "EMPTYY", "EMPTY EMPTY", "hf_other", "sk-EMPTY"}) {
    CHECK(http.with_key(wrong).chat().status == 401);
  }
  CHECK(http.with_authorization("EMPTY").chat().status == 401);
  CHECK(http.with_authorization("Basic EMPTY").chat().status == 401);

  const Keys keys = gateway.keys();
  const std::string id = keys.list().at(0).id;
  keys.disable(id);
  CHECK(http.chat().status == 403);
  keys.enable(id);
  CHECK(http.chat().status == 200);
  keys.limit_rate(id, 1, 1min);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().status == 429);
  keys.remove(id);
  CHECK(http.chat().status == 401);
  CHECK(contains(error_of([&] { keys.create("", KeyOptions{}.secret("EMPTY")); }), "deleted and cannot be restored"));
  CHECK(keys.create("generated").secret.substr(0, 3) == "sk-");
}

TEST_CASE("a key may contain spaces, and is masked like others") {
  const Gateway gateway{Options{}.api_key("My API Key of the team").key("short", KeyOptions{}.secret("a  b"))};
  const Http http(gateway);
  CHECK(http.chat(Json("before My API Key of the team after")).status == 200);
  CHECK(http.get("/v1/models?a=My%20API%20Key%20of%20the%20team").status == 200);
  CHECK(http.with_authorization("Bearer   My API Key of the team").chat().status == 200);
  CHECK(http.with_key("a  b").chat().status == 200);
  for (const char* wrong : {"My API Key", "My API Key of  the team", "a b", "a"})
    CHECK(http.with_key(wrong).chat().status == 401);
  for (const Exchange& exchange : gateway.journal().all()) {
    CHECK_FALSE(contains(exchange.raw(), "API"));
    CHECK_FALSE(contains(exchange.raw(), "a  b"));
  }
  CHECK(contains(gateway.journal().all().at(0).raw(), "before *** after"));
}

TEST_CASE("a change of state applies to every request after the call has returned, from any thread") {
  const Gateway gateway;
  const CreatedKey key = gateway.keys().create("hammered");
  std::atomic<bool> disabled{false};
  std::atomic<bool> finished{false};
  std::atomic<int> accepted{0};
  std::atomic<int> rejected{0};
  std::atomic<int> too_late{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      const Http http = Http(gateway).with_key(key.secret).keep_alive();
      while (!finished) {
        const bool after = disabled;
        const int status = http.get("/v1/models").status;
        if (status == 200) ++(after ? too_late : accepted);
        if (status == 403 && after) ++rejected;
      }
    });
  }
  const bool served = eventually([&] { return accepted >= 30; });
  gateway.keys().disable(key.id);
  disabled = true;
  const bool turned_away = eventually([&] { return rejected >= 30; });
  finished = true;
  for (std::thread& client : clients) client.join();
  CHECK(served);
  CHECK(turned_away);
  CHECK(too_late == 0);
}

TEST_CASE("a request under way when its key is disabled or deleted completes") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(text("one two").hold(gate, before_token(2)));
  for (const bool remove : {false, true}) {
    CAPTURE(remove);
    const CreatedKey key = gateway.keys().create();
    RawConnection connection(gateway);
    connection.send(Http(gateway).with_key(key.secret).format_chat({{"stream", true}}));
    REQUIRE(gate.wait_until_reached(remove ? 2 : 1, 10s));
    remove ? gateway.keys().remove(key.id) : gateway.keys().disable(key.id);
    CHECK(Http(gateway).with_key(key.secret).get("/v1/models").status == (remove ? 401 : 403));
    gate.release();
    const Response response = connection.receive_response();
    CHECK(response.status == 200);
    CHECK(response.joined_text() == "one two");
    CHECK(response.done());
  }
}

TEST_CASE("a test can check that a client no longer uses its old key after a rotation") {
  const Gateway gateway;
  const CreatedKey old_key = gateway.keys().create("service, old");
  CHECK(Http(gateway).with_key(old_key.secret).chat().status == 200);
  const CreatedKey new_key = gateway.keys().create("service, new");
  CHECK(Http(gateway).with_key(new_key.secret).chat().status == 200);
  gateway.keys().disable(old_key.id);
  CHECK(Http(gateway).with_key(new_key.secret).chat().status == 200);
  CHECK(gateway.journal().by_key(old_key.id).size() == 1);
  CHECK(gateway.journal().by_key(new_key.id).size() == 2);
}

TEST_CASE("no secret is in the list, the journal, a log, an exception or a report") {
  std::mutex mutex;
  std::string log;
  Gateway gateway{Options{}.unmatched(Unmatched::allowed).on_exchange([&](const Exchange& exchange) {
    const std::lock_guard<std::mutex> lock(mutex);
    log += exchange.summary() + "\n";
  })};
  const Keys keys = gateway.keys();
  const CreatedKey created = keys.create("service");
  const CreatedKey odd = keys.create("odd", KeyOptions{}.secret("sk-odd/\"key\\%2F"));
  const std::string foreign = "sk-real-key-of-somebody";
  gateway.on("POST", "/v1/echo",
             [](const ReceivedRequest& request) { return HttpReply(200, request.body, "text/plain"); });
  gateway.chat().when(user_says("never")).named("never").reply("x");

  const std::vector<std::string> secrets = {gateway.api_key(), created.secret, odd.secret, foreign};
  std::string shown;
  for (const std::string& secret : secrets) {
    const Http http = Http(gateway).with_key(secret).with_header("X-Debug", "key=" + secret);
    http.chat({{"user", secret}, {"messages", Json::array({{{"role", "user"}, {"content", "my key is " + secret}}})}});
    http.post("/v1/echo", Json{{"key", secret}});
    http.get("/v1/nothing?key=" + secret);
    http.post(chat_path, "{\"model\": " + secret);
    http.with_authorization(secret).get("/v1/models");
    http.without_key().with_header("x-api-key", secret).get("/v1/models");
    Http(gateway).with_header("Authorization", "Bearer " + secret).get("/v1/models");
    for (const auto& call : std::vector<std::function<void()>>{
             [&] { keys.disable(secret); }, [&] { keys.find("id of " + secret); }, [&] { for_key(secret); },
             [&] { keys.create("", KeyOptions{}.secret(secret + " ")); }, [&] { gateway.journal().last().chat(); }}) {
      const std::string error = error_of(call);
      CHECK(error != "");
      shown += error;
    }
  }
  shown += error_of([&] { keys.create("", KeyOptions{}.secret(created.secret)); });
  keys.set_description(odd.id, "its secret is " + created.secret);
  // Sends the secret as JSON and a percent-encoded query would write it.
  Http(gateway).get("/v1/nothing?key=sk-odd%2F%22key%5C%252F");

  REQUIRE(gateway.journal().wait_until_idle(10s));
  REQUIRE(eventually([&] {
    const std::lock_guard<std::mutex> lock(mutex);
    return static_cast<std::size_t>(std::count(log.begin(), log.end(), '\n')) == gateway.journal().count();
  }));
  shown += log;
  for (const ApiKey& key : keys.list()) shown += key.id + key.description;
  for (const Exchange& exchange : gateway.journal().all()) {
    shown += exchange.raw() + exchange.body() + exchange.method() + exchange.path() + exchange.query();
    for (const wire::Header& header : exchange.headers()) shown += header.name + header.value;
    for (const Finding& finding : exchange.findings()) shown += finding.code + finding.message;
    std::ostringstream printed;
    printed << exchange << exchange.decision() << exchange.outcome();
    shown += printed.str() + exchange.as_curl() + exchange.summary() + exchange.decision().detail;
    if (exchange.status() == 200 && exchange.path() == chat_path) shown += exchange.chat().body.dump();
  }
  CHECK(gateway.journal().count() == 7 * secrets.size() + 1);
  CHECK(contains(shown, "sk-***"));
  for (const std::string& secret : secrets) {
    CHECK_FALSE(contains(shown, secret));
    CHECK_FALSE(contains(shown, secret.substr(3)));
  }
  CHECK_FALSE(contains(shown, R"(sk-odd/\"key)"));
  CHECK_FALSE(contains(shown, "sk-odd%2F"));
}

TEST_CASE("a key knows the number of its requests and the time of the last request, even after evictions") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock).journal_limits(1, 1 << 20).verify_on_destruction(false)};
  const CreatedKey created = gateway.keys().create("counted");
  CHECK(gateway.keys().find(created.id).requests == 0);
  CHECK_FALSE(gateway.keys().find(created.id).last_used);
  const Http http = Http(gateway).with_key(created.secret);
  http.chat();
  clock.advance(5s);
  http.get("/v1/models");
  clock.advance(5s);
  http.get("/no/such/path");
  gateway.keys().disable(created.id);
  clock.advance(5s);
  CHECK(http.chat().status == 403);
  gateway.keys().remove(created.id);
  CHECK(http.chat().status == 401);
  clock.advance(1h);
  Http(gateway).chat();
  Http(gateway).with_authorization("Basic " + created.secret).chat();
  gateway.journal().clear();
  const ApiKey counted = gateway.keys().find(created.id);
  CHECK(counted.requests == 5);
  CHECK(counted.last_used == ManualClock::default_start + 15s);
  CHECK(gateway.keys().list().front().requests == 1);
}

TEST_CASE("requests of many parallel clients are counted exactly") {
  constexpr std::size_t clients = 8;
  constexpr std::size_t rounds = 50;
  const Gateway gateway;
  in_threads(clients, [&](std::size_t) {
    const Http http = Http(gateway).keep_alive();
    for (std::size_t round = 0; round < rounds; ++round) http.get("/v1/models");
  });
  CHECK(gateway.keys().list().front().requests == clients * rounds);
}

TEST_CASE("a handle of the keys outlives its gateway") {
  const Keys keys = Gateway{}.keys();
  const CreatedKey key = keys.create("afterwards");
  keys.disable(key.id);
  CHECK(keys.find(key.id).state == KeyState::disabled);
}

}  // namespace keys_test
