// Operations of channels, ranks and switches make refs stale, too. As packets, a chunk takes the memory of two.
// RUN: %verify %s --max-errors=0
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 2) {
  CollectiveProgram program("p", AllReduce(ranks, 2, false));
  const Buffer mine(0, 8), theirs(1, 8);
  const Chunk own = Rank(0).input()[0];
  const ChunkRef put = chunk(1, BufferType::Output, 0); // expected-note@:24 {{the ref was taken here}}
  const ChunkRef copied = chunk(0, BufferType::Output, 0); // expected-note@:27 {{the ref was taken here}}
  const ChunkRef multicast = chunk(1, BufferType::Output, 2); // expected-note@:30 {{the ref was taken here}}
  const ChunkRef reduced = chunk(0, BufferType::Output, 3); // expected-note@:28 {{the ref was taken here}}
  const ChunkRef packed = chunk(1, BufferType::Scratch, 3); // expected-note@:27 {{the ref was taken here}}
  const ChunkRef beside = chunk(1, BufferType::Scratch, 4);
  MemoryChannel channel(1, 0);
  channel.put(Rank(1).output()[0], own, tb(0)); // expected-note@:11 {{they are overwritten here}}
  Rank(0).copy(Rank(0).output()[0], own, tb(0)); // expected-note@:11 {{they are overwritten here}}
  SwitchChannel nvls({0, 1}, BufferType::Output);
  nvls.atRank(0).broadcast(Rank(0).input()[2], 2, 1, tb(0)); // expected-note@:18 {{they are overwritten here}}
  nvls.atRank(0).reduce(3, 1, Rank(0).output()[3], tb(0)); // expected-note@:18 {{they are overwritten here}}
  channel.putPackets(theirs[1], own, tb(0)); // expected-note@:11 {{they are overwritten here}}
  put.copy(1, BufferType::Output, 3, {.sendtb = 0}); // expected-error@:7 {{this ref is stale, as chunks 0:1 of rank 1's output were overwritten after it was taken}}
  copied.copy(0, BufferType::Output, 1, {.sendtb = 0}); // expected-error@:10 {{this ref is stale, as chunks 0:1 of rank 0's output were overwritten after it was taken}}
  multicast.copy(1, BufferType::Output, 3, {.sendtb = 0}); // expected-error@:13 {{this ref is stale, as chunks 2:3 of rank 1's output were overwritten after it was taken}}
  reduced.signal(1, BufferType::Output, 3, {.sendtb = 0}); // expected-error@:11 {{this ref is stale, as chunks 3:4 of rank 0's output were overwritten after it was taken}}
  packed.copy(1, BufferType::Output, 1, {.sendtb = 0}); // expected-error@:10 {{this ref is stale, as chunks 3:4 of rank 1's scratch buffer were overwritten after it was taken}}
  beside.copy(1, BufferType::Output, 1, {.sendtb = 0});
}
