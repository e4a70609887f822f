// Sends a question and prints the answer as it arrives: chat_cli "What is the capital of France?" Reads OPENAI_API_KEY,
// OPENAI_BASE_URL and OPENAI_MODEL from the environment.

#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "chat_client.hpp"

int main(int count, char** arguments) {
  std::string prompt;
  for (int i = 1; i < count; ++i) prompt += (i > 1 ? " " : "") + std::string(arguments[i]);
  if (prompt.empty()) {
    std::cerr << "usage: " << arguments[0] << " PROMPT\n";
    return 2;
  }
  try {
    auto client = chat_client::ChatClient::from_environment();
    const auto result = client.stream(prompt, [](std::string_view text) {
      std::cout << text << std::flush;
      return static_cast<bool>(std::cout);  // stop if stdout is closed
    });
    if (!result.received().empty()) std::cout << std::endl;
    result.joined();
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "chat_cli: " << problem.what() << "\n";
    return 1;
  }
}
