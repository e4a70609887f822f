#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// One run of a benchmark, configured by its command line: an optional `--short`, then numbers. The short form takes
/// seconds and only shows that the benchmark works. The full form also judges targets.
class Run {
 public:
  Run(int argc, char** argv) : is_short_(argc > 1 && std::string_view(argv[1]) == "--short") {
    for (int i = is_short_ ? 2 : 1; i < argc; ++i) numbers_.push_back(std::atol(argv[i]));
  }

  /// Returns the number at this position of the command line, from 0; if absent, the default of the form.
  long number(std::size_t place, long full, long brief) const {
    return place < numbers_.size() ? numbers_[place] : is_short_ ? brief : full;
  }
  /// Returns "aim 0.90: met", or in the short form "aim 0.90".
  std::string judge(const std::string& aim, bool met) {
    if (is_short_) return "aim " + aim;
    missed_ = missed_ || !met;
    return "aim " + aim + (met ? ": met" : ": MISSED");
  }
  /// The exit status of main(): 1 if a target was missed. give_up() ends the program with 2.
  int status() const { return missed_ ? 1 : 0; }

 private:
  bool is_short_;
  bool missed_ = false;
  std::vector<long> numbers_;
};

}  // namespace bench
