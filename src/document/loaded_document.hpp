// What a script has mounted; its code is in `script_document.cpp`.

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

/// What a document has mounted.
struct LoadedDocument {
  /// Whoever reads a document that shares these gates holds this until it has added those that the document names
  /// first: else two that name one new gate at a time would have two. Taken before `mutex`.
  std::mutex naming = {};
  std::mutex mutex = {};  // of what a replacement changes
  std::uint64_t owner = 0;
  std::shared_ptr<Script> script;
  std::shared_ptr<JournalState> journal;
  std::uint64_t place = 0;  // of its stubs
  Script::Stubs stubs = {};
  std::map<std::string, Gate> gates = {};
  std::map<std::string, std::string> sections = {};
  std::vector<Operation> operations = {};
  std::vector<std::uint64_t> connection_faults = {};  // their serials; 0: of every connection
  std::weak_ptr<const ScriptPlan> plan = {};          // what is mounted, while its document is there

  /// Makes the next replacement mount these sections whether they have changed or not, since what they had mounted is
  /// cleared: "/failures". With "/stubs", its stubs come before all that are mounted then.
  void forget(const std::vector<std::string>& cleared);
};

}  // namespace mock_gateway::detail
