// The places at which a gate holds a reply; the code is in `reply.cpp`.

#pragma once

#include <cstddef>
#include <string>

#include "../core/clock.hpp"

namespace mock_gateway {

namespace detail {

struct Access;

}  // namespace detail

/// A place before an event or token at which a gate can hold a reply.
class HoldPoint {
 public:
  enum class Kind { event, token };

  Kind kind() const { return kind_; }
  /// Returns the number of the event or the token, counted from 1.
  std::size_t number() const { return number_; }
  /// Returns a text such as "before token 2".
  std::string to_string() const;

 private:
  friend struct detail::Access;
  HoldPoint(Kind kind, std::size_t number) : kind_(kind), number_(number) {}

  Kind kind_;
  std::size_t number_;
};

/// Before the event with this number, at least 1.
HoldPoint before_event(std::size_t number);
/// Before the token with this number, at least 1.
HoldPoint before_token(std::size_t number);

/// A gate and the place at which it holds a reply; see Reply::hold.
struct Hold {
  Gate gate;
  HoldPoint place;
};

}  // namespace mock_gateway
