// All-reduces whose sums pass through a function on elements: a kernel calls it in the operation that makes a sum, or
// receives it.
#include <mscclc/dsl.hpp>
#include <string_view>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_element_hook(int ranks = 4, std::string_view function = "scale") {
  HookOptions options{
      .reads = {"factor"}, .equal = {"factor"}, .function = "mscclc::hooks::Scale", .header = "mscclc/hooks/scale.cuh"};
  if (function == "cast")
    options = {.writes = {"cast"}, .function = "mscclc::hooks::Cast<Bfloat16>", .header = "mscclc/hooks/cast.cuh"};
  CollectiveProgram program(
      "allreduce_element_hook", AllReduce(ranks, 1, /*inplace=*/true).then(function),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .order = Order::Ranks});
  Hook hook(function, options);
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others; // where the other GPUs hold share `rank`
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(Rank(rank).input()[rank], others);
    copy(others, Rank(rank).input()[rank]);
  }
  for (int rank = 0; rank < ranks; ++rank)
    apply(hook, Rank(rank).input().slice(0, ranks));
}
