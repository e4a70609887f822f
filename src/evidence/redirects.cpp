// When a key went to another gateway behind a redirect; the text of that finding.

#include <algorithm>  // find_if
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/text.hpp"
#include "../model/finding_kinds.hpp"
#include "neighbours.hpp"
#include "review_parts.hpp"

namespace mock_gateway::detail {
namespace redirects {

/// Path and query of an absolute URL.
std::string_view target_of(std::string_view url) {
  const std::size_t path = url.find('/', url.find("//") + 2);
  if (path == std::string_view::npos) return "/";
  const std::string_view target = url.substr(path);
  return target.substr(0, target.find('#'));
}

/// Whether the request is the redirected one, come again with the same credential.
bool is_followed_by(const ExchangeRecord& redirected, const ExchangeRecord& request) {
  if (redirected.leaks.presented == 0 || request.leaks.presented != redirected.leaks.presented) return false;
  if (request.recorded < redirected.recorded || request.request.target != target_of(redirected.redirect)) return false;
  if (request.request.method == redirected.request.method && request.request.body == redirected.request.body)
    return true;
  // Fetch standard, 4.4: these make a GET of a POST.
  return redirected.status != 307 && redirected.status != 308 && request.request.method == "GET";
}

constexpr const char* advice = " Leave Authorization out where a redirect leads to another origin.";

using Records = std::vector<std::shared_ptr<ExchangeRecord>>;

/// Those that redirect to the server of that URL.
Records leading_to(const std::string& url, const Records& records) {
  Records found;
  for (const auto& record : records)
    if (!record->redirect.empty() && neighbours::is_same_server(record->redirect, url)) found.push_back(record);
  return found;
}

/// "the gateway at http://127.0.0.1:1234 (exchange 2 there)".
std::string place(const std::string& root_url, const ExchangeRecord& record) {
  return "the gateway at " + root_url + " (exchange " + std::to_string(record.id) + " there)";
}

}  // namespace redirects

void review_redirects(const std::vector<Seen>& all, const JournalState& journal, std::vector<Finding>& findings) {
  if (all.empty()) return;
  redirects::Records own;
  for (const Seen& seen : all) own.push_back(seen.record);
  const auto add = [&findings](const ExchangeRecord& record, std::string message) {
    findings.push_back(
        finding_kinds::key_sent_to_other_origin.make(std::move(message) + redirects::advice, {record.id}));
  };
  for (const neighbours::Neighbour& other : neighbours::of(journal)) {
    const redirects::Records theirs = other.journal->snapshot();
    for (const auto& redirected : redirects::leading_to(other.root_url, own)) {
      const auto there = std::find_if(theirs.begin(), theirs.end(), [&](const auto& request) {
        return redirects::is_followed_by(*redirected, *request);
      });
      if (there != theirs.end())
        add(*redirected, "the client followed the redirect and took the key along to " +
                             redirects::place(other.root_url, **there) + ".");
    }
    for (const auto& redirected : redirects::leading_to(own.front()->root_url, theirs)) {
      const auto here = std::find_if(own.begin(), own.end(), [&](const auto& request) {
        return redirects::is_followed_by(*redirected, *request);
      });
      if (here != own.end())
        add(**here, "came with the key of " + redirects::place(other.root_url, *redirected) +
                        ", which had redirected the client to here.");
    }
  }
}

}  // namespace mock_gateway::detail
