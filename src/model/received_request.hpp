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

/// A header field.
struct Header {
  std::string name;
  std::string value;
};

/// Header fields in the order and spelling in which they were sent; names compare in any case (RFC 9110, 5.1).
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> fields) : fields_(fields) {}

  /// Adds a field behind the others, beside those of that name.
  void add(std::string name, std::string value);
  /// Replaces every field of that name by one.
  void set(std::string name, std::string value);
  /// Removes every field of that name.
  void remove(std::string_view name);

  bool has(std::string_view name) const;
  /// The first value of that name; empty when there is none.
  std::optional<std::string> find(std::string_view name) const;
  /// Every value of that name, in order.
  std::vector<std::string> all(std::string_view name) const;
  /// Whether a comma-separated field lists `token`, in any case: Connection, Transfer-Encoding, Expect.
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

/// A request as it arrived, with keys masked.
struct ReceivedRequest {
  /// The method as sent: "POST".
  std::string method;
  /// The path, and "?" with the query if there is one, as sent, undecoded.
  std::string target;
  wire::Headers headers;
  /// The body without its transfer coding.
  std::string body;
  /// The id of the key that was presented; empty when none of the gateway's was.
  std::string key_id;
  /// The description of that key, when the request came.
  std::string key_description;

  /// The part of the target before "?", undecoded.
  std::string path() const { return target.substr(0, target.find('?')); }
  /// The part of the target after "?", undecoded; empty without one.
  std::string query() const {
    const std::size_t mark = target.find('?');
    return mark == std::string::npos ? std::string{} : target.substr(mark + 1);
  }
};

namespace detail {

/// ReceivedRequest::path() without a copy.
inline std::string_view path_of(const ReceivedRequest& request) {
  return std::string_view(request.target).substr(0, request.target.find('?'));
}

/// wire::Headers::find() without a copy; null when there is none.
const std::string* value_of(const wire::Headers& headers, std::string_view name);

}  // namespace detail

}  // namespace mock_gateway
