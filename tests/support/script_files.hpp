#pragma once

// Temporary files for tests of script documents, and the corpora of documents in tests/document.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "mock_gateway.hpp"

namespace test_support {

/// A file in a new folder. The destructor removes the file and the folder.
class ScriptFile {
 public:
  explicit ScriptFile(const std::string& text, const std::string& name = "demo.jsonc")
      : folder_(std::filesystem::temp_directory_path() /
                ("mock_gateway_" + std::to_string(::getpid()) + "_" + std::to_string(counter()++))) {
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / name).string();
    write(text);
  }
  ~ScriptFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ScriptFile(const ScriptFile&) = delete;
  ScriptFile& operator=(const ScriptFile&) = delete;

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  const std::string& path() const { return path_; }

 private:
  static int& counter() {
    static int next = 0;
    return next;
  }
  std::filesystem::path folder_;
  std::string path_;
};

/// Returns the lines of tests/document/NAME. Each line is a JSON object.
inline std::vector<mock_gateway::Json> script_corpus(const std::string& name) {
  const std::string here = __FILE__;
  const std::string path = here.substr(0, here.rfind("support/script_files.hpp")) + "document/" + name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<mock_gateway::Json> cases;
  for (std::string line; std::getline(file, line);) cases.push_back(mock_gateway::Json::parse(line));
  return cases;
}

}  // namespace test_support
