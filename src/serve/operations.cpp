// The served paths and methods; similar paths for an unknown one; `{name}` in paths; what cannot be mounted.

#include "operations.hpp"

#include <algorithm>
#include <iterator>  // make_move_iterator
#include <map>
#include <set>
#include <utility>

#include "../core/error.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace operations {

inline constexpr std::string_view chat_path = "/v1/chat/completions";
inline constexpr std::string_view models_path = "/v1/models";
inline constexpr std::string_view embeddings_path = "/v1/embeddings";

using Name = std::pair<std::string, std::string>;

Name name_of(const Operation& operation) { return {operation.method, operation.path}; }

/// Returns the id in "/v1/models/{id}"; empty for other paths.
std::string_view model_in(std::string_view path) {
  if (path.size() <= models_path.size() + 1 || path.substr(0, models_path.size()) != models_path ||
      path[models_path.size()] != '/')
    return {};
  const std::string_view id = path.substr(models_path.size() + 1);
  return id.find('/') == std::string_view::npos ? id : std::string_view{};
}

/// Compares segment by segment; "{name}" in the pattern matches any one non-empty segment.
bool matches(std::string_view pattern, std::string_view path) {
  for (;;) {
    const std::size_t pattern_end = std::min(pattern.find('/'), pattern.size());
    const std::size_t path_end = std::min(path.find('/'), path.size());
    const std::string_view wanted = pattern.substr(0, pattern_end);
    const std::string_view actual = path.substr(0, path_end);
    const bool any = wanted.size() > 2 && wanted.front() == '{' && wanted.back() == '}';
    if (any ? actual.empty() : wanted != actual) return false;
    const bool pattern_done = pattern_end == pattern.size();
    const bool path_done = path_end == path.size();
    if (pattern_done || path_done) return pattern_done && path_done;
    pattern.remove_prefix(pattern_end + 1);
    path.remove_prefix(path_end + 1);
  }
}

}  // namespace operations

