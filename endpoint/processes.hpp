#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace mock_gateway {
namespace endpoint {

struct Process {
  pid_t id = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::string name;
};

/// Whether the system lists its processes in /proc.
#ifdef __linux__
inline constexpr bool lists_processes = true;
#else
inline constexpr bool lists_processes = false;
#endif

/// Returns the running processes; none if the system does not list them.
std::vector<Process> processes();
/// Returns a process; empty if it ended or the system does not list processes.
std::optional<Process> process(pid_t id);
std::vector<pid_t> children_of(pid_t parent);
/// Formats processes: "4711 (sleep), 4712 (sh)".
std::string listed(const std::vector<Process>& list);
/// Formats the processes of the group, like listed().
std::string members_of(pid_t group);

}  // namespace endpoint
}  // namespace mock_gateway
