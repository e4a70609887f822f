#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Puts scripts in place again whenever their files change, on a thread of its own. What cannot be served changes
/// nothing, and is said on stderr, as is when it can be served again.
class ScriptWatch {
 public:
  /// All must outlive this. `paths` are what `loaded` was read from.
  ScriptWatch(Gateway& gateway, LoadedScript& loaded, ScriptDocument document, std::vector<std::string> paths);
  ~ScriptWatch();
  ScriptWatch(const ScriptWatch&) = delete;
  ScriptWatch& operator=(const ScriptWatch&) = delete;

  /// Reads the files now, whether they have changed or not.
  void reload();

 private:
  void watch();

  Gateway& gateway_;
  LoadedScript& loaded_;
  ScriptDocument document_;
  const std::vector<std::string> paths_;
  bool broken_ = false;
  std::mutex reading_;  // one reading at a time
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace endpoint
}  // namespace mock_gateway
