// An optional that is usually empty.

#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace mock_gateway::detail {

/// An optional that is usually empty, and then as small as a pointer.
template <class T>
class HeapOptional {
 public:
  HeapOptional() = default;
  HeapOptional(T value) : value_(std::make_unique<T>(std::move(value))) {}
  HeapOptional(std::optional<T> value) {
    if (value) value_ = std::make_unique<T>(std::move(*value));
  }

  explicit operator bool() const { return value_ != nullptr; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  void reset() { value_.reset(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace mock_gateway::detail
