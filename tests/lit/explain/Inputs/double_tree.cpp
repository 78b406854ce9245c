// AllReduce, double binary tree: each of two trees sums one half of the message up to its root and sends it down again.
//
// When: medium messages on many GPUs: the depth is log2(ranks). A GPU that passes data on in one tree is a leaf of the
// other, but for the roots, so all links carry about as much.
//   mscclc double_tree.cpp -P ranks=8 --message-size 1M -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// In the first tree, position 0 is the root; the more zero bits a position has at its end, the closer to the root it
/// is.
static int parentOf(int position, int ranks) {
  const int bit = position & -position, up = (position ^ bit) | (bit << 1);
  return up < ranks ? up : position ^ bit;
}

MSCCLC_ALGORITHM void double_tree(int ranks = 8) {
  CollectiveProgram program("double_tree", AllReduce(ranks, 2, /*inplace=*/true),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  const auto half = [&](int position, int tree) {
    const int mirrored = ranks % 2 == 0 ? ranks - 1 - position : (position + 1) % ranks;
    return Rank(tree == 0 ? position : mirrored).input().slice(tree * ranks, (tree + 1) * ranks);
  };

  for (int tree = 0; tree < 2; ++tree) {
    int top = 1;
    for (; top < ranks; top *= 2)
      for (int position = top; position < ranks; position += 2 * top)
        reduce(half(parentOf(position, ranks), tree), {half(position, tree)});
    for (; top > 0; top /= 2)
      for (int position = top; position < ranks; position += 2 * top)
        copy(half(position, tree), half(parentOf(position, ranks), tree));
  }
}
