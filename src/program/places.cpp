// The number of connections, and which one is closed for a new one.

#include "places.hpp"

#include <algorithm>
#include <utility>

namespace mock_gateway::internal {
namespace {

/// The maximum time for a head that arrives slowly but without pause.
constexpr std::chrono::milliseconds longest_head{300};
/// How long the accepting thread waits for other threads, which may only need CPU time.
constexpr std::chrono::milliseconds patience{1000};

}  // namespace

Places::Place::~Place() {
  {
    const std::lock_guard<std::mutex> lock(places_.mutex_);
    places_.places_.erase(this);
    if (state_ != State::closed) --places_.open_;
  }
  places_.changed_.notify_all();
}

void Places::Place::become(State state, std::chrono::steady_clock::time_point since) {
  {
    const std::lock_guard<std::mutex> lock(places_.mutex_);
    if (state_ == State::closed) return;
    state_ = state;
    since_ = since;
  }
  places_.changed_.notify_all();
}

void Places::Place::begin(std::shared_ptr<detail::StopLine> line) {
  {
    const std::lock_guard<std::mutex> lock(places_.mutex_);
    line_ = std::move(line);
    if (state_ == State::closed) line_->stop();
    if (state_ == State::starting) state_ = State::idle;
  }
  places_.changed_.notify_all();
}

void Places::Place::begin_request() { become(State::reading); }

bool Places::Place::hold() {
  become(State::held);
  const std::lock_guard<std::mutex> lock(places_.mutex_);
  return state_ == State::held;
}

void Places::Place::release(std::chrono::steady_clock::time_point answered) { become(State::idle, answered); }

void Places::Place::leave() { become(State::leaving); }

std::shared_ptr<Places::Place> Places::take() {
  auto place = std::make_shared<Place>(*this);
  std::unique_lock<std::mutex> lock(mutex_);
  const auto began = std::chrono::steady_clock::now();
  while (!ended_) {
    const auto waited = std::chrono::steady_clock::now() - began;
    if (open_ < most && places_.size() < most + most_closed) {
      places_.insert(place.get());
      place->state_ = Place::State::starting;
      ++open_;
      return place;
    }
    if (open_ >= most) {
      if (Place* const next = unused(waited >= patience)) {
        close(*next);
        continue;
      }
      if (!unused(true) && !answers_soon()) return nullptr;
    }
    if (waited >= patience) return nullptr;
    // There is no notification when a thread begins to wait for its client.
    changed_.wait_for(lock, std::chrono::milliseconds{1});
  }
  return nullptr;
}

bool Places::free_a_descriptor() {
  std::unique_lock<std::mutex> lock(mutex_);
  Place* const next = unused(true);
  if (!next || ended_) return false;
  const std::size_t before = places_.size();
  close(*next);
  return changed_.wait_for(lock, patience, [&] { return places_.size() < before || ended_; });
}

void Places::end() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

Places::Place* Places::unused(bool any) const {
  using State = Place::State;
  const auto now = std::chrono::steady_clock::now();
  Place* next = nullptr;
  for (Place* const place : places_) {
    if (place->state_ == State::leaving) return place;
    if (place->state_ == State::held || place->state_ == State::closed) continue;
    const bool is_late = place->state_ == State::reading && now - place->since_ >= longest_head;
    if (!any && !is_late && !(place->line_ && place->line_->waits_for_client())) continue;
    if (!next || place->since_ < next->since_) next = place;
  }
  return next;
}

bool Places::answers_soon() const {
  const auto is_at_work = [](const Place* place) {
    return place->state_ == Place::State::held && !(place->line_ && place->line_->waits_for_client());
  };
  return static_cast<std::size_t>(std::count_if(places_.begin(), places_.end(), is_at_work)) > HttpServer::most_waiting;
}

void Places::close(Place& place) {
  place.state_ = Place::State::closed;
  --open_;
  if (place.line_) place.line_->stop();
}

}  // namespace mock_gateway::internal
