// Copy-on-write values, and pointers that survive a move.

#pragma once

#include <memory>
#include <utility>

#include "version.hpp"

namespace mock_gateway::detail {

/// Like std::make_shared, with half the compile time per type but a second allocation.
template <class T, class... Arguments>
std::shared_ptr<T> share(Arguments&&... arguments) {
  return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...));
}

/// A copy-on-write value. After a move, T::moved_from() defines its value: a new one, or GatewayError.
template <class T>
class Shared {
 public:
  Shared() = default;  // the same state as after a move
  explicit Shared(T value) : shared_(share<T>(std::move(value))) {}

  const T& operator*() const { return shared_ ? *shared_ : T::moved_from(); }
  const T* operator->() const { return &**this; }
  /// Access for modification that copies do not see.
  T& own() {
    if (!shared_ || shared_.use_count() > 1) shared_ = share<T>(**this);
    return *shared_;
  }

 private:
  std::shared_ptr<T> shared_;
};

/// A shared_ptr whose moved-from state still points to the object, so that a moved-from handle stays valid.
template <class T>
class HandlePointer : public std::shared_ptr<T> {
 public:
  HandlePointer() = default;
  HandlePointer(std::shared_ptr<T> pointer)
      : std::shared_ptr<T>(std::move(pointer)) {}  // NOLINT: implicit, as a copy is
  HandlePointer(const HandlePointer&) = default;
  HandlePointer& operator=(const HandlePointer&) = default;
};

}  // namespace mock_gateway::detail
