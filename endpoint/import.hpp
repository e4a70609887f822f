#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "mock_gateway.hpp"

/// A script that serves what `bytes` recorded: the body of a stream, the output of `curl -i`, a HAR file, or a JSON
/// body. What it is shows in its content; `name` is how messages and the script's comment call it. Served, each reply
/// has the recorded body byte for byte, but for keys, which become asterisks. Throws importing::ImportError for what
/// cannot become a script.
mock_gateway::Json import_script(std::string_view bytes, const std::string& name);

/// Prints the script of a file, of standard input for "-", and returns the exit code. Throws importing::ImportError,
/// also for a file that cannot be read.
int import_file(const std::string& path, std::ostream& out);
