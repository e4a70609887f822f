// Mounts random replies for reply_plans.py, which requests and checks them.
//
//   reply_plans SEED
//
// Each line of stdin has a plan's number and the word "whole" or "broken". "broken" adds the plan's fault. The program
// answers with a line of JSON: the address, the request, and the expected reply. The same seed and number give the same
// plan.

#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>

#include "plan.hpp"

namespace reply_plans {

void serve(std::uint64_t seed) {
  constexpr Profile profiles[] = {Profile::documented, Profile::openai, Profile::dashscope, Profile::deepseek};
  const Profile profile = profiles[seed % 4];
  Gateway gateway{Options{}
                      .seed(seed)
                      .profile(profile)
                      .clock(InstantClock{})
                      .journal_limits(100, std::size_t{4} << 20)
                      .verify_on_destruction(false)};
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::uint64_t number = 0;
    std::string variant;
    words >> number >> variant;
    const Plan plan(detail::fingerprint(std::to_string(seed) + "/" + std::to_string(number)), variant == "broken");
    gateway.reset();
    gateway.chat().reply(plan.reply());
    Json description = plan.told();
    // The documented profile sends an empty code as it is.
    if (profile != Profile::documented && description.contains("error") && description["error"]["code"] == "")
      description["error"]["code"] = nullptr;
    description["port"] = gateway.port();
    description["key"] = gateway.api_key();
    std::cout << description.dump() << std::endl;
  }
}

}  // namespace reply_plans

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: reply_plans SEED\n";
    return 2;
  }
  reply_plans::serve(std::stoull(argv[1]));
  return 0;
}
