#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Returns a text that changes when a file changes, or is added to or removed from a folder.
std::string script_signature(const std::vector<std::string>& paths);

/// The scripts in use, and errors of reloading.
struct ScriptState {
  std::vector<std::string> files;
  /// The error of each failed reload; only the first of many.
  std::vector<std::string> errors;
  /// The problems of the current files; empty if they are in use.
  std::vector<ScriptProblem> problems;
  /// Warnings about the scripts in use.
  std::vector<ScriptProblem> warnings;
};

/// Reloads scripts when their files change, on its own thread. Invalid scripts change nothing; errors and recovery are
/// reported.
class ScriptWatch {
 public:
  /// All references must outlive this. `paths` are the sources of `loaded`, `signature` is their signature from before
  /// reading. `say` receives lines for stderr and must not block.
  ScriptWatch(Gateway& gateway, LoadedScript& loaded, ScriptDocument document, std::vector<std::string> paths,
              std::string signature, std::function<void(std::string)> say);
  ~ScriptWatch();
  ScriptWatch(const ScriptWatch&) = delete;
  ScriptWatch& operator=(const ScriptWatch&) = delete;

  /// Reloads the files, even if unchanged.
  void reload();
  ScriptState state() const;
  /// Mounts sections of the current scripts again after they were cleared: "/stubs". See LoadedDocument::forget.
  void mount_again(const std::vector<std::string>& sections);

 private:
  void watch();
  /// Reloads the files if they changed since the last read and are stable since `before`. Returns their signature.
  std::string look(const std::string& before);
  /// Reloads the files. Requires `reading_` to be locked and their signature to be taken.
  void read_again();

  Gateway& gateway_;
  LoadedScript& loaded_;
  ScriptDocument document_;
  const std::vector<std::string> paths_;
  const std::function<void(std::string)> say_;
  std::string read_;  // signature of the last files read
  bool broken_ = false;
  std::vector<std::string> errors_;
  std::vector<ScriptProblem> problems_;
  mutable std::mutex reading_;  // serializes reading; guards its results
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::function<void()> join_;
};

}  // namespace endpoint
}  // namespace mock_gateway
