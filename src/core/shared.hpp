// What copies of a value share, and what is left where one was moved from.

#pragma once

#include <memory>
#include <utility>

#include "version.hpp"

namespace mock_gateway::detail {

/// What std::make_shared does, for half of what a user compiles for each type: 25 functions in place of 56. The price
/// is a second allocation.
template <class T, class... Arguments>
std::shared_ptr<T> share(Arguments&&... arguments) {
  return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...));
}

/// A value that copies share until one of them is changed. What one holds that was moved from is for T::moved_from() to
/// say: a value as newly made, or GatewayError.
template <class T>
class Shared {
 public:
  Shared() = default;  // as if it was moved from
  explicit Shared(T value) : shared_(share<T>(std::move(value))) {}

  const T& operator*() const { return shared_ ? *shared_ : T::moved_from(); }
  const T* operator->() const { return &**this; }
  /// For a change that copies do not see.
  T& own() {
    if (!shared_ || shared_.use_count() > 1) shared_ = share<T>(**this);
    return *shared_;
  }

 private:
  std::shared_ptr<T> shared_;
};

/// A pointer that stays in what is moved from: a handle remains one, and a value what it was made.
template <class T>
class Lasting : public std::shared_ptr<T> {
 public:
  Lasting() = default;
  Lasting(std::shared_ptr<T> pointer) : std::shared_ptr<T>(std::move(pointer)) {}  // NOLINT: implicit, as a copy is
  Lasting(const Lasting&) = default;
  Lasting& operator=(const Lasting&) = default;
};

}  // namespace mock_gateway::detail
