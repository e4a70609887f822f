// The output of `verify()` and its limits; names of kinds of problems; `called_in_order`.

#include "verification.hpp"

#include <algorithm>  // min
#include <ostream>
#include <utility>

#include "../core/access.hpp"
#include "../core/text.hpp"
#include "../keys/secrets.hpp"
#include "diagnosis.hpp"
#include "gateway_problems.hpp"

namespace mock_gateway {

std::string to_string(Problem::Kind kind) {
  switch (kind) {
    case Problem::Kind::unmatched: return "unmatched";
    case Problem::Kind::unmet_expectation: return "unmet expectation";
    case Problem::Kind::invalid: return "invalid";
    case Problem::Kind::callback_failed: return "callback failed";
    case Problem::Kind::answer_failed: return "answer failed";
    case Problem::Kind::fault_not_reached: return "fault not reached";
    case Problem::Kind::place_not_reached: return "place not reached";
    case Problem::Kind::guard_expired: return "guard expired";
    case Problem::Kind::out_of_order: return "out of order";
    case Problem::Kind::not_searched: return "not searched";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, Problem::Kind kind) { return out << to_string(kind); }

namespace detail {
namespace verifications {

/// The maximum number of problems, and of notes, in a message.
inline constexpr std::size_t most_shown = 20;

}  // namespace verifications

std::string lines_of(const std::vector<std::string>& notes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(notes.size(), verifications::most_shown); ++i)
    text += (i == 0 ? "" : "\n") + notes[i];
  if (notes.size() > verifications::most_shown)
    text += "\nand " + text::counted(notes.size() - verifications::most_shown, "more note");
  return text;
}

std::string message_of(const std::vector<Problem>& problems, const std::vector<std::string>& notes) {
  std::string text;
  if (problems.size() > 1) text = std::to_string(problems.size()) + " problems\n\n";
  for (std::size_t i = 0; i < std::min(problems.size(), verifications::most_shown); ++i)
    text += (i == 0 ? "" : "\n\n") + problems[i].text;
  if (problems.size() > verifications::most_shown)
    text += "\n\nand " + std::to_string(problems.size() - verifications::most_shown) + " more";
  if (!notes.empty()) text += '\n' + lines_of(notes);
  return text;
}

}  // namespace detail

Verification::Verification(const Verification&) = default;
Verification& Verification::operator=(const Verification&) = default;
Verification::~Verification() = default;

Verification::Verification(std::vector<Problem> problems, std::vector<std::string> notes,
                           std::vector<std::string> identities, std::shared_ptr<detail::ReportedProblems> reported,
                           std::vector<VerifiedStub> stubs, std::size_t evicted, std::size_t open)
    : problems_(std::move(problems)),
      notes_(std::move(notes)),
      identities_(std::move(identities)),
      reported_(std::move(reported)),
      stubs_(std::move(stubs)),
      evicted_(evicted),
      open_(open) {}

const std::vector<Problem>& Verification::problems() const& {
  if (reported_) reported_->add(identities_);
  return problems_;
}

Verification::operator bool() const { return problems().empty(); }
std::vector<Problem> Verification::problems() && { return problems(); }
std::vector<std::string> Verification::notes() && { return std::move(notes_); }
std::vector<VerifiedStub> Verification::stubs() && { return std::move(stubs_); }

std::string Verification::message() const {
  std::string text = detail::message_of(problems(), notes_);
  if (reported_) reported_->add_notes(notes_);
  return problems_.empty() ? "nothing is wrong" + text : text;
}

std::ostream& operator<<(std::ostream& out, const Verification& verification) {
  return out << detail::text::ended_lines(verification.message());
}

namespace detail {

Verification verify_order(const std::vector<std::shared_ptr<StubState>>& stubs) {
  std::vector<Problem> problems;
  const StubState* previous = nullptr;
  const secrets::Known looks_like;  // to find strings that look like keys
  for (const auto& stub : stubs) {
    Problem found{Problem::Kind::out_of_order, {}, {}, stub->where(), reference_to(*stub)};
    if (stub->recorded() == 0) {
      found.text = "out of order  " + stub->title() + " was not called";
    } else if (previous != nullptr && previous->last_exchange() > stub->first_exchange()) {
      found.text = "out of order  " + stub->title() + " answered exchange " + std::to_string(stub->first_exchange()) +
                   ", before " + previous->title() + " answered exchange " + std::to_string(previous->last_exchange());
      found.exchanges = {stub->first_exchange(), previous->last_exchange()};
    }
    if (!found.text.empty()) {
      // The stubs may belong to several gateways, whose keys are unknown here.
      for (std::string* const text : {&found.text, &found.stub.name, &found.stub.title}) looks_like.mask(*text);
      problems.push_back(std::move(found));
    }
    if (stub->recorded() > 0) previous = stub.get();
  }
  return Access::make<Verification>(std::move(problems), std::vector<std::string>(), std::vector<std::string>(),
                                    nullptr, std::vector<VerifiedStub>(), std::size_t{0}, std::size_t{0});
}

}  // namespace detail
}  // namespace mock_gateway
