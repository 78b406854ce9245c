// What a program with a wire format cannot have.
// REQUIRES: frontend
// RUN: %verify %s --algorithm options
// RUN: %verify --prefix=staged %s --algorithm staged --target=none
// RUN: %verify --prefix=ring %s --algorithm ring --target=none
// RUN: %verify --prefix=gather %s --algorithm gather --target=none
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void options(int ranks = 2) {
  // expected-error@+2:21 {{a block of a wire format has 100 elements: give a multiple of 8, at most 256}}
  // expected-error@+1:21 {{'.wire' does not go with .protocol = Protocol::Lamport, .accumulate = Accumulate::Wide, .reuseResources: leave one of them out}}
  CollectiveProgram program("options", AllReduce(ranks, 1, true),
                            {.protocol = Protocol::Lamport,
                             .reuseResources = true,
                             .schedule = Schedule::Auto,
                             .accumulate = Accumulate::Wide,
                             .wire = Wire::F8E4m3{.block = 100}});
}

MSCCLC_ALGORITHM void staged(int ranks = 3) {
  CollectiveProgram program("staged", Reduce(ranks, 1, 0, false), {.schedule = Schedule::Auto, .wire = Wire::F8E4m3{}});
  Buffer scratch(0, 1);
  copy(scratch[0], Rank(0).input()[0]);
  reduce(scratch[0], {Rank(1).input()[0]});
  reduce(scratch[0], {Rank(2).input()[0]}); // staged-error@:3 {{output[0] of rank 0 ends as a sum of which a part was put into the wire format twice, so it is rounded more than once; let one statement add all contributions}}
  copy(Rank(0).output()[0], scratch[0]); // staged-note@:3 {{the result is copied to output[0] of rank 0 here}}
}

MSCCLC_ALGORITHM void ring(int ranks = 3) {
  CollectiveProgram program("ring", Reduce(ranks, 1, 2, false), {.schedule = Schedule::Auto, .wire = Wire::F8E4m3{}});
  reduce(Rank(1).output()[0], Rank(1).input()[0], {Rank(0).input()[0]}); // ring-error@:3 {{this partial sum would be quantised once more on the way from rank 1 to rank 2 (.wire): let one statement combine the inputs of all ranks}}
  reduce(Rank(2).output()[0], Rank(2).input()[0], {Rank(1).output()[0]}); // ring-note@:3 {{another statement adds to it here}}
}

MSCCLC_ALGORITHM void gather(int ranks = 2) {
  CollectiveProgram program("gather", AllGather(ranks, 1, true), {.schedule = Schedule::Auto, .wire = Wire::F8E4m3{}});
  copy(Rank(1).output()[0], Rank(0).input()[0]); // gather-error@:3 {{this statement copies an input to another rank, where no wire format goes (.wire): its owner would have another value; wire formats are for sums}}
  copy(Rank(0).output()[1], Rank(1).input()[0]); // gather-error@:3 {{this statement copies an input to another rank}}
}
