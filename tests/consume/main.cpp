// The smallest program that uses the library from two files.
#include <iostream>
#include <string>

#include "mock_gateway.hpp"

using namespace mock_gateway;

// The client under test uses these names too.
struct Message {};
struct Tool {};
struct ToolCall {};
struct Model {};
struct Header {};
struct Request {};
struct Response {};
struct Usage {};
struct Chunk {
  Message message;
  Tool tool;
  ToolCall call;
  Model model;
  Header header;
  Request request;
  Response response;
  Usage usage;
};
Chunk chunk(const std::string&) { return {}; }

std::string second_base_url();

int main() {
  static_cast<void>(chunk("Hello."));
  Gateway gateway;
  gateway.chat().reply("Hello.");
  const std::string first = gateway.base_url();
  const std::string second = second_base_url();
  std::cout << MOCK_GATEWAY_VERSION << ' ' << first << ' ' << second << '\n';
  const bool well = first.rfind("http://127.0.0.1:", 0) == 0 && second.rfind("http://127.0.0.1:", 0) == 0;
  return well && first != second ? 0 : 1;
}
