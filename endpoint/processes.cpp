// Reads the processes of the system from /proc.

#include "processes.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#ifdef __linux__
#include <filesystem>
#endif

#include "messages.hpp"

namespace mock_gateway {
namespace endpoint {

std::optional<Process> process(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string stat;
  std::getline(file, stat, '\0');  // stays empty if the process has ended
  // The format is "4711 (sleep) S parent group …"; the name may contain any character.
  const std::size_t opened = stat.find('(');
  const std::size_t closed = stat.rfind(')');
  if (opened == std::string::npos || closed == std::string::npos || closed + 4 > stat.size()) return std::nullopt;
  if (stat[closed + 2] == 'Z') return std::nullopt;
  Process one;
  one.id = id;
  std::istringstream numbers(stat.substr(closed + 4));
  numbers >> one.parent >> one.group;
  one.name = stat.substr(opened + 1, closed - opened - 1);
  return one;
}

std::vector<Process> processes() {
  std::vector<Process> all;
#ifdef __linux__
  std::error_code none;
  for (std::filesystem::directory_iterator entry("/proc", none), end; entry != end; entry.increment(none)) {
    const std::string id = entry->path().filename().string();
    if (id.find_first_not_of("0123456789") != std::string::npos) continue;
    if (std::optional<Process> one = process(static_cast<pid_t>(std::strtol(id.c_str(), nullptr, 10))))
      all.push_back(std::move(*one));
  }
#endif
  return all;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  const std::string id = std::to_string(parent);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  if (file.is_open()) {  // children of the first thread, which adopts orphans
    for (pid_t child = 0; file >> child;) children.push_back(child);
    return children;
  }
  for (const Process& one : processes())  // if the kernel does not provide the file
    if (one.parent == parent) children.push_back(one.id);
  return children;
}

std::string listed(const std::vector<Process>& list) {
  std::string text;
  for (const Process& one : list)
    text += (text.empty() ? "" : ", ") + std::to_string(one.id) + " (" + printable(one.name) + ")";
  return text;
}

std::string members_of(pid_t group) {
  std::vector<Process> list;
  for (const Process& one : processes())
    if (one.group == group) list.push_back(one);
  return listed(list);
}

}  // namespace endpoint
}  // namespace mock_gateway
