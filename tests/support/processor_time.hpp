#pragma once

// CPU time of this process and of the whole machine.

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace test_support {

/// CPU time of the whole machine and of this process, in seconds since an arbitrary moment. The time of the machine is
/// read from /proc/stat, and is empty on systems other than Linux.
struct ProcessorTime {
  double machine = 0;
  double own = 0;
  /// CPU time of terminated children for which this process has waited.
  double children = 0;

  static ProcessorTime now() {
    const auto used_by = [](int who) {
      rusage usage{};
      ::getrusage(who, &usage);
      const auto seconds = [](const timeval& part) {
        return static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) / 1e6;
      };
      return seconds(usage.ru_utime) + seconds(usage.ru_stime);
    };
    ProcessorTime time;
    time.own = used_by(RUSAGE_SELF);
    time.children = used_by(RUSAGE_CHILDREN);
    // The fields of the first line are: cpu user nice system idle iowait irq softirq steal
    std::ifstream stat("/proc/stat");
    std::string name;
    double ticks[8] = {};
    stat >> name;
    for (double& part : ticks) stat >> part;
    const double idle = ticks[3] + ticks[4];
    for (const double part : ticks) time.machine += part / static_cast<double>(::sysconf(_SC_CLK_TCK));
    time.machine -= idle / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return time;
  }
};

}  // namespace test_support
