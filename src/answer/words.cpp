// The words and sentences of generated text.

#include "words.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mock_gateway::detail {
namespace words {

inline constexpr std::string_view vocabulary[] = {
    "time",      "person", "year",     "way",     "day",         "thing",   "world",   "life",      "hand",
    "part",      "child",  "eye",      "place",   "work",        "week",    "case",    "point",     "company",
    "number",    "group",  "problem",  "fact",    "water",       "room",    "mother",  "area",      "money",
    "story",     "month",  "lot",      "right",   "study",       "book",    "word",    "business",  "issue",
    "side",      "kind",   "head",     "house",   "service",     "friend",  "father",  "power",     "hour",
    "game",      "line",   "end",      "member",  "law",         "car",     "city",    "community", "name",
    "team",      "minute", "idea",     "body",    "information", "back",    "parent",  "face",      "level",
    "office",    "door",   "health",   "art",     "war",         "history", "party",   "result",    "change",
    "morning",   "reason", "research", "girl",    "guy",         "moment",  "air",     "teacher",   "force",
    "education", "good",   "new",      "first",   "last",        "long",    "great",   "little",    "own",
    "other",     "old",    "big",      "high",    "small",       "large",   "next",    "early",     "young",
    "important", "few",    "public",   "same",    "able",        "open",    "clear",   "simple",    "strong",
    "warm",      "quiet",  "bright",   "green",   "river",       "garden",  "window",  "table",     "paper",
    "letter",    "market", "summer",   "winter",  "evening",     "bridge",  "corner",  "mountain",  "forest",
    "island",    "ocean",  "train",    "station", "ticket",      "coffee",  "kitchen", "dinner",    "bread",
    "music",     "voice",  "picture",  "color",   "light",       "shadow",  "circle",  "square",    "answer",
    "question",  "lesson", "plan",     "note",    "list",        "page",    "report",  "signal",    "system",
    "machine",   "engine", "tool",     "test",    "model",       "value",   "range",   "order",     "record",
    "branch",    "draft",  "season",   "find",    "give",        "tell",    "ask",     "seem",      "feel",
    "leave",     "call",   "keep",     "let",     "begin",       "help",    "show",    "hear",      "play",
    "run",       "move",   "live",     "believe", "bring",       "happen",  "write",   "sit",       "stand",
    "lose",      "pay",    "meet",     "include", "continue",    "set",     "learn",   "lead",      "the",
    "of",        "and",    "to",       "in",      "for",         "with",    "on",      "at",        "from",
    "by",        "about",  "into",     "over",    "after",       "between",
};

std::string word(Random& random) {
  constexpr std::size_t count = sizeof vocabulary / sizeof vocabulary[0];
  return std::string(vocabulary[random.below(count)]);
}

std::string sentence_text(Random& random) {
  constexpr std::uint64_t shortest = 4;  // the least words of a sentence
  const std::uint64_t total = 8 + random.below(17);
  const std::uint64_t first = random.below(2) == 0 ? total : shortest + random.below(total - 2 * shortest + 1);
  std::string text;
  std::string previous;
  for (std::uint64_t index = 0; index < total; ++index) {
    const bool starts = index == 0 || index == first;
    std::string next = word(random);
    while (next == previous) next = word(random);
    previous = next;
    if (starts) next[0] = static_cast<char>(next[0] - 'a' + 'A');
    if (index == first) text += '.';
    if (index != 0) text += ' ';
    text += next;
  }
  return text + '.';
}

}  // namespace words
}  // namespace mock_gateway::detail
