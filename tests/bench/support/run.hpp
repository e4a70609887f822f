#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// One run of a benchmark, as its command line wants it: `--short` or not, then numbers. The short form shows within
/// seconds that the benchmark works; only the full form judges aims.
class Run {
 public:
  Run(int argc, char** argv) : is_short_(argc > 1 && std::string_view(argv[1]) == "--short") {
    for (int i = is_short_ ? 2 : 1; i < argc; ++i) numbers_.push_back(std::atol(argv[i]));
  }

  /// The number at that place of the command line, from 0; where it has none, that of the form.
  long number(std::size_t place, long full, long brief) const {
    return place < numbers_.size() ? numbers_[place] : is_short_ ? brief : full;
  }
  /// "aim 0.90: met", or in the short form "aim 0.90".
  std::string judge(const std::string& aim, bool met) {
    if (is_short_) return "aim " + aim;
    missed_ = missed_ || !met;
    return "aim " + aim + (met ? ": met" : ": MISSED");
  }
  /// What main() returns: 1 when an aim was missed. give_up() ends the program with 2.
  int status() const { return missed_ ? 1 : 0; }

 private:
  bool is_short_;
  bool missed_ = false;
  std::vector<long> numbers_;
};

}  // namespace bench
