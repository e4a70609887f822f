// The random generator and its distributions; fingerprints; random letters and digits.

#include "random.hpp"

#include <cmath>

namespace mock_gateway::detail {

std::uint64_t fingerprint(std::string_view bytes, std::uint64_t basis) {
  std::uint64_t hash = basis;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3u;
  }
  return hash;
}

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

std::uint64_t Random::below(std::uint64_t bound) {
  // Rejects the incomplete last range, so that all values are equally likely.
  for (;;) {
    const std::uint64_t value = next();
    if (value >= bound || value >= (0 - bound) % bound) return value % bound;
  }
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = span == 0 ? next() : below(span);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double Random::unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Random::normal() {  // Box-Muller transform
  constexpr double full_turn = 6.283185307179586;
  const double radius = std::sqrt(-2 * std::log(1 - unit()));
  return radius * std::cos(full_turn * unit());
}

char Random::alphanumeric() {
  constexpr std::string_view alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return alphabet[below(alphabet.size())];
}

std::string Random::alphanumeric(std::size_t length) {
  std::string text;
  text.reserve(length);
  for (std::size_t i = 0; i < length; ++i) text += alphanumeric();
  return text;
}

}  // namespace mock_gateway::detail
