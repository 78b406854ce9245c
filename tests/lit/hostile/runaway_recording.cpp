// Operations without end.
// RUN: %verify %s --trace-memory=16M
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f() {
  CollectiveProgram program("endless", AllGather(2, 1, true));
  MemoryChannel channel(0, 1);
  // expected-error@+1:3 {{the algorithm records more than 16 MiB of operations}}
  for (;;)
    channel.signal(tb(0));
}
