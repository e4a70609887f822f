// A sent answer: its body and the names of its endings.

#include "sent_answer.hpp"

#include <ostream>

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

}  // namespace mock_gateway
