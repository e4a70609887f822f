#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace mock_gateway {
namespace endpoint {

/// A process of this system.
struct Process {
  pid_t id = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::string name;
};

/// Whether the system tells of its processes, in /proc.
#ifdef __linux__
inline constexpr bool lists_processes = true;
#else
inline constexpr bool lists_processes = false;
#endif

/// The processes that have not ended; none where the system does not tell.
std::vector<Process> processes();
/// A process that has not ended; empty otherwise, and where the system does not tell.
std::optional<Process> process(pid_t id);
/// Those whose parent is this process.
std::vector<pid_t> children_of(pid_t parent);
/// "4711 (sleep), 4712 (sh)".
std::string listed(const std::vector<Process>& list);
/// The processes of the group in that form.
std::string members_of(pid_t group);

}  // namespace endpoint
}  // namespace mock_gateway
