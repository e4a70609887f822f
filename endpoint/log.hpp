#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "journal_file.hpp"
#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Writes what happened to stderr, and knows whether the scenario did. A thread of its own writes: a stderr that nobody
/// reads would delay the next request of the connection.
class Log {
 public:
  /// `quiet`: no line per request or connection. `journal`: a file that each exchange is appended to as JSON; empty:
  /// none. Throws std::runtime_error when it cannot be written.
  Log(std::optional<Scenario> chosen, bool quiet, const std::string& journal);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Notes an exchange that has ended. Exchanges are masked: no key can be in the line, and no control character.
  void note(const Exchange& exchange);
  void note(const ConnectionHit& hit);
  /// Writes what is left, and says when the scenario never struck. Nothing may be noted afterwards.
  void end();
  /// How many exchanges and struck connections were noted: 0 when no client came.
  std::size_t noted() const { return noted_; }

 private:
  using Entry = std::function<void()>;

  void enqueue(Entry entry);
  void write();
  void finish();

  static constexpr std::size_t most_entries = 10'000;  // as many exchanges as the journal keeps

  const std::optional<Scenario> chosen_;
  const bool quiet_;
  std::atomic<std::size_t> noted_{0};
  // The writer's, until it has finished.
  std::optional<JournalFile> journal_;
  bool struck_ = false;
  std::size_t exchanges_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  std::size_t lost_ = 0;
  bool ended_ = false;
  std::thread writer_;
};

}  // namespace endpoint
}  // namespace mock_gateway
