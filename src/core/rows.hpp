// The view of a constexpr table that stands in a .cpp file.

#pragma once

#include <cstddef>

namespace mock_gateway {
namespace detail {

/// The rows of a constexpr array, for files that do not see the array.
template <class Row>
struct Rows {
  const Row* first;
  std::size_t count;

  const Row* begin() const { return first; }
  const Row* end() const { return first + count; }
};

}  // namespace detail
}  // namespace mock_gateway
