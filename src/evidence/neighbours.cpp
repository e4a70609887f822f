// Which gateways of this process listen where; which names of a server are one.

#include "neighbours.hpp"

#include <algorithm>  // remove_if
#include <mutex>
#include <utility>

#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace neighbours {

struct Listening {
  std::string root_url;
  std::weak_ptr<const JournalState> journal;
  const JournalState* which;
};

struct Book {
  std::mutex mutex;
  std::vector<Listening> listening;
};

/// Never destroyed: a gateway of static storage may be destroyed after it would be.
Book& book() {
  static Book* const all = new Book;
  return *all;
}

void add(const std::string& root_url, const std::shared_ptr<const JournalState>& journal) {
  Book& all = book();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.listening.push_back({root_url, journal, journal.get()});
}

void remove(const JournalState& journal) {
  Book& all = book();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto is_it = [&journal](const Listening& one) { return one.which == &journal; };
  all.listening.erase(std::remove_if(all.listening.begin(), all.listening.end(), is_it), all.listening.end());
}

std::vector<Neighbour> of(const JournalState& journal) {
  Book& all = book();
  const std::lock_guard<std::mutex> lock(all.mutex);
  std::vector<Neighbour> others;
  for (const Listening& one : all.listening) {
    if (one.which == &journal) continue;
    if (auto its = one.journal.lock()) others.push_back({one.root_url, std::move(its)});
  }
  return others;
}

bool is_same_server(std::string_view one, std::string_view other) {
  const auto server_of = [](std::string_view url) {
    std::string authority = text::lower_ascii(url.substr(0, url.find('/', url.find("//") + 2)));
    const std::size_t host = authority.find("//") + 2;
    const std::size_t port = authority.rfind(':');
    const std::string name = authority.substr(host, port - host);
    if (name == "127.0.0.1" || name == "[::1]") authority.replace(host, name.size(), "localhost");
    return authority;
  };
  return server_of(one) == server_of(other);
}

}  // namespace neighbours
}  // namespace mock_gateway::detail
