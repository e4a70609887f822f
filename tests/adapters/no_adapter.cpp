// A program without an adapter: it prints the gateway's problems and terminates.

#include <iostream>

#include "scenario.hpp"

using namespace mock_gateway;
using scenario::ask_what_no_stub_answers;

namespace {

void unmatched() {
  Gateway gateway;  // line: unmatched
  ask_what_no_stub_answers(gateway);
}

void unwinding() {
  Gateway gateway;  // line: unwinding
  ask_what_no_stub_answers(gateway);
  throw scenario::ClientGaveUp();  // NOLINT: on purpose
}

void examined() {
  Gateway gateway;
  ask_what_no_stub_answers(gateway);
  if (gateway.verify()) std::cerr << "verify() found nothing\n";
}

void opted_out() {
  Gateway gateway(Options{}.verify_on_destruction(false));
  ask_what_no_stub_answers(gateway);
}

}  // namespace

int main() {
  try {
    if (scenario::wanted("unmatched")) unmatched();
    if (scenario::wanted("unwinding")) unwinding();
    if (scenario::wanted("examined")) examined();
    if (scenario::wanted("opted out")) opted_out();
  } catch (const scenario::ClientGaveUp& error) {
    std::cerr << error.what() << '\n';
  }
}
