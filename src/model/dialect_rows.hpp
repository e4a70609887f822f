// Descriptions of the settings of an SSE dialect: name, member, texts. Values: `src/model/sse_dialect.cpp`; effect:
// `src/delivery/framing.cpp` and `src/delivery/delivery.cpp`.

#pragma once

#include <optional>
#include <string>

#include "../core/rows.hpp"
#include "sse_dialect.hpp"

namespace mock_gateway::detail {

/// The member of a dialect that holds a setting; exactly one is set.
struct DialectMember {
  constexpr DialectMember(bool SseDialect::*member) : flag(member) {}
  constexpr DialectMember(std::string SseDialect::*member) : text(member) {}
  constexpr DialectMember(Duration SseDialect::*member) : duration(member) {}
  constexpr DialectMember(std::optional<Duration> SseDialect::*member) : optional_duration(member) {}

  bool SseDialect::*flag = nullptr;
  std::string SseDialect::*text = nullptr;
  Duration SseDialect::*duration = nullptr;
  std::optional<Duration> SseDialect::*optional_duration = nullptr;
};

struct DialectRow {
  /// Its setter, and its key in scripts.
  const char* name;
  DialectMember member;
  const char* help;
  /// What reports say of a stream with a non-default value. Empty: nothing.
  const char* unusual = "";
  /// Whether the setting only affects the end of a stream.
  bool at_end = false;
  bool is_line_end = false;

  static const DialectRow rows[];
  static Rows<DialectRow> all();
};

}  // namespace mock_gateway::detail
