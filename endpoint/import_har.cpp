// Imports HAR files: which requests become stubs and operations, and their conditions.

#include <algorithm>  // any_of, find, min, stable_sort
#include <cmath>      // llround
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "recorded.hpp"

namespace importing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view chat_end = "/chat/completions";

constexpr const char* missing_body = "the body of its answer is not in the file";

/// The host and path of a URL.
struct Address {
  std::string host;
  std::string path;

  explicit Address(const std::string& url) {
    const std::size_t mark = url.find("://");
    const std::size_t begin = mark == std::string::npos ? 0 : mark + 3;
    const std::size_t slash = std::min(url.find_first_of("/?#", begin), url.size());
    host = text::lower_ascii(std::string_view(url).substr(begin, slash - begin));
    path = url.substr(slash, std::min(url.find_first_of("?#", slash), url.size()) - slash);
  }
};

/// An entry of the file: a request and its response.
struct Entry {
  const Json& json;
  std::size_t number;  // starts at 1
  std::string method;
  Address address;

  Entry(const Json& entry, std::size_t position)
      : json(entry),
        number(position),
        method(text_of(member(entry, "request"), "method")),
        address(text_of(member(entry, "request"), "url")) {}

  bool is_chat() const {
    const std::string& path = address.path;
    return method == "POST" && path.size() >= chat_end.size() &&
           path.compare(path.size() - chat_end.size(), chat_end.size(), chat_end) == 0;
  }
  /// "3 (GET /v1/models)".
  std::string title() const { return std::to_string(number) + " (" + method + " " + address.path + ")"; }
};

/// Names entries: "entry 3 (GET /v1/models)", "entries 3 (GET /a), 4 (GET /b)". From the sixth on, names only numbers.
std::string names_of(const std::vector<const Entry*>& entries) {
  std::string names = entries.size() == 1 ? "entry " : "entries ";
  for (std::size_t i = 0; i < entries.size(); ++i)
    names += (i == 0 ? "" : ", ") + (i < 5 ? entries[i]->title() : std::to_string(entries[i]->number));
  return names;
}

/// Reads an array of name/value objects.
std::vector<Field> fields_of(const Json& array) {
  std::vector<Field> fields;
  if (!array.is_array()) return fields;
  for (const Json& field : array) {
    const std::string name = text_of(field, "name");
    // Browsers join fields with the same name by line ends.
    std::string_view values;
    const std::string value = text_of(field, "value");
    for (values = value; values.find('\n') != std::string_view::npos; values.remove_prefix(values.find('\n') + 1))
      fields.push_back({name, std::string(values.substr(0, values.find('\n')))});
    fields.push_back({name, std::string(values)});
  }
  return fields;
}

/// Adds the credentials of a request, so that they are masked in all responses.
void add_credentials(const Json& request, KeyMask& mask) {
  for (const Field& field : fields_of(member(request, "headers"))) {
    const std::string name = text::lower_ascii(field.name);
    // Cookies may contain ordinary words; scripts do not contain cookies.
    if (!mock_gateway::internal::is_sensitive_header(name) || name.find("cookie") != std::string::npos) continue;
    const std::size_t space = field.value.find(' ');
    mask.add(space == std::string::npos ? field.value : std::string_view(field.value).substr(space + 1));
  }
  for (const Field& field : fields_of(member(request, "queryString"))) {
    const std::string name = text::lower_ascii(field.name);
    if (name == "key" || name == "api_key" || name == "api-key" || name == "access_token" || name == "token")
      mask.add(field.value);
  }
}

