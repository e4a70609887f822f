#pragma once

// Runs the curl commands of exchanges in a POSIX shell. Windows has none.

#ifndef _WIN32

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace test_support {

struct Shell {
  int status;
  std::string output;
};

/// Runs a command of as_curl() in a POSIX shell without a proxy, with `key` in OPENAI_API_KEY. Writes the command to a
/// file first, because Linux limits an argument of a program to 128 KiB.
inline Shell run_curl(const std::string& command, const std::string& key) {
  std::string path = (std::filesystem::temp_directory_path() / "mock_gateway_curl_XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) throw std::runtime_error("cannot create " + path);
  close(file);
  std::ofstream(path) << "export OPENAI_API_KEY='" << key << "' no_proxy='*'\n"
                      << command << " --silent --show-error --output /dev/null --max-time 10\n";
  Shell result{-1, ""};
  if (std::FILE* const pipe = popen(("sh '" + path + "' 2>&1").c_str(), "r")) {
    std::array<char, 4096> bytes{};
    for (std::size_t size = 0; (size = std::fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) {
      result.output.append(bytes.data(), size);
    }
    const int status = pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::remove(path.c_str());
  return result;
}

}  // namespace test_support

#endif
