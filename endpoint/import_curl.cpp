// Imports the output of curl.

#include <algorithm>  // min
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recorded.hpp"

namespace importing {
namespace {

constexpr std::string_view spaces = " \t";

std::optional<std::size_t> announced_length(const Recording& recording) {
  const auto length = text::whole_number(find_field(recording.headers, "Content-Length").value_or(""));
  if (!length) return std::nullopt;
  return static_cast<std::size_t>(*length);
}

/// Returns the status of a status line (RFC 9112, 4; curl writes "HTTP/2 200 "), or nothing for another line.
std::optional<int> status_in(std::string_view line) {
  if (line.substr(0, 5) != "HTTP/") return std::nullopt;
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view version = line.substr(5, space - 5);
  if (version.empty() || version.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  const std::string_view digits = line.substr(space + 1, line.find(' ', space + 1) - space - 1);
  const auto status = text::whole_number(digits);
  if (digits.size() != 3 || !status) return std::nullopt;
  return static_cast<int>(*status);
}

/// Reads the heads of responses.
class HeadReader {
 public:
  explicit HeadReader(std::string_view text) : text_(text) {}

  bool is_at_head() const { return looks_like_curl(rest()); }
  std::string_view rest() const { return text_.substr(at_); }

  Recording read() {
    Recording recording;
    const std::size_t first = line_;
    recording.status = status_in(next_line()).value_or(0);
    for (;;) {
      if (at_ == text_.size()) {
        throw ImportError(
            "the head that begins in line " + std::to_string(first) +
            " has no end: the empty line after its header fields is missing; save all that curl -i prints");
      }
      const std::string_view line = next_line();
      if (line.empty()) return recording;
      const bool continues = spaces.find(line.front()) != std::string_view::npos;
      const std::size_t colon = line.find(':');
      if (continues && !recording.headers.empty()) {
        recording.headers.back().value.append(" ").append(text::trim(line));
      } else if (continues || colon == std::string_view::npos) {
        throw ImportError("line " + std::to_string(line_ - 1) +
                          " is in the head of a reply but is not a header field (\"Name: value\"); save what curl -i "
                          "prints, without -v");
      } else {
        recording.headers.push_back(
            {std::string(line.substr(0, colon)), std::string(text::trim(line.substr(colon + 1)))});
      }
    }
  }
  void skip(std::size_t bytes) { at_ += bytes; }

 private:
  std::string_view next_line() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    at_ = std::min(end + 1, text_.size());
    ++line_;
    return line;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

/// Removes curl's error message from the end of the body, where it is if stderr went to the same file. The message
/// tells how the connection ended.
void cut_message(Recording& recording, Notes& notes) {
  std::string& body = recording.body;
  constexpr std::size_t longest = 300;
  const std::size_t start = body.rfind("curl: (");
  if (start == std::string::npos || body.size() - start > longest || body.back() != '\n') return;
  const std::string message = body.substr(start, body.size() - start - 1);
  const std::size_t close = message.find(") ");
  if (message.find('\n') != std::string::npos || close == std::string::npos) return;
  const auto code = text::whole_number(std::string_view(message).substr(7, close - 7));
  if (!code || !text::is_valid_utf8(message)) return;
  body.erase(start);
  if (*code == 56 && message.find("reset") != std::string::npos)
    recording.ending = Ending::reset;
  else if (*code == 18 || *code == 56 || *code == 92)
    recording.ending = Ending::closed;
  notes.lines.push_back("curl said \"" + message + "\", which is no part of the body");
}

/// Cuts bytes beyond the Content-Length, and notes an incomplete body.
void fit_length(Recording& recording, Notes& notes) {
  // Content-Length is the compressed length.
  if (text::lower_ascii(find_field(recording.headers, "Content-Encoding").value_or("identity")) != "identity") return;
  const auto announced = announced_length(recording);
  const std::size_t size = recording.body.size();
  if (!announced || size == *announced) return;
  if (size > *announced) {
    recording.body.erase(*announced);
    notes.lines.push_back(std::to_string(size - *announced) + " bytes after the body, whose Content-Length is " +
                          std::to_string(*announced) + ", are left out");
  } else {
    notes.lines.push_back("the body is incomplete: " + std::to_string(size) + " of " + std::to_string(*announced) +
                          " bytes; it is served as recorded, with its actual length");
  }
}

}  // namespace

bool looks_like_curl(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return status_in(line).has_value();
}

Imported import_curl(std::string_view text, KeyMask& mask, Notes& notes) {
  HeadReader reader(text);
  std::vector<Field> early_hints;
  std::size_t earlier = 0;
  Recording last;
  for (bool more = true; more;) {
    last = reader.read();
    if (last.status == 103) early_hints.insert(early_hints.end(), last.headers.begin(), last.headers.end());
    const bool is_interim = last.status >= 100 && last.status < 200 && last.status != 101;
    if (!is_interim) {
      last.early_hints = std::exchange(early_hints, {});
      // With --retry, the body of an earlier attempt precedes the next head.
      const auto length = announced_length(last);
      if (length && *length < reader.rest().size() && looks_like_curl(reader.rest().substr(*length)))
        reader.skip(*length);
    }
    more = reader.is_at_head();
    if (is_interim && !more)
      throw ImportError("the interim reply " + std::to_string(last.status) +
                        " is not followed by another: save all that curl -i prints");
    if (!is_interim && more) ++earlier;
  }
  last.body = std::string(reader.rest());
  cut_message(last, notes);
  fit_length(last, notes);
  if (find_field(last.headers, "Trailer"))
    notes.lines.push_back("the reply announces trailer fields. curl prints them after the body; delete them there");
  if (earlier > 0)
    notes.lines.push_back("the last of " + std::to_string(earlier + 1) + " replies in the file is the one that counts");

  Imported imported;
  imported.kind = "the output of curl -i, status " + std::to_string(last.status);
  imported.parts["stubs"] = Json::array({Json{{"reply", chat_reply(std::move(last), mask, notes)}}});
  return imported;
}

}  // namespace importing
