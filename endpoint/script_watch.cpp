// Watches script files: polling interval, what counts as a change, messages on stderr.

#include "script_watch.hpp"

#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "messages.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// The polling interval. A change is read once two polls in a row see the same files, since an editor may write in
/// several steps.
constexpr std::chrono::milliseconds interval{50};

/// The maximum number of errors in a report.
constexpr std::size_t most_errors = 20;

/// Returns the file's device, inode, size and time. An editor that renames a new file changes the inode.
std::string signature_of(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return file + " none\n";
#ifdef __APPLE__
  const timespec& changed = status.st_mtimespec;
#else
  const timespec& changed = status.st_mtim;
#endif
  return file + " " + std::to_string(status.st_dev) + " " + std::to_string(status.st_ino) + " " +
         std::to_string(status.st_size) + " " + std::to_string(changed.tv_sec) + "." + std::to_string(changed.tv_nsec) +
         "\n";
}

}  // namespace

std::string script_signature(const std::vector<std::string>& paths) {
  std::string signature;
  for (const std::string& file : internal::script_files(paths)) signature += signature_of(file);
  return signature;
}

ScriptWatch::ScriptWatch(Gateway& gateway, LoadedScript& loaded, ScriptDocument document,
                         std::vector<std::string> paths, std::string signature, std::function<void(std::string)> say)
    : gateway_(gateway),
      loaded_(loaded),
      document_(std::move(document)),
      paths_(std::move(paths)),
      say_(std::move(say)),
      read_(std::move(signature)) {
  join_ = internal::start_thread([this] { watch(); });
}

ScriptWatch::~ScriptWatch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  join_();
}

ScriptState ScriptWatch::state() const {
  const std::lock_guard<std::mutex> lock(reading_);
  return {document_.files(), errors_, problems_, document_.warnings(gateway_)};
}

void ScriptWatch::mount_again(const std::vector<std::string>& sections) {
  const std::lock_guard<std::mutex> lock(reading_);
  internal::forget_sections(loaded_, sections);
  document_.replace(gateway_, loaded_);
}

void ScriptWatch::reload() {
  const std::lock_guard<std::mutex> lock(reading_);
  read_ = script_signature(paths_);
  read_again();
}

void ScriptWatch::read_again() {
  const std::unique_lock<std::mutex> naming = internal::lock_gate_names(loaded_);
  try {
    ScriptDocument document = ScriptDocument::read(paths_, loaded_);
    for (const ScriptProblem& warning : document.warnings(gateway_))
      say_(coloured(Colour::yellow, warning.to_string()));
    document.replace(gateway_, loaded_);
    const bool restart = !document.starts_like(document_);
    document_ = std::move(document);
    say_(complaint(broken_ ? "the scripts are valid again and are served"
                           : "the scripts have changed and were reloaded"));
    if (restart) say_(complaint("changes in \"gateway\" take effect at the next start"));
    broken_ = false;
    problems_.clear();
  } catch (const ScriptError& error) {
    if (errors_.size() < most_errors) errors_.push_back(without_prefix(error.what()));
    for (const ScriptProblem& problem : error.problems()) say_(coloured(Colour::red, problem.to_string()));
    say_(complaint("the scripts have changed and cannot be served; the previous version is still served"));
    broken_ = true;
    problems_ = error.problems();
  } catch (const std::exception& error) {
    if (errors_.size() < most_errors) errors_.push_back(without_prefix(error.what()));
    say_(complaint(std::string("the scripts have changed and cannot be served: ") + error.what()));
    broken_ = true;
    problems_.assign(1, ScriptProblem());
    problems_.front().message = without_prefix(error.what());
  }
}

std::string ScriptWatch::look(const std::string& before) {
  const std::lock_guard<std::mutex> lock(reading_);
  std::string now = script_signature(paths_);
  if (now != read_ && now == before) {
    read_ = now;
    read_again();
  }
  return now;
}

void ScriptWatch::watch() {
  std::string before;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!changed_.wait_for(lock, interval, [this] { return ended_; })) {
    lock.unlock();
    before = look(before);
    lock.lock();
  }
}

}  // namespace endpoint
}  // namespace mock_gateway
