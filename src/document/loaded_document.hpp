// The state of a mounted script; the code is in `script_document.cpp`.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../core/clock.hpp"
#include "../evidence/record.hpp"
#include "../model/operation.hpp"
#include "../script/script.hpp"

namespace mock_gateway::detail {

struct ScriptPlan;

struct LoadedDocument {
  /// Held while a document that shares these gates is read. Otherwise two documents could each create a gate with the
  /// same name. Locked before `mutex`.
  std::mutex naming = {};
  std::mutex mutex = {};  // for everything that a replacement changes
  std::uint64_t owner = 0;
  std::shared_ptr<Script> script;
  std::shared_ptr<JournalState> journal;
  std::uint64_t place = 0;  // the position of its block of stubs
  Script::Stubs stubs = {};
  std::map<std::string, Gate> gates = {};
  std::map<std::string, std::string> sections = {};
  std::vector<Operation> operations = {};
  std::vector<std::uint64_t> connection_faults = {};  // serial numbers; 0 for a fault of every connection
  std::weak_ptr<const ScriptPlan> plan = {};          // the mounted plan, while its document exists

  /// Makes the next replacement mount these sections ("/failures") even if unchanged, because their effects were
  /// cleared. If "/stubs" is one, the stubs then come before all mounted stubs.
  void forget(const std::vector<std::string>& cleared);
};

}  // namespace mock_gateway::detail
