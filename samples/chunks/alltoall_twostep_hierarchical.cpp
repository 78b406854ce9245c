// AllToAll over nodes in two steps, in the chunk language: chunks for one GPU of another node meet in the scratch of
// its twin in their own node, which sends them on as one.
//
// When: several nodes, where many small messages over the network would take longer than fewer large ones.
//   mscclc alltoall_twostep_hierarchical.cpp -P nodes=2 -P gpus=8 --message-size 1M -o plan.json
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void alltoall_twostep_hierarchical(int nodes = 2, int gpus = 4) {
  CollectiveProgram program(
      "alltoall_twostep_hierarchical", AllToAll(nodes * gpus, 1, /*inplace=*/false),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int node = 0; node < nodes; ++node)
    for (int gpu = 0; gpu < gpus; ++gpu)
      for (int to = 0; to < nodes; ++to) {
        const int receiver = to * gpus + gpu, twin = node * gpus + gpu;
        for (int other = 0; other < gpus; ++other) {
          const int sender = node * gpus + other;
          const ChunkRef sent = chunk(sender, BufferType::Input, receiver);
          if (to == node)
            sent.copy(receiver, BufferType::Output, sender);
          else
            sent.copy(twin, BufferType::Scratch, to * gpus + other);
        }
        if (to != node)
          chunk(twin, BufferType::Scratch, to * gpus, gpus).copy(receiver, BufferType::Output, node * gpus);
      }
}
