#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

/// Called by mutated code: selects the mutant that runs, and records the mutants that are reached.
namespace mutation {

/// The settings from environment variables, read once.
struct Switch {
  int chosen = 0;                             ///< the number of the enabled mutant; 0 runs the original code
  volatile unsigned char* reached = nullptr;  ///< one byte for each mutant, shared by the processes of a test

  Switch() {
    if (const char* number = std::getenv("MUTANT")) chosen = std::atoi(number);
    const char* path = std::getenv("MUTANTS_REACHED");
    const int file = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    const off_t size = ::lseek(file, 0, SEEK_END);
    void* const bytes = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes != MAP_FAILED) reached = static_cast<volatile unsigned char*>(bytes);
    ::close(file);
  }
};

inline bool on(int number) {
  static const Switch state;
  if (state.reached && !state.reached[number]) state.reached[number] = 1;
  return state.chosen == number;
}

/// A different value: the opposite of a bool, the number plus one, otherwise a default value of the type.
template <class Type>
std::decay_t<Type> other(Type&& value) {
  using Value = std::decay_t<Type>;
  if constexpr (std::is_same_v<Value, bool>) {
    return !value;
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return static_cast<Value>(value + 1);
  } else if constexpr (std::is_same_v<Value, const char*>) {
    return "";
  } else {
    return Value{};
  }
}

}  // namespace mutation
