// The recorded bytes of an answer: how many are kept, and what the record shows.

#include "answer_log.hpp"

#include <algorithm>  // min
#include <utility>

#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace answer_log {

/// Removes a response's head from `text` and returns its status and fields. Status 0: the head is incomplete.
SentAnswer::Interim take_head(std::string_view& text) {
  SentAnswer::Interim head;
  const std::size_t end = text.find("\r\n\r\n");
  const std::size_t space = text.find(' ');
  if (end == std::string_view::npos || space > end) return head;
  head.status = static_cast<int>(text::whole_number(text.substr(space + 1, 3)).value_or(0));
  for (std::size_t at = text.find("\r\n") + 2; at < end + 2;) {
    const std::string_view line = text.substr(at, text.find("\r\n", at) - at);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      head.headers.add(std::string(line.substr(0, colon)), std::string(text::trim(line.substr(colon + 1))));
    at += line.size() + 2;
  }
  text.remove_prefix(end + 4);
  return head;
}

}  // namespace answer_log

bool AnswerLog::may_hold(std::size_t size) {
  if (!most_) return true;
  const std::size_t kept_bytes = interim_.size() + bytes_.size() + pieces_.size() * sizeof(Piece);
  is_cut_ = is_cut_ || size + sizeof(Piece) > *most_ || kept_bytes > *most_ - size - sizeof(Piece);
  return !is_cut_;
}

void AnswerLog::add_interim(std::string_view bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (may_hold(bytes.size())) interim_.append(bytes);
}

void AnswerLog::add(Kind kind, std::string_view payload, const Place& place, std::size_t event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (payload.empty() || !may_hold(payload.size())) return;
  pieces_.push_back({kind, false, false, event, bytes_.size(), bytes_.size() + payload.size(), place});
  bytes_.append(payload);
}

void AnswerLog::end_event(std::size_t end, bool token) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pieces_.empty()) return;
  Piece& last = pieces_.back();
  if (last.place.begin + last.place.wire != end) return;  // the event was not kept
  last.ends_event = true;
  last.ends_token = token;
}

void AnswerLog::stream() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_streamed_ = true;
}

void AnswerLog::done_follows(std::size_t event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  done_ = event;
}

void AnswerLog::end_body() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_body_ended_ = true;
}

void AnswerLog::add_end(std::size_t end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  end_at_ = end;
}

void AnswerLog::handed_over(std::size_t written, TimePoint now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Duration at = now - received_;
  for (; next_ < pieces_.size(); ++next_) {
    Piece& piece = pieces_[next_];
    const Place& place = piece.place;
    if (written <= place.begin) break;
    if (!piece.at) piece.at = at;
    piece.until = at;
    const bool is_whole = written >= place.begin + place.wire;
    const std::size_t payload_begin = place.begin + place.before;
    if (is_whole)
      piece.taken = piece.size();
    else if (!place.compressed && !place.divided && written > payload_begin)
      piece.taken = std::min(piece.size(), written - payload_begin);
    if (!is_whole) break;
  }
  if (ending_ != SentAnswer::Ending::open || !end_at_ || written < *end_at_) return;
  ending_ = SentAnswer::Ending::whole;
  ended_ = at;
}

void AnswerLog::end(SentAnswer::Ending ending, TimePoint now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ending_ != SentAnswer::Ending::open) return;
  ending_ = ending;
  ended_ = now - received_;
}

SentAnswer AnswerLog::sent() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  SentAnswer answer;
  for (std::string_view rest = interim_; !rest.empty();) {
    SentAnswer::Interim head = answer_log::take_head(rest);
    if (head.status == 0) break;
    answer.interim.push_back(std::move(head));
  }
  for (const Piece& piece : pieces_) {
    if (piece.taken == 0) break;
    std::string_view text = std::string_view(bytes_).substr(piece.offset, piece.taken);
    answer.is_compressed = answer.is_compressed || piece.place.compressed;
    if (piece.kind == Kind::head) {
      SentAnswer::Interim head = answer_log::take_head(text);
      answer.status = head.status;
      answer.headers = std::move(head.headers);
      answer.head_at = *piece.at;
    } else if (piece.kind == Kind::body) {
      answer.missing = piece.place.missing;
      answer.parts.push_back({std::string(text), *piece.at, piece.until});
    } else {
      answer.garbage = text;
    }
  }
  answer.ending = ending_;
  answer.ended_at = ended_;
  answer.is_streamed = is_streamed_;
  answer.is_cut = is_cut_;
  return answer;
}

std::vector<AnswerLog::Event> AnswerLog::events(std::size_t most) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Event> events;
  std::size_t before = 0;
  for (const Piece& piece : pieces_) {
    if (piece.taken != piece.size() || events.size() == most) break;
    const std::size_t end = piece.place.begin + piece.place.wire;
    if (piece.kind == Kind::head) before = end;
    if (!piece.ends_event) continue;
    events.push_back({piece.ends_token, piece.until, end - before});
    before = end;
  }
  return events;
}

AnswerLog::Parts AnswerLog::parts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Parts parts;
  parts.streamed = is_streamed_;
  parts.done = done_;
  parts.whole = is_body_ended_;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Kind::head) parts.head = piece.size();
    if (piece.kind == Kind::body) parts.parts.push_back({piece.event, bytes_.substr(piece.offset, piece.size())});
  }
  return parts;
}

std::size_t AnswerLog::weight() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return sizeof(AnswerLog) + interim_.capacity() + bytes_.capacity() + pieces_.capacity() * sizeof(Piece);
}

}  // namespace mock_gateway::detail
