// A sum whose values travel as bf16, in an output of its own. A rank's share has two chunks, so a scratch operand has
// several rows.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void bf16_wire(int ranks = 4, int block = 64) {
  CollectiveProgram program("bf16_wire", AllReduce(ranks, 2, /*inplace=*/false),
                            {.schedule = Schedule::Auto, .order = Order::Ranks, .wire = Wire::Bf16{.block = block}});
  for (int rank = 0; rank < ranks; ++rank) {
    const auto share = [&](auto place) { return place.slice(2 * rank, 2 * rank + 2); };
    List<Chunk> inputs, outputs; // of the other ranks
    for (int step = 1; step < ranks; ++step) {
      inputs.push_back(share(Rank((rank + step) % ranks).input()));
      outputs.push_back(share(Rank((rank + step) % ranks).output()));
    }
    const Chunk sum = share(Rank(rank).output());
    reduce(sum, share(Rank(rank).input()), inputs);
    copy(outputs, sum);
  }
}
