// Compares the gateway's output for random plans with stored hashes of its bytes and times. After a change of the
// library, it shows the plans for which clients or tests see a difference.
//
//   oracle KIND HASHES [--plans N] [--jobs N]   compares the first N plans (default: all); exit code 1 if one differs
//   oracle KIND HASHES --record                 writes the hashes again
//   oracle KIND --show NUMBER                   prints the transcript of one plan
//   oracle moments [--plans N] [--jobs N]       checks that replies on the real clock leave on time
//
// KIND is replies, writes, large_replies or sweeps.
//
// Each line of HASHES has a digest of the hashes of 100 plans and the last two digits of each hash. The digits identify
// the plan that differs. The digest detects differences that the digits miss.

#include "oracle.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/random.hpp"

namespace oracle {

void Transcript::bytes(const char* name, std::string_view bytes) {
  text_ << name << ' ' << bytes.size() << ' ' << detail::fingerprint(bytes) << '\n';
}

std::string request_of(const Gateway& gateway, const Json& body, bool closes) {
  const std::string text = body.dump();
  return "POST /v1/chat/completions HTTP/1.1\r\nHost: oracle\r\nAuthorization: Bearer " + gateway.api_key() +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(text.size()) + "\r\n" +
         (closes ? "Connection: close\r\n" : "") + "\r\n" + text;
}

bool is_over(const Exchange& exchange) { return exchange.outcome(0ms).kind != Outcome::Kind::pending; }

void tell(const Exchange& exchange, Transcript& transcript) {
  transcript << "outcome " << exchange.outcome() << " status " << exchange.status() << " events "
             << exchange.events_sent() << " tokens " << exchange.tokens_sent() << " bytes " << exchange.bytes_sent()
             << " guard " << exchange.guard_expired() << '\n';
  for (const std::string& fault : exchange.faults()) transcript.text("fault", fault);
  if (const auto departure = exchange.departure())
    transcript << "departure " << departure->events << ' ' << departure->tokens << ' ' << departure->bytes << '\n';
}

void tell(const SentAnswer& answer, Transcript& transcript) {
  transcript << "answer " << answer.status << " head at " << answer.head_at.count() << " ended "
             << to_string(answer.ending) << " at " << answer.ended_at.count() << " missing " << answer.missing
             << " streamed " << answer.is_streamed << " compressed " << answer.is_compressed << '\n';
  for (const wire::Header& field : answer.headers) transcript.text("field", field.name + ": " + field.value);
  for (const SentAnswer::Part& part : answer.parts) {
    transcript << "part at " << part.at.count() << " until " << part.until.count() << ' ';
    transcript.bytes("of", part.bytes);
  }
  transcript.bytes("garbage", answer.garbage);
}

void tell(const std::vector<Outgoing::Write>& writes, Transcript& transcript) {
  for (const Outgoing::Write& write : writes)
    transcript << "write of " << write.size << " at " << write.at.count() << '\n';
}

namespace {

/// A kind of plans.
struct Kind {
  const char* name;
  std::size_t plans;
  std::string (*transcript)(std::size_t number);
};

constexpr Kind kinds[] = {{"replies", 20'000, &reply},
                          {"writes", 2'500, &writes},
                          {"large_replies", 400, &large_reply},
                          {"sweeps", 300, &sweep}};

/// The number of plans on the real clock. Each takes some tenths of a second.
constexpr std::size_t plans_in_time = 60;

constexpr std::size_t plans_per_line = 100;
/// The number of hexadecimal digits of each hash in a line.
constexpr std::size_t digits_per_plan = 2;
constexpr std::size_t named_at_most = 20;

using Hashes = std::vector<std::string>;

std::string hash_of(const Kind& kind, std::size_t number) {
  char text[9];
  const std::uint64_t hash = detail::fingerprint(kind.transcript(number));
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(hash ^ (hash >> 32)));
  return text;
}

/// Runs a plan until two consecutive runs have the same hash, and returns it. A single run may differ if a busy machine
/// pauses a thread.
std::string certain_hash_of(const Kind& kind, std::size_t number) {
  std::string last = hash_of(kind, number);
  for (int again = 0; again < 10; ++again) {
    std::string next = hash_of(kind, number);
    if (next == last) break;
    last = std::move(next);
  }
  return last;
}

Hashes hashes(const Kind& kind, std::size_t count, std::size_t jobs, std::string (*hash)(const Kind&, std::size_t)) {
  Hashes all(count);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t job = 0; job < jobs; ++job)
    threads.emplace_back([&] {
      for (std::size_t number = next++; number < count; number = next++) all[number] = hash(kind, number);
    });
  for (std::thread& thread : threads) thread.join();
  return all;
}

std::string digits_of(const std::string& hash) { return hash.substr(hash.size() - digits_per_plan); }

std::string digest_of(const Hashes& hashes, std::size_t first, std::size_t end) {
  std::string all;
  for (std::size_t number = first; number < end; ++number) all += hashes[number];
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(detail::fingerprint(all)));
  return text;
}

void record(const std::string& file, const Hashes& hashes) {
  std::ofstream out(file);
  for (std::size_t first = 0; first < hashes.size(); first += plans_per_line) {
    const std::size_t end = std::min(first + plans_per_line, hashes.size());
    out << digest_of(hashes, first, end) << ' ';
    for (std::size_t number = first; number < end; ++number) out << digits_of(hashes[number]);
    out << '\n';
  }
}

int compare(const Kind& kind, const std::string& file, std::size_t count, std::size_t jobs) {
  std::ifstream kept(file);
  Hashes found = hashes(kind, count, jobs, &hash_of);
  std::size_t compared = 0;
  std::size_t differing = 0;
  std::string digest;
  std::string digits;
  while (compared < count && kept >> digest >> digits) {
    const std::size_t first = compared;
    const std::size_t end = first + digits.size() / digits_per_plan;
    const std::size_t differing_before = differing;
    for (; compared < std::min(end, count); ++compared) {
      const std::string wanted = digits.substr((compared - first) * digits_per_plan, digits_per_plan);
      // Runs a differing plan again, because a busy machine may have paused a thread. A real difference occurs each
      // time.
      for (int again = 0; again < 5 && digits_of(found[compared]) != wanted; ++again)
        found[compared] = hash_of(kind, compared);
      if (digits_of(found[compared]) == wanted) continue;
      if (++differing <= named_at_most)
        std::cerr << "plan " << compared << " differs: oracle " << kind.name << " --show " << compared << '\n';
    }
    // The digest can be compared only if all plans of the line ran and none differs.
    if (end > count || differing > differing_before || digest_of(found, first, end) == digest) continue;
    for (std::size_t number = first; number < end; ++number) found[number] = certain_hash_of(kind, number);
    if (digest_of(found, first, end) == digest) continue;
    if (++differing <= named_at_most) std::cerr << "one of plans " << first << " to " << end - 1 << " differs\n";
  }
  if (compared < count) std::cerr << file << " has " << compared << " hashes, " << count << " were wanted\n";
  std::cout << compared << " plans, " << differing << " differ\n";
  return compared == count && differing == 0 ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  const std::string what = arguments.empty() ? "" : arguments.front();
  const auto kind =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const Kind& each) { return each.name == what; });
  if (kind == std::end(kinds) && what != "moments") throw std::invalid_argument("no such kind of plans: " + what);
  std::string file;
  std::size_t count = kind == std::end(kinds) ? plans_in_time : kind->plans;
  std::size_t jobs = std::max(2u, std::thread::hardware_concurrency());
  bool records = false;
  for (std::size_t index = 1; index < arguments.size(); ++index) {
    const std::string& word = arguments[index];
    const bool has_number = word == "--plans" || word == "--jobs" || word == "--show";
    if (has_number && index + 1 == arguments.size()) throw std::invalid_argument(word + " wants a number");
    const std::size_t value = has_number ? std::stoul(arguments[++index]) : 0;
    if (word == "--show" && kind != std::end(kinds)) return std::cout << kind->transcript(value), 0;
    if (word == "--plans") count = std::min(value, count);
    if (word == "--jobs") jobs = std::max<std::size_t>(value, 1);
    if (word == "--record") records = true;
    if (word.substr(0, 2) != "--") file = word;
  }
  if (kind == std::end(kinds)) return leaves_in_time(count, jobs) ? 0 : 1;
  if (file.empty()) throw std::invalid_argument("which file has the hashes?");
  if (!records) return compare(*kind, file, count, jobs);
  record(file, hashes(*kind, count, jobs, &certain_hash_of));
  return 0;
}

}  // namespace
}  // namespace oracle

int main(int argc, char** argv) {
  try {
    return oracle::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "oracle: " << error.what() << '\n';
    return 2;
  }
}
