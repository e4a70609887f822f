#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// What changes when one of the files does, or when one comes to a folder or leaves it.
std::string script_signature(const std::vector<std::string>& paths);

/// Puts scripts in place again whenever their files change, on a thread of its own. What cannot be served changes
/// nothing, and is said on stderr, as is when it can be served again.
class ScriptWatch {
 public:
  /// All must outlive this. `paths` are what `loaded` was read from, and `signature` is theirs from before they were.
  ScriptWatch(Gateway& gateway, LoadedScript& loaded, ScriptDocument document, std::vector<std::string> paths,
              std::string signature);
  ~ScriptWatch();
  ScriptWatch(const ScriptWatch&) = delete;
  ScriptWatch& operator=(const ScriptWatch&) = delete;

  /// Reads the files now, whether they have changed or not.
  void reload();
  /// What was wrong each time that changed files could not be served, the first of many.
  std::vector<std::string> errors() const;

 private:
  void watch();

  Gateway& gateway_;
  LoadedScript& loaded_;
  ScriptDocument document_;
  const std::vector<std::string> paths_;
  std::string served_;  // the signature of what is served
  bool broken_ = false;
  std::vector<std::string> errors_;
  mutable std::mutex reading_;  // one reading at a time; keeps errors_ too
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace endpoint
}  // namespace mock_gateway
