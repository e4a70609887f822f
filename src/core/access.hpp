#pragma once

#include <memory>
#include <utility>

#include "version.hpp"

namespace mock_gateway {
namespace detail {

/// Gives what a public handle or value holds, which users do not see.
struct Access {
  template <class T>
  static const auto& state(const T& handle) {
    return handle.state_;
  }
  template <class T>
  static const auto& record(const T& exchange) {
    return *exchange.record_;
  }
  template <class T>
  static const auto& node(const T& matcher) {
    return *matcher.node_;
  }
  template <class T>
  static const auto& data(const T& value) {
    return *value.data_;
  }
  /// What several handles share, for one that must outlive them.
  template <class T>
  static const auto& shared_data(const T& value) {
    return value.data_;
  }
  template <class T>
  static auto* serving(const T& gateway) {
    return gateway.serving();
  }
  /// A value that users get from functions alone, which refuse what makes no sense.
  template <class T, class... Arguments>
  static T make(Arguments&&... arguments) {
    return T(std::forward<Arguments>(arguments)...);
  }
};

/// The value behind a pointer that copies share, for a change that they do not see.
template <class T>
T& own(std::shared_ptr<T>& shared) {
  if (!shared) {
    shared = std::make_shared<T>();  // it was moved from
  } else if (shared.use_count() > 1) {
    shared = std::make_shared<T>(*shared);
  }
  return *shared;
}

}  // namespace detail

}  // namespace mock_gateway
