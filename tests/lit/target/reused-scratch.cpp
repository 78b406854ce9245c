// With reuse_resources scratch has 64 MiB, whatever the message: the plan says how large a message fits. In a pipeline,
// longer ones go through it in turns; there a sum finds only its first source.
// RUN: mscclc %s --no-verify | FileCheck %s --check-prefix=WHOLE
// RUN: %verify --prefix=large %s --no-verify -P mib=65
// RUN: mscclc %s --no-verify -P unit=65536 | FileCheck %s --check-prefix=WHOLE
// RUN: %verify --prefix=sum %s --no-verify -P unit=65536 -P mib=65
// RUN: mscclc %s --no-verify -P unit=65536 -P mib=65 -P first=1 -o /dev/null
// RUN: mscclc %s --no-verify -P unit=65536 -P mib=65 --emit-cuda -o /dev/null

// WHOLE: "max_message_size": 67108864
// large-error@* {{reduce in block 0 of rank 0 moves 34078720 bytes at a time through scratch at the maximum message size of 68157440 bytes; with reuse_resources mscclpp-1f5f065d has 33554432 bytes for each of 2 chunks of it: messages of up to 67108864 bytes fit}}
#include <mscclc/dsl.hpp>
#include <optional>
using namespace mscclc;

MSCCLC_ALGORITHM void reused(int mib = 0, int unit = 0, bool first = false) {
  ProgramOptions options{.reuseResources = true};
  if (mib != 0)
    options.maxMessageSize = mib * 1_MiB;
  CollectiveProgram program("reused", AllReduce(1, 2, false), options);
  Rank self(0);
  Buffer scratch(0, 2);
  std::optional<PipelineLoop> loop;
  if (unit != 0)
    loop.emplace(unit, 1);
  Chunk chunks[] = {self.input()[0], scratch[1]};
  // sum-error@+1 {{'reduce' moves chunks of 34078720 bytes at the maximum message size of 68157440 bytes through chunks of 33554432 bytes of reused scratch; mscclpp-1f5f065d then takes the kind of its sources from its destinations: use messages of up to 67108864 bytes, or bake a kernel (--emit-cuda --target=none)}}
  self.reduce(chunks[first], {chunks[!first]}, tb(0));
}
