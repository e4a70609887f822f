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
#include "near_miss.hpp"
#include "verification.hpp"

namespace mock_gateway {
namespace detail {

/// Something in an exchange that verify() reports. Kept beside the journal's records, so that it outlives them.
struct RecordedProblem {
  Problem::Kind kind = Problem::Kind::unmatched;
  std::uint64_t exchange = 0;
  /// Whole lines, without a secret.
  std::string text;
  /// What scopes need of the request, and no more.
  ReceivedRequest request;
  std::shared_ptr<StubState> stub;  // that it is about; null when there is none
  /// The stubs that came closest; null when there are none. They do not say which exchange it was.
  std::shared_ptr<const std::vector<NearMiss>> near_misses;
};

/// The problems of exchanges: the first hundred of each kind with each key, and the number of the others. The memory is
/// bounded by the number of keys. Not thread-safe.
class KeptProblems {
 public:
  /// Problems of one kind that were not kept.
  struct Dropped {
    Problem::Kind kind;
    /// Those of the scope.
    std::size_t certain = 0;
    /// Those of which nothing tells whether they are of the scope; always 0 for a key and for every request. There are
    /// some only after some ten thousand different header fields.
    std::size_t perhaps = 0;
    /// The stubs that they are about, the first thousand.
    std::set<std::uint64_t> stubs{};
  };

  /// Keeps or counts it. Its request needs no body.
  void add(RecordedProblem problem);
  /// Those that are kept, oldest first.
  const std::vector<RecordedProblem>& all() const { return problems_; }
  /// The kinds of which problems of the scope were not kept, or may not have been.
  std::vector<Dropped> dropped(const RequestScope& scope) const;
  /// Forgets those of a scope. Returns those that were kept. The others are forgotten too, but for those of a header,
  /// which stay counted.
  std::vector<RecordedProblem> forget(const RequestScope& scope);
  /// Forgets all of them. Returns those that were kept.
  std::vector<RecordedProblem> clear();

 private:
  static constexpr std::size_t most_of_a_group = 100;
  static constexpr std::size_t most_fields = 10'000;  // of all groups: half a megabyte
  static constexpr std::size_t most_stubs = 1'000;    // of a group

  /// Problems of one kind whose requests presented one key. A description may change.
  struct Group {
    std::size_t kept = 0;
    std::size_t dropped = 0;
    /// How many of the dropped ones have a header field, by the field's fingerprint.
    std::map<std::uint64_t, std::size_t> fields{};
    /// How many of the dropped ones have a field that is not among the fields.
    std::size_t uncounted = 0;
    /// The stubs that the dropped ones are about.
    std::set<std::uint64_t> stubs{};
  };
  using GroupName = std::tuple<Problem::Kind, std::string, std::string>;  // kind, id and description of the key

  void drop(Group& group, const RecordedProblem& problem);

  std::vector<RecordedProblem> problems_;
  std::map<GroupName, Group> groups_;
  std::size_t fields_ = 0;  // of all groups
};

}  // namespace detail
}  // namespace mock_gateway
