// A ref is stale once something else is written to any of its chunks. The error tells where it is used, where its chunks
// were overwritten last, and where it was taken.
// RUN: %verify %s --max-errors=0
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 4) {
  CollectiveProgram program("p", AllReduce(ranks, 2, false), {.schedule = Schedule::Auto});
  const ChunkRef source = chunk(0, BufferType::Input, 0, 2);

  const ChunkRef whole = source.put(1, BufferType::Output, 0);
  // The second half of it, by another size.
  chunk(2, BufferType::Input, 0).put(1, BufferType::Output, 1); // expected-note@:34 {{they are overwritten here}}
  // expected-note@-3:33 {{the ref was taken here}}
  // expected-error@+1:9 {{this ref is stale, as chunks 0:2 of rank 1's output were overwritten after it was taken: use the ref that the overwriting call returned, or take chunk() again}}
  whole.put(2, BufferType::Output, 0);
  chunk(1, BufferType::Output, 0).put(2, BufferType::Output, 0); // the first half is as it was

  // What a call has written over its own ref is what the ref stands for; a copy of the ref from before is stale.
  ChunkRef sum = chunk(3, BufferType::Output, 0, 2).get(0, BufferType::Input, 0);
  const ChunkRef before = sum; // expected-note@-1:53 {{the ref was taken here}}
  sum.reduce(source);
  sum.reduce(source); // expected-note@:7 {{they are overwritten here}}
  sum.put(2, BufferType::Output, 2);
  // expected-error@+1:7 {{the other ref is stale, as chunks 0:2 of rank 3's output were overwritten after it was taken}}
  sum.reduce(before);

  // A ref from before a loop, whose body overwrites it: the first round is in order, the others are not.
  const ChunkRef home = chunk(0, BufferType::Output, 4); // expected-note@:25 0+ {{the ref was taken here}}
  for (int rank = 1; rank < ranks; ++rank) {
    home.put(rank, BufferType::Scratch, 0); // expected-error@:10 {{this ref is stale, as chunks 4:5 of rank 0's output were overwritten after it was taken}}
    // expected-note@"" {{and 1 more like it}}
    chunk(rank, BufferType::Input, 0).put(0, BufferType::Output, 4); // expected-note@:39 0+ {{they are overwritten here}}
  }

  // Statements of the other language write, too.
  const ChunkRef old = chunk(0, BufferType::Output, 6); // expected-note@:24 {{the ref was taken here}}
  copy(Rank(0).output()[6], Rank(1).input()[6]); // expected-note@:3 {{they are overwritten here}}
  old.put(1, BufferType::Output, 6); // expected-error@:7 {{this ref is stale, as chunks 6:7 of rank 0's output were overwritten after it was taken}}

  // What goes to the same chunks of another rank or buffer, or onto itself, overwrites nothing.
  const ChunkRef kept = chunk(0, BufferType::Output, 7);
  source.put(1, BufferType::Output, 6);
  source.copy(0, BufferType::Scratch, 6);
  copy(Rank(0).output()[7], Rank(0).output()[7]);
  kept.copy(0, BufferType::Output, 7).put(2, BufferType::Output, 7);
  kept.put(3, BufferType::Output, 7);
}
