// Request features beyond the documentation: switches, defaults, names in scripts (in the header); the named
// acceptances strict, lenient and openai.

#include "acceptance.hpp"

#include "../core/rows.hpp"

namespace mock_gateway {

static_assert(detail::are_all(detail::extensions, &detail::ExtensionRow::extension, detail::extension_count),
              "each extension has a row");

Acceptance::Acceptance() {
  for (const detail::ExtensionRow& row : detail::extensions)
    *this = with(row.extension, row.taken_by == detail::TakenBy::usual);
}

Acceptance Acceptance::with(Extension extension, bool accepted) const {
  Acceptance copy = *this;
  copy.switches_[static_cast<std::size_t>(extension)] = accepted ? Switch::on : Switch::off;
  return copy;
}

Acceptance Acceptance::openai() {
  Acceptance acceptance;
  for (const detail::ExtensionRow& row : detail::extensions)
    acceptance = acceptance.with(row.extension, row.taken_by != detail::TakenBy::lenient);
  return acceptance;
}

Acceptance Acceptance::strict() {
  Acceptance acceptance;
  for (Switch& extension : acceptance.switches_) extension = Switch::as_documented;
  return acceptance;
}

Acceptance Acceptance::lenient() {
  Acceptance acceptance;
  for (Switch& extension : acceptance.switches_) extension = Switch::on;
  return acceptance;
}

namespace detail {

std::vector<std::string> acceptance_names() {
  std::vector<std::string> names;
  for (const NamedAcceptance& one : acceptances) names.emplace_back(one.name);
  return names;
}

Acceptance StrictAcceptance::under(const Acceptance& acceptance, const Acceptance& documented) {
  Acceptance taken = acceptance;
  for (const ExtensionRow& row : extensions)
    if (is_as_documented(acceptance, row.extension) && documented.has(row.extension)) taken = taken.with(row.extension);
  return taken;
}

}  // namespace detail

}  // namespace mock_gateway
