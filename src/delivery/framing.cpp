// The bytes of an event in a dialect: `data: `, ids, comments, blank lines; HTTP chunks.

#include "framing.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace mock_gateway::detail {

EventFraming::EventFraming(const SseDialect& dialect, bool chunked, std::size_t http_chunk,
                           std::size_t first_http_chunk)
    : dialect_(dialect),
      before_(dialect.space_after_colon() ? "data: " : "data:"),
      after_(dialect.line_end() + dialect.line_end()),
      chunked_(chunked),
      http_chunk_(http_chunk),
      first_http_chunk_(chunked ? first_http_chunk : 0),
      plain_(!dialect.byte_order_mark() && dialect.event().empty() && !dialect.ids() && !dialect.retry() &&
             !dialect.multi_line_data() && dialect.comment().empty() && dialect.final_blank_line() && !dialect.gzip() &&
             http_chunk == 0 && first_http_chunk == 0) {
  if (!dialect.comment().empty()) {
    append_line("", dialect.comment());
    comment_ = text_ + dialect.line_end();
  }
  if (dialect.ping_every() > Duration::zero()) {
    append_lines(ping_, dialect.ping());
    ping_.append(after_);
  }
  if (dialect.gzip()) gzip_.emplace();
  end_ = "0\r\n";
  for (std::size_t begin = 0; begin < dialect.trailer().size();) {
    const std::size_t end = std::min(dialect.trailer().find('\n', begin), dialect.trailer().size());
    end_.append(dialect.trailer(), begin, end - begin).append("\r\n");
    begin = end + 1;
  }
  end_ += "\r\n";
}

std::string_view EventFraming::frame(std::string_view data) {
  buffer_.clear();
  begin_chunk(before_.size() + data.size() + after_.size());
  buffer_.append(before_).append(data).append(after_);
  if (chunked_) buffer_.append("\r\n");
  return buffer_;
}

std::string_view EventFraming::wrap(std::string_view bytes, std::size_t missing) {
  buffer_.clear();
  if (first_http_chunk_ > 0) {
    whole_.append(bytes);
  } else if (gzip_) {
    coded_.clear();
    gzip_->begin(coded_);
    gzip_->append(coded_, bytes);
    append_chunks(coded_, GzipStream::coded_size(missing));
  } else {
    append_chunks(bytes, missing);
  }
  return buffer_;
}

void EventFraming::shrink() {
  std::string().swap(buffer_);
  std::string().swap(text_);
}

void EventFraming::append_chunks(std::string_view bytes, std::size_t missing) {
  missing_ = 0;
  while (!bytes.empty() || (missing > 0 && missing_ == 0)) {
    const std::size_t left = bytes.size() + missing;
    const std::size_t size = chunked_ && http_chunk_ > 0 ? std::min(http_chunk_, left) : left;
    const std::string_view part = bytes.substr(0, size);
    begin_chunk(size);
    buffer_.append(part);
    missing_ = size - part.size();
    if (chunked_ && missing_ == 0) buffer_.append("\r\n");
    bytes.remove_prefix(part.size());
  }
}

std::string_view EventFraming::terminator() {
  buffer_.clear();
  coded_.clear();
  if (gzip_) {
    gzip_->begin(coded_);
    gzip_->append(coded_, whole_);
    gzip_->end(coded_);
  }
  const std::string_view rest = gzip_ ? coded_ : whole_;
  const std::size_t first = std::min(first_http_chunk_ > 0 ? first_http_chunk_ : rest.size(), rest.size());
  append_chunks(rest.substr(0, first), 0);
  append_chunks(rest.substr(first), 0);
  if (chunked_) buffer_.append(end_);
  return buffer_;
}

std::string_view EventFraming::event(std::string_view data, std::size_t number, bool last) {
  text_.clear();
  if (!dialect_.event().empty()) append_line("event", dialect_.event());
  if (dialect_.ids()) append_line("id", std::to_string(number));
  if (dialect_.retry() && number == 1) {
    append_line("retry",
                std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(*dialect_.retry()).count()));
  }
  if (dialect_.multi_line_data() && data.size() >= 2 && data.front() == '{') {
    append_line("data", data.substr(0, 1));
    if (data.size() > 2) append_line("data", data.substr(1, data.size() - 2));
    append_line("data", data.substr(data.size() - 1));
  } else {
    append_line("data", data);
  }
  if (!last || dialect_.final_blank_line()) text_.append(dialect_.line_end());
  return text_;
}

std::string_view EventFraming::meta_event(std::string_view lines, bool last) {
  text_.clear();
  append_lines(text_, lines);
  text_.append(!last || dialect_.final_blank_line() ? after_ : dialect_.line_end());
  return text_;
}

void EventFraming::append_lines(std::string& out, std::string_view lines) const {
  for (const char byte : lines) {
    if (byte == '\n')
      out.append(dialect_.line_end());
    else
      out += byte;
  }
}

void EventFraming::append_line(std::string_view field, std::string_view value) {
  text_.append(field).append(dialect_.space_after_colon() ? ": " : ":").append(value).append(dialect_.line_end());
}

void EventFraming::begin_chunk(std::size_t size) {
  if (!chunked_) return;
  char digits[2 * sizeof size];
  buffer_.append(digits, std::to_chars(digits, digits + sizeof digits, size, 16).ptr).append("\r\n");
}

}  // namespace mock_gateway::detail
