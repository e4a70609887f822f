#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// What changes when one of the files does, or when one comes to a folder or leaves it.
std::string script_signature(const std::vector<std::string>& paths);

/// What the scripts are, and what was wrong when they changed.
struct ScriptState {
  std::vector<std::string> files;
  /// What was wrong each time that changed files could not be served, the first of many.
  std::vector<std::string> errors;
  /// What is wrong in the files as they are now; empty when they are served.
  std::vector<ScriptProblem> problems;
  /// These belong to what is served, not to a file that could not be.
  std::vector<ScriptProblem> warnings;
};

/// Puts scripts in place again whenever their files change, on a thread of its own. What cannot be served changes
/// nothing, and is said, as is when it can be served again.
class ScriptWatch {
 public:
  /// All must outlive this. `paths` are what `loaded` was read from, and `signature` is theirs from before they were.
  /// `say` is given lines for stderr, and waits for nobody who reads it.
  ScriptWatch(Gateway& gateway, LoadedScript& loaded, ScriptDocument document, std::vector<std::string> paths,
              std::string signature, std::function<void(std::string)> say);
  ~ScriptWatch();
  ScriptWatch(const ScriptWatch&) = delete;
  ScriptWatch& operator=(const ScriptWatch&) = delete;

  /// Reads the files now, whether they have changed or not.
  void reload();
  ScriptState state() const;
  /// Mounts these sections of what was read last again, after they were cleared: "/stubs". See LoadedDocument::forget.
  void mount_again(const std::vector<std::string>& sections);

 private:
  void watch();
  /// Reads the files when they are as `before`, and not what was read last. Gives their signature.
  std::string look(const std::string& before);
  /// Reads the files. The caller has locked `reading_`, and noted their signature from before.
  void read_again();

  Gateway& gateway_;
  LoadedScript& loaded_;
  ScriptDocument document_;
  const std::vector<std::string> paths_;
  const std::function<void(std::string)> say_;
  std::string read_;  // the signature of what was read last
  bool broken_ = false;
  std::vector<std::string> errors_;
  std::vector<ScriptProblem> problems_;
  mutable std::mutex reading_;  // one reading at a time; keeps what it finds too
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  internal::Thread thread_;  // what it reads may be nested deep
};

}  // namespace endpoint
}  // namespace mock_gateway
