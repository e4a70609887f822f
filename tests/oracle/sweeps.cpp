// Sweeps of random replies: for each step, the received bytes, the writes, and how the connection ends.

#include <optional>
#include <string>
#include <vector>

#include "fuzz/plan.hpp"
#include "oracle.hpp"
#include "support/client.hpp"

namespace oracle {
namespace {

/// The results of one step, or of the run without a fault before it.
struct Asked {
  test_support::RawConnection::Received received;
  std::vector<Outgoing::Write> writes;
};

void tell(const SweepStep& step, const Asked& asked, Transcript& transcript) {
  transcript << "step " << step.name() << " reached " << step.reached() << '\n';
  transcript.bytes("received", asked.received.bytes);
  transcript.text("end", to_string(asked.received.end));
  for (const Exchange& exchange : step.exchanges()) tell(exchange, transcript);
  tell(asked.writes, transcript);
}

SweepOptions drawn_options(reply_plans::Draw& draw) {
  SweepOptions options;
  if (draw.once_in(3)) options = options.every_byte();
  if (draw.once_in(3))
    options =
        options.effects({draw.one_of<Effect>({close_connection(), reset_connection(), half_close(), garbage("?")}),
                         draw.one_of<Effect>({truncate(), wrong_content_length(7), duplicate_event()})});
  return options;
}

}  // namespace

std::string sweep(std::size_t number) {
  reply_plans::Draw draw(detail::fingerprint("oracle sweep/" + std::to_string(number)));
  const reply_plans::Plan plan(detail::fingerprint("oracle swept plan/" + std::to_string(number)), false);
  const ManualClock manual;
  Gateway gateway{Options().seed(number).clock(manual).verify_on_destruction(false)};
  Asked asked;
  // The request asks for a close, so that the client sees the end of each reply.
  const auto ask = [&] {
    const Outgoing outgoing(gateway, [&manual] { return manual.now().time_since_epoch(); });
    test_support::RawConnection connection(gateway);
    connection.send(request_of(gateway, plan.told()["request"], true));
    asked.received = connection.receive_all();
    asked.writes = outgoing.writes();
  };
  Transcript transcript;
  const auto tell_all = [&](const Sweep& sweep) {
    transcript << sweep.size() << " steps\n";
    for (const SweepStep& step : sweep) tell(step, asked, transcript);
  };
  // Some sweeps run completely, with hundreds of steps.
  const SweepOptions options = draw.once_in(10) ? SweepOptions() : drawn_options(draw).limit(12);
  std::optional<Sweep> broken;
  try {
    broken.emplace(gateway.sweep(plan.reply(), ask, options, scripted_at));
  } catch (const GatewayError&) {  // the reply has a pace, and a sweep does not advance the clock
    return "left out";
  }
  tell_all(*broken);
  tell_all(gateway.sweep(plan.reply(), ask, (draw.once_in(3) ? splits().body_only() : splits()).limit(6), scripted_at));
  transcript.text("verify", gateway.verify().message());
  return transcript.str();
}

}  // namespace oracle
