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
#include "chosen_scenarios.hpp"

namespace mock_gateway {
namespace endpoint {

/// Calls a client in every scenario that the flags choose, and judges what it made of them.
class CheckRun {
 public:
  /// Throws BadValue, ScriptError and GatewayError for what the flags say wrong.
  CheckRun(Children& children, const CheckFlags& flags, const std::vector<std::string>& command);

  /// Finds out whether the client gives an unbroken answer, and in which forms it asks. Throws
  /// UnusableClient when it does not.
  void try_unbroken();
  /// Calls the client in all of them. What is not as the baseline says is tried again alone. Throws what a client's
  /// start throws. Ends early, with what it has, after a signal.
  void call_all(const Baseline& baseline);

  /// Takes note of signals that have come.
  void heed_signals();
  /// Notes of which cells all that is bad is known: by the baseline, or since one was just written.
  void accept(const Baseline* baseline);

  const std::list<Cell>& cells() const { return cells_; }
  std::vector<const Cell*> all_cells() const;
  const std::vector<Form>& forms() const { return forms_; }
  /// What no cell says: that the client does not have a form, and what it left behind.
  const std::vector<std::string>& remarks() const { return remarks_; }
  void remark(std::string text) { remarks_.push_back(std::move(text)); }
  const std::string& client_name() const { return client_name_; }
  const std::string& client_version() const { return client_version_; }
  /// The names of all scenarios that there are, chosen or not.
  const std::set<std::string>& names() const { return scenarios_.names; }
  /// Whether a sweep ended before its last step.
  bool is_incomplete() const { return is_incomplete_; }
  /// The signal that ended it.
  std::optional<int> ended_by() const { return signal_; }

 private:
  /// Makes calls, on a thread with a client of its own.
  using Task = std::function<void(ClientUnderTest&)>;
  struct Queue {
    std::deque<Task> tasks;
    std::size_t threads = 0;
  };

  void add_cells();
  void try_unbroken(ClientUnderTest& client, Form form, bool tools);
  void run_cell(Cell& cell, ClientUnderTest& client);
  /// A session of mishaps in this form, and what it has of these cells.
  void run_session(const std::vector<Cell*>& cells, Form form, ClientUnderTest& client);
  CallResult play(const Mishap& turn, Gateway& gateway, Form form, ClientUnderTest& client);
  /// A call to a gateway of another address, with another key. A client that shares its key with all others of its
  /// process has that one from then on.
  CallResult call_elsewhere(Form form, ClientUnderTest& client);
  /// Calls the client for these cells, so many at once.
  void call(const std::vector<Cell*>& cells, std::size_t threads);
  /// Tries again what is not as the baseline says.
  void call_again(const Baseline& baseline);
  /// A turn judges itself, where there is one. `keys` are those that the client has beside the gateway's.
  void judge(Cell& cell, Gateway& gateway, const CallResult& result, std::size_t requests, const Mishap* turn = nullptr,
             std::set<std::string> keys = {});
  void sweep(Form form, ClientUnderTest& client);
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

  std::mutex mutex_;  // guards what follows, and the list of cells while a sweep adds to it
  std::size_t running_ = 0;
  std::string phase_;  // what progress is said to be of
  std::size_t made_ = 0;
  std::size_t bad_ = 0;
  std::size_t planned_ = 0;
  std::exception_ptr problem_;
  std::chrono::steady_clock::time_point told_{};
};

}  // namespace endpoint
}  // namespace mock_gateway
