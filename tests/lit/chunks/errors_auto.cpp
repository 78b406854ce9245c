// What the compiler chooses in a program of Schedule::Auto is left out.
// RUN: %verify %s --max-errors=0
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 4) {
  CollectiveProgram program("p", AllReduce(ranks, 1, false), {.schedule = Schedule::Auto, .ranksPerNode = 2});
  ChunkRef a = chunk(0, BufferType::Input, 0); // expected-note@:16 {{chunk of rank 0 named here}}
  a.put(1, BufferType::Output, 0, {.sendtb = 0}); // expected-error@:5 {{'.sendtb' cannot be used in a program of Schedule::Auto: leave it out, as the compiler chooses thread blocks}}
  a.put(1, BufferType::Output, 0, {.recvtb = -1}); // expected-error@:5 {{'.recvtb' cannot be used in a program of Schedule::Auto: leave it out, as the compiler chooses thread blocks}}
  a.copy(0, BufferType::Input, 0, {.sendtb = 0}); // expected-error@:5 {{'.sendtb' cannot be used in a program of Schedule::Auto: leave it out, as the compiler chooses thread blocks}}
  a.signal(1, BufferType::Output, 0); // expected-error@:5 {{'signal' cannot be used in a program of Schedule::Auto: leave it out, as the compiler orders what depends on one another}}
  chunk(1, BufferType::Output, 0).wait(0, BufferType::Input, 0, {.recvtb = 0}); // expected-error@:35 {{'wait' cannot be used in a program of Schedule::Auto: leave it out, as the compiler orders what depends on one another}}
  a.flush(1, BufferType::Output, 0); // expected-error@:5 {{'flush' cannot be used in a program of Schedule::Auto: leave it out, as the compiler orders what depends on one another}}
  a.put(0, BufferType::Output, 0); // expected-error@:5 {{'put' goes from rank 0 to itself: write copy(dst, buffer, index)}}
  a.put(2, BufferType::Output, 0, {.channel = ChannelType::Memory}); // expected-error@:5 {{'.channel = ChannelType::Memory' cannot be used between rank 0 and rank 2, which are of different nodes: write ChannelType::Port, or leave it out}}
  a.reduce(chunk(1, BufferType::Input, 0, 2)); // expected-error@:5 {{sizes differ: other chunk of 2 chunks, source of 1 chunk}}
  // expected-note@-1:12 {{chunk of rank 1 named here}}
}
