// Prints the outcomes that the axioms allow for a litmus program: ptx_litmus < PROGRAM. Each line of PROGRAM is a
// thread, `DEVICE BLOCK BODY` (litmus.h), or what a location holds at the beginning, `= LETTER VALUE`. An outcome is a
// line: the results, then the locations.
#include "litmus.h"

#include <cstdio>
#include <iostream>
#include <sstream>

int main() {
  using namespace mscclc::ptx;
  Litmus litmus;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    if (line.starts_with("=")) {
      char location = 0;
      words.ignore(1) >> location;
      words >> litmus.initial[location];
    } else {
      LitmusThread thread;
      words >> thread.device >> thread.block;
      std::getline(words, thread.body);
      litmus.threads.push_back(thread);
    }
  }
  try {
    const Allowed allowed = enumerate(litmus);
    if (allowed.isCut)
      throw Unknown("too many events");
    for (const Outcome &outcome : allowed.outcomes) {
      for (const std::uint64_t value : outcome.results)
        std::printf("%llu ", static_cast<unsigned long long>(value));
      for (const std::uint64_t value : outcome.memory)
        std::printf("%llu ", static_cast<unsigned long long>(value));
      std::printf("\n");
    }
  } catch (const Unknown &unknown) {
    std::fprintf(stderr, "%s\n", unknown.what());
    return 2;
  }
  return 0;
}
