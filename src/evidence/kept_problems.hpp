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
  /// Without secrets. Without the stub's place and title, which may change until they are requested.
  Problem problem{Problem::Kind::unmatched, {}};
  std::shared_ptr<StubState> stub{};
  /// The parts of the request that scopes need.
  ReceivedRequest request{};
};

/// The problems of exchanges: the first hundred per kind and key, and the number of the others. The number of keys
/// bounds the memory. Not thread-safe.
class KeptProblems {
 public:
  struct Dropped {
    Problem::Kind kind;
    std::size_t count = 0;
    /// Whether `count` is a lower bound, perhaps 0. Only for scopes of a header without a key, after about 10,000
    /// different header fields.
    bool is_least = false;
    /// The stubs of the dropped problems, in this scope or not; up to 1,000 per key.
    std::set<std::uint64_t> stubs{};
  };

  /// Keeps or counts a problem. Its request needs no body.
  void add(RecordedProblem recorded);
  std::vector<RecordedProblem> of(const RequestScope& scope) const;
  /// Returns the kinds for which problems of the scope were not kept, or may not have been.
  std::vector<Dropped> dropped(const RequestScope& scope) const;
  /// Deletes the problems of a scope and returns the kept ones. For a scope of a header, dropped ones stay counted.
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
  /// Kind, id and description of the key. A description may change.
  using GroupName = std::tuple<Problem::Kind, std::string, std::string>;

  static GroupName group_of(const RecordedProblem& recorded);
  void drop(Group& group, const RecordedProblem& recorded);

  std::vector<RecordedProblem> problems_;
  std::map<GroupName, Group> groups_;
  std::size_t fields_ = 0;  // in all groups
};

}  // namespace mock_gateway::detail
