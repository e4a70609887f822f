#pragma once

// Measurement of durations on a machine that other processes use too.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ostream>
#include <thread>
#include <vector>

#include "patience.hpp"
#include "processor_time.hpp"

namespace test_support {

/// The sorted wall times of many runs, and the number of cores that other processes used meanwhile.
struct Series {
  std::vector<double> milliseconds;
  double others = 0;

  double median() const { return milliseconds[milliseconds.size() / 2]; }
  double nine_in_ten() const { return milliseconds[milliseconds.size() * 9 / 10]; }
  double maximum() const { return milliseconds.back(); }
  /// Returns whether all runs took less than the limit. If other processes used more than a fifth of a core, ignores
  /// the slowest tenth of the runs and increases the limit in proportion to the CPU time that other processes used.
  bool is_below(double limit) const {
    if (maximum() < limit) return true;
    const double processors = std::thread::hardware_concurrency();
    return others > 0.2 && nine_in_ten() < limit * processors / std::max(processors - others, 0.25);
  }
};

inline std::ostream& operator<<(std::ostream& out, const Series& series) {
  return out << "in ms: median " << series.median() << ", 9 in 10 below " << series.nine_in_ten() << ", maximum "
             << series.maximum() << " of " << series.milliseconds.size() << "; others took " << series.others
             << " processors";
}

/// Measures `runs` calls of `run`, which returns the duration of one run.
template <class Run>
Series measure(int runs, const Run& run) {
  Series series;
  const auto began = std::chrono::steady_clock::now();
  const ProcessorTime before = ProcessorTime::now();
  for (int i = 0; i < runs; ++i)
    series.milliseconds.push_back(std::chrono::duration<double, std::milli>(run()).count());
  const ProcessorTime after = ProcessorTime::now();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  series.others = ((after.machine - before.machine) - (after.own - before.own)) / elapsed.count();
  std::sort(series.milliseconds.begin(), series.milliseconds.end());
  return series;
}

/// Returns the wall time of an action.
template <class Action>
std::chrono::steady_clock::duration time_of(const Action& action) {
  const auto before = std::chrono::steady_clock::now();
  action();
  return std::chrono::steady_clock::now() - before;
}

/// The duration of the shortest of several runs, and the bound for it. It is true if the duration is below the bound.
struct Shortest {
  std::chrono::duration<double, std::milli> time;
  std::chrono::duration<double, std::milli> bound;

  explicit operator bool() const { return time < bound; }
};

inline std::ostream& operator<<(std::ostream& out, const Shortest& shortest) {
  return out << "the shortest run took " << shortest.time.count() << " ms, the bound is " << shortest.bound.count()
             << " ms";
}

/// Checks that the shortest of up to twenty runs takes less than `bound`. Use it if a bug would make every run much
/// slower; single runs may be slow because other processes take wall time too. `run` returns the duration of one run.
/// Sanitizer builds multiply the bound by `slower`. Use 1 if the bug would wait for a fixed time.
template <class Run>
Shortest is_within(std::chrono::duration<double, std::milli> bound, const Run& run, int slower = sanitized ? 10 : 1) {
  Shortest shortest{run(), bound * slower};
  for (int again = 1; again < 20 && !shortest; ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + again % 11));
    shortest.time = std::min<std::chrono::duration<double, std::milli>>(shortest.time, run());
  }
  return shortest;
}

/// Returns the CPU seconds that this process uses for an action. Other processes do not affect them.
template <class Action>
double processor_seconds_of(const Action& action) {
  const ProcessorTime before = ProcessorTime::now();
  action();
  return ProcessorTime::now().own - before.own;
}

}  // namespace test_support
