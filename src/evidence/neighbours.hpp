#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mock_gateway::detail {

class JournalState;

/// The gateways of this process, by where they listen. For any thread.
namespace neighbours {

struct Neighbour {
  std::string root_url;  // "http://127.0.0.1:1234"
  std::shared_ptr<const JournalState> journal;
};

void add(const std::string& root_url, const std::shared_ptr<const JournalState>& journal);
void remove(const JournalState& journal);
/// Those that still are, without the one of this journal.
std::vector<Neighbour> of(const JournalState& journal);
/// Whether both URLs lead to one server. The names of this machine are one: localhost, 127.0.0.1, [::1].
bool is_same_server(std::string_view one, std::string_view other);

}  // namespace neighbours
}  // namespace mock_gateway::detail