/// Returns the bytes of a text that may be base64, or of a file beside the HAR file. Returns nothing if they are
/// missing.
std::optional<std::string> bytes_of(const Json& content, const std::string& folder) {
  std::error_code error;
  if (const std::string name = text_of(content, "_file"); !name.empty() && !folder.empty()) {
    const fs::path file = fs::canonical(fs::path(folder) / name, error);
    if (error || !fs::is_regular_file(file, error)) return std::nullopt;
    const fs::path inside = file.lexically_relative(fs::canonical(folder, error));
    if (inside.empty() || *inside.begin() == "..") throw ImportError("its body is outside the folder of the HAR file");
    return read_all(file.string());
  }
  if (!member(content, "text").is_string()) return std::nullopt;
  const std::string text = text_of(content, "text");
  const std::string encoding = text::lower_ascii(text_of(content, "encoding"));
  if (encoding.empty()) return text;
  // Polly.JS writes the parts of a compressed body as a list.
  const Json list = json_if_valid(text);
  std::string bytes;
  for (const Json& part : list.is_array() ? list : Json::array({text})) {
    const auto decoded = encoding == "base64" && part.is_string() ? from_base64(part.get<std::string>()) : std::nullopt;
    if (!decoded) throw ImportError("its content says that its encoding is \"" + encoding + "\", and it is not base64");
    bytes += *decoded;
  }
  return bytes;
}

/// Whether an answer has no body. Some tools then write no text; others write size 0 for a body that they did not get.
bool has_no_body(const Entry& entry, int status) {
  const Json& response = member(entry.json, "response");
  const bool is_empty = member(member(response, "content"), "size") == 0 || member(response, "bodySize") == 0;
  return status == 204 || status == 304 || (is_empty && !(entry.is_chat() && status == 200));
}

/// Throws ImportError if no answer came.
int status_of(const Entry& entry) {
  const Json& response = member(entry.json, "response");
  const Json& status = member(response, "status");
  if (status.is_number_integer() && status > 0 && status < 1000) return status.get<int>();
  const std::string error = text_of(response, "_error");
  throw ImportError("no answer came" + (error.empty() ? "" : " (" + error + ")"));
}

/// Throws ImportError if the file lacks the response.
Recording recording_of(const Entry& entry, const std::string& folder) {
  const Json& response = member(entry.json, "response");
  const Json& content = member(response, "content");
  Recording recording;
  recording.status = status_of(entry);
  auto body = bytes_of(content, folder);
  if (!body && !has_no_body(entry, recording.status)) throw ImportError(missing_body);
  recording.body = std::move(body).value_or("");
  recording.headers = fields_of(member(response, "headers"));
  const std::string type = text_of(content, "mimeType");
  const bool is_known = !type.empty() && type != "x-unknown";
  if (!find_field(recording.headers, "Content-Type") && is_known) recording.headers.push_back({"Content-Type", type});
  return recording;
}

/// Whether the gateway's default acceptance would refuse the request.
bool may_be_refused(const Json& body) {
  const auto is_any_of = [](const std::string& text, std::initializer_list<const char*> known) {
    return std::find(known.begin(), known.end(), text) != known.end();
  };
  for (const Json& message : member(body, "messages")) {
    if (!is_any_of(text_of(message, "role"), {"system", "user", "assistant", "tool"})) return true;
    const Json& content = member(message, "content");
    if (!content.is_array()) continue;
    for (const Json& part : content)
      if (text_of(part, "type") != "text") return true;
  }
  for (const Json& tool : member(body, "tools"))
    if (text_of(tool, "type") != "function") return true;
  return false;
}

/// Whether the gateway answers the request by default.
bool is_served_already(const std::string& method, const std::string& path) {
  const std::string models = "/v1/models";
  if (method != "GET" || path.compare(0, models.size(), models) != 0) return false;
  const std::string rest = path.substr(models.size());
  return rest.empty() || (rest.size() > 1 && rest.front() == '/' && rest.find('/', 1) == std::string::npos);
}

/// Converts the entries of a file.
class HarImport {
 public:
  HarImport(const HarOptions& options, KeyMask& mask, Notes& notes) : options_(options), mask_(mask), notes_(notes) {}

