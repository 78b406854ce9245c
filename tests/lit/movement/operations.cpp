// What a program of operations has, a program of statements does not. The error says what to write instead.
// RUN: %verify %s --max-errors=0
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 2) {
  CollectiveProgram program("p", AllReduce(ranks, 1, true), {.schedule = Schedule::Auto});
  const Chunk near = Rank(0).input()[0], far = Rank(1).input()[0];
  const Buffer scratch(0, 2);
  MemoryChannel memory(1, 0); // expected-error@:17 {{'MemoryChannel' cannot be used in a program of Schedule::Auto: write copy(dst, src) on chunks of any ranks}}
  PortChannel port(1, 0); // expected-error@:15 {{'PortChannel' cannot be used in a program of Schedule::Auto: write copy(dst, src, {.via = Via::Port})}}
  SwitchChannel nvls({0, 1}, BufferType::Input); // expected-error@:17 {{'SwitchChannel' cannot be used in a program of Schedule::Auto: write copy({dst, …}, src, {.via = Via::Switch}) or reduce(into, others, {.via = Via::Switch})}}
  Semaphore semaphore(0, 0); // expected-error@:13 {{'Semaphore' cannot be used in a program of Schedule::Auto: leave it out, as the compiler orders what depends on one another}}
  ThreadBlockGroup group({0, 1}); // expected-error@:20 {{'ThreadBlockGroup' cannot be used in a program of Schedule::Auto: leave it out, as the compiler spreads the work over thread blocks}}
  PipelineLoop loop(1, 1); // expected-error@:16 {{'PipelineLoop' cannot be used in a program of Schedule::Auto: leave it out, as the compiler makes the loops}}
  Rank(0).copy(near, near, tb(0)); // expected-error@:11 {{'copy' cannot be used in a program of Schedule::Auto: write copy(dst, src), with {.on = tb(i)} to choose its thread block}}
  reduce(near, {near}, tb(0)); // expected-error@:3 {{'reduce' cannot be used in a program of Schedule::Auto: write reduce(into, others), with {.on = tb(i)}}}
  copyPackets(scratch[0], near, tb(0)); // expected-error@:3 {{'copyPackets' cannot be used in a program of Schedule::Auto: write copy(dst, src, {.packets = true})}}
  Rank(0).barrier({0, 1}); // expected-error@:11 {{'barrier' cannot be used in a program of Schedule::Auto: leave it out}}
  // What may not be made is refused once: nothing is said of its calls.
  memory.signal(tb(0));
  memory.put(far, near, tb(0));
  memory.reduce(near, {far}, tb(0));
  nvls.atRank(0).broadcast(near, 0, 1, tb(0));
  semaphore.release(tb(0));
}
