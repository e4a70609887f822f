// Clients under test: a command (arguments, environment, output, exit status) or a driver (lines of JSON, see
// docs/driver-protocol.md).

#include "client.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "../messages.hpp"
#include "../recorded.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr int protocol_version = 1;
/// Longer than any answer. A longer text is wrong and stays wrong after the cut.
constexpr std::size_t most_text = std::size_t{1} << 20;
/// How long an interpreter and its libraries may take to load.
constexpr std::chrono::milliseconds time_to_start = 60s;

/// The tools that a client with --tools offers, in the format of the API.
Json offered_tools() {
  return Json::parse(R"([
    {"type": "function", "function": {"name": "get_weather", "description": "The weather in a city.", "strict": true,
     "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
                    "additionalProperties": false}}},
    {"type": "function", "function": {"name": "get_time", "description": "The time.", "strict": true,
     "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": false}}}])");
}

/// Parses an outcome. Throws BadValue for an invalid one.
class OutcomeReader {
 public:
  OutcomeReader(const Json& outcome, CallResult& result) : outcome_(outcome), result_(result) {}

  void read() {
    if (!outcome_.is_object()) throw BadValue(outcome_.is_discarded() ? "expected JSON" : "expected an object");
    const Json* const text = member("text");
    if (!text) throw BadValue("text is missing; use \"\" if there is none");
    result_.outcome.text = string(*text, "text").substr(0, most_text);
    if (const Json* const calls = member("tool_calls")) read_calls(*calls);
    if (const Json* const error = member("error")) read_error(*error);
    if (const Json* const reason = member("finish_reason"))
      result_.outcome.finish_reason = string(*reason, "finish_reason");
    if (const Json* const usage = member("usage")) read_usage(*usage);
    result_.tells_usage = outcome_.contains("usage");
  }

 private:
  /// Treats null as absent.
  const Json* member(const char* name) const {
    const auto found = outcome_.find(name);
    return found == outcome_.end() || found->is_null() ? nullptr : &*found;
  }
  static std::string string(const Json& value, const std::string& name) {
    if (!value.is_string()) throw BadValue(name + ": expected a string");
    return value.get<std::string>();
  }
  void read_calls(const Json& calls) {
    if (!calls.is_array()) throw BadValue("tool_calls: expected an array");
    for (const Json& call : calls) {
      if (!call.is_object() || !call.contains("arguments"))
        throw BadValue("tool_calls: expected objects with name and arguments");
      wire::ToolCall made;
      // A client that reads the name only from the first fragment may have none.
      if (call.contains("name") && call["name"].is_string()) made.name = call["name"].get<std::string>();
      const Json& arguments = call["arguments"];
      made.arguments = arguments.is_string() ? arguments.get<std::string>() : arguments.dump();
      result_.outcome.tool_calls.push_back(std::move(made));
    }
  }
  void read_error(const Json& error) {
    if (error.is_boolean()) {
      result_.outcome.error = error.get<bool>();
    } else {
      result_.told = string(error, "error");
      result_.outcome.error = true;
    }
  }
  void read_usage(const Json& usage) {
    const auto number = [&usage](const char* name) {
      if (!usage.is_object() || !usage.contains(name) || !usage[name].is_number_integer())
        throw BadValue("usage: expected prompt_tokens, completion_tokens and total_tokens, whole numbers");
      return usage[name].get<std::int64_t>();
    };
    result_.outcome.usage =
        TokenUsage(number("prompt_tokens"), number("completion_tokens")).total(number("total_tokens"));
  }

  const Json& outcome_;
  CallResult& result_;
};

