// All-reduces whose sums pass through the functions of mscclc/hooks that samples/auto/allreduce_norm.cpp does not have.
#include <mscclc/dsl.hpp>
#include <string_view>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_hook(int ranks = 3, std::string_view function = "scale", int instances = 1,
                                     bool groups = false) {
  HookOptions options;
  if (function == "scale") {
    options = {.reads = {"factor"},
               .equal = {"factor"},
               .function = "mscclc::hooks::Scale",
               .header = "mscclc/hooks/scale.cuh"};
  } else if (function == "cast") {
    options = {.writes = {"cast"}, .function = "mscclc::hooks::Cast<Bfloat16>", .header = "mscclc/hooks/cast.cuh"};
  } else if (function == "quantize_by_scale") {
    options = {.granularity = Granularity::Row,
               .reads = {"scale"},
               .writes = {"quantized"},
               .function = "mscclc::hooks::QuantizeF8E4m3ByScale",
               .header = "mscclc/hooks/quantize_f8e4m3.cuh"};
  } else {
    const bool blocks = function == "quantize_blocks";
    options = {.granularity = blocks ? Granularity::Block : Granularity::Row,
               .block = blocks ? 128 : 0,
               .writes = {"quantized", "scales"},
               .function = "mscclc::hooks::QuantizeF8E4m3",
               .header = "mscclc/hooks/quantize_f8e4m3.cuh"};
  }
  CollectiveProgram program("allreduce_hook", AllReduce(ranks, 1, /*inplace=*/true).then(function),
                            {.instances = instances});
  Hook hook(function, options);
  for (int rank = 0; rank < ranks; ++rank) {
    List<MemoryChannel> channels;
    for (int step = 1; step < ranks; ++step)
      channels.push_back(MemoryChannel((rank + step) % ranks, rank));
    const auto meet = [&] {
      for (const MemoryChannel &channel : channels)
        channel.signal(tb(0), {.sync = Sync::Before});
      for (const MemoryChannel &channel : channels)
        channel.wait(tb(0), {.sync = Sync::After});
    };
    meet();
    const Chunk mine = Rank(rank).input()[rank];
    for (int step = 1; step < ranks; ++step)
      channels[step - 1].reduce(mine, {Rank((rank + step) % ranks).input()[rank]}, tb(0));
    for (int step = 1; step < ranks; ++step)
      channels[step - 1].put(Rank((rank + step) % ranks).input()[rank], mine, tb(0));
    meet();
    if (groups)
      Rank(rank).barrier({0, 1});
    for (int share = 0; share < ranks; ++share)
      if (groups)
        apply(hook, Rank(rank).input()[share], ThreadBlockGroup({0, 1}));
      else
        apply(hook, Rank(rank).input()[share], tb(0));
  }
}
