// AllReduce, binary trees: each share has a tree of its own, which sums it up to its root and sends it down again.
//
// When: messages of any size on GPUs that all reach each other: the depth is log2(ranks). Each GPU is the root of one
// tree, so all links carry 2(n-1)/n of the message. With two trees, those of the busiest GPU carry twice the message.
//   mscclc allreduce_tree.cpp -P ranks=8 --message-size 1M -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Position 0 is the root; the more zero bits a position has at its end, the closer to the root it is.
static int parentOf(int position, int ranks) {
  const int bit = position & -position, up = (position ^ bit) | (bit << 1);
  return up < ranks ? up : position ^ bit;
}

MSCCLC_ALGORITHM void allreduce_tree(int ranks = 8) {
  CollectiveProgram program("allreduce_tree", AllReduce(ranks, 1, /*inplace=*/true),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  const auto share = [&](int position, int root) { return Rank((root + position) % ranks).input()[root]; };

  for (int root = 0; root < ranks; ++root) {
    int top = 1;
    for (; top < ranks; top *= 2)
      for (int position = top; position < ranks; position += 2 * top)
        reduce(share(parentOf(position, ranks), root), {share(position, root)});
    for (; top > 0; top /= 2)
      for (int position = top; position < ranks; position += 2 * top)
        copy(share(position, root), share(parentOf(position, ranks), root));
  }
}
