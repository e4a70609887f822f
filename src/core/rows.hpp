// Tables of constexpr rows: a view, and a check for completeness.

#pragma once

#include <cstddef>

namespace mock_gateway::detail {

/// A view of a constexpr array, for files that do not see the array.
template <class Row>
struct Rows {
  const Row* first;
  std::size_t count;

  const Row* begin() const { return first; }
  const Row* end() const { return first + count; }
};

/// Whether there is one row per enum value, in order, so that a value is the index of its row.
template <class Row, std::size_t size, class Value>
constexpr bool are_all(const Row (&rows)[size], Value Row::*value, std::size_t count) {
  for (std::size_t i = 0; i < size; ++i)
    if (rows[i].*value != static_cast<Value>(i)) return false;
  return size == count;
}

}  // namespace mock_gateway::detail