  Imported run(const Json& entries) {
    std::vector<Entry> all;
    for (const Json& entry : entries) all.emplace_back(entry, all.size() + 1);
    std::string seen;
    for (const Entry& entry : all) {
      add_credentials(member(entry.json, "request"), mask_);
      if (entry.is_chat()) {
        const std::string& path = entry.address.path;
        bases_.insert({entry.address.host, path.substr(0, path.size() - chat_end.size())});
      }
      if (entry.number <= 5) seen += (seen.empty() ? "entry " : ", entry ") + entry.title();
    }
    if (bases_.empty()) {
      throw ImportError("this HAR file has no POST to …" + std::string(chat_end) + " among its " +
                        std::to_string(all.size()) + (all.size() == 1 ? " entry" : " entries") +
                        (seen.empty() ? "" : ": " + seen) + "; record while the client asks for a chat completion");
    }
    for (const Entry& entry : all)
      if (const Json body = entry.is_chat() ? request_of(entry) : Json(); entry.is_chat())
        systems_[conditions(body, mask_, false).dump()].insert(system_text(body));
    for (const Entry& entry : all) {
      try {
        if (entry.is_chat())
          add_chat(entry);
        else
          add_operation(entry);
      } catch (const ImportError& problem) {
        skip(entry, problem.what());
      }
    }
    for (const auto& [reason, skipped] : skipped_) {
      if (reason == missing_body && !options_.skip_missing_bodies)
        throw ImportError("the bodies of the answers are not in the file for " + names_of(skipped) +
                          "; save them (in browsers \"with content\", with the files that Playwright writes beside the "
                          "HAR file; an empty body is \"text\": \"\"), or leave the entries out with "
                          "--skip-missing-bodies");
      notes_.left_out.push_back(names_of(skipped) + (skipped.size() == 1 ? " is" : " are") + " skipped: " + reason);
    }
    return result(all.size());
  }

 private:
  /// A stub or operation without replies (`head`), and its replies.
  struct Answered {
    Json head;
    Json replies = Json::array();
  };

  /// Stubs or operations, and their indexes by head.
  struct Heads {
    std::vector<Answered> all = {};
    std::map<std::string, std::size_t> indexes = {};
  };

  /// Adds a reply. A repeated request adds it to the earlier stub, as the reply to the next attempt.
  static void add(Heads& heads, Json head, Json reply) {
    const auto [place, is_new] = heads.indexes.emplace(head.dump(), heads.all.size());
    if (is_new) heads.all.push_back({std::move(head)});
    heads.all[place->second].replies.push_back(std::move(reply));
  }

  static Json written(Heads& heads) {
    Json list = Json::array();
    for (Answered& one : heads.all) {
      if (one.replies.size() == 1)
        one.head["reply"] = std::move(one.replies.front());
      else
        one.head["replies"] = std::move(one.replies);
      list.push_back(std::move(one.head));
    }
    return list;
  }

  void skip(const Entry& entry, const std::string& reason) {
    for (auto& [known, entries] : skipped_)
      if (known == reason) return entries.push_back(&entry);
    skipped_.push_back({reason, {&entry}});
  }

  /// Returns a discarded value for a body that is missing or not JSON.
  Json request_of(const Entry& entry) const {
    try {
      const Json& post_data = member(member(entry.json, "request"), "postData");
      return json_if_valid(bytes_of(post_data, options_.folder).value_or(""));
    } catch (const ImportError&) {
      return Json(Json::value_t::discarded);
    }
  }

  void add_chat(const Entry& entry) {
    const Json body = request_of(entry);
    Recording recording = recording_of(entry, options_.folder);
    if (!body.is_object())
      notes_.left_out.push_back("entry " + entry.title() +
                                " has no JSON as its request, so that its stub answers every request");
    // Requests that the recorded service refused must reach their stubs, so use lenient acceptance.
    is_lenient_ = is_lenient_ || recording.status == 400 || recording.status == 422 || may_be_refused(body);
    Json reply = chat_reply(std::move(recording), mask_, notes_);
    const Json& wait = member(member(entry.json, "timings"), "wait");
    // In milliseconds; -1 if not measured. A day or more is a mistake in the file.
    constexpr double longest = 86'400'000;
    if (wait.is_number() && wait.get<double>() >= 0.5 && wait.get<double>() < longest)
      reply["first_token_after"] = std::to_string(std::llround(wait.get<double>())) + "ms";
    if (const std::string model = text_of(body, "model"); !model.empty() && known_models_.insert(model).second)
      models_.push_back(model);
    Json head = Json::object();
    Json when = conditions(body, mask_, false);
    if (systems_[when.dump()].size() > 1) when = conditions(body, mask_, true);
    if (!when.empty()) head["when"] = std::move(when);
    add(stubs_, std::move(head), std::move(reply));
  }

