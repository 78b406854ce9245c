// Signals and waits through the switch: proven, run and made kernels of at once; plans with them are for an MSCCL++ that
// takes them. So are thread-block groups that share what a switch does.
// RUN: mscclc %s --target=none --passes= --no-verify --emit-ir -o %t.ir && FileCheck %s --check-prefix=IR --input-file %t.ir
// IR: grlxsignal switch [0] sync both
// IR-NEXT: grlxwait switch [0] sync both
// IR: gsignal switch [0] sync both
// IR-NEXT: gwait switch [0] sync both
// RUN: mscclc %t.ir --passes= --target=none --no-verify --emit-ir | diff %t.ir -
// RUN: mscclc %s --verify | FileCheck %s --check-prefix=PROVEN
// PROVEN: p: proven: 4 ranks, 2 launches
// RUN: mscclc %s -P instances=2 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s -P blocks=2 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s -P loop=true --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s -P blocks=2 --run --size 4K --schedules 20 | FileCheck %s --check-prefix=RAN
// RUN: mscclc %s -P loop=true --run --size 1M --schedules 20 | FileCheck %s --check-prefix=RAN
// RAN: {{[0-9]+ +20 +0 +yes}}
// RUN: mscclc %s --target=mscclpp-next -o %t.json && FileCheck %s --check-prefix=PLAN --input-file %t.json
// PLAN: {"name": "grlxsignal", "switch_channel_id": 0},
// PLAN: {"name": "grlxwait", "switch_channel_id": 0},
// PLAN: {"name": "gsignal", "switch_channel_id": 0},
// PLAN: {"name": "gwait", "switch_channel_id": 0},
// RUN: mscclc %t.json --target=mscclpp-next -o - | diff %t.json -
// RUN: mscclc %t.json --target=mscclpp-next --emit-dsl -o %t-source.cpp && mscclc %t-source.cpp --target=mscclpp-next -o - | diff %t.json -
// RUN: sed 's/"grlxwait", "switch_channel_id": 0/"grlxwait", "switch_channel_id": 1/' %t.json > %t-other.json && not mscclc %t-other.json --verify 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: $.gpus[0].threadblocks[0].ops[3].switch_channel_id: error: switch channel 1
// RUN: mscclc %s --target=mscclpp-next --estimate --size 1M | FileCheck %s --check-prefix=TIME
// TIME: p on h100x8, run by MSCCL++'s executor
// RUN: mscclc %s --emit-dot --target=mscclpp-next | FileCheck %s --check-prefix=DOT
// DOT: signal
// RUN: mscclc %s --emit-cuda | FileCheck %s --check-prefix=KERNEL
// KERNEL: signal(k, list<3>(
// KERNEL: wait(k, {{[0-9]+}}, list<3>(
// What a target does not do is refused.
// RUN: sh -c 'mscclc %s -P blocks=2; echo code=$?' 2>&1 | FileCheck %s --check-prefix=TODAY
// TODAY: error: mscclpp-1f5f065d does not know 'relaxed signal' through a switch channel; an MSCCL++ that has what is open upstream does (--target=mscclpp-next), and a baked kernel (--emit-cuda --target=none)
// TODAY: error: mscclpp-1f5f065d does not know 'broadcast' of a thread-block group through a switch channel;
// TODAY: code=1
// RUN: sh -c 'mscclc %s -P loop=true -P blocks=2 --target=mscclpp-next; echo code=$?' 2>&1 | FileCheck %s --check-prefix=CUTS
// CUTS: error: in a pipeline mscclpp-next divides all data of an iteration of 'broadcast' among its thread-block group, but the proof divides each chunk; bake a kernel (--emit-cuda --target=none), which does so, too
// CUTS: code=1
// What one counter for all ranks cannot count is no proof's business.
// RUN: %verify --prefix=relaxed %s -P relaxedEnd=true --verify
// RUN: %verify --prefix=twice %s -P fault=1 --verify
// RUN: %verify --prefix=never %s -P fault=2 --verify
// RUN: %verify --prefix=apart %s -P fault=3 --verify
// RUN: %verify --prefix=last %s -P fault=4 --verify
// RUN: %verify --prefix=part %s -P fault=5 --verify
// RUN: %verify --prefix=group %s -P fault=6 --verify
// relaxed-note@"mscclc" {{and 3 more like it on other ranks}}
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 4, int instances = 1, int blocks = 1, bool loop = false, bool relaxedEnd = false, int fault = 0) {
  CollectiveProgram program("p", AllGather(ranks, 4, true), {.instances = instances});
  List<int> all, tbs;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rank);
  for (int block = 0; block < blocks; ++block)
    tbs.push_back(block);
  const ThreadBlockGroup group(tbs); // group-note@:26 0+ {{thread-block group made here}}
  SwitchChannel channel(all, BufferType::Output);
  for (int rank = 0; rank < ranks; ++rank) {
    const int wrong = rank == 0 ? fault : 0;
    const SwitchChannelView here = channel.atRank(rank);
    const Chunk mine = Rank(rank).output().slice(4 * rank, 4 * rank + 4);
    here.signal(tb(0), {.relaxed = true});
    if (wrong == 1)
      here.signal(tb(0)); // twice-error@:12 {{'signal' through switch channel 0 of rank 0, where a wait is due: a counter counts the arrivals of all ranks together, so each signals and waits by turns, beginning with a signal, also within a pipeline}}
    if (wrong != 2)
      here.wait(tb(0), {.relaxed = true});
    Rank(rank).barrier(tbs);
    if (loop) {
      PipelineLoop part(16_KiB, 4);
      blocks == 1 ? here.broadcast(mine, 4 * rank, 4, tb(0)) : here.broadcast(mine, 4 * rank, 4, group);
    } else {
      blocks == 1 ? here.broadcast(mine, 4 * rank, 4, tb(0)) : here.broadcast(mine, 4 * rank, 4, group); // relaxed-error@:26 {{rank 0 learns that output[4] of rank 0 is written only by a relaxed signal; it orders, but makes no data visible}}
    }
    Rank(rank).barrier(tbs);
    if (wrong == 5)
      pipeline(16_KiB, 4, [&] {
        here.signal(tb(0)); // part-error@:14 {{'signal' through switch channel 0 of rank 0, where a wait after it is due}}
      });
    // never-error@+1:10 {{'signal' through switch channel 0 of rank 0, where a wait is due}}
    here.signal(tb(wrong == 3), {.relaxed = relaxedEnd}); // apart-error@:10 {{'signal' through switch channel 0 of rank 0 in thread blocks 0 and 1: one counter takes one arrival of each rank, so let one block signal and wait}}
    // last-error@-1:10 {{'signal' through switch channel 0 of rank 0, where a wait after it is due}}
    if (wrong != 4)
      here.wait(tb(wrong == 3), {.relaxed = relaxedEnd});
    if (wrong == 6)
      here.wait(group); // group-error@:12 {{'wait' of a switch channel cannot be in a thread-block group: its counter takes one arrival of each rank, so name a single thread block}}
  }
}
