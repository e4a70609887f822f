#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../library.hpp"
#include "check_flags.hpp"
#include "child.hpp"

namespace mock_gateway {
namespace endpoint {

/// A client that cannot be judged at all. The message has several lines.
struct UnusableClient : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a client has printed, as lines behind a message.
std::string printed_by(const std::string& output, const std::string& errors);

/// A call that the client under test is to make.
struct CallJob {
  const Gateway& gateway;
  Form form;
  std::string scenario;
  bool tools = false;
  /// Whether the client is to ask for the usage of the stream.
  bool usage = false;
  /// The turn of a session that the call is: it says the key, and whether the call's caller ends it.
  const Mishap* turn = nullptr;
};

/// What became of a call.
struct CallResult {
  /// As the client told it; of one that hung, what it had told by then.
  ClientOutcome outcome{};
  /// What its user was told of an error.
  std::string told{};
  /// Whether that had the key in it.
  bool told_the_key = false;
  /// How a process that failed ended: "sh exited with 3".
  std::string ended{};
  /// Its process ended without an answer: how.
  std::string crash{};
  /// Why there was no call: a driver that does not know the job.
  std::string skipped{};
  /// Whether the answer has a `usage`, be it null.
  bool tells_usage = false;
  /// What it answered in place of an outcome, and what is wrong with that.
  std::string problem{};
  double seconds = 0;
  /// The ends of what it printed.
  std::string output{};
  std::string errors{};
  /// What it left behind, which was ended.
  std::string left_behind{};

  /// Whether the client did the job and said so.
  bool has_answer() const { return !outcome.hung && crash.empty() && skipped.empty() && problem.empty(); }
};

/// Puts `$OPENAI_API_KEY` in place of the key, wherever the client has said it: reports are read by others.
void mask(CallResult& result, const std::string& key);
/// Whether it was there.
bool mask(std::string& text, const std::string& key);

/// A client under test, which makes one call after another. One thread uses it.
class ClientUnderTest {
 public:
  ClientUnderTest() = default;
  ClientUnderTest(const ClientUnderTest&) = delete;
  ClientUnderTest& operator=(const ClientUnderTest&) = delete;
  virtual ~ClientUnderTest();

  /// Throws BadValue when it cannot be started, UnusableClient when it does not take jobs.
  virtual CallResult call(const CallJob& job) = 0;
  /// Tells the client of this gateway the key that it is to use from now on.
  virtual CallResult use_key(const Gateway& gateway, const std::string& key) = 0;
  /// What it calls itself, and its version; empty where it does not tell.
  virtual std::string name() const { return {}; }
  virtual std::string version() const { return {}; }
};

/// The client that the flags and the command say.
std::unique_ptr<ClientUnderTest> make_client(Children& children, const CheckFlags& flags,
                                             const std::vector<std::string>& command);

}  // namespace endpoint
}  // namespace mock_gateway
