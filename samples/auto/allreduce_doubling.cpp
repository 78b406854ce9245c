// AllReduce, recursive halving and doubling: a reduce-scatter in which the part that a GPU still reduces halves with
// each step, then an all-gather in which it doubles.
//
// When: small and medium messages on many GPUs: the steps are 2 log2(ranks). Where the number of ranks is no power of
// two, each GPU beyond the largest one below gives its input to another GPU first, and gets the sum from it last.
//   mscclc allreduce_doubling.cpp -P ranks=12 --message-size 64K -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_doubling(int ranks = 8) {
  int members = 1; // the ranks that halve and double
  while (2 * members <= ranks)
    members *= 2;
  const int factor = members == ranks ? 1 : members;
  const int share = ranks * factor / members; // chunks; there are as many shares as members
  CollectiveProgram program("allreduce_doubling", AllReduce(ranks, factor, /*inplace=*/true),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  // Returns the `width` shares that `member` still reduces when so many are left, as a chunk of `rank`.
  const auto part = [&](int rank, int member, int width) {
    const int first = member / width * width;
    return Rank(rank).input().slice(first * share, (first + width) * share);
  };

  for (int extra = members; extra < ranks; ++extra)
    reduce(part(extra - members, 0, members), {part(extra, 0, members)});
  for (int width = members / 2; width > 0; width /= 2)
    for (int rank = 0; rank < members; ++rank)
      reduce(part(rank, rank, width), {part(rank ^ width, rank, width)});
  for (int width = 1; width < members; width *= 2)
    for (int rank = 0; rank < members; ++rank)
      copy(part(rank, rank ^ width, width), part(rank ^ width, rank ^ width, width));
  for (int extra = members; extra < ranks; ++extra)
    copy(part(extra, 0, members), part(extra - members, 0, members));
}
