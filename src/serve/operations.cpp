// The served paths and methods; base paths; similar paths to an unknown one; `{name}` in paths; what cannot be mounted.

#include "operations.hpp"

#include <algorithm>
#include <iterator>  // make_move_iterator
#include <map>
#include <utility>

#include "../core/error.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace operations {

inline constexpr std::string_view chat_path = "/v1/chat/completions";
inline constexpr std::string_view models_path = "/v1/models";
inline constexpr std::string_view embeddings_path = "/v1/embeddings";
inline constexpr std::string_view version = "/v1";

/// Whether the address of an operation with this name depends on the base paths.
bool is_below_base(std::string_view name) { return name.substr(0, version.size() + 1) == "/v1/"; }

std::string address_of(const std::string& name, const std::string& base) {
  return is_below_base(name) ? base + name.substr(version.size()) : name;
}

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
  const std::string name = operations::is_below_base(path) ? path : name_at(path);
  const bool model = model_by_id_ && !operations::model_in(name).empty();
  if (name == operations::chat_path ? method == "POST" : method == "GET" && model)
    refuse("the gateway serves this itself; choose another path");
  if (!handler) refuse("the handler is empty");
}

Operations::Answering::Answering(Handled& handled)
    : handler(share<const OperationHandler>(std::move(handled.handler))), open(handled.needs_key == NeedsKey::no) {}

void Operations::mount(Handled handled) {
  require_mountable(handled.operation, handled.handler);
  const std::lock_guard<std::mutex> lock(mutex_);
  Mounted one{std::move(handled.operation), 0, newest_, Answering(handled)};
  ++changes_;
  const auto equal = std::find_if(mounted_.begin(), mounted_.end(), [&one](const Mounted& other) {
    return other.operation == one.operation && other.owner == one.owner;
  });
  if (equal != mounted_.end() && equal->newest == one.newest) {
    equal->answering = std::move(one.answering);
    return;
  }
  if (equal != mounted_.end()) mounted_.erase(equal);
  const auto is_older = [&one](const Mounted& other) {
    return other.newest != one.newest ? other.newest < one.newest : other.owner != 0;
  };
  mounted_.insert(std::find_if(mounted_.begin(), mounted_.end(), is_older), std::move(one));
}

