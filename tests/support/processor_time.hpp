#pragma once

// CPU time of this process and of the whole machine.

#include "net.hpp"
#ifndef _WIN32
#include <sys/resource.h>
#endif

#include <cstdint>
#include <fstream>
#include <string>

namespace test_support {

/// CPU time of the whole machine and of this process, in seconds since an arbitrary moment. The time of the machine is
/// empty on systems other than Linux and Windows.
struct ProcessorTime {
  double machine = 0;
  double own = 0;
  /// CPU time of terminated children for which this process has waited.
  double children = 0;

#ifdef _WIN32
  static constexpr double resolution = 0.016;
  static ProcessorTime now() {
    const auto seconds = [](const FILETIME& time) {
      return static_cast<double>(std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime) / 1e7;
    };
    FILETIME started{}, ended{}, idle{}, system{}, user{};
    ProcessorTime time;
    ::GetSystemTimes(&idle, &system, &user);
    time.machine = seconds(system) + seconds(user) - seconds(idle);  // the time of the system contains the idle time
    ::GetProcessTimes(::GetCurrentProcess(), &started, &ended, &system, &user);
    time.own = seconds(system) + seconds(user);
    return time;
  }
#else
  static constexpr double resolution = 1e-6;
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
#endif
};

}  // namespace test_support
