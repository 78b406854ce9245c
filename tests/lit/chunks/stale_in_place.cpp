// In place, input and output are the same memory, so what is written to one makes refs of the other stale.
// RUN: %verify %s --max-errors=0
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 3) {
  CollectiveProgram program("p", AllGather(ranks, 2, /*inplace=*/true), {.schedule = Schedule::Auto});
  // The input of rank 1 is chunks 2:4 of its output.
  const ChunkRef first = chunk(1, BufferType::Input, 0), second = chunk(1, BufferType::Input, 1);
  const ChunkRef share = first.copy(1, BufferType::Output, 2); // onto itself
  first.put(0, BufferType::Output, 2);
  chunk(2, BufferType::Input, 0).put(1, BufferType::Output, 3); // expected-note@:34 {{they are overwritten here}}
  share.put(2, BufferType::Output, 2);
  // expected-note@-5:67 {{the ref was taken here}}
  second.put(0, BufferType::Output, 3); // expected-error@:10 {{this ref is stale, as chunks 1:2 of rank 1's input were overwritten after it was taken}}
  // And the other way round.
  const ChunkRef output = chunk(0, BufferType::Output, 0, 6); // expected-note@:27 {{the ref was taken here}}
  chunk(0, BufferType::Input, 1).reduce(second); // expected-error@:34 {{the other ref is stale, as chunks 1:2 of rank 1's input were overwritten after it was taken}}
  // expected-note@-10:67 {{the ref was taken here}}
  // expected-note@-8:34 {{they are overwritten here}}
  chunk(0, BufferType::Input, 1).reduce(first); // expected-note@:34 {{they are overwritten here}}
  output.put(1, BufferType::Output, 0); // expected-error@:10 {{this ref is stale, as chunks 0:6 of rank 0's output were overwritten after it was taken}}
}
