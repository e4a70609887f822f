#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../answer/completion.hpp"
#include "../core/duration.hpp"
#include "../delivery/pace_schedule.hpp"
#include "../evidence/journal.hpp"
#include "../model/failure.hpp"
#include "../model/profile.hpp"
#include "../model/received_request.hpp"
#include "../model/reply.hpp"
#include "../script/chaos_rules.hpp"
#include "../script/script.hpp"

namespace mock_gateway {
namespace detail {

/// How an answer leaves. By default at once and whole.
struct DeliveryPlan {
  /// Says the faults, the holds and the dialect; null: none.
  std::shared_ptr<const Reply> reply;
  /// The rules of chaos that are applied to the reply.
  std::vector<ChaosRules::Hit> chaos;
  /// How many of the reply's faults were scripted, where there is chaos; those of chaos follow them.
  std::size_t scripted_faults = 0;
  /// Interim responses in front of the answer.
  std::string interim;
  PaceSchedule pace;
  /// When its pace begins; nothing: when the request was complete.
  std::optional<TimePoint> start;
  bool stream = false;
  /// What the events of a streamed completion are made from.
  std::optional<Completion> completion;
  /// The content deltas of a plain completion, which the pace counts.
  std::size_t token_count = 0;
  /// What a completion has that the simplest has not, once it was sent whole: "finish_reason length was sent".
  std::string unusual;
};

/// The answer to one request. There is one for each request: the judge makes it and changes it in place, the runner
/// delivers it.
struct Answer {
  Decision decision;
  int status = 200;
  std::string content_type = "application/json";
  wire::Headers headers;
  std::string body;
  /// The code of a failure.
  std::string error_code;
  /// The message of a failure of the documented rules.
  std::string refusal;
  /// The stub that answers; null when none does.
  std::shared_ptr<StubState> stub;
  StubState::Use use;
  DeliveryPlan delivery;

  /// Status, headers and body become those of a failure at that time. The rest stays.
  void become(const Failure& failure, Profile profile, TimePoint now);
  /// The same, decided as `kind`. What a reply gave to the answer is dropped, the stub stays.
  void fail(const Failure& failure, Decision::Kind kind, Profile profile, TimePoint now);
};

}  // namespace detail
}  // namespace mock_gateway
