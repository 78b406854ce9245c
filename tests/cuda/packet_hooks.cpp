// All-reduces in one hop by packets, whose sums pass through functions on rows or blocks. The operation that adds up
// what the packets bring calls them.
#include <mscclc/dsl.hpp>
#include <string_view>
using namespace mscclc;

MSCCLC_ALGORITHM void packet_hooks(int ranks = 4, std::string_view function = "add_rms_norm",
                                   Protocol protocol = Protocol::LL) {
  HookOptions options;
  if (function == "add_rms_norm") {
    options = {.granularity = Granularity::Row,
               .reads = {"residual", "gamma", "epsilon"},
               .writes = {"residual"},
               .equal = {"gamma", "epsilon"},
               .function = "mscclc::hooks::AddRmsNorm",
               .header = "mscclc/hooks/add_rms_norm.cuh"};
  } else {
    options = {.granularity = Granularity::Block,
               .block = 128,
               .writes = {"quantized", "scales"},
               .function = "mscclc::hooks::QuantizeF8E4m3",
               .header = "mscclc/hooks/quantize_f8e4m3.cuh"};
  }
  CollectiveProgram program("packet_hooks", AllReduce(ranks, 1, /*inplace=*/false).then(function),
                            {.protocol = protocol, .schedule = Schedule::Auto, .order = Order::Ranks});
  Hook hook(function, options);
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk sum = Rank(rank).output().slice(0, ranks), first = Rank(0).input().slice(0, ranks);
    List<Chunk> others;
    for (int other = 1; other < ranks; ++other)
      others.push_back(Rank(other).input().slice(0, ranks));
    reduce(sum, first, others);
    apply(hook, sum);
  }
}
