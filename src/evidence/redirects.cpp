// The finding about a key that followed a redirect to another gateway: when, and its text.

#include <algorithm>  // find_if, remove_if
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/text.hpp"
#include "../model/finding_kinds.hpp"
#include "review_parts.hpp"

namespace mock_gateway::detail {
namespace redirects {

using Records = std::vector<std::shared_ptr<ExchangeRecord>>;

struct Journals {
  std::mutex mutex;
  std::vector<std::weak_ptr<const JournalState>> all;
};

/// Returns all journals. The list is never destroyed, because a Gateway in a static variable may use it at exit.
Journals& journals() {
  static Journals* const journals = new Journals;
  return *journals;
}

std::vector<Records> records_of_other_gateways(const JournalState& journal) {
  std::vector<std::shared_ptr<const JournalState>> others;
  {
    Journals& known = journals();
    const std::lock_guard<std::mutex> lock(known.mutex);
    for (const auto& one : known.all)
      if (auto other = one.lock(); other && other.get() != &journal) others.push_back(std::move(other));
  }
  std::vector<Records> found;
  for (const auto& other : others)
    if (Records records = other->snapshot(); !records.empty()) found.push_back(std::move(records));
  return found;
}

/// Returns scheme, host and port in lower case. Treats localhost, 127.0.0.1 and [::1] as equal.
std::string server_of(std::string_view url) {
  std::string server = text::lower_ascii(url.substr(0, url.find('/', url.find("//") + 2)));
  const std::size_t host = server.find("//") + 2;
  const std::string name = server.substr(host, server.rfind(':') - host);
  if (name == "127.0.0.1" || name == "[::1]") server.replace(host, name.size(), "localhost");
  return server;
}

std::string_view target_of(std::string_view url) {
  const std::size_t path = url.find('/', url.find("//") + 2);
  if (path == std::string_view::npos) return "/";
  const std::string_view target = url.substr(path);
  return target.substr(0, target.find('#'));
}

/// Whether a later request asks for the target of the redirect, apart from the key.
bool has_target_of(const ExchangeRecord& redirected, const ExchangeRecord& request) {
  if (&request == &redirected || request.recorded < redirected.recorded) return false;
  if (request.request.target != target_of(redirected.redirect)) return false;
  if (request.request.method == redirected.request.method && request.request.body == redirected.request.body)
    return true;
  // Other redirects turn POST into GET (Fetch standard, 4.4).
  return redirected.status != 307 && redirected.status != 308 && request.request.method == "GET";
}

bool is_followed_by(const ExchangeRecord& redirected, const ExchangeRecord& request) {
  return redirected.leaks.presented != 0 && request.leaks.presented == redirected.leaks.presented &&
         has_target_of(redirected, request);
}

const ExchangeRecord* follower_of(const ExchangeRecord& redirected, const Records& there,
                                  bool (*follows)(const ExchangeRecord&, const ExchangeRecord&) = &is_followed_by) {
  if (redirected.redirect.empty() || server_of(redirected.redirect) != server_of(there.front()->root_url))
    return nullptr;
  const auto found =
      std::find_if(there.begin(), there.end(), [&](const auto& request) { return follows(redirected, *request); });
  return found == there.end() ? nullptr : found->get();
}

std::string place(const ExchangeRecord& record) {
  return "the gateway at " + record.root_url + " (exchange " + std::to_string(record.id) + " there)";
}

/// Finds redirects to the same server after which the client no longer sent its key.
void review_lost_keys(const Records& own, std::vector<Finding>& findings) {
  for (const auto& redirected : own) {
    const ExchangeRecord* const follower =
        redirected->leaks.presented == 0 ? nullptr : follower_of(*redirected, own, &has_target_of);
    if (!follower || follower->status != 401 || follower->leaks.presented != 0) continue;
    findings.push_back(finding_kinds::key_lost_in_redirect.make(
        "refused with 401 for its missing key, which the redirected request had: the redirect to this same server "
        "lost it. Keep the " +
            key_headers(*redirected) + " header when scheme, host and port of a redirect are the same.",
        {redirected->id, follower->id}));
  }
}

}  // namespace redirects

void remember_journal(const std::shared_ptr<const JournalState>& journal) {
  redirects::Journals& known = redirects::journals();
  const std::lock_guard<std::mutex> lock(known.mutex);
  const auto is_gone = [](const auto& one) { return one.expired(); };
  known.all.erase(std::remove_if(known.all.begin(), known.all.end(), is_gone), known.all.end());
  known.all.push_back(journal);
}

void review_redirects(const std::vector<Seen>& all, const JournalState& journal, std::vector<Finding>& findings) {
  if (all.empty()) return;
  redirects::Records own;
  for (const Seen& seen : all) own.push_back(seen.record);
  redirects::review_lost_keys(own, findings);
  const auto add = [&findings](const ExchangeRecord& record, std::string message) {
    findings.push_back(finding_kinds::key_sent_to_other_origin.make(
        std::move(message) + " Drop the " + key_headers(record) + " header when a redirect leads to another origin.",
        {record.id}));
  };
  for (const redirects::Records& theirs : redirects::records_of_other_gateways(journal)) {
    for (const auto& redirected : own)
      if (const ExchangeRecord* const there = redirects::follower_of(*redirected, theirs))
        add(*redirected, "the client followed the redirect and sent the key to " + redirects::place(*there) + ".");
    for (const auto& redirected : theirs)
      if (const ExchangeRecord* const here = redirects::follower_of(*redirected, own))
        add(*here, "sent with the key of " + redirects::place(*redirected) + ", which had redirected the client here.");
  }
}

}  // namespace mock_gateway::detail
