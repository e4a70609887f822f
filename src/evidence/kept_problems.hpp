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

/// A problem of an exchange. Kept beside the journal's records, so that it outlives them.
struct RecordedProblem {
  /// Without a secret. Says nothing of the stub: a stub's place and title may change until somebody asks.
  Problem problem{Problem::Kind::unmatched, {}};
  /// The stub that the problem is about; null when it is about none.
  std::shared_ptr<StubState> stub{};
  /// What scopes need of the request, and no more.
  ReceivedRequest request{};
};

/// The problems of exchanges: the first hundred of each kind with each key, and the number of the others. The memory is
/// bounded by the number of keys. Not thread-safe.
class KeptProblems {
 public:
  /// The problems of one kind that belong to a scope and were not kept.
  struct Dropped {
    Problem::Kind kind;
    std::size_t count = 0;
    /// There may be more than `count`, which may then be 0. This happens to scopes of a header alone, after some ten
    /// thousand different header fields.
    bool is_least = false;
    /// The stubs that such problems are about, of any scope; of each key the first thousand.
    std::set<std::uint64_t> stubs{};
  };

  /// Keeps or counts a problem. Its request needs no body.
  void add(RecordedProblem recorded);
  /// The kept problems of a scope, oldest first.
  std::vector<RecordedProblem> of(const RequestScope& scope) const;
  /// The kinds of which problems of the scope were not kept, or may not have been.
  std::vector<Dropped> dropped(const RequestScope& scope) const;
  /// Forgets the problems of a scope. Returns the kept ones. Problems that were not kept are forgotten for a scope of a
  /// key; for a scope of a header they stay counted.
  std::vector<RecordedProblem> forget(const RequestScope& scope);
  /// Forgets every problem. Returns the kept ones.
  std::vector<RecordedProblem> clear();

 private:
  static constexpr std::size_t most_of_a_group = 100;
  static constexpr std::size_t most_fields = 10'000;  // of all groups: half a megabyte
  static constexpr std::size_t most_stubs = 1'000;    // of a group

  /// Problems of one kind whose requests presented one key.
  struct Group {
    std::size_t kept = 0;
    std::size_t dropped = 0;
    /// In how many dropped problems a header field occurs, by the field's fingerprint.
    std::map<std::uint64_t, std::size_t> fields{};
    /// Some dropped problem has a field that is not among the fields.
    bool has_uncounted = false;
    /// The stubs that the dropped problems are about.
    std::set<std::uint64_t> stubs{};
  };
  /// Kind, id and description of the key: a description may change.
  using GroupName = std::tuple<Problem::Kind, std::string, std::string>;

  static GroupName group_of(const RecordedProblem& recorded);
  void drop(Group& group, const RecordedProblem& recorded);

  std::vector<RecordedProblem> problems_;
  std::map<GroupName, Group> groups_;
  std::size_t fields_ = 0;  // of all groups
};

}  // namespace mock_gateway::detail
