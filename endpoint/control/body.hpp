#pragma once

#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// The parsed JSON body of a request.
class ControlBody {
 public:
  /// Mounted stubs show `label` in place of a file name. Throws ControlError `invalid_json`.
  explicit ControlBody(const std::string& text, const std::string& label = {});

  const Json& value() const { return json_->value(); }
  const internal::JsonText& json() const { return *json_; }
  bool has(const char* key) const { return value().is_object() && value().contains(key); }
  /// Throws ControlError `invalid_request` if the body is not an object or has another key.
  void require_keys(const std::vector<std::string>& keys) const;
  /// Returns an `invalid_request` error about the value at a JSON pointer.
  ControlError error(const std::string& pointer, const std::string& message) const;

 private:
  std::optional<internal::JsonText> json_;
};

}  // namespace endpoint
}  // namespace mock_gateway