/// Parses JSON, with lone UTF-16 surrogate escapes replaced by U+FFFD. Clients in languages with UTF-16 strings write
/// them. Discarded if the text is still invalid.
Json parse_lenient(const std::string& text) {
  Json parsed = importing::json_if_valid(text);
  if (!parsed.is_discarded()) return parsed;
  const auto surrogate_at = [&text](std::size_t at) -> char {
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u' || (text[at + 2] | 0x20) != 'd') return 0;
    const std::size_t half = std::string_view("89abcdef").find(static_cast<char>(text[at + 3] | 0x20));
    return half == std::string_view::npos ? char{0} : half < 4 ? 'h' : 'l';
  };
  std::string mended;
  for (std::size_t at = 0; at < text.size();) {
    const char half = surrogate_at(at);
    const bool is_pair = half == 'h' && surrogate_at(at + 6) == 'l';
    const std::size_t length = is_pair ? 12 : half != 0 ? 6 : text[at] == '\\' ? 2 : 1;
    mended += half != 0 && !is_pair ? "\\ufffd" : text.substr(at, length);
    at += length;
  }
  return importing::json_if_valid(mended);
}

/// `line` is the source text, for error messages.
void read_outcome(const Json& outcome, const std::string& line, CallResult& result) {
  try {
    OutcomeReader(outcome, result).read();
  } catch (const BadValue& problem) {
    result.problem = std::string("not a valid outcome: ") + problem.what() + ": " + printable(line.substr(0, 200));
  }
}

double since(Deadline began) { return std::chrono::duration<double>(steady_clock::now() - began).count(); }

/// A client that is started once per call.
class CommandClient final : public ClientUnderTest {
 public:
  using ClientUnderTest::ClientUnderTest;

  /// Does nothing: each call gets its key.
  CallResult use_key(const Gateway& /*gateway*/, const std::string& /*key*/) override { return {}; }

  CallResult call(const CallJob& job) override {
    const Deadline began = steady_clock::now();
    Child child(children_, words_for(job), environment_for(job), false);
    CallResult result;
    result.outcome.hung = !child.wait(began + timeout_);
    result.seconds = since(began);
    result.left_behind = child.end();
    result.output = child.output_tail();
    result.errors = child.error_tail();
    read(child, result);
    return result;
  }

 private:
  std::vector<std::string> words_for(const CallJob& job) const {
    const std::vector<std::pair<std::string, std::string>> values{{"{base_url}", job.gateway.base_url()},
                                                                  {"{api_key}", job.gateway.api_key()},
                                                                  {"{prompt}", flags_.prompt},
                                                                  {"{model}", flags_.model()},
                                                                  {"{stream}", is_streamed(job) ? "true" : "false"}};
    std::vector<std::string> filled;
    for (const std::string& word : words_) filled.push_back(with_values(word, values));
    return filled;
  }

  /// Replaces placeholders in one pass, so that a value that looks like a placeholder is kept.
  static std::string with_values(const std::string& word,
                                 const std::vector<std::pair<std::string, std::string>>& values) {
    std::string filled;
    for (std::size_t at = 0; at < word.size();) {
      std::size_t taken = 0;
      for (const auto& [name, value] : values) {
        if (word.compare(at, name.size(), name) != 0) continue;
        filled += value;
        taken = name.size();
        break;
      }
      if (taken == 0) filled += word[at];
      at += std::max<std::size_t>(taken, 1);
    }
    return filled;
  }

  std::vector<std::string> environment_for(const CallJob& job) const {
    std::vector<std::string> more{"MOCK_GATEWAY_SCENARIO=" + job.scenario, "MOCK_GATEWAY_PROMPT=" + flags_.prompt,
                                  "MOCK_GATEWAY_MODEL=" + flags_.model(),
                                  std::string("MOCK_GATEWAY_STREAM=") + (is_streamed(job) ? "1" : "0")};
    const std::string tools = "MOCK_GATEWAY_TOOLS=";
    if (job.tools) more.push_back(tools + offered_tools().dump());
    std::vector<std::string> all = client_environment(job.gateway, more);
    // Drop the variable of an outer `check`.
    const auto is_tools = [&tools](const std::string& one) { return one.compare(0, tools.size(), tools) == 0; };
    if (!job.tools) all.erase(std::remove_if(all.begin(), all.end(), is_tools), all.end());
    return all;
  }

  static bool is_streamed(const CallJob& job) { return job.form == Form::streamed; }

