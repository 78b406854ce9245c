// The sum of an all-reduce passes through a hook: in both forms it is proven and runs.
// REQUIRES: frontend
// RUN: mscclc %s --algorithm by_statements -P ranks=1..6 --verify --message-size 64K | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --algorithm by_statements -P order=Ranks,Tree -P protocol=Simple,LL --message-size 1M --verify=invariant
// RUN: mscclc %s --algorithm by_statements -P protocol=Simple,LL --message-size 64M --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --algorithm by_statements -P ranks=4 -P perNode=2 --message-size 4K --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --algorithm by_blocks -P ranks=2,3 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --algorithm by_blocks -P groups=true -P instances=2 --verify | FileCheck %s --check-prefix=PROVEN
// PROVEN: proven
// PROVEN: sums:
// RUN: mscclc %s --algorithm by_statements -P ranks=5 -P protocol=Simple,LL --run --dtype bf16,f32,i8 --schedules 10 | FileCheck %s --check-prefix=RIGHT
// RUN: mscclc %s --algorithm by_blocks -P groups=true -P instances=2 --run --dtype f16 --schedules 20 | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{bits|f32 right: 4 sizes}}
// RUN: mscclc %s --algorithm by_statements --run --schedules 10 | FileCheck %s --check-prefix=RAN
// RAN: yes
// The IR keeps the hook and the promise.
// RUN: mscclc %s --algorithm by_statements --passes=none --emit-ir -o %t.ir && FileCheck %s --check-prefix=IR --input-file %t.ir
// IR: collective allreduce inplace then "add_rms_norm"
// IR: hook0 = "add_rms_norm" row reads ["residual", "gamma"] writes ["residual"] equal ["gamma"] @
// IR: apply hook0 0.input[0:3] <- 0.input[0:3] @
// RUN: mscclc %t.ir --passes=none --emit-ir | diff %t.ir -
// RUN: mscclc %s --algorithm by_blocks --target=none --emit-ir -o %t.ir && FileCheck %s --check-prefix=BLOCKS --input-file %t.ir
// BLOCKS: = apply hook0 input[0:1] <- input[0:1]
// RUN: mscclc %t.ir --passes= --emit-ir | diff %t.ir -
// RUN: mscclc %t.ir --verify | FileCheck %s --check-prefix=PROVEN
// What no plan and no source can say, and no kernel without a function.
// RUN: not mscclc %s --algorithm by_blocks -o %t.json 2>&1 | FileCheck %s --check-prefix=PLAN
// Before anything is scheduled: 64 ranks have operations that no plan can hold either.
// RUN: not mscclc %s --algorithm by_statements -P ranks=64 -o %t.json 2>&1 | FileCheck %s --check-prefix=PLAN --implicit-check-not=limit
// PLAN: allreduce_norm.cpp:[[#]]:{{[0-9]+}}: error: {{mscclpp.*}} calls no functions of users, so a plan cannot apply hook 'add_rms_norm'; a baked kernel (--emit-cuda --target=none) does
// RUN: not mscclc %s --algorithm by_blocks --target=none -o %t.json 2>&1 | FileCheck %s --check-prefix=FIELD
// FIELD: allreduce_norm.cpp:[[#]]:{{[0-9]+}}: error: a plan has no field for functions of users, so it cannot apply hook 'add_rms_norm'; --emit-ir writes it as text
// RUN: not mscclc %s --algorithm by_blocks --emit-cuda 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: allreduce_norm.cpp:[[#]]:{{[0-9]+}}: error: hook 'add_rms_norm' has no function that a kernel could call: name one in the hook's .function, and its .header
// RUN: not mscclc %s --algorithm by_blocks --target=none --emit-dsl 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: error: no source of the language compiles to this plan: {{.*}}it applies a hook, whose declaration is not written
#include <mscclc/dsl.hpp>
using namespace mscclc;

Hook addRmsNorm() {
  return Hook("add_rms_norm", {.granularity = Granularity::Row,
                               .reads = {"residual", "gamma"},
                               .writes = {"residual"},
                               .equal = {"gamma"}});
}

MSCCLC_ALGORITHM void by_statements(int ranks = 3, Order order = Order::Written, Protocol protocol = Protocol::Auto,
                                    int perNode = 0) {
  CollectiveProgram program(
      "by_statements", AllReduce(ranks, 1, /*inplace=*/true).then("add_rms_norm"),
      {.instances = automatic, .protocol = protocol, .schedule = Schedule::Auto, .ranksPerNode = perNode, .order = order});
  const Hook norm = addRmsNorm();
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(Rank(rank).input()[rank], others);
    copy(others, Rank(rank).input()[rank]);
  }
  for (int rank = 0; rank < ranks; ++rank)
    apply(norm, Rank(rank).input().slice(0, ranks));
}

/// Each rank reads its share of all others, and puts the sum there. Then it applies the hook to all shares.
MSCCLC_ALGORITHM void by_blocks(int ranks = 3, bool groups = false, int instances = 1) {
  CollectiveProgram program("by_blocks", AllReduce(ranks, 1, /*inplace=*/true).then("add_rms_norm"),
                            {.instances = instances});
  const Hook norm = addRmsNorm();
  for (int rank = 0; rank < ranks; ++rank) {
    List<MemoryChannel> channels;
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank)
        channels.push_back(MemoryChannel(peer, rank));
    const auto meet = [&] {
      for (const MemoryChannel &channel : channels)
        channel.signal(tb(0), {.sync = Sync::Before});
      for (const MemoryChannel &channel : channels)
        channel.wait(tb(0), {.sync = Sync::After});
    };
    meet();
    const Chunk mine = Rank(rank).input()[rank];
    int next = 0;
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank)
        channels[next++].reduce(mine, {Rank(peer).input()[rank]}, tb(0));
    next = 0;
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank)
        channels[next++].put(Rank(peer).input()[rank], mine, tb(0));
    meet();
    if (groups)
      Rank(rank).barrier({0, 1});
    for (int share = 0; share < ranks; ++share)
      if (groups)
        apply(norm, Rank(rank).input()[share], ThreadBlockGroup({0, 1}));
      else
        apply(norm, Rank(rank).input()[share], tb(0));
  }
}
