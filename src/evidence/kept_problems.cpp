// How many problems of exchanges are kept, and how dropped ones are counted, also for a scope of a header field.

#include "kept_problems.hpp"

#include "../core/random.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace kept_problems {

/// Returns a hash that is equal for fields that a scope does not distinguish: names in any case, values exactly.
std::uint64_t fingerprint_of(const wire::Header& field) {
  return fingerprint(field.value, fingerprint(text::lower_ascii(field.name) + ":"));
}

ReceivedRequest with_key(const std::string& id, const std::string& description) {
  ReceivedRequest request;
  request.key_id = id;
  request.key_description = description;
  return request;
}

}  // namespace kept_problems

KeptProblems::GroupName KeptProblems::group_of(const RecordedProblem& recorded) {
  return {recorded.problem.kind, recorded.request.key_id, recorded.request.key_description};
}

void KeptProblems::add(RecordedProblem recorded) {
  Group& group = groups_[group_of(recorded)];
  if (group.kept == most_of_a_group) return drop(group, recorded);
  ++group.kept;
  problems_.push_back(std::move(recorded));
}

void KeptProblems::drop(Group& group, const RecordedProblem& recorded) {
  ++group.dropped;
  if (recorded.stub && group.stubs.size() < most_stubs) group.stubs.insert(recorded.stub->id());
  std::set<std::uint64_t> fields;  // a request may repeat a field
  for (const wire::Header& field : recorded.request.headers) fields.insert(kept_problems::fingerprint_of(field));
  for (const std::uint64_t field : fields) {
    const auto known = group.fields.find(field);
    if (known != group.fields.end()) {
      ++known->second;
    } else if (!group.has_uncounted && fields_ < most_fields) {
      // Once a field was not counted, no new field is added, so that each existing count is complete.
      group.fields.emplace(field, 1);
      ++fields_;
    } else {
      group.has_uncounted = true;
    }
  }
}

std::vector<RecordedProblem> KeptProblems::of(const RequestScope& scope) const {
  std::vector<RecordedProblem> covered;
  for (const RecordedProblem& recorded : problems_)
    if (scope.covers(recorded.request)) covered.push_back(recorded);
  return covered;
}

std::vector<KeptProblems::Dropped> KeptProblems::dropped(const RequestScope& scope) const {
  std::vector<Dropped> all;
  for (const auto& [name, group] : groups_) {
    const auto& [kind, key_id, key_description] = name;
    Dropped of_group{kind};
    if (const std::optional<wire::Header> field = scope.header()) {
      const auto counted = group.fields.find(kept_problems::fingerprint_of(*field));
      if (counted != group.fields.end())
        of_group.count = counted->second;
      else
        of_group.is_least = group.has_uncounted;
    } else if (scope.covers(kept_problems::with_key(key_id, key_description))) {
      of_group.count = group.dropped;
    }
    if (of_group.count == 0 && !of_group.is_least) continue;
    if (all.empty() || all.back().kind != kind) all.push_back({kind});  // groups are ordered by kind
    all.back().count += of_group.count;
    all.back().is_least = all.back().is_least || of_group.is_least;
    all.back().stubs.insert(group.stubs.begin(), group.stubs.end());
  }
  return all;
}

std::vector<RecordedProblem> KeptProblems::forget(const RequestScope& scope) {
  std::vector<RecordedProblem> forgotten;
  std::vector<RecordedProblem> kept;
  for (RecordedProblem& recorded : problems_) {
    const bool is_covered = scope.covers(recorded.request);
    if (is_covered) --groups_[group_of(recorded)].kept;
    (is_covered ? forgotten : kept).push_back(std::move(recorded));
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

}  // namespace mock_gateway::detail