  void read(const Child& child, CallResult& result) const {
    std::string printed = child.output();
    if (!printed.empty() && printed.back() == '\n') printed.pop_back();
    if (!printed.empty() && printed.back() == '\r') printed.pop_back();
    const int status = child.status();  // some systems' macros take its address
    if (!result.outcome.hung && WIFSIGNALED(status)) result.crash = child.how_it_ended();
    const bool failed = !result.outcome.hung && WIFEXITED(status) && WEXITSTATUS(status) != 0;
    if (flags_.outcome == "text") {
      result.outcome.text = printed.substr(0, most_text);
    } else if (result.crash.empty() && !result.outcome.hung) {
      const std::string last = printed.substr(printed.rfind('\n') + 1);
      // A failed client may exit without an outcome.
      if (!failed || (!last.empty() && last.front() == '{')) read_outcome(parse_lenient(last), last, result);
    }
    if (!failed) return;
    result.outcome.error = true;
    result.ended = child.how_it_ended();
    if (result.told.empty()) result.told = result.errors;
  }
};

/// A long-running client that reads one job per line. Restarted after a hang or an exit.
class DriverClient final : public ClientUnderTest {
 public:
  using ClientUnderTest::ClientUnderTest;

  CallResult call(const CallJob& job) override {
    const std::string key = job.turn ? job.turn->api_key() : job.gateway.api_key();
    const Json named = new_job(job_name(job), job.gateway, key);
    return answer_to(
        with_details(named, job), job.gateway,
        [](const Json& answer, const std::string& line, CallResult& result) { read_outcome(answer, line, result); });
  }

  CallResult use_key(const Gateway& gateway, const std::string& key) override {
    return answer_to(
        new_job("use_key", gateway, key), gateway, [](const Json& answer, const std::string&, CallResult& result) {
          const Json error = answer.value("error", Json());
          if (!error.is_null() && error != Json(false))
            result.problem =
                "an error of use_key: " + printable(error.is_string() ? error.get<std::string>() : error.dump());
        });
  }

  std::string name() const override { return name_; }
  std::string version() const override { return version_; }

 private:
  static const char* job_name(const CallJob& job) {
    if (job.turn && job.turn->call() == Mishap::Call::cancelled) return "cancel";
    if (job.turn && job.turn->call() == Mishap::Call::abandoned) return "abandon";
    return job.form == Form::streamed ? "stream" : "ask";
  }

