#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "../core/duration.hpp"
#include "../core/shared.hpp"

namespace mock_gateway {
namespace detail {

struct Access;
class Random;

/// The source of a number: fixed, random, or a list.
struct Distribution {
  enum class Kind { fixed, uniform, normal, log_normal, recorded };

  Kind kind = Kind::fixed;
  /// The fixed number, the minimum, the mean or the median.
  double first = 0;
  /// Unused, the maximum, the deviation or the deviation of the logarithm.
  double second = 0;
  /// Random numbers are clamped to this range.
  double least = 0;
  double most = 0;
  HandlePointer<const std::vector<double>> list = {};

  bool fixed() const { return kind == Kind::fixed; }
  /// `index` counts from 0 and selects from a list, which repeats after its last element.
  double draw(Random& random, std::uint64_t index) const;
};

/// Throws GatewayError for a time outside the limits of a pace; `what` names it.
double pace_nanoseconds(Duration time, const char* what);

}  // namespace detail

/// A duration from 0 to 30 days: any std::chrono duration, or uniform(), normal(), log_normal(), recorded().
///
/// Random times depend on the gateway's seed, the request and how often it has arrived: each run repeats them.
class Timing {
 public:
  template <class Rep, class Period,
            std::enable_if_t<std::is_convertible_v<std::chrono::duration<Rep, Period>, Duration>, int> = 0>
  Timing(std::chrono::duration<Rep, Period> time)  // NOLINT: implicit, so that every(20ms) compiles
      : Timing(detail::Distribution{detail::Distribution::Kind::fixed, detail::pace_nanoseconds(time, "a time")}) {}

 private:
  friend struct detail::Access;
  explicit Timing(detail::Distribution nanoseconds);

  detail::Distribution distribution_;  // of nanoseconds
};

/// Tokens per second: fixed, or drawn for each token as in a Timing. From one in 30 days to one per nanosecond.
class Rate {
 public:
  Rate(double tokens_per_second);  // NOLINT: implicit, so that tokens_per_second(50) compiles

 private:
  friend struct detail::Access;
  explicit Rate(detail::Distribution tokens_per_second);

  detail::Distribution distribution_;  // of tokens per second
};

/// Any time from `least` to `most`, all equally likely. `least` is not above `most`.
Timing uniform(Duration least, Duration most);
Rate uniform(double least, double most);
/// Normally distributed around `mean`, which is positive; `deviation` is not negative. Values are clamped to 0 and
/// twice the mean, which keeps the mean.
Timing normal(Duration mean, Duration deviation);
/// The same for a rate, clamped to 0.1 and 1.9 times the mean.
Rate normal(double mean, double deviation);
/// Mostly near `median`, which is positive, with a long tail, like the times of networks and models. `sigma`, from 0 to
/// 5, is the deviation of the natural logarithm. With 0.5, two thirds of the values lie between median / 1.65 and
/// median * 1.65. Values are clamped to the limits of a Timing or Rate.
Timing log_normal(Duration median, double sigma);
Rate log_normal(double median, double sigma);
/// The times of a recording in order, repeated after the last. For `every`, they are the gaps within one reply. For
/// `first_token_after`, each occurrence of a request uses the next time. Not empty.
Timing recorded(std::vector<Duration> times);
Rate recorded(std::vector<double> rates);

/// How the content of a stream is cut into deltas. Reasoning, text, refusal and the arguments of each tool call are cut
/// separately. `usage` and `max_tokens` still count tokens; pace, triggers and gates count deltas. Log probabilities
/// are sent with the delta in which their token ends.
class Chunking {
 public:
  enum class Kind { tokens, words, characters, bytes, pieces };

  /// `count` is at least 1.
  Chunking(Kind kind, std::size_t count);
  /// See by_pieces().
  explicit Chunking(std::vector<std::string> pieces);

  Kind kind() const { return kind_; }
  /// Returns the number of tokens, words, characters or bytes in a delta, or 1 for pieces.
  std::size_t count() const { return count_; }
  /// Returns the deltas of a Chunking of kind `pieces`, or empty for the other kinds.
  const std::vector<std::string>& pieces() const;

 private:
  Kind kind_;
  std::size_t count_;
  detail::HandlePointer<const std::vector<std::string>> pieces_;
};

/// `count` tokens per delta, at least 1. The default is by one token.
Chunking by_tokens(std::size_t count = 1);
/// `count` words per delta, with any tokenizer. A word includes the white space before it. Each CJK ideograph, kana or
/// hangul syllable is a word. In tool arguments, each run of letters or of punctuation is a word.
Chunking by_words(std::size_t count = 1);
/// `count` Unicode code points per delta. As with models, this splits composed emoji and letters with combining marks.
Chunking by_characters(std::size_t count = 1);
/// Whole code points that fit into `count` bytes of UTF-8, but at least one. JSON cannot carry a part of a code point.
Chunking by_bytes(std::size_t count);
/// Exactly these deltas. Concatenated, they must equal the scripted content: for each choice in turn its reasoning,
/// text, refusal and tool arguments. No piece spans two of these parts. Otherwise the request gets 500, which verify()
/// reports. `stop` and `max_tokens` cut the pieces too. Each piece is UTF-8 and not empty.
Chunking by_pieces(std::vector<std::string> pieces);

/// The timing of a reply's tokens and their division into deltas. Times are on the gateway's clock and count from the
/// complete request. A value; each setter returns a changed copy. Default: Options::pace, else at once, token by token.
/// Deadlines are absolute, so that delays do not add up.
///
/// A reply that is not streamed is sent when its last token would be. All choices of a reply share the pace.
class Pace {
 public:
  /// Sets the time from the complete request to the first token.
  [[nodiscard]] Pace first_token_after(Timing delay) const;
  /// Sets the time between deltas, regardless of their size. Replaces tokens_per_second.
  [[nodiscard]] Pace every(Timing gap) const;
  /// Sets the speed of the reply, regardless of how it is cut. A delta of four tokens takes four times as long as a
  /// delta of one, and half a token half as long. An element of chunks() counts as one token. Replaces every.
  [[nodiscard]] Pace tokens_per_second(Rate rate) const;
  [[nodiscard]] Pace chunked(Chunking chunking) const;

  const std::optional<Timing>& first_token() const { return first_token_; }
  const std::optional<Timing>& gap() const { return gap_; }
  const std::optional<Rate>& rate() const { return rate_; }
  const std::optional<Chunking>& chunking() const { return chunking_; }
  bool sets_anything() const { return first_token_ || gap_ || rate_ || chunking_; }
  /// Returns this pace with its unset parts taken from `others`.
  [[nodiscard]] Pace or_else(const Pace& others) const;

 private:
  std::optional<Timing> first_token_;
  std::optional<Timing> gap_;
  std::optional<Rate> rate_;  // never with a gap
  std::optional<Chunking> chunking_;
};

}  // namespace mock_gateway
