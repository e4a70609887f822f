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

/// The verdict on one call of the client.
enum class Mark {
  /// The complete answer and no error.
  ok,
  /// The user got an error, and before it only text that the gateway sent.
  error,
  /// Text is missing without an error, or a failure was taken for an answer.
  loss,
  /// The client showed content that the gateway did not send.
  wrong,
  /// The call did not end before its timeout.
  hang,
  /// The client's process ended without an answer.
  crash,
  /// The call was not made, or the scenario did not take effect.
  skipped,
};
inline constexpr std::size_t marks = 7;

/// The mark's name in JSON and in baselines: "ok", "error", "loss", "wrong", "hang", "crash", "skipped".
const char* to_string(Mark mark);

/// One scenario (or step of a sweep) in one form.
struct Cell {
  std::string name;
  std::string group;
  Form form = Form::plain;
  /// Judges the call; it has the same name as the cell.
  std::optional<Scenario> scenario;
  /// True if the cell is a turn of the session of mishaps.
  bool is_turn = false;

  // The result.
  Mark mark = Mark::skipped;
  /// Whether the outcome is acceptable. Findings count separately.
  bool good = false;
  /// True if the call failed, but passed when retried alone.
  bool flaky = false;
  /// The result of the first attempt, if the call was retried.
  std::string first;
  /// Whether the baseline lists every fault of the cell.
  bool accepted = false;
  /// The reason for the mark, or for the missing call.
  std::string why;
  CallResult result;
  std::size_t requests = 0;
  /// From the gateway's review: faults of the client, and uses of undocumented features.
  std::vector<Finding> findings;
  std::vector<Finding> beyond;

  std::string id() const { return name + " " + to_string(form); }
};

/// The cell in a table: "ok", "error", "ERROR" (the answer was available), "LOSS", "WRONG", "HANG", "CRASH", "?".
std::string shown(const Cell& cell);

/// A finding of `check`, not of the gateway: the error message shown to the user contains the API key.
inline constexpr const char* key_told = "key_told";

/// Returns a cell's faults as lines of a baseline: "NAME streamed loss", "NAME plain finding retry_after_ignored".
std::vector<std::string> faults_of(const Cell& cell, const CheckFlags& flags);

/// The known faults; empty by default.
class Baseline {
 public:
  Baseline() = default;
  /// Throws BadValue when the file cannot be read.
  explicit Baseline(const std::string& file);

  /// Returns the cell's faults that the baseline does not list.
  std::vector<std::string> unlisted(const Cell& cell, const CheckFlags& flags) const;
  /// Returns the lines about these cells that no longer apply; skipped cells have none. With the names of all
  /// scenarios, also the lines with an unknown scenario or fault.
  std::vector<std::string> stale(const std::vector<const Cell*>& cells, const CheckFlags& flags,
                                 const std::set<std::string>* names) const;
  /// Returns the text of an updated baseline: all faults of these cells, and this baseline's comments and other lines.
  std::string renewed(const std::vector<const Cell*>& cells, const CheckFlags& flags) const;

 private:
  /// Returns no lines for a skipped cell.
  std::vector<std::string> lines_about(const Cell& cell) const;

  std::set<std::string> lines_;
  std::string comments_;
};

}  // namespace endpoint
}  // namespace mock_gateway
