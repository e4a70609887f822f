// Keys that delete themselves: after a number of requests, or some time after their first use.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/threads.hpp"

namespace key_ends_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_path;
using test_support::contains;
using test_support::error_of;
using test_support::Http;
using test_support::in_threads;
using test_support::Response;

using Statuses = std::vector<int>;

Statuses chats(const Http& http, int count) {
  Statuses statuses;
  for (int request = 0; request < count; ++request) statuses.push_back(http.chat().status);
  return statuses;
}

TEST_CASE("a key is deleted after its last request: 401 for each operation, and the journal says why") {
  Gateway gateway{Options{}.embeddings()};
  gateway.on("POST", "/v1/images", [](const ReceivedRequest&) { return HttpReply(200, "{}"); });
  const CreatedKey key = gateway.keys().create("short", KeyOptions{}.deleted_after(2));
  const Http http = Http(gateway).with_key(key.secret);
  CHECK(http.chat().status == 200);
  CHECK(gateway.keys().find(key.id).state == KeyState::enabled);
  CHECK(gateway.keys().find(key.id).ended.empty());
  CHECK(http.get("/v1/models").status == 200);
  CHECK(gateway.keys().find(key.id).state == KeyState::deleted);
  CHECK(gateway.keys().find(key.id).ended == "deleted after 2 requests");
  CHECK(gateway.keys().list().size() == 1);
  const std::string body = http.with_key("sk-unknown-0123456789").chat().body;
  for (const Response& response :
       {http.chat(), http.stream(), http.get("/v1/models"), http.get("/v1/nothing"), http.post("/v1/images", "{}"),
        http.post("/v1/embeddings", "{}"), http.with_header("Expect", "100-continue").chat()}) {
    CHECK(response.status == 401);
    CHECK(response.body == body);
    CHECK(contains(test_support::printed(gateway.journal().last()), "the key is deleted: deleted after 2 requests"));
    CHECK(gateway.journal().last().key_id() == key.id);
  }
  CHECK(Http(gateway).chat().status == 200);
  CHECK(gateway.keys().find(key.id).requests == 9);
}

TEST_CASE("a key expires some time after its first use, on the gateway's clock") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock)};
  const CreatedKey key = gateway.keys().create("short", KeyOptions{}.deleted_after(30min));
  const Http http = Http(gateway).with_key(key.secret);
  clock.advance(10h);
  CHECK(http.chat().status == 200);  // its time begins here
  clock.advance(30min - 1ns);
  CHECK(http.chat().status == 200);
  CHECK(gateway.keys().list().size() == 2);
  clock.advance(1ns);
  CHECK(gateway.keys().list().size() == 1);  // even without a request
  CHECK(gateway.keys().find("short").state == KeyState::deleted);
  CHECK(gateway.keys().find("short").ended == "expired 30m after first use");
  CHECK(chats(http, 2) == Statuses{401, 401});
  CHECK(contains(test_support::printed(gateway.journal().last()), "the key is deleted: expired 30m after first use"));
  CHECK(contains(error_of([&] { gateway.keys().enable("short"); }), "a deleted key cannot be enabled"));
}

TEST_CASE("with a number of requests and a time, the earlier end applies") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock)};
  const KeyOptions both = KeyOptions{}.deleted_after(3).deleted_after(90s);
  const CreatedKey busy = gateway.keys().create("busy", both);
  const CreatedKey idle = gateway.keys().create("idle", both);
  CHECK(chats(Http(gateway).with_key(busy.secret), 4) == Statuses{200, 200, 200, 401});
  CHECK(chats(Http(gateway).with_key(idle.secret), 2) == Statuses{200, 200});
  clock.advance(90s);
  CHECK(chats(Http(gateway).with_key(idle.secret), 2) == Statuses{401, 401});
  CHECK(gateway.keys().find(busy.id).ended == "deleted after 3 requests");
  CHECK(gateway.keys().find(idle.id).ended == "expired 90s after first use");
}

TEST_CASE("the end counts refused requests too, and changes of the state do not put it off") {
  const Gateway gateway;
  const CreatedKey key =
      gateway.keys().create("", KeyOptions{}.state_for(KeyState::disabled, 2).deleted_after(6).limit(3, 1h));
  const Http http = Http(gateway).with_key(key.secret);
  CHECK(chats(http, 3) == Statuses{403, 403, 200});
  gateway.keys().disable_for(key.id, 1);
  CHECK(http.get("/v1/nothing").status == 403);
  gateway.keys().enable(key.id);
  CHECK(http.post(chat_path, "{").status == 400);
  gateway.keys().disable_for(key.id, 5);
  CHECK(chats(http, 8) == Statuses{403, 401, 401, 401, 401, 401, 401, 401});
}

TEST_CASE("a reset restores no key, and restarts no count") {
  Gateway gateway;
  const CreatedKey ended = gateway.keys().create("ended", KeyOptions{}.deleted_after(1));
  const CreatedKey used = gateway.keys().create("used", KeyOptions{}.deleted_after(2));
  CHECK(chats(Http(gateway).with_key(ended.secret), 1) == Statuses{200});
  CHECK(chats(Http(gateway).with_key(used.secret), 1) == Statuses{200});
  gateway.reset();
  CHECK(chats(Http(gateway).with_key(ended.secret), 1) == Statuses{401});
  CHECK(chats(Http(gateway).with_key(used.secret), 2) == Statuses{200, 401});
}

TEST_CASE("a client that takes a new key after the 401 is clean; one that repeats the old key is not") {
  for (const bool refreshes : {true, false}) {
    CAPTURE(refreshes);
    ManualClock clock;
    Gateway gateway{Options{}.clock(clock)};
    gateway.chat().reply("a");
    const CreatedKey old = gateway.keys().create("old", KeyOptions{}.deleted_after(1));
    const CreatedKey fresh = gateway.keys().create("fresh");
    const Http http = Http(gateway).with_key(old.secret);
    CHECK(http.chat().status == 200);
    clock.advance(1min);
    CHECK(http.chat().status == 401);
    clock.advance(1min);
    CHECK((refreshes ? http.with_key(fresh.secret) : http).chat().status == (refreshes ? 200 : 401));
    CHECK(static_cast<bool>(gateway.review()) == refreshes);
  }
}

TEST_CASE("of many threads, exactly as many requests are answered as the key lasts") {
  const Gateway gateway;
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.deleted_after(25));
  std::atomic<int> accepted{0};
  in_threads(4, [&](std::size_t) {
    const Http http = Http(gateway).with_key(key.secret).keep_alive();
    for (int request = 0; request < 10; ++request)
      if (http.get("/v1/models").status == 200) ++accepted;
  });
  CHECK(accepted == 25);
}

TEST_CASE("an impossible end throws") {
  CHECK(contains(error_of([] { static_cast<void>(KeyOptions().deleted_after(0)); }), "at least 1 request"));
  for (const Duration time : {Duration(0s), Duration(-1s)})
    CHECK(contains(error_of([&] { static_cast<void>(KeyOptions().deleted_after(time)); }), "longer than 0"));
}

}  // namespace key_ends_test
