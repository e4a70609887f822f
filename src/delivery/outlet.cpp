// What delivery wants of a connection.

#include "outlet.hpp"

namespace mock_gateway {
namespace detail {

bool Outlet::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::optional<std::size_t> count = write_some(bytes);
    if (!count || (*count == 0 && !wait_until_writable())) return false;
    bytes.remove_prefix(*count);
  }
  return true;
}

}  // namespace detail
}  // namespace mock_gateway
