// The functions of the subcommands.

#pragma once

#include <string>
#include <vector>

#include "check/check_flags.hpp"
#include "flags.hpp"

namespace mock_gateway {
namespace endpoint {

// Each subcommand returns the program's exit code.

/// Serves until SIGINT or SIGTERM, which all other threads block.
int serve(const Flags& flags);
/// Serves while the command runs, and verifies its requests.
int run(Flags flags, const std::vector<std::string>& command);
/// Runs a client through the scenarios, and reports the results.
int check(const CheckFlags& flags, const std::vector<std::string>& command);
/// Tells whether scripts are valid. `format`: "text" or "json".
int validate(const std::vector<std::string>& paths, const std::string& format);
/// Prints a script that replays a recording from a file, or from stdin for "-": the body of a stream, the output of
/// `curl -i`, a HAR file, or a JSON body. Replayed bodies are identical byte for byte, except for keys, which become
/// asterisks. `skip_missing_bodies` leaves out entries of a HAR file without a body. Throws importing::ImportError.
int import_recording(const std::string& path, bool skip_missing_bodies);
/// Prints one line per scenario, or all their details as JSON.
int list_scenarios(bool as_json);

}  // namespace endpoint
}  // namespace mock_gateway
