// Reading /proc: the processes of the system, what they were started with.

#include "processes.hpp"

#include <cstdlib>
#include <fstream>
#include <system_error>
#ifdef __linux__
#include <filesystem>
#endif

#include "messages.hpp"

namespace mock_gateway {
namespace endpoint {

std::vector<Process> processes() {
  std::vector<Process> all;
#ifdef __linux__
  std::error_code none;
  for (std::filesystem::directory_iterator entry("/proc", none), end; entry != end; entry.increment(none)) {
    const std::string id = entry->path().filename().string();
    if (id.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry->path() / "stat");
    std::string stat;
    std::getline(file, stat, '\0');  // stays empty for a process that has ended meanwhile
    // "4711 (sleep) S parent group …": the name may hold anything.
    const std::size_t opened = stat.find('(');
    const std::size_t closed = stat.rfind(')');
    if (opened == std::string::npos || closed == std::string::npos || closed + 4 > stat.size()) continue;
    if (stat[closed + 2] == 'Z') continue;
    Process one;
    one.id = static_cast<pid_t>(std::strtol(id.c_str(), nullptr, 10));
    char* after_parent = nullptr;
    one.parent = static_cast<pid_t>(std::strtol(stat.c_str() + closed + 4, &after_parent, 10));
    one.group = static_cast<pid_t>(std::strtol(after_parent, nullptr, 10));
    one.name = stat.substr(opened + 1, closed - opened - 1);
    all.push_back(std::move(one));
  }
#endif
  return all;
}

bool was_started_with(pid_t process, const std::string& variable) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  for (std::string one; std::getline(file, one, '\0');)
    if (one == variable) return true;
  return false;
}

std::string listed(const std::vector<Process>& list) {
  std::string text;
  for (const Process& one : list)
    text += (text.empty() ? "" : ", ") + std::to_string(one.id) + " (" + printable(one.name) + ")";
  return text;
}

}  // namespace endpoint
}  // namespace mock_gateway
