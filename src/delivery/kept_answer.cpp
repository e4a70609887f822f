// What is remembered of the bytes that leave, when answers are kept: how many of one.

#include "kept_answer.hpp"

#include <algorithm>  // min

namespace mock_gateway::detail {

bool KeptAnswer::may_hold(std::size_t size) {
  const std::size_t held = interim_.size() + bytes_.size() + pieces_.size() * sizeof(Piece);
  is_cut_ = is_cut_ || size + sizeof(Piece) > most_ || held > most_ - size - sizeof(Piece);
  return !is_cut_;
}

void KeptAnswer::add_interim(std::string_view bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (may_hold(bytes.size())) interim_.append(bytes);
}

void KeptAnswer::add(Kind kind, std::string_view payload, const Place& place) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (payload.empty() || !may_hold(payload.size())) return;
  pieces_.push_back({kind, bytes_.size(), payload.size(), place});
  bytes_.append(payload);
}

void KeptAnswer::stream() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_streamed_ = true;
}

void KeptAnswer::add_end(std::size_t end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  end_at_ = end;
}

void KeptAnswer::handed_over(std::size_t written, TimePoint now) {
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
      piece.taken = piece.size;
    else if (!place.compressed && written > payload_begin)
      piece.taken = std::min(piece.size, written - payload_begin);
    if (!is_whole) break;
  }
  if (ending_ != Ending::open || !end_at_ || written < *end_at_) return;
  ending_ = Ending::whole;
  ended_ = at;
}

void KeptAnswer::end(Ending ending, TimePoint now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ending_ != Ending::open) return;
  ending_ = ending;
  ended_ = now - received_;
}

KeptAnswer::Sent KeptAnswer::sent() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Sent sent;
  sent.interim = interim_;
  sent.ending = ending_;
  sent.ended = ended_;
  sent.is_streamed = is_streamed_;
  sent.is_cut = is_cut_;
  for (const Piece& piece : pieces_) {
    if (piece.taken == 0) break;
    Part part{bytes_.substr(piece.offset, piece.taken), *piece.at, piece.until, piece.place.missing};
    sent.is_compressed = sent.is_compressed || piece.place.compressed;
    switch (piece.kind) {
      case Kind::head: sent.head = std::move(part); break;
      case Kind::body: sent.body.push_back(std::move(part)); break;
      case Kind::garbage: sent.garbage = std::move(part); break;
    }
  }
  return sent;
}

std::size_t KeptAnswer::weight() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return sizeof(KeptAnswer) + interim_.capacity() + bytes_.capacity() + pieces_.capacity() * sizeof(Piece);
}

}  // namespace mock_gateway::detail
