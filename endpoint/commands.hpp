// The functions of the subcommands.

#pragma once

#include <string>
#include <vector>

#include "check/check_flags.hpp"
#include "flags.hpp"

namespace mock_gateway {
namespace endpoint {

// The subcommands. Each returns the program's exit code.

/// Serves until SIGINT or SIGTERM, of which all threads but this one know nothing.
int serve(const Flags& flags);
/// Serves while the command runs, and judges it.
int run(const Flags& flags, const std::vector<std::string>& command);
/// Calls a client in every scenario, and says what it made of them.
int check(const CheckFlags& flags, const std::vector<std::string>& command);
/// Says whether scripts can be served. `format`: "text" or "json".
int validate(const std::vector<std::string>& paths, const std::string& format);
/// Prints the script that serves what a file, or standard input for "-", recorded: the body of a stream, the output of
/// `curl -i`, a HAR file, or a JSON body. Served, each reply has the recorded body byte for byte, but for keys, which
/// become asterisks. Throws importing::ImportError.
int import_recording(const std::string& path);
/// Prints a line for each scenario, or all that each says of itself.
int list_scenarios(bool as_json);

}  // namespace endpoint
}  // namespace mock_gateway
