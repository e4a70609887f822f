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

/// Where a number comes from: always the same, drawn, or out of a list.
struct Distribution {
  enum class Kind { fixed, uniform, normal, log_normal, recorded };

  Kind kind = Kind::fixed;
  /// The number; or the least; the mean; the median.
  double first = 0;
  /// Unused; or the greatest; the deviation; that of the logarithm.
  double second = 0;
  /// What a number drawn beyond them becomes.
  double least = 0;
  double most = 0;
  Lasting<const std::vector<double>> list = {};

  bool fixed() const { return kind == Kind::fixed; }
  /// `index` counts from 0 and decides only where a list is; after its last element the list begins anew.
  double draw(Random& random, std::uint64_t index) const;
};

/// Throws GatewayError for a time that no pace can have; `what` names it.
double pace_nanoseconds(Duration time, const char* what);

}  // namespace detail

/// How long something takes: a fixed time, which any std::chrono duration converts to, or one that is drawn:
/// uniform(), normal(), log_normal(), recorded(). No time is negative or beyond 30 days, or GatewayError.
///
/// What is drawn follows from the gateway's seed, the request, and how often that request has come, never from when:
/// the same run repeats the same times.
class Timing {
 public:
  template <class Rep, class Period,
            std::enable_if_t<std::is_convertible_v<std::chrono::duration<Rep, Period>, Duration>, int> = 0>
  Timing(std::chrono::duration<Rep, Period> time)  // NOLINT: implicit, so that every(20ms) reads as it should
      : Timing(detail::Distribution{detail::Distribution::Kind::fixed, detail::pace_nanoseconds(time, "a time")}) {}

 private:
  friend struct detail::Access;
  explicit Timing(detail::Distribution nanoseconds);

  detail::Distribution distribution_;  // of nanoseconds
};

/// How many tokens leave in a second: a number, or drawn anew for each token as a Timing is. No rate is below one token
/// in 30 days or beyond one in a nanosecond, or GatewayError.
class Rate {
 public:
  Rate(double tokens_per_second);  // NOLINT: implicit, so that tokens_per_second(50) reads as it should

 private:
  friend struct detail::Access;
  explicit Rate(detail::Distribution tokens_per_second);

  detail::Distribution distribution_;  // of tokens per second
};

/// Any time from `least` to `most`, each as likely. GatewayError when `least` is the longer one.
Timing uniform(Duration least, Duration most);
Rate uniform(double least, double most);
/// The bell curve around `mean`, which is positive; `deviation` is not negative, or GatewayError. What lies below 0
/// becomes 0, and what lies beyond twice the mean becomes that, so that the mean stays what it is.
Timing normal(Duration mean, Duration deviation);
/// The same for a rate, which stays between a tenth of the mean and 1.9 times the mean.
Rate normal(double mean, double deviation);
/// Most near `median`, which is positive, and a long tail, as with networks and models. `sigma`, from 0 to 5, or
/// GatewayError, is the deviation of the natural logarithm: with 0.5, two thirds lie between median / 1.65 and median *
/// 1.65. What lies beyond the limits of a Timing or Rate becomes that limit.
Timing log_normal(Duration median, double sigma);
Rate log_normal(double median, double sigma);
/// The times of a recording, one after the other; after the last it begins anew. As `every` they are the gaps of one
/// reply, as `first_token_after` one for each occurrence of a request. Not empty, or GatewayError.
Timing recorded(std::vector<Duration> times);
Rate recorded(std::vector<double> rates);

/// How the content of a stream is cut into deltas: by_tokens(), by_words(), by_characters(), by_bytes(), by_pieces().
/// Reasoning, text, refusal and the arguments of each tool call are cut separately. It changes neither `usage` nor
/// what `max_tokens` pays for, which count tokens; pace, triggers and gates count deltas. Log probabilities come with
/// the delta in which their token ends.
class Chunking {
 public:
  enum class Kind { tokens, words, characters, bytes, pieces };

  /// GatewayError when `count` is 0.
  Chunking(Kind kind, std::size_t count);
  /// See by_pieces().
  explicit Chunking(std::vector<std::string> pieces);

  Kind kind() const { return kind_; }
  /// How many tokens, words, characters or bytes make up a delta; 1 for pieces.
  std::size_t count() const { return count_; }
  /// The deltas of a Chunking of kind `pieces`. Empty for the other kinds.
  const std::vector<std::string>& pieces() const;

 private:
  Kind kind_;
  std::size_t count_;
  detail::Lasting<const std::vector<std::string>> pieces_;
};

/// `count` tokens to a delta, at least 1, or GatewayError. By one token is how a reply is cut unless set otherwise.
Chunking by_tokens(std::size_t count = 1);
/// `count` words to a delta, whatever the gateway's tokenizer: a word has the white space before it, and each CJK
/// ideograph, kana or hangul syllable is one; in tool arguments, a run of letters or of punctuation is.
Chunking by_words(std::size_t count = 1);
/// `count` Unicode code points to a delta: a letter and its combining mark, or an emoji made of several, come apart, as
/// they do behind models.
Chunking by_characters(std::size_t count = 1);
/// As many whole code points as `count` bytes of UTF-8 hold, and at least one: JSON cannot carry half of one.
Chunking by_bytes(std::size_t count);
/// These deltas exactly. Joined they are what is scripted: of each choice in turn its reasoning, text, refusal and tool
/// arguments, a piece belonging to one of these; a request for which they are not is answered 500, which verify()
/// reports. What `stop` or `max_tokens` cut off is cut off the pieces too. Each is UTF-8 and not empty, or
/// GatewayError.
Chunking by_pieces(std::vector<std::string> pieces);

/// When the tokens of a reply leave, counted from the moment its request was complete, on the gateway's clock, and how
/// they are cut into deltas. A value; each setter returns a changed copy. What is not set is as Options::pace says,
/// else at once and a token at a time. Deadlines are absolute, so that lateness never adds up.
///
/// A reply that is not streamed leaves when its last token would have. Choices of one reply share the pace.
class Pace {
 public:
  /// The time from the complete request to the first token.
  [[nodiscard]] Pace first_token_after(Timing delay) const;
  /// The time from one delta to the next, however much it holds. Replaces tokens_per_second.
  [[nodiscard]] Pace every(Timing gap) const;
  /// The speed of the reply, however it is cut: a delta of four tokens takes as long as four of one, and each half of a
  /// token half as long. An element of chunks() is one token. Replaces every.
  [[nodiscard]] Pace tokens_per_second(Rate rate) const;
  /// How a stream is cut into deltas.
  [[nodiscard]] Pace chunked(Chunking chunking) const;

  const std::optional<Timing>& first_token() const { return first_token_; }
  const std::optional<Timing>& gap() const { return gap_; }
  const std::optional<Rate>& rate() const { return rate_; }
  const std::optional<Chunking>& chunking() const { return chunking_; }
  /// Whether any of the four is set.
  bool sets_anything() const { return first_token_ || gap_ || rate_ || chunking_; }
  /// This pace, with what it leaves open taken from `others`.
  [[nodiscard]] Pace or_else(const Pace& others) const;

 private:
  std::optional<Timing> first_token_;
  std::optional<Timing> gap_;
  std::optional<Rate> rate_;  // never with a gap
  std::optional<Chunking> chunking_;
};

}  // namespace mock_gateway
