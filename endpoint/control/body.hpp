#pragma once

#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// The JSON of a request's body.
class ControlBody {
 public:
  /// `label` stands for a file name in what the body mounts. Throws ControlError `invalid_json`.
  explicit ControlBody(const std::string& text, const std::string& label = {});

  const Json& value() const { return json_->value(); }
  const internal::JsonText& json() const { return *json_; }
  bool has(const char* key) const { return value().is_object() && value().contains(key); }
  /// Throws ControlError `invalid_request` for a value that is no object, and for a key that is none of these.
  void require_keys(const std::vector<std::string>& keys) const;
  /// The error `invalid_request` for a value.
  ControlError error(const std::string& pointer, const std::string& message) const;

 private:
  std::optional<internal::JsonText> json_;
};

}  // namespace endpoint
}  // namespace mock_gateway
