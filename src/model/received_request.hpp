#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/version.hpp"

namespace mock_gateway {

namespace detail {
struct Access;
}

namespace wire {

struct Header {
  std::string name;
  std::string value;
};

/// Header fields in the order and spelling sent. Names compare case-insensitively (RFC 9110, 5.1).
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> fields) : fields_(fields) {}

  /// Appends a field and keeps those of the same name.
  void add(std::string name, std::string value);
  /// Replaces all fields of this name by one.
  void set(std::string name, std::string value);
  void remove(std::string_view name);

  bool has(std::string_view name) const;
  /// Returns the first value of this name, if any.
  std::optional<std::string> find(std::string_view name) const;
  /// Returns all values of this name, in order.
  std::vector<std::string> all(std::string_view name) const;
  /// Whether a comma-separated field lists `token`, in any case. For Connection, Transfer-Encoding, Expect.
  bool lists(std::string_view name, std::string_view token) const;

  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  friend struct detail::Access;
  std::vector<Header> fields_;
};

}  // namespace wire

/// A request as received, with masked keys.
struct ReceivedRequest {
  /// The method as sent: "POST".
  std::string method;
  /// The path and, if present, "?" with the query, as sent and not decoded.
  std::string target;
  wire::Headers headers;
  /// The body, with its transfer coding removed.
  std::string body;
  /// The id of the key sent with the request; empty if it is not one of the gateway's keys.
  std::string key_id;
  /// The description of that key at the time of the request.
  std::string key_description;

  /// Returns the part of the target before "?", not decoded.
  std::string path() const { return target.substr(0, target.find('?')); }
  /// Returns the part of the target after "?", not decoded, if any.
  std::string query() const {
    const std::size_t mark = target.find('?');
    return mark == std::string::npos ? std::string{} : target.substr(mark + 1);
  }
};

namespace detail {

/// Returns ReceivedRequest::path() without a copy.
inline std::string_view path_of(const ReceivedRequest& request) {
  return std::string_view(request.target).substr(0, request.target.find('?'));
}

/// Returns wire::Headers::find() without a copy, or null.
const std::string* value_of(const wire::Headers& headers, std::string_view name);

}  // namespace detail

}  // namespace mock_gateway
