#pragma once

// Random replies and a request for each. fuzz/reply_plans.py checks the replies, and oracle/ stores their hashes.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "mock_gateway.hpp"

namespace reply_plans {

using namespace mock_gateway;
using namespace std::chrono_literals;

/// A generator that draws the parts of a plan at random.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }
  std::size_t from_one_to(std::size_t most) { return 1 + below(most); }
  bool once_in(std::size_t n) { return below(n) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return *(list.begin() + below(list.size()));
  }

  std::string text(std::size_t most_pieces) {
    std::string result;
    for (std::size_t piece = below(most_pieces + 1); piece > 0; --piece) {
      result += one_of<const char*>({"Hello",      " world",
                                     ".",          " two  spaces",
                                     "\n",         "\n\n",
                                     "\r\n",       "\t",
                                     "\"quoted\"", "back\\slash",
                                     "é",          "漢字",
                                     "🙂",       "👩‍👩‍👧",
                                     "\u2028",     "data: x",
                                     "[DONE]",     "</script>",
                                     ": ping",     "\x7f",
                                     "\x01",       " and a longer piece of text",
                                     "0",          " "});
    }
    return result;
  }

 private:
  detail::Random random_;
};

class Plan {
 public:
  explicit Plan(std::uint64_t seed, bool broken) : draw_(seed) {
    const bool streamed = !draw_.once_in(3);
    request_ = {{"model", "mock-model"},
                {"messages", {{{"role", "user"}, {"content", "plan " + std::to_string(draw_.below(1000))}}}}};
    if (streamed) request_["stream"] = true;
    if (streamed && draw_.once_in(3)) request_["stream_options"] = {{"include_usage", true}};
    told_["close"] = draw_.once_in(2);
    const std::size_t kind = draw_.below(10);
    if (kind < 7) {
      make_completion();
    } else if (kind == 7) {
      make_failure();
    } else if (kind == 8) {
      make_raw_reply();
    } else {
      make_chunks();
    }
    if (draw_.once_in(2)) add_headers();
    add_writes();
    const bool pings = told_.contains("dialect") && told_["dialect"]["pings"].get<bool>();
    if (broken && !pings) add_fault();
    told_["request"] = request_;
  }

  const Reply& reply() const { return reply_; }
  const Json& told() const { return told_; }

 private:
  void make_completion() {
    told_["kind"] = "completion";
    told_["status"] = 200;
    told_["choices"] = Json::array();
    const std::size_t count = draw_.once_in(5) ? 2 : 1;
    std::vector<Reply> parts;
    for (std::size_t i = 0; i < count; ++i) parts.push_back(make_choice());
    reply_ = count == 1 ? parts[0] : choices(parts[0], parts[1]);
    if (count == 2) request_["n"] = 2;
    if (draw_.once_in(2)) reply_ = reply_.pace(make_pace());
    add_dialect();
  }

  Reply make_choice() {
    Json told{{"text", ""}, {"thinking", ""}, {"refusal", ""}, {"tool_calls", Json::array()}};
    const std::size_t shape = draw_.below(8);
    if (shape == 0) {
      const std::string said = "No. " + draw_.text(4);
      told["refusal"] = said;
      told_["choices"].push_back(told);
      return refusal(said);
    }
    std::string said = draw_.text(12);
    const std::size_t calls = shape < 3 ? draw_.from_one_to(3) : 0;
    if (calls > 0 && draw_.once_in(2)) said.clear();
    Reply reply = said.empty() && calls > 0 ? call(told) : text(said);
    told["text"] = said;
    while (told["tool_calls"].size() < calls) reply = call(told, reply);
    if (draw_.once_in(3)) {
      const std::string thought = draw_.text(6);
      reply = reply.thinking(thought);
      told["thinking"] = thought;
    }
    if (draw_.once_in(4)) {
      const std::string reason = draw_.one_of<const char*>({"stop", "length", "content_filter", "odd"});
      reply = reply.finish_reason(reason);
      told["finish_reason"] = reason;
    }
    told_["choices"].push_back(told);
    return reply;
  }

