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

/// Returns the default effects of a sweep, a base for custom SweepOptions::effects: close_connection, reset_connection,
/// half_close, truncate, garbage, stall of 10 ms, error_event of a server error, skip_event, duplicate_event. Each ends
/// by itself, unless the client does not close its side after a FIN.
std::vector<Effect> sweep_effects();

/// The settings of a sweep; see Gateway::sweep. A value; each setter returns a changed copy.
class SweepOptions {
 public:
  SweepOptions();

  /// Sets the effects instead of sweep_effects(), at least one. Throws GatewayError for splits().
  [[nodiscard]] SweepOptions effects(std::vector<Effect> effects) const;
  /// Also breaks the reply at every byte of the body. Throws GatewayError for splits(), which cover every byte anyway.
  [[nodiscard]] SweepOptions every_byte() const;
  /// Limits the number of steps, at least 1. They are spread evenly and are always the same.
  [[nodiscard]] SweepOptions limit(std::size_t steps) const;
  /// Splits only inside the body, including HTTP chunk framing. Throws GatewayError unless used with splits().
  [[nodiscard]] SweepOptions body_only() const;
  /// Divides the body of a stream into two HTTP chunks instead of two writes: after its first byte, after its second,
  /// and so on. Counts compressed bytes if the dialect has gzip. The whole answer is one write. Throws GatewayError
  /// unless used with splits(). The sweep throws it for a plain answer, over HTTP/1.0, and for open_after_done.
  [[nodiscard]] SweepOptions http_chunks() const;
  /// Restricts the sweep to requests that match all of these; the script answers the others.
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

/// A sweep without faults: each step sends the whole reply in two writes (Reply::split_write). The first step divides
/// it after byte 1 of all bytes, including the head, the next after byte 2, and so on. A parser with the same result
/// each time does not depend on complete pieces. A step takes 1 to 2 ms of real time.
SweepOptions splits();

/// A completed step of a sweep: how the reply was sent, and the client's requests. A value; its exchanges are handles.
class SweepStep {
 public:
  /// Returns, for example, "reset the connection after 3 events (540 of 1422 bytes of the body)".
  const std::string& name() const { return name_; }
  /// Returns the place where the reply broke. Throws GatewayError for a split.
  const Trigger& trigger() const;
  /// Returns the effect that broke the reply. Throws GatewayError for a split.
  const Effect& effect() const;
  /// Returns the number of bytes before the second write or chunk. Throws GatewayError unless the sweep is splits().
  std::size_t split() const;
  /// Returns the exchanges in the journal that the step's reply answered, oldest first; several if the client retried.
  /// They have ended, unless the client left one open for 1 s.
  const std::vector<Exchange>& exchanges() const { return exchanges_; }
  /// Whether one of exchanges() reached the place of the fault or split.
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

/// A range of steps, each run when the loop reaches it; see Gateway::sweep. An input range with one pass; begin()
/// restarts with the first step. The first begin() or size() makes the unbroken run, only once. A handle: copies share
/// it, and it may outlive its gateway. Not thread-safe.
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
    /// Runs the next step. Has no effect at the end and after a move.
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

  /// Makes the unbroken run if necessary, and the first step. Lets exceptions of the callable pass.
  Iterator begin() const { return Iterator(run_); }
  Iterator end() const { return {}; }
  /// Returns the number of steps. Makes the unbroken run if necessary.
  std::size_t size() const;

 private:
  detail::HandlePointer<detail::SweepRun> run_;
};

}  // namespace mock_gateway
