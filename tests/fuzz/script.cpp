// Fuzzes script documents. A text must either be rejected, with the same problems each time, or be read. Problems must
// have a place and a printable message. A gateway mounts a document that was read and removes it again.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "document/script_reader.hpp"
#include "document/script_sections.hpp"
#include "finding.hpp"

namespace fuzz {

using namespace mock_gateway;

constexpr double seconds = 5;

using Problems = std::vector<ScriptProblem>;

Problems errors_of(const Problems& problems) {
  Problems errors;
  for (const ScriptProblem& problem : problems)
    if (problem.severity == Severity::error) errors.push_back(problem);
  return errors;
}

void require_printable(const Problems& problems) {
  for (const ScriptProblem& problem : problems) {
    const std::string text = problem.to_string();
    require(!problem.message.empty(), "a problem without a message: " + text);
    require(detail::text::is_valid_utf8(text), "a problem is not UTF-8: " + text);
    require(text.size() < 4000, "a problem is too long: " + text);
    for (const char c : text)
      require(c == '\n' || static_cast<unsigned char>(c) >= ' ', "a problem contains control characters: " + text);
  }
}

/// Reads a document and returns its problems with their places.
Problems read_values(const detail::ScriptSource& source, const Json& document) {
  Problems problems;
  std::map<std::string, Gate> gates;
  detail::ScriptPlan plan;
  detail::ScriptReader reader(source, problems, gates);
  reader.guarded({document, ""}, &detail::read_document, &plan);
  return errors_of(problems);
}

class Target {
 public:
  void attack(std::string_view text) {
    const TimeLimit limit(seconds, "reading a script");
    detail::ScriptSource source{"fuzz.jsonc", std::string(text), {}};
    Problems problems;
    Json document;
    const bool parsed = detail::script_files::parse(source, document, problems);
    require_printable(problems);
    require(parsed || problems.size() == 1, "invalid JSON is not exactly one problem");
    if (!parsed) return;
    const bool has_duplicates = !problems.empty();

    const Problems errors = read_values(source, document);
    require_printable(errors);
    const auto told = [&source](const ScriptProblem& problem) { return source.places.count(problem.pointer) > 0; };
    for (const ScriptProblem& problem : errors)
      require(problem.line >= 1 && (told(problem) || problem.pointer.find('*') != std::string::npos),
              "a problem has no place: " + problem.to_string());
    try {
      const ScriptDocument script = ScriptDocument::from_json(document);
      for (const ScriptProblem& problem : errors)
        found("a text has a problem that its value does not have: " + problem.to_string());
      if (!has_duplicates) mount(script, document);
    } catch (const ScriptError& error) {
      require(!errors.empty(), std::string("a value has problems that its text does not have: ") + error.what());
      require(error.problems().size() <= 20, "more than 20 problems are shown");
      if (document.is_object() && document.contains("mock_gateway")) {
        require(error.problems().front().message == errors.front().message,
                "the first problem differs: " + error.problems().front().message);
      }
    }
  }

 private:
  void mount(const ScriptDocument& script, const Json& document) {
    static_cast<void>(script.options());
    if (!gateway_ || ++mounts_ % 256 == 0)
      gateway_ = std::make_unique<Gateway>(Options{}.clock(InstantClock{}).verify_on_destruction(false));
    try {
      LoadedScript loaded = script.mount(*gateway_);
      require(loaded.stubs().size() == (document.contains("stubs") ? document["stubs"].size() : 0), "a stub is lost");
      ScriptDocument::from_json({{"mock_gateway", 1}}).replace(*gateway_, loaded);
      require(loaded.stubs().empty(), "a stub remains after its replacement");
    } catch (const ScriptError& error) {
      // A document may name unknown keys, because only a gateway knows which keys exist.
      for (const ScriptProblem& problem : error.problems())
        require(document.contains("keys") || problem.message.rfind("the gateway has no key ", 0) == 0,
                "a valid script cannot be mounted: " + problem.to_string());
    } catch (const GatewayError& error) {
      // The secret of a key may be taken, because an earlier document had a key with that secret.
      require(document.contains("keys"), std::string("a valid script cannot be mounted: ") + error.what());
    }
  }

  std::unique_ptr<Gateway> gateway_;
  std::size_t mounts_ = 0;
};

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::Target target;
  target.attack({reinterpret_cast<const char*>(data), size});
  return 0;
}
