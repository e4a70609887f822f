// What a kept answer shows; masking in it.

#include "sent_answer.hpp"

#include <ostream>
#include <string_view>
#include <utility>

#include "../core/text.hpp"
#include "../delivery/kept_answer.hpp"
#include "../keys/key_store.hpp"

namespace mock_gateway {

std::string SentAnswer::body() const {
  std::string all;
  for (const Part& part : parts) all += part.bytes;
  return all;
}

std::string to_string(SentAnswer::Ending ending) {
  switch (ending) {
    case SentAnswer::Ending::open: return "open";
    case SentAnswer::Ending::whole: return "whole";
    case SentAnswer::Ending::closed: return "closed";
    case SentAnswer::Ending::half_closed: return "half-closed";
    case SentAnswer::Ending::reset: return "reset";
    case SentAnswer::Ending::abandoned: return "abandoned";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, SentAnswer::Ending ending) { return out << to_string(ending); }

namespace detail {
namespace sent_answers {

/// A response's status and fields; takes them off the text. Status 0: there is no whole head.
SentAnswer::Interim take_head(std::string_view& text) {
  SentAnswer::Interim head;
  const std::size_t end = text.find("\r\n\r\n");
  const std::size_t space = text.find(' ');
  if (end == std::string_view::npos || space > end) return head;
  head.status = static_cast<int>(text::whole_number(text.substr(space + 1, 3)).value_or(0));
  for (std::size_t at = text.find("\r\n") + 2; at < end + 2;) {
    const std::string_view line = text.substr(at, text.find("\r\n", at) - at);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      head.headers.add(std::string(line.substr(0, colon)), std::string(text::trim(line.substr(colon + 1))));
    at += line.size() + 2;
  }
  text.remove_prefix(end + 4);
  return head;
}

SentAnswer::Ending ending_of(KeptAnswer::Ending ending) {
  switch (ending) {
    case KeptAnswer::Ending::open: break;
    case KeptAnswer::Ending::whole: return SentAnswer::Ending::whole;
    case KeptAnswer::Ending::closed: return SentAnswer::Ending::closed;
    case KeptAnswer::Ending::half_closed: return SentAnswer::Ending::half_closed;
    case KeptAnswer::Ending::reset: return SentAnswer::Ending::reset;
    case KeptAnswer::Ending::abandoned: return SentAnswer::Ending::abandoned;
  }
  return SentAnswer::Ending::open;
}

/// Masks what no reader is to see.
void mask(SentAnswer& answer, const KeyStore& keys) {
  const auto mask_text = [&](std::string& text) {
    answer.has_masked_key = keys.mask(text).bytes > 0 || answer.has_masked_key;
  };
  const auto mask_headers = [&](wire::Headers& headers) {
    wire::Headers masked;
    for (const wire::Header& header : headers) {
      std::string value = header.value;
      mask_text(value);
      masked.add(header.name, std::move(value));
    }
    headers = std::move(masked);
  };
  mask_headers(answer.headers);
  for (SentAnswer::Interim& interim : answer.interim) mask_headers(interim.headers);
  mask_text(answer.garbage);
  std::string whole = answer.body();
  if (keys.mask(whole).bytes == 0) return;
  answer.has_masked_key = true;
  for (SentAnswer::Part& part : answer.parts) keys.mask(part.bytes);
  if (answer.body() != whole) answer.parts = {{std::move(whole), answer.parts.front().at, answer.parts.back().until}};
}

}  // namespace sent_answers

SentAnswer sent_answer(const KeptAnswer& kept, const KeyStore* keys) {
  KeptAnswer::Sent sent = kept.sent();
  SentAnswer answer;
  for (std::string_view rest = sent.interim; !rest.empty();) {
    answer.interim.push_back(sent_answers::take_head(rest));
    if (answer.interim.back().status != 0) continue;
    answer.interim.pop_back();
    break;
  }
  if (sent.head) {
    std::string_view text = sent.head->bytes;
    SentAnswer::Interim head = sent_answers::take_head(text);
    answer.status = head.status;
    answer.headers = std::move(head.headers);
    answer.head_at = sent.head->at;
  }
  for (KeptAnswer::Part& part : sent.body) {
    answer.missing = part.missing;
    answer.parts.push_back({std::move(part.bytes), part.at, part.until});
  }
  if (sent.garbage) answer.garbage = std::move(sent.garbage->bytes);
  answer.ending = sent_answers::ending_of(sent.ending);
  answer.ended_at = sent.ended;
  answer.is_streamed = sent.is_streamed;
  answer.is_compressed = sent.is_compressed;
  answer.is_cut = sent.is_cut;
  if (keys) sent_answers::mask(answer, *keys);
  return answer;
}

}  // namespace detail
}  // namespace mock_gateway
