#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control.hpp"
#include "document/script_reader.hpp"

namespace mock_gateway {
namespace endpoint {

/// The JSON of a request's body, with the place of each of its values.
class ControlBody {
 public:
  /// `label` is what reports show in place of a file. Throws ControlError `invalid_json`.
  explicit ControlBody(const std::string& text, std::string label = {});

  const Json& value() const { return value_; }
  /// Throws ControlError `invalid_request` for what is no object, and for a key that is none of these.
  void require_keys(const std::vector<std::string>& keys) const;
  /// `invalid_request` for a value.
  ControlError error(const detail::ScriptMistake& mistake) const;

  /// Puts the value inside of a script document as the one entry of a section, or as the document's section of that
  /// name; `section` is "stubs". Throws ControlError `invalid_request` when other sections stand beside it.
  void wrap(const std::string& section);
  /// Takes the section off the pointers again, and the label off the files.
  void unwrap(ScriptProblem& problem) const;
  const detail::ScriptSource& source() const { return source_; }

 private:
  detail::ScriptSource source_;
  Json value_;
  std::string prefix_;  // of pointers
};

}  // namespace endpoint
}  // namespace mock_gateway
