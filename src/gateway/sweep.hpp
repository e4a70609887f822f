#pragma once

#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/duration.hpp"
#include "../core/shared.hpp"
#include "../core/source_location.hpp"
#include "../evidence/journal.hpp"
#include "../model/fault.hpp"
#include "../model/reply.hpp"
#include "../script/matcher.hpp"

namespace mock_gateway {

namespace detail {

struct Access;
struct SweepPlan;

}  // namespace detail

/// What a sweep breaks a reply with unless SweepOptions::effects sets others, and what such a list may begin with:
/// close_connection, reset_connection, half_close, truncate, garbage, stall of 10 ms, error_event of a server error,
/// skip_event, duplicate_event. Every one comes to an end by itself, unless the client does not close its side after a
/// FIN.
std::vector<Effect> sweep_effects();

/// How a sweep goes; see Gateway::sweep. A value; each setter returns a changed copy.
class SweepOptions {
 public:
  SweepOptions();

  /// Breaks the reply with these, in place of sweep_effects(). GatewayError for an empty list, and for splits().
  [[nodiscard]] SweepOptions effects(std::vector<Effect> effects) const;
  /// Breaks the reply at every byte of the body besides. GatewayError for splits(), which are at every byte.
  [[nodiscard]] SweepOptions every_byte() const;
  /// Makes at most so many steps, spread evenly and always the same. At least 1, or GatewayError.
  [[nodiscard]] SweepOptions limit(std::size_t steps) const;
  /// Splits only inside the body, where the framing of HTTP's chunks counts too. GatewayError for what is not splits().
  [[nodiscard]] SweepOptions body_only() const;
  /// Sweeps the replies to requests that match all of these; the ordinary script answers the others. It is for one turn
  /// of an agent, or one of several tests on a gateway.
  template <class... Matchers>
  [[nodiscard]] SweepOptions when(Matchers&&... matchers) const {
    static_assert(sizeof...(matchers) > 0, "when(...) needs at least one matcher; leave it out to match every request");
    static_assert((std::is_convertible_v<Matchers, Matcher> && ...),
                  "when(...) takes matchers, such as user_says(\"weather\")");
    if constexpr ((std::is_convertible_v<Matchers, Matcher> && ...)) {
      return with({Matcher(std::forward<Matchers>(matchers))...});
    } else {
      return *this;
    }
  }

 private:
  friend struct detail::Access;
  SweepOptions with(std::initializer_list<Matcher> matchers) const;
  detail::SweepPlan& edit();

  detail::Shared<detail::SweepPlan> data_;  // copies share it until one of them is changed
};

/// A sweep that breaks nothing: the reply comes whole, in two writes (Reply::split_write), the second after byte 1, 2
/// and so on of everything that the client receives, the head included. A parser that yields the same each time
/// depends on no piece being whole. Each step takes a millisecond or two of real time.
SweepOptions splits();

/// One step of a sweep that is over: how the reply came, and what the client made of it. A value; its exchanges are
/// handles.
class SweepStep {
 public:
  /// "reset the connection after 3 events (540 of 1422 bytes of the body)", "split after byte 42 of 1650".
  const std::string& name() const { return name_; }
  /// Where the reply broke. GatewayError for a split.
  const Trigger& trigger() const;
  /// How the reply broke. GatewayError for a split.
  const Effect& effect() const;
  /// After which byte of the answer the second write began. GatewayError for a step of another sweep.
  std::size_t split() const;
  /// The requests that the step's reply answered and the journal holds, oldest first: a client that tries again makes
  /// several. They have ended, unless the client left one open for a second.
  const std::vector<Exchange>& exchanges() const { return exchanges_; }
  /// Whether one of exchanges() came to the place where the reply breaks or is split.
  bool reached() const { return reached_; }

  SweepStep(std::string name, std::optional<Fault> fault, std::size_t split, std::vector<Exchange> exchanges,
            bool reached);

 private:
  std::string name_;
  std::optional<Fault> fault_;
  std::size_t split_;
  std::vector<Exchange> exchanges_;
  bool reached_;
};

std::ostream& operator<<(std::ostream& out, const SweepStep& step);

namespace detail {

class SweepRun;

}  // namespace detail

/// A range of steps, each of which runs when the loop comes to it; see Gateway::sweep. An input range: one pass, and
/// begin() starts anew with the first step. The unbroken run is made once, by the first begin() or size(). A handle:
/// copies share it, and it may outlive its gateway. One thread at a time may use it.
class [[nodiscard]] Sweep {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = SweepStep;
    using difference_type = std::ptrdiff_t;
    using pointer = const SweepStep*;
    using reference = const SweepStep&;

    Iterator() = default;
    explicit Iterator(std::shared_ptr<detail::SweepRun> run);

    const SweepStep& operator*() const { return *step_; }
    const SweepStep* operator->() const { return step_.get(); }
    /// Makes the next step. At the end, and where it was moved from, there is none.
    Iterator& operator++();
    Iterator operator++(int);
    friend bool operator==(const Iterator& left, const Iterator& right) { return left.step_ == right.step_; }
    friend bool operator!=(const Iterator& left, const Iterator& right) { return left.step_ != right.step_; }

   private:
    void make_step();

    std::shared_ptr<detail::SweepRun> run_;
    std::size_t next_ = 0;
    std::shared_ptr<const SweepStep> step_;  // null at the end
  };

  explicit Sweep(std::shared_ptr<detail::SweepRun> run) : run_(std::move(run)) {}

  /// Makes the unbroken run, unless it was made, and the first step. Lets pass what the callable throws.
  Iterator begin() const { return Iterator(run_); }
  Iterator end() const { return {}; }
  /// How many steps there are. Makes the unbroken run, unless it was made.
  std::size_t size() const;

 private:
  detail::Lasting<detail::SweepRun> run_;
};

}  // namespace mock_gateway
