#include "log.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "messages.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// A line on stderr, of that moment.
void write_line(TimePoint moment, const std::string& text) {
  const auto since_epoch = moment.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch);
  const std::time_t time = seconds.count();
  std::tm utc{};
  gmtime_r(&time, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch - seconds);
  std::fprintf(stderr, "%s.%03dZ %s\n", stamp, static_cast<int>(milliseconds.count()), text.c_str());
}

Colour colour_of(int status) {
  if (status >= 500) return Colour::red;
  return status >= 400 ? Colour::yellow : Colour::none;
}

}  // namespace

Log::Log(std::optional<Scenario> chosen, bool quiet, const std::string& journal)
    : chosen_(std::move(chosen)), quiet_(quiet) {
  if (!journal.empty()) journal_.emplace(journal);
  writer_ = std::thread([this] { write(); });
}

Log::~Log() { finish(); }

void Log::note(const Exchange& exchange) {
  ++noted_;
  enqueue([this, exchange] {
    ++exchanges_;
    if (chosen_ && chosen_->befell(exchange)) struck_ = true;
    if (journal_) journal_->append(exchange);
    if (!quiet_) {
      write_line(exchange.ended().value_or(exchange.received()),
                 coloured(colour_of(exchange.status()), exchange.summary()));
    }
  });
}

void Log::note(const ConnectionHit& hit) {
  ++noted_;
  enqueue([this, hit, now = std::chrono::system_clock::now()] {
    struck_ = true;
    if (!quiet_)
      write_line(now, "connection " + std::to_string(hit.connection_id) + " struck: " + hit.fault.to_string());
  });
}

void Log::end() {
  finish();
  // A refused connection is refused by the system, and nothing here hears of it.
  if (!chosen_ || struck_ || chosen_->name() == "connection-refused") return;
  const std::size_t count = exchanges_;
  write_line(std::chrono::system_clock::now(),
             "scenario " + chosen_->name() + " never struck, in " + std::to_string(count) +
                 (count == 1 ? " request" : " requests") +
                 (chosen_->needs_stream() ? "; it shows in stream requests only" : "") +
                 (chosen_->calls() > 1 ? "; it needs a connection that is used again" : ""));
}

void Log::enqueue(Entry entry) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // While nobody reads stderr, a load test must not fill the memory.
    if (entries_.size() >= most_entries)
      ++lost_;
    else
      entries_.push_back(std::move(entry));
  }
  changed_.notify_one();
}

void Log::write() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ended_ || !entries_.empty(); });
    if (entries_.empty()) return;
    std::deque<Entry> entries;
    entries.swap(entries_);
    const std::size_t lost = std::exchange(lost_, 0);
    lock.unlock();
    for (const Entry& entry : entries) entry();
    if (lost > 0)
      write_line(std::chrono::system_clock::now(), std::to_string(lost) + " lines were left out: stderr was not read");
    lock.lock();
  }
}

void Log::finish() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  if (writer_.joinable()) writer_.join();
}

}  // namespace endpoint
}  // namespace mock_gateway