  Reply call(Json& told, std::optional<Reply> reply = std::nullopt) {
    const std::string name = draw_.one_of<const char*>({"get_weather", "find", "f"});
    if (draw_.once_in(4)) {
      const std::string arguments = draw_.one_of<const char*>({"{\"city\": ", "", "not JSON", "[1, 2"});
      told["tool_calls"].push_back({{"name", name}, {"arguments", arguments}});
      return reply ? reply->malformed_tool_call(name, arguments) : malformed_tool_call(name, arguments);
    }
    Json arguments = Json::object();
    for (std::size_t i = draw_.below(3); i > 0; --i) arguments["key" + std::to_string(i)] = draw_.text(3);
    told["tool_calls"].push_back({{"name", name}, {"arguments", arguments.dump()}});
    return reply ? reply->tool_call(name, arguments) : tool_call(name, arguments);
  }

  Pace make_pace() {
    Pace pace;
    if (draw_.once_in(2)) pace = pace.first_token_after(uniform(10ms, 50ms));
    switch (draw_.below(3)) {
      case 0: pace = pace.every(20ms); break;
      case 1: pace = pace.tokens_per_second(log_normal(50, 0.5)); break;
      default: break;
    }
    switch (draw_.below(6)) {
      case 0: return pace.chunked(by_characters(draw_.from_one_to(3)));
      case 1: return pace.chunked(by_bytes(draw_.from_one_to(9)));
      case 2: return pace.chunked(by_words(draw_.from_one_to(3)));
      case 3: return pace.chunked(by_tokens(draw_.from_one_to(4)));
      default: return pace;
    }
  }

  void make_failure() {
    const int status = draw_.one_of({400, 401, 403, 404, 408, 409, 418, 429, 500, 502, 503, 504, 529, 599});
    const std::string code = draw_.one_of<const char*>({"rate_limit_exceeded", "server_error", "", "odd code"});
    const std::string message = draw_.text(8);
    Failure failure(status, code, message);
    if (draw_.once_in(3)) failure = failure.retry_after(1500ms);
    reply_ = failure;
    told_["kind"] = "failure";
    told_["status"] = status;
    told_["error"] = {{"code", code}, {"message", message}};
  }

  void make_raw_reply() {
    const int status = draw_.one_of({200, 201, 202, 204, 301, 304, 400, 404, 500, 599});
    const bool has_body = status != 204 && status != 304;
    const std::string body = has_body ? draw_.text(40) : "";
    reply_ = raw_reply(status, body, "text/plain; charset=utf-8");
    told_["kind"] = "raw";
    told_["status"] = status;
    told_["body"] = body;
  }

  void make_chunks() {
    std::vector<StreamChunk> elements;
    Json events = Json::array();
    for (std::size_t i = draw_.from_one_to(8); i > 0; --i) {
      const Json element = draw_.once_in(4)
                               ? Json{{"choices", Json::array()}, {"odd", draw_.text(2)}}
                               : Json{{"choices", {{{"index", 0}, {"delta", {{"content", draw_.text(3)}}}}}}};
      events.push_back(element.dump());
      elements.push_back(json_chunk(element));
    }
    reply_ = chunks(elements);
    told_["kind"] = "chunks";
    told_["status"] = 200;
    told_["events"] = events;
    add_dialect();
  }

