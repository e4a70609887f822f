// How many problems are kept, for whom the others are counted; what is kept of one.

#include "kept_problems.hpp"

#include "../core/random.hpp"
#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {
namespace kept_problems {

/// Tells header fields apart as scopes do: the name in any case, the value exactly.
std::uint64_t fingerprint_of(const wire::Header& field) {
  return fingerprint(field.value, fingerprint(text::lower_ascii(field.name) + ":"));
}

/// A request with nothing but its key, for scopes.
ReceivedRequest with_key(const std::string& id, const std::string& description) {
  ReceivedRequest request;
  request.key_id = id;
  request.key_description = description;
  return request;
}

}  // namespace kept_problems

void KeptProblems::add(RecordedProblem problem) {
  Group& group = groups_[{problem.kind, problem.request.key_id, problem.request.key_description}];
  if (group.kept == most_of_a_group) return drop(group, problem);
  ++group.kept;
  problems_.push_back(std::move(problem));
}

void KeptProblems::drop(Group& group, const RecordedProblem& problem) {
  ++group.dropped;
  if (problem.stub && group.stubs.size() < most_stubs) group.stubs.insert(problem.stub->id());
  std::set<std::uint64_t> fields;  // a request may have the same one twice
  for (const wire::Header& field : problem.request.headers) fields.insert(kept_problems::fingerprint_of(field));
  bool has_uncounted = false;
  for (const std::uint64_t field : fields) {
    const auto known = group.fields.find(field);
    if (known != group.fields.end()) {
      ++known->second;
    } else if (group.uncounted == 0 && !has_uncounted && fields_ < most_fields) {
      // Never behind one that was not counted: what is counted at all is counted from the beginning.
      group.fields.emplace(field, 1);
      ++fields_;
    } else {
      has_uncounted = true;
    }
  }
  if (has_uncounted) ++group.uncounted;
}

std::vector<KeptProblems::Dropped> KeptProblems::dropped(const RequestScope& scope) const {
  std::vector<Dropped> all;
  for (const auto& [name, group] : groups_) {
    const auto& [kind, key_id, key_description] = name;
    Dropped its{kind};
    if (const std::optional<wire::Header> field = scope.header()) {
      const auto counted = group.fields.find(kept_problems::fingerprint_of(*field));
      if (counted != group.fields.end())
        its.certain = counted->second;
      else
        its.perhaps = group.uncounted;
    } else if (scope.covers(kept_problems::with_key(key_id, key_description))) {
      its.certain = group.dropped;
    }
    if (its.certain == 0 && its.perhaps == 0) continue;
    if (all.empty() || all.back().kind != kind) all.push_back({kind});  // groups are in the order of kinds
    all.back().certain += its.certain;
    all.back().perhaps += its.perhaps;
    all.back().stubs.insert(group.stubs.begin(), group.stubs.end());
  }
  return all;
}

std::vector<RecordedProblem> KeptProblems::forget(const RequestScope& scope) {
  std::vector<RecordedProblem> forgotten;
  std::vector<RecordedProblem> kept;
  for (RecordedProblem& problem : problems_) {
    const bool is_its = scope.covers(problem.request);
    if (is_its) --groups_[{problem.kind, problem.request.key_id, problem.request.key_description}].kept;
    (is_its ? forgotten : kept).push_back(std::move(problem));
  }
  problems_ = std::move(kept);
  for (auto group = groups_.begin(); group != groups_.end();) {
    const auto& [kind, key_id, key_description] = group->first;
    if (!scope.covers(kept_problems::with_key(key_id, key_description))) {
      ++group;
      continue;
    }
    fields_ -= group->second.fields.size();
    group = groups_.erase(group);
  }
  return forgotten;
}

std::vector<RecordedProblem> KeptProblems::clear() {
  groups_.clear();
  fields_ = 0;
  return std::exchange(problems_, {});
}

}  // namespace detail
}  // namespace mock_gateway
