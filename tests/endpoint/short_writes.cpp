// A preloaded library: each write to a file or a pipe accepts a few bytes at a time. The system may always do this, but
// hardly ever does.

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

extern "C" ssize_t write(int file, const void* bytes, std::size_t size) {
  constexpr std::size_t most = 7;
  struct stat what {};
  const bool is_short = ::fstat(file, &what) == 0 && (S_ISREG(what.st_mode) || S_ISFIFO(what.st_mode));
  return ::syscall(SYS_write, file, bytes, is_short ? std::min(size, most) : size);
}
