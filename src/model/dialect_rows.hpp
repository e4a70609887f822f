// What the library knows of each setting of an SSE dialect by its name. The rows stand in `src/model/sse_dialect.cpp`;
// what one does stands in `src/delivery/framing.cpp` and `src/delivery/delivery.cpp`.

#pragma once

#include <optional>
#include <string>

#include "../core/rows.hpp"
#include "sse_dialect.hpp"

namespace mock_gateway::detail {

/// The member of a dialect that a setting is, one of these.
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

/// A setting of a dialect. Equality, what reports say, and its key in scripts come from its row.
struct DialectRow {
  /// Its setter, and its key in scripts.
  const char* name;
  DialectMember member;
  /// Its line in the table of a script's keys.
  const char* help;
  /// What reports say of a stream that has not the default. Empty: nothing.
  const char* unusual = "";
  /// Whether only the end of a stream shows it.
  bool at_end = false;
  /// Whether it is "\n", "\r\n" or "\r".
  bool is_line_end = false;

  static const DialectRow rows[];
  static Rows<DialectRow> all();
};

}  // namespace mock_gateway::detail
