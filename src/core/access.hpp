// Internal access to the private parts of public types.

#pragma once

#include <type_traits>
#include <utility>

#include "version.hpp"

namespace mock_gateway::detail {

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
  static const auto& shared_record(const T& exchange) {
    return exchange.record_;
  }
  template <class T>
  static const auto& node(const T& matcher) {
    return *matcher.node_;
  }
  template <class T>
  static const auto& data(const T& value) {
    return *value.data_;
  }
  template <class T>
  static const auto& values(const T& options) {
    return options.values_;
  }
  template <class T>
  static auto& fields(T& headers) {
    return headers.fields_;
  }
  template <class T>
  static const auto& distribution(const T& value) {
    return value.distribution_;
  }
  template <class T>
  static auto& edit(T& value) {
    return value.edit();
  }
  template <class T>
  static auto& plan(T& builder) {
    return *builder.plan_;
  }
  template <class T>
  static auto& element(T& call) {
    return call.element_;
  }
  template <class T>
  static auto* serving(const T& gateway) {
    return gateway.serving();
  }
  /// Makes a value that users only get from functions that validate.
  template <class T, class... Arguments>
  static T make(Arguments&&... arguments) {
    return T(std::forward<Arguments>(arguments)...);
  }
};

/// Returns a copy of `value` with one member set to `to`. For setters; also works for members of the private data.
template <class T, class Data, class Member, class To>
T with(const T& value, Member Data::*member, To&& to) {
  T changed = value;
  if constexpr (std::is_same_v<T, Data>) {
    changed.*member = std::forward<To>(to);
  } else {
    Access::edit(changed).*member = std::forward<To>(to);
  }
  return changed;
}

}  // namespace mock_gateway::detail
