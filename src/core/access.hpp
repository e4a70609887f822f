// How the library reaches what public values hide.

#pragma once

#include <type_traits>
#include <utility>

#include "version.hpp"

namespace mock_gateway::detail {

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
  /// The fields of wire::Headers, to be changed in place.
  template <class T>
  static auto& fields(T& headers) {
    return headers.fields_;
  }
  /// How a Timing or a Rate is drawn.
  template <class T>
  static const auto& distribution(const T& value) {
    return value.distribution_;
  }
  /// The data of a value, to be changed.
  template <class T>
  static auto& edit(T& value) {
    return value.edit();
  }
  template <class T>
  static auto& plan(T& builder) {
    return *builder.plan_;
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

/// A copy of a value in which this member, of the value or of the data that it hides, is `to`: a setter.
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
