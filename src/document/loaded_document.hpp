// The state of a mounted script; its code is in `script_document.cpp`.

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

/// Everything that a document has mounted.
struct LoadedDocument {
  /// Locked before `mutex`, by a reader of a document that shares these gates, until it has added new gates. Otherwise
  /// two readers that add the same gate at the same time would create two.
  std::mutex naming = {};
  std::mutex mutex = {};  // protects what a replacement changes
  std::uint64_t owner = 0;
  std::shared_ptr<Script> script;
  std::shared_ptr<JournalState> journal;
  std::uint64_t place = 0;  // the position of its block of stubs
  Script::Stubs stubs = {};
  std::map<std::string, Gate> gates = {};
  std::map<std::string, std::string> sections = {};
  std::vector<Operation> operations = {};
  std::vector<std::uint64_t> connection_faults = {};  // serial numbers; 0: a fault of every connection
  std::weak_ptr<const ScriptPlan> plan = {};          // the mounted plan; expires with its document

  /// Makes the next replacement mount these sections even if they have not changed, because their contents were
  /// cleared. Sections are JSON pointers: "/failures". With "/stubs", its stubs are placed before all that are mounted
  /// then.
  void forget(const std::vector<std::string>& cleared);
};

}  // namespace mock_gateway::detail
