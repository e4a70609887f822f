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

/// An error that makes judging the client impossible. The message has several lines.
struct UnusableClient : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the client's output as lines to append to a message.
std::string printed_by(const std::string& output, const std::string& errors);

/// One call for the client under test.
struct CallJob {
  const Gateway& gateway;
  Form form;
  std::string scenario;
  bool tools = false;
  /// Whether the client should request the usage of the stream.
  bool usage = false;
  /// The session's turn, which sets the key, and whether the caller cancels or abandons the call.
  const Mishap* turn = nullptr;
};

/// The result of a call.
struct CallResult {
  /// As reported by the client. After a hang, only the output until then.
  ClientOutcome outcome{};
  /// The error message shown to the user.
  std::string told{};
  /// Whether the error message contained the API key.
  bool told_the_key = false;
  /// The exit of a failed process: "sh exited with 3".
  std::string ended{};
  /// How the process ended, if it gave no answer.
  std::string crash{};
  /// Why no call was made: the driver does not know the job.
  std::string skipped{};
  /// Whether the answer has a `usage` member, which may be null.
  bool tells_usage = false;
  /// Invalid output in place of an outcome, with the reason.
  std::string problem{};
  double seconds = 0;
  /// The tails of stdout and stderr.
  std::string output{};
  std::string errors{};
  /// Leftover processes that `check` ended.
  std::string left_behind{};

  /// True if the client did the job and returned an outcome.
  bool has_answer() const { return !outcome.hung && crash.empty() && skipped.empty() && problem.empty(); }
};

/// Replaces the key by `$OPENAI_API_KEY` in everything the client reported, since reports are shared.
void mask(CallResult& result, const std::string& key);
/// Returns whether the text contained the key.
bool mask(std::string& text, const std::string& key);

/// A client under test. Makes one call at a time; not thread-safe.
class ClientUnderTest {
 public:
  /// `children` and `flags` must outlive it. `words` are the command.
  ClientUnderTest(Children& children, const CheckFlags& flags, std::vector<std::string> words);
  ClientUnderTest(const ClientUnderTest&) = delete;
  ClientUnderTest& operator=(const ClientUnderTest&) = delete;
  virtual ~ClientUnderTest();

  /// Throws BadValue if the client cannot be started, UnusableClient if it does not accept jobs.
  virtual CallResult call(const CallJob& job) = 0;
  /// Tells the client to use another key for this gateway from now on.
  virtual CallResult use_key(const Gateway& gateway, const std::string& key) = 0;
  /// The client's name and version; empty if unknown.
  virtual std::string name() const { return {}; }
  virtual std::string version() const { return {}; }

 protected:
  Children& children_;
  const CheckFlags& flags_;
  const std::vector<std::string> words_;
  const std::chrono::milliseconds timeout_;
};

std::unique_ptr<ClientUnderTest> make_client(Children& children, const CheckFlags& flags,
                                             const std::vector<std::string>& command);

}  // namespace endpoint
}  // namespace mock_gateway
