// Uses the library of the page of the language.
#include "exchange.hpp"
using namespace mscclc;

MSCCLC_ALGORITHM void exchange() {
  CollectiveProgram program("exchange", AllReduce(2, 1, true));
  const auto [channel, back] = MemoryChannel::pair(0, 1);
  send(channel, 9);
}
