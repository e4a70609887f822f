// What a finding holds and prints; severities; whether a finding fails a review.

#include "finding.hpp"

#include <ostream>

#include "../core/text.hpp"

namespace mock_gateway {

std::string to_string(Severity severity) {
  switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::error: break;
  }
  return "error";
}

std::ostream& operator<<(std::ostream& out, Severity severity) { return out << to_string(severity); }

std::ostream& operator<<(std::ostream& out, const Finding& finding) { return out << detail::text_of(finding); }

namespace detail {

std::string text_of(const Finding& finding) {
  std::string line = (finding.severity == Severity::note ? "note: " : "") + finding.code;
  for (std::size_t i = finding.exchanges.size(); i > 0; --i) {
    const bool newest = i == finding.exchanges.size();
    line += newest ? " (exchange " : i + 1 == finding.exchanges.size() ? " after " : ", ";
    line += std::to_string(finding.exchanges[i - 1]);
  }
  return line + (finding.exchanges.empty() ? ": " : "): ") + text::printable(finding.message);
}

}  // namespace detail
}  // namespace mock_gateway