void Operations::replace(std::vector<Handled> all, std::uint64_t owner) {
  std::map<operations::Name, Answering> handlers;  // the handlers not placed yet
  for (Handled& one : all) {
    require_mountable(one.operation, one.handler);
    handlers.insert_or_assign(operations::name_of(one.operation), Answering(one));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!all.empty()) newest_ = std::max(newest_, owner);
  ++changes_;
  std::vector<Mounted> mounted;
  for (Mounted& one : mounted_) {
    if (one.owner == owner) {
      const auto its = handlers.find(operations::name_of(one.operation));
      if (its == handlers.end()) continue;
      one.answering = std::move(its->second);
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

std::set<std::string> Operations::open() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::set<std::string> open;
  std::set<operations::Name> names;
  for (const Mounted& one : mounted_)
    if (names.insert(operations::name_of(one.operation)).second && one.answering.open)
      open.insert(one.operation.to_string());
  return open;
}

std::string Operations::name_at(std::string_view path) const {
  const std::string* base = nullptr;  // the longest one
  for (const std::string& one : base_paths_) {
    const bool is_base = path.size() > one.size() && path[one.size()] == '/' && path.substr(0, one.size()) == one;
    if (is_base && (!base || one.size() > base->size())) base = &one;
  }
  return base ? std::string(operations::version).append(path.substr(base->size())) : std::string();
}

bool Operations::is_chat(std::string_view path) const { return name_at(path) == operations::chat_path; }

Route Operations::find(const std::string& method, std::string_view path) const {
  return route(method, path, name_at(path));
}

Route Operations::route(const std::string& method, std::string_view path, std::string_view name) const {
  Route route;
  route.operation = {method, std::string(name.empty() ? path : name)};
  const auto offer = [&](std::string_view offered) {
    if (route.allow.find(offered) == std::string::npos)
      route.allow.append(route.allow.empty() ? "" : ", ").append(offered);
  };
  if (name == operations::chat_path) {
    if (method == "POST") route.kind = Route::Kind::chat;
    offer("POST");
  } else if (name == operations::models_path) {
    offer("GET");
  } else if (const std::string_view id = operations::model_in(name); !id.empty() && model_by_id_) {
    if (method == "GET") {
      route.kind = Route::Kind::model;
      route.model = id;
      route.operation = list_models();
    }
    offer("GET");
  }
  if (route.kind != Route::Kind::unknown) return route;  // the gateway's own operations come first
  const bool lists_models = method == "GET" && name == operations::models_path;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Mounted& mounted : mounted_) {
    const std::string_view asked = operations::is_below_base(mounted.operation.path) ? name : path;
    if (!operations::matches(mounted.operation.path, asked)) continue;
    // Only a handler for exactly this path replaces the list of models.
    if (lists_models && mounted.operation.path != asked) continue;
    offer(mounted.operation.method);
    // A path without "{name}" comes before one with it.
    const bool is_better =
        route.kind != Route::Kind::mounted || (mounted.operation.path == asked && route.operation.path != asked);
    if (mounted.operation.method != method || !is_better) continue;
    route.kind = Route::Kind::mounted;
    route.operation = mounted.operation;
    route.handler = mounted.answering.handler;
    route.open = mounted.answering.open;
  }
  if (lists_models && route.kind == Route::Kind::unknown) route.kind = Route::Kind::models;
  if (embeddings_ && name == operations::embeddings_path) {
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
  const std::size_t end = path.find_last_not_of('/') + 1;
  if (path.size() > longest || end == 0) return {};
  const std::string trimmed = path.substr(0, end);
  if (end < path.size() && serves(trimmed)) return trimmed + " is near: remove the / at the end of the path";
  // A client appends the operation's path (the tail) to its base URL (the head).
  for (std::size_t at = trimmed.find('/'); at != std::string::npos; at = trimmed.find('/', at + 1)) {
    const std::string head = trimmed.substr(0, at);
    const std::string tail = trimmed.substr(at);
    if (serves(tail)) {
      const bool twice = std::find(base_paths_.begin(), base_paths_.end(), head) != base_paths_.end();
      return tail + " is near: " +
             (twice ? "the base address ends with " + head + " already" : "remove " + head + " in front of it");
    }
    for (const std::string& base : base_paths_)
      if (const std::string whole = base + tail; serves(whole))
        return whole + " is near: the base address must end with " + base + (head.empty() ? "" : ", not with " + head);
  }
  const std::string wanted = text::lower_ascii(trimmed);
  std::vector<std::string> known = {std::string(operations::chat_path), std::string(operations::models_path)};
  if (embeddings_) known.emplace_back(operations::embeddings_path);
  for (const Operation& one : mounted()) known.push_back(one.path);
  for (const std::string& one : known)
    for (const std::string& base : base_paths_)
      if (const std::string address = operations::address_of(one, base);
          text::edit_distance(wanted, text::lower_ascii(address.substr(0, longest))) <= 2)
        return address + " is near";
  return {};
}

std::string Operations::served() const {
  constexpr std::size_t most = 5;
  const auto shown = [this](const Operation& one) {
    return one.method + " " + operations::address_of(one.path, base_paths_.front());
  };
  std::string list = shown(list_models()) + ", ";
  if (model_by_id_) list += shown(list_models()) + "/{id}, ";
  list += shown(chat_completions());
  if (embeddings_) list += ", " + shown(embeddings());
  std::vector<Operation> others = mounted();
  const auto is_listed = [this](const Operation& one) {
    return one == list_models() || (embeddings_ && one == embeddings());
  };
  others.erase(std::remove_if(others.begin(), others.end(), is_listed), others.end());
  for (std::size_t i = 0; i < std::min(others.size(), most); ++i) list += ", " + shown(others[i]);
  if (others.size() > most) list += " and " + std::to_string(others.size() - most) + " more";
  return list;
}

}  // namespace mock_gateway::detail