void Operations::require_mountable(const Operation& operation, const OperationHandler& handler) const {
  const auto& [method, path] = operation;
  const auto refuse = [&operation](const std::string& why) {
    throw GatewayError("Gateway::on(\"" + operation.method + "\", \"" + operation.path + "\", …): " + why);
  };
  if (method.empty() || !std::all_of(method.begin(), method.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
    refuse("a method is written in capitals, such as \"POST\"");
  if (path.empty() || path.front() != '/') refuse("a path begins with \"/\", such as \"/v1/images/generations\"");
  if (path.find_first_of("?# ") != std::string::npos) refuse("a path goes without query, fragment and spaces");
  if (path.find('*') != std::string::npos) refuse(no_wildcard);
  const bool model = model_by_id_ && !operations::model_in(path).empty();
  if (path == operations::chat_path ? method == "POST" : method == "GET" && model)
    refuse("the gateway serves this itself; choose another path");
  if (!handler) refuse("the handler is empty");
}

void Operations::mount(const std::string& method, const std::string& path, OperationHandler handler) {
  require_mountable({method, path}, handler);
  const std::lock_guard<std::mutex> lock(mutex_);
  Mounted one{{method, path}, 0, newest_, share<const OperationHandler>(std::move(handler))};
  ++changes_;
  const auto equal = std::find_if(mounted_.begin(), mounted_.end(), [&one](const Mounted& other) {
    return other.operation == one.operation && other.owner == one.owner;
  });
  if (equal != mounted_.end() && equal->newest == one.newest) {
    equal->handler = std::move(one.handler);
    return;
  }
  if (equal != mounted_.end()) mounted_.erase(equal);
  const auto is_older = [&one](const Mounted& other) {
    return other.newest != one.newest ? other.newest < one.newest : other.owner != 0;
  };
  mounted_.insert(std::find_if(mounted_.begin(), mounted_.end(), is_older), std::move(one));
}

void Operations::replace(std::vector<Handled> all, std::uint64_t owner) {
  std::map<operations::Name, std::shared_ptr<const OperationHandler>> handlers;  // the handlers not placed yet
  for (Handled& one : all) {
    require_mountable(one.operation, one.handler);
    handlers[operations::name_of(one.operation)] = share<const OperationHandler>(std::move(one.handler));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!all.empty()) newest_ = std::max(newest_, owner);
  ++changes_;
  std::vector<Mounted> mounted;
  for (Mounted& one : mounted_) {
    if (one.owner == owner) {
      const auto its = handlers.find(operations::name_of(one.operation));
      if (its == handlers.end()) continue;
      one.handler = std::move(its->second);
      handlers.erase(its);
    }
    mounted.push_back(std::move(one));
  }
  std::vector<Mounted> added;
  for (Handled& one : all) {
    const auto its = handlers.find(operations::name_of(one.operation));
    if (its == handlers.end()) continue;
    added.push_back({std::move(one.operation), owner, owner, std::move(its->second)});
    handlers.erase(its);
  }
  const auto older =
      std::find_if(mounted.begin(), mounted.end(), [owner](const Mounted& one) { return one.newest < owner; });
  mounted.insert(older, std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  mounted_ = std::move(mounted);
}

void Operations::unmount(const std::vector<Owned>& those) {
  if (those.empty()) return;
  std::set<std::pair<std::uint64_t, operations::Name>> leaving;
  for (const Owned& one : those) leaving.insert({one.owner, operations::name_of(one.operation)});
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto is_leaving = [&leaving](const Mounted& one) {
    return leaving.count({one.owner, operations::name_of(one.operation)}) > 0;
  };
  mounted_.erase(std::remove_if(mounted_.begin(), mounted_.end(), is_leaving), mounted_.end());
  ++changes_;
}

std::vector<Operation> Operations::mounted() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Operation> operations;
  std::set<operations::Name> names;
  for (const Mounted& one : mounted_)
    if (names.insert(operations::name_of(one.operation)).second) operations.push_back(one.operation);
  return operations;
}

Route Operations::find(const std::string& method, std::string_view path) const {
  Route route;
  route.operation = {method, std::string(path)};
  const auto offer = [&](std::string_view offered) {
    if (route.allow.find(offered) == std::string::npos)
      route.allow.append(route.allow.empty() ? "" : ", ").append(offered);
  };
  if (path == operations::chat_path) {
    if (method == "POST") route.kind = Route::Kind::chat;
    offer("POST");
  } else if (path == operations::models_path) {
    offer("GET");
  } else if (const std::string_view id = operations::model_in(path); !id.empty() && model_by_id_) {
    if (method == "GET") {
      route.kind = Route::Kind::model;
      route.model = id;
      route.operation = list_models();
    }
    offer("GET");
  }
  if (route.kind != Route::Kind::unknown) return route;  // the gateway's own operations come first
  const bool lists_models = method == "GET" && path == operations::models_path;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Mounted& mounted : mounted_) {
    if (!operations::matches(mounted.operation.path, path)) continue;
    // Only a handler for exactly this path replaces the list of models.
    if (lists_models && mounted.operation.path != path) continue;
    offer(mounted.operation.method);
    // A path without "{name}" comes before one with it.
    const bool is_better =
        route.kind != Route::Kind::mounted || (mounted.operation.path == path && route.operation.path != path);
    if (mounted.operation.method != method || !is_better) continue;
    route.kind = Route::Kind::mounted;
    route.operation = mounted.operation;
    route.handler = mounted.handler;
  }
  if (lists_models && route.kind == Route::Kind::unknown) route.kind = Route::Kind::models;
  if (embeddings_ && path == operations::embeddings_path) {
    if (method == "POST" && route.kind == Route::Kind::unknown) {
      route.kind = Route::Kind::embeddings;
      route.operation = embeddings();
    }
    offer("POST");
  }
  if (route.kind == Route::Kind::unknown && !route.allow.empty()) route.kind = Route::Kind::wrong_method;
  return route;
}

std::string Operations::near_path(const std::string& path) const {
  constexpr std::size_t longest = 200;  // longer paths get no suggestion
  constexpr std::string_view version = "/v1";
  const std::size_t end = path.find_last_not_of('/') + 1;
  if (path.size() > longest || end == 0) return {};
  const std::string trimmed = path.substr(0, end);
  if (end < path.size() && serves(trimmed)) return trimmed + " is near: remove the / at the end of the path";
  // A client appends the operation's path (the tail) to its base URL (the head).
  for (std::size_t at = trimmed.find('/'); at != std::string::npos; at = trimmed.find('/', at + 1)) {
    const std::string head = trimmed.substr(0, at);
    const std::string tail = trimmed.substr(at);
    if (serves(tail)) {
      const bool twice = head == version;
      return tail +
             " is near: " + (twice ? "the base address ends with /v1 already" : "remove " + head + " in front of it");
    }
    if (const std::string whole = std::string(version) + tail; serves(whole))
      return whole + " is near: the base address must end with /v1" + (head.empty() ? "" : ", not with " + head);
  }
  const std::string wanted = text::lower_ascii(trimmed);
  std::vector<std::string> known = {std::string(operations::chat_path), std::string(operations::models_path)};
  if (embeddings_) known.emplace_back(operations::embeddings_path);
  for (const Operation& one : mounted()) known.push_back(one.path);
  for (const std::string& one : known)
    if (text::edit_distance(wanted, text::lower_ascii(one.substr(0, longest))) <= 2) return one + " is near";
  return {};
}

std::string Operations::served() const {
  constexpr std::size_t most = 5;
  std::string list = list_models().to_string() + ", ";
  if (model_by_id_) list += list_models().to_string() + "/{id}, ";
  list += chat_completions().to_string();
  if (embeddings_) list += ", " + embeddings().to_string();
  std::vector<Operation> others = mounted();
  const auto is_listed = [this](const Operation& one) {
    return one == list_models() || (embeddings_ && one == embeddings());
  };
  others.erase(std::remove_if(others.begin(), others.end(), is_listed), others.end());
  for (std::size_t i = 0; i < std::min(others.size(), most); ++i) list += ", " + others[i].to_string();
  if (others.size() > most) list += " and " + std::to_string(others.size() - most) + " more";
  return list;
}

}  // namespace mock_gateway::detail
