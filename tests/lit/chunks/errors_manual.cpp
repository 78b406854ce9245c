// What a call in a program of Schedule::Manual lacks, or cannot do, each at its place.
// RUN: %verify %s --max-errors=0
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 3) {
  CollectiveProgram program("p", AllReduce(ranks, 1, false));
  ChunkRef a = chunk(0, BufferType::Input, 0), b = chunk(1, BufferType::Output, 0); // expected-note@:16 0+ {{chunk of rank 0 named here}}
  // expected-note@-1:52 0+ {{chunk of rank 1 named here}}
  // Thread blocks.
  a.put(1, BufferType::Output, 1); // expected-error@:5 {{'put' of a ref in a program of Schedule::Manual names no thread block: write {.sendtb = i}, or begin the program with .schedule = Schedule::Auto}}
  a.put(1, BufferType::Output, 1, {.recvtb = 0}); // expected-error@:5 {{'put' of a ref in a program of Schedule::Manual names no thread block: write {.sendtb = i}}}
  b.get(0, BufferType::Input, 1, {.sendtb = 0}); // expected-error@:5 {{'get' of a ref in a program of Schedule::Manual names no thread block: write {.recvtb = i}}}
  a.copy(0, BufferType::Output, 1); // expected-error@:5 {{'copy' of a ref in a program of Schedule::Manual names no thread block: write {.sendtb = i}}}
  a.reduce(chunk(0, BufferType::Input, 1)); // expected-error@:5 {{'reduce' of a ref in a program of Schedule::Manual names no thread block: write {.recvtb = i}}}
  ChunkRef c = chunk(0, BufferType::Input, 0), d = chunk(1, BufferType::Output, 0);
  c.signal(1, BufferType::Output, 0); // expected-error@:5 {{'signal' of a ref in a program of Schedule::Manual names no thread block: write {.sendtb = i}}}
  d.wait(0, BufferType::Output, 0, {.sendtb = 0}); // expected-error@:5 {{'wait' of a ref in a program of Schedule::Manual names no thread block: write {.recvtb = i}}}
  c.flush(1, BufferType::Output, 0); // expected-error@:5 {{'flush' of a ref in a program of Schedule::Manual names no thread block: write {.sendtb = i}}}
  c.put(1, BufferType::Output, 0, {.sendtb = -1}); // expected-error@:5 {{thread block -1 is out of range: thread blocks are 0 to 4095}}
  c.put(1, BufferType::Output, 0, {.sendtb = 0, .recvtb = 18446744073709551615u}); // expected-error@:5 {{thread block 18446744073709551615 is out of range}}
  c.copy(0, BufferType::Output, 1, {.sendtb = 1, .recvtb = 2}); // expected-error@:5 {{'copy' within a rank names two thread blocks, .sendtb = 1 and .recvtb = 2: one thread block executes it, so leave one out}}
  // A chunk that is copied onto itself, too.
  c.copy(0, BufferType::Input, 0); // expected-error@:5 {{'copy' of a ref in a program of Schedule::Manual names no thread block}}
  c.copy(0, BufferType::Input, 0, {.sendtb = -5}); // expected-error@:5 {{thread block -5 is out of range: thread blocks are 0 to 4095}}
  c.copy(0, BufferType::Input, 0, {.sendtb = 0, .recvtb = 3}); // expected-error@:5 {{'copy' within a rank names two thread blocks, .sendtb = 0 and .recvtb = 3: one thread block executes it, so leave one out}}

  // Between ranks, and within one.
  c.put(0, BufferType::Output, 0, {.sendtb = 0}); // expected-error@:5 {{'put' goes from rank 0 to itself: write copy(dst, buffer, index)}}
  ChunkRef(d).get(1, BufferType::Input, 0, {.recvtb = 0}); // expected-error@:15 {{'get' goes from rank 1 to itself: write copy(dst, buffer, index)}}
  c.putPackets(0, BufferType::Scratch, 0, {.sendtb = 0}); // expected-error@:5 {{'putPackets' goes from rank 0 to itself: write copyPackets(dst, buffer, index)}}
  c.signal(0, BufferType::Output, 0, {.sendtb = 0}); // expected-error@:5 {{'signal' goes from rank 0 to itself: write Rank(i).barrier({…}) between thread blocks of one rank}}
  d.wait(1, BufferType::Output, 0, {.recvtb = 0}); // expected-error@:5 {{'wait' goes from rank 1 to itself: write Rank(i).barrier({…}) between thread blocks of one rank}}
  c.flush(0, BufferType::Output, 0, {.sendtb = 0}); // expected-error@:5 {{'flush' goes from rank 0 to itself: leave it out, as no port is on the way}}
  c.copy(2, BufferType::Output, 0, {.sendtb = 0}); // expected-error@:5 {{'copy' joins rank 0 and rank 2 in a program of Schedule::Manual: write put(dst, buffer, index), then signal and wait}}
  c.copyPackets(2, BufferType::Scratch, 0, {.sendtb = 0}); // expected-error@:5 {{'copyPackets' joins rank 0 and rank 2 in a program of Schedule::Manual: write putPackets(dst, buffer, index), and copyPackets on the other rank}}
  ChunkRef(c).reducePackets(chunk(1, BufferType::Scratch, 0), {.recvtb = 0}); // expected-error@:15 {{'reducePackets' joins rank 0 and rank 1 in a program of Schedule::Manual: write putPackets(dst, buffer, index) on the other rank first, and reduce the packets that arrive}}

  // Ports send to other ranks, and nothing else.
  c.copy(0, BufferType::Output, 1, {.sendtb = 0, .channel = ChannelType::Port}); // expected-error@:5 {{'copy' names a port within rank 0: leave .channel out, as no channel is needed}}
  c.copyPackets(0, BufferType::Scratch, 0, {.sendtb = 0, .channel = ChannelType::Port}); // expected-error@:5 {{'copyPackets' names a port within rank 0: leave .channel out}}
  ChunkRef(c).reduce(c, {.recvtb = 0, .channel = ChannelType::Port}); // expected-error@:15 {{'reduce' names a port within rank 0: leave .channel out}}
  ChunkRef(d).get(0, BufferType::Input, 0, {.recvtb = 0, .channel = ChannelType::Port}); // expected-error@:15 {{'get' names a port, which only sends: write ChannelType::Memory, or put on the other rank}}
  ChunkRef(d).reduce(c, {.recvtb = 0, .channel = ChannelType::Port}); // expected-error@:15 {{'reduce' names a port, which only sends: write ChannelType::Memory, or put on the other rank}}
  c.flush(1, BufferType::Output, 0, {.sendtb = 0, .channel = ChannelType::Memory}); // expected-error@:5 {{'flush' names ChannelType::Memory: leave it out, as a put through memory ends when its source is read}}
  c.putPackets(1, BufferType::Scratch, 0, {.sendtb = 0, .channel = ChannelType::Port}); // expected-error@:5 {{a port sends the bytes of the source of 'putPackets' unchanged, so these must be packets in scratch, not a chunk of the input}}
  // expected-note@16:16 0+ {{chunk of rank 0 named here}}

  // What the operations themselves ask for.
  const ChunkRef wide = chunk(0, BufferType::Output, 0, 3); // expected-note@:25 {{chunk of rank 0 named here}}
  ChunkRef(c).reduce(wide, {.recvtb = 0}); // expected-error@:15 {{sizes differ: other chunk of 3 chunks, source of 1 chunk}}
  // expected-note@16:16 0+ {{chunk of rank 0 named here}}
  c.putPackets(1, BufferType::Output, 0, {.sendtb = 0}); // expected-error@:5 {{the destination of 'putPackets' is a chunk of the output: packets lie in scratch only}}
  // expected-note@-1:5 {{chunk of rank 1 named here}}
  c.copyPackets(0, BufferType::Output, 0, {.sendtb = 0}); // expected-error@:5 {{the destination of 'copyPackets' is a chunk of the output: packets lie in scratch only}}
  // expected-note@-1:5 {{chunk of rank 0 named here}}
  ChunkRef(c).reducePackets(chunk(0, BufferType::Output, 1), {.recvtb = 0}); // expected-error@:15 {{the other chunk of 'reducePackets' is a chunk of the output: packets lie in scratch only}}
  // expected-note@-1:29 {{chunk of rank 0 named here}}
}
