#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../model/received_request.hpp"
#include "../script/scope.hpp"
#include "../script/script.hpp"
#include "verification.hpp"

namespace mock_gateway::detail {

/// A problem of an exchange. Stored outside the journal's records, so that it outlives them.
struct RecordedProblem {
  /// Has masked keys. Readers add the stub's place and title, because these may change.
  Problem problem{Problem::Kind::unmatched, {}};
  std::shared_ptr<StubState> stub{};
  /// The parts of the request that RequestScope compares.
  ReceivedRequest request{};
};

/// The problems of exchanges: the first hundred per kind and key, and the number of further ones. Memory only grows
/// with the number of keys. Not thread-safe.
class KeptProblems {
 public:
  struct Dropped {
    Problem::Kind kind;
    std::size_t count = 0;
    /// Whether `count` is a lower bound, perhaps 0. Only true for a scope of a header field, after about 10,000
    /// different fields.
    bool is_least = false;
    /// The stubs of the dropped problems, also outside this scope; up to 1,000 per key.
    std::set<std::uint64_t> stubs{};
  };

  /// Keeps a problem within the limit, or else only counts it. The problem's request may lack its body.
  void add(RecordedProblem recorded);
  std::vector<RecordedProblem> of(const RequestScope& scope) const;
  /// Returns the kinds of problems that were dropped, or may have been, for this scope.
  std::vector<Dropped> dropped(const RequestScope& scope) const;
  /// Deletes the problems of a scope and returns the kept ones. A scope of a header keeps the counts of dropped ones.
  std::vector<RecordedProblem> forget(const RequestScope& scope);
  /// Deletes all problems and returns the kept ones.
  std::vector<RecordedProblem> clear();

 private:
  static constexpr std::size_t most_of_a_group = 100;
  static constexpr std::size_t most_fields = 10'000;  // in all groups: 0.5 MB
  static constexpr std::size_t most_stubs = 1'000;    // per group

  struct Group {
    std::size_t kept = 0;
    std::size_t dropped = 0;
    /// The number of dropped problems for each header field, by fingerprint.
    std::map<std::uint64_t, std::size_t> fields{};
    bool has_uncounted = false;
    std::set<std::uint64_t> stubs{};
  };
  /// The kind of problem, and the key's id and description. The description may change.
  using GroupName = std::tuple<Problem::Kind, std::string, std::string>;

  static GroupName group_of(const RecordedProblem& recorded);
  void drop(Group& group, const RecordedProblem& recorded);

  std::vector<RecordedProblem> problems_;
  std::map<GroupName, Group> groups_;
  std::size_t fields_ = 0;  // in all groups
};

}  // namespace mock_gateway::detail
