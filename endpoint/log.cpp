// Log lines: time, colour, unused scenarios. The text about a request: `src/evidence/exchange.cpp`.

#include "log.hpp"

#include <chrono>
#include <iostream>
#include <utility>

#include "messages.hpp"
#include "results.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// Returns a line with its time.
std::string line_of(TimePoint moment, const std::string& text) { return internal::rfc3339(moment) + " " + text + "\n"; }

std::string lost_line(TimePoint moment, std::size_t lines) {
  return line_of(moment, counted(lines, "line") + (lines == 1 ? " was" : " were") + " left out: stderr was not read");
}

/// Whether the gateway answered as the test wanted.
bool is_served(const Exchange& exchange) {
  const Decision& decision = exchange.decision();
  return decision != Decision::Kind::unmatched && decision != Decision::Kind::callback_failed &&
         decision != Decision::Kind::answer_failed && !internal::is_refusal(exchange) &&
         exchange.outcome() != Outcome::Kind::guard_expired;
}

Colour colour_of(int status) {
  if (status >= 500) return Colour::red;
  return status >= 400 ? Colour::yellow : Colour::none;
}

}  // namespace

Worker::Worker(Job after_some) : after_some_(std::move(after_some)) {
  join_ = internal::start_thread([this] { work(); });
}

bool Worker::offer(Job job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (jobs_.size() >= most_jobs) return false;
  take(std::move(job));
  return true;
}

void Worker::add(Job job) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (jobs_.size() >= most_jobs) {
    lock.unlock();
    internal::hand_off_event_loop();
    lock.lock();
    has_room_.wait(lock, [this] { return jobs_.size() < most_jobs; });
  }
  take(std::move(job));
}

void Worker::take(Job job) {
  jobs_.push_back(std::move(job));
  if (!naps_ || jobs_.size() > most_jobs / 2) changed_.notify_one();
}

void Worker::finish() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  if (const auto join = std::exchange(join_, nullptr)) join();
}

void Worker::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ended_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::deque<Job> jobs;
    jobs.swap(jobs_);
    lock.unlock();
    has_room_.notify_all();
    for (const Job& job : jobs) job();
    after_some_();
    lock.lock();
    // Wait briefly to process further jobs in a batch.
    naps_ = true;
    changed_.wait_for(lock, std::chrono::milliseconds{5}, [this] { return ended_ || jobs_.size() > most_jobs / 2; });
    naps_ = false;
  }
}

Log::Log(std::optional<Scenario> chosen, bool quiet, bool logs_all, const std::string& journal, const std::string& run)
    : chosen_(std::move(chosen)), quiet_(quiet), logs_all_(logs_all) {
  if (journal.empty()) return;
  journal_.emplace(journal, run, [this](std::string line) { say(std::move(line)); });
  appending_.emplace();
}

Log::~Log() {
  if (journal_) journal_->give_up();
  limit_stderr_writes();
}

void Log::note(const Exchange& exchange) {
  ++noted_;
  ++exchanges_;
  if (!internal::is_refusal(exchange)) served_ = true;
  if (chosen_ && chosen_->happened_to(exchange)) struck_ = true;
  if (appending_) append(exchange);
  if (quiet_ || (!logs_all_ && is_served(exchange))) return;
  enqueue_line([this, exchange] {
    written_ += line_of(exchange.ended().value_or(exchange.received()),
                        coloured(colour_of(exchange.status()), exchange.summary()));
  });
}

void Log::append(const Exchange& exchange) {
  Worker::Job job = [this, exchange] { journal_->append(exchange); };
  // The journal in a file is complete, so a slow disk delays the caller. A slow reader of stdout loses exchanges.
  if (!journal_->is_stdout())
    appending_->add(std::move(job));
  else if (!appending_->offer(std::move(job)))
    journal_->leave_out();
}

void Log::note(const ConnectionHit& hit) {
  ++noted_;
  struck_ = true;
  served_ = true;
  if (quiet_ || !logs_all_) return;
  enqueue_line([this, hit, now = std::chrono::system_clock::now()] {
    written_ += line_of(now, "connection " + std::to_string(hit.connection_id) + " struck: " + hit.fault.to_string());
  });
}

void Log::say(std::string line) {
  enqueue_line([this, line = std::move(line)] { written_ += line + "\n"; });
}

void Log::end() {
  if (appending_) {
    journal_->give_up();
    appending_->finish();  // first, since it may log errors
    if (const std::size_t missing = journal_->missing(); missing > 0)
      say(complaint("--journal: " + counted(missing, "exchange") + (missing == 1 ? " is" : " are") + " missing"));
  }
  lines_.finish();
  if (lost_ > 0) std::cerr << lost_line(std::chrono::system_clock::now(), lost_);
  // The gateway does not see the connections that the system refuses.
  if (!chosen_ || struck_ || chosen_->name() == "connection-refused") return;
  std::cerr << line_of(std::chrono::system_clock::now(),
                       "scenario " + chosen_->name() + " never struck, in " + counted(exchanges_, "request") +
                           (chosen_->needs_stream() ? "; it appears in stream requests only" : "") +
                           (chosen_->calls() > 1 ? "; it needs a reused connection" : ""));
}

void Log::enqueue_line(Worker::Job line) {
  const std::lock_guard<std::mutex> lock(losing_);
  const auto tell = [this, lost = lost_, now = std::chrono::system_clock::now()] { written_ += lost_line(now, lost); };
  if (lost_ > 0 && lines_.offer(tell)) lost_ = 0;
  // Drop lines that stderr cannot take, to limit memory.
  if (lost_ > 0 || !lines_.offer(std::move(line))) ++lost_;
}

void Log::write_out() {
  std::cerr << written_;
  written_.clear();
}

}  // namespace endpoint
}  // namespace mock_gateway
