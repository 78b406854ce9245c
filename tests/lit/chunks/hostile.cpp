// Places that are not there, and refs that stand for nothing. What uses a faulty ref is passed over.
// RUN: %verify %s --max-errors=0 --algorithm places
// RUN: %verify --prefix=outside %s --max-errors=0 --algorithm outside
// RUN: %verify --prefix=nested %s --max-errors=0 --algorithm nested
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void places(int ranks = 2) {
  CollectiveProgram program("p", AllGather(ranks, 1, false), {.schedule = Schedule::Auto});
  const ChunkRef a = chunk(0, BufferType::Input, 0);
  const ChunkRef none;
  none.put(1, BufferType::Output, 0); // expected-error@:8 {{'put' of a ref that was never made}}
  ChunkRef(a).reduce(none); // expected-error@:15 {{'reduce' of a ref that was never made}}
  const ChunkRef bad = chunk(2, BufferType::Input, 0); // expected-error@:24 {{rank 2 is out of range: the program's ranks are 0 to 1}}
  bad.put(1, BufferType::Output, 0).copy(9, BufferType::Output, 9);
  chunk(-1, BufferType::Input, 0); // expected-error@:3 {{rank -1 is out of range: the program's ranks are 0 to 1}}
  chunk(0, BufferType::Input, -1); // expected-error@:3 {{chunks -1:0 are out of range: indices are not negative, and do not count from the end}}
  chunk(0, BufferType::Input, 0, 0); // expected-error@:3 {{a ref cannot have 0 chunks: it has at least 1}}
  chunk(0, BufferType::Input, 0, -9223372036854775807 - 1); // expected-error@:3 {{a ref cannot have -9223372036854775808 chunks: it has at least 1}}
  chunk(0, BufferType::Input, 0, 2); // expected-error@:3 {{chunks 0:2 of rank 0's input are out of range: it has 1 chunk}}
  chunk(1, BufferType::Output, 9223372036854775807, 9223372036854775807); // expected-error@:3 {{chunks 9223372036854775807:9223372036854775807 of rank 1's output are out of range: it has 2 chunks}}
  chunk(0, BufferType::Scratch, 4294967295); // expected-error@:3 {{rank 0's scratch is too large: 4294967296 chunks, of at most 4294967295}}
  a.put(7, BufferType::Output, 0); // expected-error@:5 {{rank 7 is out of range: the program's ranks are 0 to 1}}
  a.put(1, BufferType::Output, 2); // expected-error@:5 {{chunks 2:3 of rank 1's output are out of range: it has 2 chunks}}
  ChunkRef(a).get(1, BufferType::Input, -5); // expected-error@:15 {{chunks -5:-4 are out of range: indices are not negative}}
  chunk(0, static_cast<BufferType>(7), 0).put(1, BufferType::Output, 0); // expected-error@:3 {{7 is not a valid value of type 'BufferType'}}
  a.put(1, static_cast<BufferType>(3), 0); // expected-error@:5 {{3 is not a valid value of type 'BufferType'}}
  a.put(1, BufferType::Output, 0, {.channel = static_cast<ChannelType>(2)}); // expected-error@:5 {{2 is not a valid value of type 'ChannelType'}}
  a.copy(1, BufferType::Scratch, 9223372036854775807); // expected-error@:5 {{rank 1's scratch is too large: 9223372036854775807 chunks, of at most 4294967295}}
}

MSCCLC_ALGORITHM void outside() {
  chunk(0, BufferType::Input, 0); // outside-error@:3 {{'chunk' outside a program: it belongs between the construction of a CollectiveProgram and its end}}
  ChunkRef kept;
  {
    CollectiveProgram program("p", AllGather(2, 1, true), {.schedule = Schedule::Auto});
    kept = chunk(0, BufferType::Input, 0);
  }
  kept.put(1, BufferType::Output, 0); // outside-error@:8 {{'put' outside a program}}
}

MSCCLC_ALGORITHM void nested() {
  CollectiveProgram program("p", AllGather(2, 1, true), {.schedule = Schedule::Auto}); // nested-note@:21 {{the first program begins here}}
  const ChunkRef mine = chunk(0, BufferType::Input, 0);
  ChunkRef theirs;
  {
    CollectiveProgram other("q", AllGather(4, 1, true)); // nested-error@:23 {{two programs at once: 'q' begins before 'p' has ended}}
    theirs = chunk(3, BufferType::Input, 0);
    mine.put(3, BufferType::Output, 0);
  }
  theirs.put(1, BufferType::Output, 0);
  mine.put(1, BufferType::Output, 2); // nested-error@:8 {{chunks 2:3 of rank 1's output are out of range: it has 2 chunks}}
}
