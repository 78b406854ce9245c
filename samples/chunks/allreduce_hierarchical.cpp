// AllReduce over nodes, in the chunk language: rings inside each node sum up, rings between the nodes complete the
// sums, and rings inside each node spread them.
//
// When: several nodes whose GPUs have a NIC each: of every GPU, 2(nodes-1)/nodes of a share cross the network.
//   mscclc allreduce_hierarchical.cpp -P nodes=2 -P gpus=8 --message-size 64M -o plan.json
#include <mscclc/chunks.hpp>
using namespace mscclc;

namespace {

/// GPUs in a ring: `first`, `first + stride`, and so on.
struct Ring {
  int first, stride, size;
  int rank(int i) const { return first + i % size * stride; }

  /// Sums up chunk `index` of all members, from the one after `last` around the ring. The sum ends at member `last`.
  ChunkRef sum(int last, int index) const {
    ChunkRef result = chunk(rank(last + 1), BufferType::Input, index);
    for (int i = 2; i <= size; ++i)
      result = chunk(rank(last + i), BufferType::Input, index).reduce(result);
    return result;
  }
  /// Passes the sum of member `from` on to all others, one after another.
  void spread(int from, ChunkRef what) const {
    for (int i = 1; i < size; ++i)
      what = what.copy(rank(from + i), BufferType::Input, what.index());
  }
};

} // namespace

/// GPU g of node n completes chunk n * gpus + g.
MSCCLC_ALGORITHM void allreduce_hierarchical(int nodes = 2, int gpus = 4) {
  CollectiveProgram program(
      "allreduce_hierarchical", AllReduce(nodes * gpus, 1, /*inplace=*/true),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int home = 0; home < nodes; ++home)
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const int share = home * gpus + gpu;
      const Ring between{gpu, gpus, nodes};
      for (int node = 0; node < nodes; ++node)
        Ring{node * gpus, 1, gpus}.sum(gpu, share);
      between.spread(home, between.sum(home, share));
      for (int node = 0; node < nodes; ++node)
        Ring{node * gpus, 1, gpus}.spread(gpu, chunk(between.rank(node), BufferType::Input, share));
    }
}