  void add_dialect() {
    SseDialect dialect;
    if (draw_.once_in(2)) {
      dialect = dialect.line_end(draw_.one_of<const char*>({"\n", "\r\n", "\r"}));
      dialect = dialect.space_after_colon(!draw_.once_in(3));
      dialect = dialect.done(!draw_.once_in(6));
      dialect = dialect.byte_order_mark(draw_.once_in(6));
      if (draw_.once_in(4)) dialect = dialect.event("message");
      dialect = dialect.ids(draw_.once_in(4));
      if (draw_.once_in(6)) dialect = dialect.retry(3s);
      dialect = dialect.multi_line_data(draw_.once_in(4));
      if (draw_.once_in(4)) dialect = dialect.comment("OPENROUTER PROCESSING");
      if (draw_.once_in(5)) {
        dialect = dialect.ping_every(15ms);
        dialect = dialect.ping(draw_.one_of<const char*>({": ping", ": a\n: b"}));
      }
      dialect = dialect.final_blank_line(!draw_.once_in(6));
      if (dialect.done() && dialect.final_blank_line() && draw_.once_in(6))
        dialect = dialect.after_done("{\"late\":true}");
      dialect = dialect.gzip(draw_.once_in(5));
    }
    reply_ = reply_.sse(dialect);
    told_["dialect"] = {{"line_end", dialect.line_end()},
                        {"done", dialect.done()},
                        {"byte_order_mark", dialect.byte_order_mark()},
                        {"final_blank_line", dialect.final_blank_line()},
                        {"after_done", dialect.after_done()},
                        {"gzip", dialect.gzip()},
                        {"pings", dialect.ping_every() > 0ns}};
  }

  void add_headers() {
    told_["headers"] = Json::array();
    for (std::size_t i = draw_.from_one_to(3); i > 0; --i) {
      const std::string name = "X-Plan-" + std::to_string(i);
      const std::string value = draw_.one_of<const char*>({"a", "two words", "", "caf\xC3\xA9", "a,b", "\"q\"; x=1"});
      reply_ = reply_.header(name, value);
      told_["headers"].push_back({name, value});
    }
  }

  void add_writes() {
    const std::size_t kind = draw_.below(8);
    told_["writes"] = kind < 4;
    switch (kind) {
      case 0: reply_ = reply_.slice_writes(draw_.from_one_to(40)); break;
      case 1: reply_ = reply_.one_write(); break;
      case 2: reply_ = reply_.split_write(draw_.from_one_to(300)); break;
      case 3: reply_ = reply_.write_each_event(); break;
      default: break;
    }
  }

  void add_fault() {
    for (int attempt = 0; attempt < 10; ++attempt) {
      const std::size_t count = draw_.from_one_to(draw_.once_in(4) ? 60 : 6);
      const std::size_t byte = draw_.from_one_to(draw_.once_in(2) ? 10 : 200);
      const auto [trigger, place] =
          draw_.one_of<std::pair<Trigger, const char*>>({{before_headers(), "before_headers"},
                                                         {after_headers(), "after_headers"},
                                                         {after_events(count), "after_events"},
                                                         {after_tokens(count), "after_tokens"},
                                                         {after_bytes(byte), "after_bytes"},
                                                         {inside_event(count, byte), "inside_event"},
                                                         {inside_character(count), "inside_character"},
                                                         {before_done(), "before_done"},
                                                         {at_end(), "at_end"}});
      const std::int64_t difference = static_cast<std::int64_t>(draw_.below(60)) - 30;
      const Json error{{"error", {{"message", "it broke"}}}};
      const auto [effect, name] = draw_.one_of<std::pair<Effect, const char*>>(
          {{close_connection(), "close"},
           {reset_connection(), "reset"},
           {half_close(), "half_close"},
           {truncate(), "truncate"},
           {garbage("!garbage!"), "garbage"},
           {stall(1s), "stall"},
           {error_event(error), "error_event"},
           {skip_event(), "skip_event"},
           {duplicate_event(), "duplicate_event"},
           {wrong_content_length(difference == 0 ? 1 : difference), "wrong_content_length"}});
      try {
        reply_ = reply_.fault(trigger, effect);
      } catch (const GatewayError&) {
        continue;  // this reply cannot have this fault
      }
      told_["close"] = true;  // closes the connection, so that every broken reply ends
      told_["fault"] = {{"place", place},
                        {"count", count},
                        {"byte", byte},
                        {"effect", name},
                        {"bytes", "!garbage!"},
                        {"data", error.dump()},
                        {"difference", difference == 0 ? 1 : difference},
                        {"text", effect.to_string() + " " + trigger.to_string()}};
      return;
    }
  }

  Draw draw_;
  Json request_;
  Json told_{{"fault", nullptr}, {"headers", Json::array()}};
  Reply reply_{""};
};

}  // namespace reply_plans