  void add_operation(const Entry& entry) {
    const std::string path = path_here(entry);
    if (is_served_already(entry.method, path)) throw ImportError("the gateway answers this itself");
    if (entry.method != "GET" && entry.method != "POST") throw ImportError("only GET and POST become operations");
    const Json& response = member(entry.json, "response");
    const std::string sent_type = find_field(fields_of(member(response, "headers")), "Content-Type")
                                      .value_or(text_of(member(response, "content"), "mimeType"));
    status_of(entry);
    if (text::lower_ascii(sent_type).find("json") == std::string::npos) throw ImportError("its answer is not JSON");
    Recording recording = recording_of(entry, options_.folder);
    Json reply = operation_reply(std::move(recording), mask_, notes_);
    add(operations_, Json{{"method", entry.method}, {"path", path}}, std::move(reply));
  }

  /// Maps a path to the gateway, whose base URL ends in /v1. Throws ImportError if it is not under the recorded base
  /// URL.
  std::string path_here(const Entry& entry) const {
    const std::string& path = entry.address.path;
    bool is_same_host = false;
    for (const auto& [host, base] : bases_) {
      if (host != entry.address.host) continue;
      is_same_host = true;
      if (path.size() > base.size() && path.compare(0, base.size(), base) == 0 && path[base.size()] == '/')
        return "/v1" + path.substr(base.size());
    }
    if (!is_same_host) throw ImportError("it went to another host than the chat completions");
    throw ImportError("it is not under the base URL of the chat completions");
  }

  Imported result(std::size_t entries) {
    if (stubs_.all.empty() && operations_.all.empty())
      throw ImportError("none of the entries of this HAR file can be served: " + notes_.left_out.front());
    // Stubs with more conditions come first; otherwise, less specific stubs would hide them.
    const auto conditions_of = [](const Answered& stub) { return member(stub.head, "when").size(); };
    std::stable_sort(stubs_.all.begin(), stubs_.all.end(), [conditions_of](const Answered& a, const Answered& b) {
      return conditions_of(a) > conditions_of(b);
    });
    Imported imported;
    imported.kind = "a HAR file of " + std::to_string(entries) + (entries == 1 ? " entry" : " entries");
    if (!models_.empty()) imported.parts["gateway"]["models"] = models_;
    if (is_lenient_) {
      imported.parts["gateway"]["acceptance"] = "lenient";
      notes_.lines.push_back("the acceptance is lenient, so requests that the default refuses also reach their stubs");
    }
    imported.parts["stubs"] = written(stubs_);
    if (!operations_.all.empty()) imported.parts["operations"] = written(operations_);
    return imported;
  }

  const HarOptions& options_;
  KeyMask& mask_;
  Notes& notes_;
  std::vector<std::pair<std::string, std::vector<const Entry*>>> skipped_;  // by reason
  /// The system prompts of the requests with the same other conditions.
  std::map<std::string, std::set<std::optional<std::string>>> systems_;
  std::set<std::pair<std::string, std::string>> bases_;  // host, and path before /chat/completions
  std::vector<std::string> models_;
  std::set<std::string> known_models_;
  bool is_lenient_ = false;
  Heads stubs_;
  Heads operations_;
};

}  // namespace

bool is_har(const Json& file) { return !member(member(file, "log"), "entries").is_null(); }

Imported import_har(const Json& file, const HarOptions& options, KeyMask& mask, Notes& notes) {
  return HarImport(options, mask, notes).run(member(member(file, "log"), "entries"));
}

}  // namespace importing
