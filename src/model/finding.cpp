#include "finding.hpp"

#include <ostream>

#include "../core/text.hpp"

namespace mock_gateway {

std::string to_string(Severity severity) { return severity == Severity::error ? "error" : "warning"; }

std::ostream& operator<<(std::ostream& out, Severity severity) { return out << to_string(severity); }

std::ostream& operator<<(std::ostream& out, const Finding& finding) {
  out << finding.code;
  for (std::size_t i = finding.exchanges.size(); i > 0; --i) {
    const bool newest = i == finding.exchanges.size();
    out << (newest ? " (exchange " : i + 1 == finding.exchanges.size() ? " after " : ", ") << finding.exchanges[i - 1];
  }
  return out << (finding.exchanges.empty() ? ": " : "): ") << detail::text::printable(finding.message);
}

}  // namespace mock_gateway
