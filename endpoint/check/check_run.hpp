#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cells.hpp"

namespace mock_gateway {
namespace endpoint {

/// Runs a client through the chosen scenarios and judges the results.
class CheckRun {
 public:
  /// Throws BadValue, ScriptError and GatewayError for invalid flags.
  CheckRun(Children& children, const CheckFlags& flags, const std::vector<std::string>& command);

  /// Checks that the client returns an unbroken answer, and which forms it supports. Throws UnusableClient if it does
  /// not.
  void try_unbroken();
  /// Makes all calls, then retries unexpected results one at a time. Throws the errors of starting a
  /// client. A signal ends it early with partial results.
  void call_all(const Baseline& baseline);

  /// Handles pending signals: cancels all calls.
  void heed_signals();
  /// Marks the cells whose faults are all in the baseline. Without a baseline (one was just written), marks every
  /// faulty cell.
  void accept(const Baseline* baseline);

  const std::list<Cell>& cells() const { return cells_; }
  std::vector<const Cell*> all_cells() const;
  const std::vector<Form>& forms() const { return forms_; }
  /// Remarks about no single cell, such as an unsupported form or leftover processes.
  const std::vector<std::string>& remarks() const { return remarks_; }
  void remark(std::string text) { remarks_.push_back(std::move(text)); }
  const std::string& client_name() const { return client_name_; }
  const std::string& client_version() const { return client_version_; }
  /// The names of all scenarios, chosen or not.
  const std::set<std::string>& names() const { return scenarios_.names; }
  /// Whether a sweep stopped before its last step.
  bool is_incomplete() const { return is_incomplete_; }
  /// The signal that stopped the run.
  std::optional<int> ended_by() const { return signal_; }

 private:
  /// A job for a worker thread, which owns a client.
  using Task = std::function<void(ClientUnderTest&)>;
  struct Queue {
    std::deque<Task> tasks;
    std::size_t threads = 0;
  };

  void add_cells();
  void try_unbroken(ClientUnderTest& client, Form form, bool tools);
  void run_cell(Cell& cell, ClientUnderTest& client);
  /// Plays a session of mishaps and records the turns that are among these cells.
  void run_session(const std::vector<Cell*>& cells, Form form, ClientUnderTest& client);
  CallResult play(const Mishap& turn, Gateway& gateway, Form form, ClientUnderTest& client);
  /// Calls a second gateway with another key, to show whether the client shares its key across its process.
  CallResult call_elsewhere(Form form, ClientUnderTest& client);
  /// Makes the calls for these cells on this many threads.
  void call(const std::vector<Cell*>& cells, std::size_t threads);
  /// Retries the calls that differ from the baseline.
  void call_again(const Baseline& baseline);
  /// Remarks on a client that tries again after some of several answers that ask for it alike.
  void compare_retries();
  /// Judges a call, by `turn` if there is one. `keys` are keys the client knows besides the gateway's.
  void judge(Cell& cell, Gateway& gateway, const CallResult& result, std::size_t requests, const Mishap* turn = nullptr,
             std::set<std::string> keys = {});
  void sweep(Form form, ClientUnderTest& client, bool of_http_chunks);
  void work(Queue& queue);
  void run_queues(Queue& ordinary, Queue& waiting);
  void show_progress(bool last);

  Children& children_;
  const CheckFlags& flags_;
  const std::vector<std::string> command_;
  const Options options_;
  const ChosenScenarios scenarios_;
  std::vector<Form> forms_;
  std::list<Cell> cells_;
  std::vector<std::string> remarks_;  // guarded by the mutex while threads run
  bool is_incomplete_ = false;
  std::string client_name_;
  std::string client_version_;
  std::optional<int> signal_;

  std::mutex mutex_;  // guards all members below, and cells_ during a sweep
  std::size_t running_ = 0;
  std::string phase_;  // prefix of the progress line
  std::size_t made_ = 0;
  std::size_t bad_ = 0;
  std::size_t planned_ = 0;
  std::exception_ptr problem_;
  std::chrono::steady_clock::time_point told_{};
};

}  // namespace endpoint
}  // namespace mock_gateway