  static Json with_details(Json asked, const CallJob& job) {
    if (job.tools) asked["tools"] = offered_tools();
    if (job.usage) asked["include_usage"] = true;
    if (asked["job"] == "cancel") asked["after_tokens"] = job.turn->cancel_after();
    if (asked["job"] == "abandon") {
      asked["after_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(job.turn->abandon_after()).count();
      asked["stream"] = job.form == Form::streamed;
    }
    return asked;
  }

  /// All jobs have the same members, so that a driver can read them before it checks the job's name.
  Json new_job(const char* name, const Gateway& gateway, const std::string& key) {
    return Json{{"id", 0},
                {"job", name},
                {"base_url", gateway.base_url()},
                {"api_key", key},
                {"model", flags_.model()},
                {"prompt", flags_.prompt},
                {"timeout_ms", timeout_.count()}};
  }

  /// Sends a job and reads its answer, unless the driver does not know the job.
  template <class Read>
  CallResult answer_to(Json asked, const Gateway& gateway, Read read) {
    if (child_ && child_->has_ended_by_now()) child_.reset();  // it exited after its last answer
    if (!child_) start(gateway, asked["api_key"].get<std::string>());
    if (!child_) return {};  // cancelled
    child_->clear_output();
    const Deadline began = steady_clock::now();
    CallResult result;
    const std::optional<Json> answer = ask(asked, began + timeout_, result);
    result.seconds = since(began);
    result.output = child_->output_tail();
    result.errors = child_->error_tail();
    if (answer) {
      if (answer->value("unknown", Json()) == Json(true))
        result.skipped = "the driver does not know the job " + asked["job"].get<std::string>();
      else
        read(*answer, last_line_, result);
    } else {
      if (result.problem.empty()) {
        if (child_->has_ended())
          result.crash = child_->how_it_ended() + " before it answered";
        else
          result.outcome.hung = true;
      }
      stop(result);
    }
    return result;
  }

  /// `key` is the key of the first job; hello has the same one.
  void start(const Gateway& gateway, const std::string& key) {
    child_ = std::make_unique<Child>(children_, words_, client_environment(gateway, {}), true);
    CallResult result;
    Json hello = new_job("hello", gateway, key);
    hello["protocol"] = protocol_version;
    const std::optional<Json> answer = ask(hello, steady_clock::now() + time_to_start, result);
    if (!answer) {
      result.output = child_->output_tail();
      result.errors = child_->error_tail();
      mask(result, key);
      std::string why = result.problem;
      if (why.empty()) why = child_->has_ended() ? child_->how_it_ended() : "it did not answer within a minute";
      child_.reset();
      if (children_.is_cancelled()) return;
      throw UnusableClient("the driver did not answer its first job, hello: " + why +
                           printed_by(result.output, result.errors));
    }
    const auto text = [&answer](const char* member) {
      return answer->contains(member) && (*answer)[member].is_string() ? (*answer)[member].get<std::string>() : "";
    };
    name_ = text("client");
    version_ = text("version");
  }

  void stop(CallResult& result) {
    result.left_behind = child_->end();
    result.errors = child_->error_tail();
    child_.reset();
  }

  /// Sends a job with a new id and returns its answer. Returns nothing at the driver's exit, at the deadline, or for an
  /// invalid answer.
  std::optional<Json> ask(Json& job, Deadline deadline, CallResult& result) {
    job["id"] = ++last_id_;
    if (!child_->send(job.dump(), deadline)) {
      child_->wait(steady_clock::now() + 1s);  // a process closes its stdin before it ends
      return std::nullopt;
    }
    while (std::optional<std::string> line = child_->line(deadline)) {
      if (line->empty() || line->front() != '{') continue;  // output of a library
      last_line_ = *line;
      const Json answer = parse_lenient(*line);
      if (answer.is_discarded() || !answer.contains("id") || answer["id"] != job["id"]) {
        result.problem = (answer.is_discarded() ? "not JSON: " : "not the id of the job, " + job["id"].dump() + ": ") +
                         printable(line->substr(0, 200));
        return std::nullopt;
      }
      return answer;
    }
    return std::nullopt;
  }

  std::unique_ptr<Child> child_;
  std::size_t last_id_ = 0;
  std::string last_line_;  // the last line that looked like an answer
  std::string name_;
  std::string version_;
};

}  // namespace

ClientUnderTest::ClientUnderTest(Children& children, const CheckFlags& flags, std::vector<std::string> words)
    : children_(children), flags_(flags), words_(std::move(words)), timeout_(timeout_from(flags)) {}

ClientUnderTest::~ClientUnderTest() = default;

bool mask(std::string& text, const std::string& key) {
  constexpr std::string_view mask = "$OPENAI_API_KEY";
  const bool is_there = text.find(key) != std::string::npos;
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + mask.size()))
    text.replace(at, key.size(), mask);
  return is_there;
}

void mask(CallResult& result, const std::string& key) {
  if (mask(result.told, key)) result.told_the_key = true;
  for (std::string* const text : {&result.output, &result.errors, &result.problem, &result.outcome.text})
    static_cast<void>(mask(*text, key));
  for (wire::ToolCall& call : result.outcome.tool_calls) {
    static_cast<void>(mask(call.name, key));
    static_cast<void>(mask(call.arguments, key));
  }
  if (result.outcome.finish_reason) static_cast<void>(mask(*result.outcome.finish_reason, key));
}

std::string printed_by(const std::string& output, const std::string& errors) {
  std::string text;
  if (!output.empty()) text += "\nits stdout:\n" + output;
  if (!errors.empty()) text += "\nits stderr:\n" + errors;
  return text;
}

std::unique_ptr<ClientUnderTest> make_client(Children& children, const CheckFlags& flags,
                                             const std::vector<std::string>& command) {
  if (flags.driver) return std::make_unique<DriverClient>(children, flags, command);
  return std::make_unique<CommandClient>(children, flags, command);
}

}  // namespace endpoint
}  // namespace mock_gateway
