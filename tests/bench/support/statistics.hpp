#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace bench {

/// Returns real time in seconds.
template <class Code>
double seconds(const Code& code) {
  const auto before = std::chrono::steady_clock::now();
  code();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

/// The value below which this share of all values lies: 0.5 is the median.
inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * share)];
}

inline double median(const std::vector<double>& values) { return quantile(values, 0.5); }

/// Rates of two servers, measured alternately, so that other load of the machine affects both.
struct Pairs {
  std::vector<double> gateway;
  std::vector<double> bare;

  double ratio(double share = 0.5) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < gateway.size(); ++i) ratios.push_back(gateway[i] / bare[i]);
    return quantile(std::move(ratios), share);
  }
};

/// Measures both servers repeatedly; they take turns in going first.
template <class Gateway, class Bare>
Pairs measure_pairs(long pairs, const Gateway& gateway, const Bare& bare) {
  Pairs result;
  for (long pair = 0; pair < pairs; ++pair) {
    if (pair % 2 == 0) result.gateway.push_back(gateway());
    result.bare.push_back(bare());
    if (pair % 2 != 0) result.gateway.push_back(gateway());
  }
  return result;
}

}  // namespace bench
