#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../library.hpp"
#include "check_flags.hpp"
#include "client.hpp"

namespace mock_gateway {
namespace endpoint {

/// What a client made of a scenario, as a report says it.
enum class Mark {
  /// The whole answer, and no error.
  ok,
  /// Its user was told of an error, and shown nothing before it that nobody said.
  error,
  /// No error, and something is missing, or a failure was taken for an answer.
  loss,
  /// Something is there that nobody said.
  wrong,
  /// It did not end by itself.
  hang,
  /// Its process ended without an answer.
  crash,
  /// There was no call, or it did not come to the scenario.
  skipped,
};
inline constexpr std::size_t marks = 7;

/// "ok", "error", "loss", "wrong", "hang", "crash", "skipped": in JSON, and in a baseline.
const char* to_string(Mark mark);

/// One scenario, or step of a sweep, asked for in one form.
struct Cell {
  std::string name;
  std::string group;
  Form form = Form::plain;
  /// What judges it. Its name is that of the cell.
  std::optional<Scenario> scenario;
  /// Whether it is a turn of the session of mishaps.
  bool is_turn = false;

  // What came of it.
  Mark mark = Mark::skipped;
  /// Whether a good client may have that outcome. Findings are apart.
  bool good = false;
  /// Whether it was bad, and good when it was tried again alone.
  bool flaky = false;
  /// What came of it the first time, where it was tried again.
  std::string first;
  /// Whether all that is bad about it is in the baseline.
  bool accepted = false;
  /// The verdict, or why there was no call.
  std::string why;
  CallResult result;
  std::size_t requests = 0;
  /// The review says what the client did wrong, and what goes beyond the documented surface.
  std::vector<Finding> findings;
  std::vector<Finding> beyond;

  /// "usage-chunk-without-choices streamed".
  std::string id() const { return name + " " + to_string(form); }
};

/// How a table shows the cell: "ok", "error", "ERROR" where the answer was there to be had, "LOSS", "WRONG", "HANG",
/// "CRASH", "?".
std::string shown(const Cell& cell);

/// The finding that no gateway can make: the error that the user was told has the key in it.
inline constexpr const char* key_told = "key_told";

/// What is bad about a cell, as lines of a baseline: "NAME streamed loss", "NAME plain finding retry_after_ignored".
std::vector<std::string> faults_of(const Cell& cell, const CheckFlags& flags);

/// What is known to be bad. An empty one where there is none.
class Baseline {
 public:
  Baseline() = default;
  /// Throws BadValue when the file cannot be read.
  explicit Baseline(const std::string& file);

  /// The faults of a cell that are not listed.
  std::vector<std::string> unlisted(const Cell& cell, const CheckFlags& flags) const;
  /// The lines about these cells that are no faults of theirs, unless they were skipped; and with the names of all
  /// scenarios, the lines that are about none, or say what no cell can have.
  std::vector<std::string> stale(const std::vector<const Cell*>& cells, const CheckFlags& flags,
                                 const std::set<std::string>* names) const;
  /// A file that lists all faults of the cells, and the lines of this one about others, with its comments.
  std::string renewed(const std::vector<const Cell*>& cells, const CheckFlags& flags) const;

 private:
  /// None about a cell that was skipped.
  std::vector<std::string> lines_about(const Cell& cell) const;

  std::set<std::string> lines_;
  std::string comments_;
};

}  // namespace endpoint
}  // namespace mock_gateway
