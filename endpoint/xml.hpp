#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Text as XML 1.0 and HTML can hold it, at most 64 KiB: what markup is made of is escaped, and what a parser would
/// change in an attribute or at a line end; a character that XML forbids is U+FFFD.
std::string escaped_for_xml(const std::string& bytes);
/// The same where a line end may stay one.
std::string escaped_lines(const std::string& bytes);

/// A test case of a JUnit report. It passed unless it was skipped or has a failure.
struct JUnitCase {
  std::string name;
  /// In seconds.
  std::string time = "0";
  /// Written if it is a line of a script.
  SourceLocation where{};
  /// Why it was skipped.
  std::string skipped{};
  std::size_t failures = 0;
  /// The kind of the first failure, and the texts of all.
  std::string type{};
  std::string failure{};
  std::string output{};

  /// Adds a failure, or else output.
  void add(bool fails, const std::string& kind, const std::string& text);
};

/// A test suite of a JUnit report. Cases of the same name get a number.
struct JUnitSuite {
  std::string name;
  /// Attributes besides the name and the counts, as XML.
  std::string attributes{};
  std::vector<std::pair<const char*, std::size_t>> properties{};
  std::vector<JUnitCase> cases{};
  std::string output{};
};

/// The class name of a case is `class_prefix` and the name of its suite.
std::string junit_report(const std::string& name, const std::string& class_prefix, std::vector<JUnitSuite> suites);

}  // namespace endpoint
}  // namespace mock_gateway
