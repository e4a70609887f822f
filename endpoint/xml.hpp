#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Escapes text for XML 1.0 and HTML, at most 64 KiB. Also escapes whitespace that parsers would normalize. Replaces
/// characters that XML forbids by U+FFFD.
std::string escaped_for_xml(const std::string& bytes);
/// Escapes text but keeps line ends.
std::string escaped_lines(const std::string& bytes);

/// A JUnit test case. It passed unless it is skipped or has a failure.
struct JUnitCase {
  std::string name;
  /// In seconds.
  std::string time = "0";
  /// Written only if it is in a script.
  SourceLocation where{};
  /// Why it was skipped.
  std::string skipped{};
  std::size_t failures = 0;
  /// The kind of the first failure; the texts of all failures.
  std::string type{};
  std::string failure{};
  std::string output{};

  /// Adds a failure or output.
  void add(bool fails, const std::string& kind, const std::string& text);
};

/// A JUnit test suite. Cases with equal names get a number.
struct JUnitSuite {
  std::string name;
  /// Further XML attributes.
  std::string attributes{};
  std::vector<std::pair<const char*, std::size_t>> properties{};
  std::vector<JUnitCase> cases{};
  std::string output{};
};

/// Returns the report. The class name of a case is `class_prefix` plus the suite's name.
std::string junit_report(const std::string& name, const std::string& class_prefix, std::vector<JUnitSuite> suites);

}  // namespace endpoint
}  // namespace mock_gateway
