// Every class and operation of the language, as the DSL calls go one by one into the plan.
// RUN: mscclc %s --algorithm memory -O0 --no-verify --target=none | FileCheck %s --check-prefix=MEMORY
// RUN: mscclc %s --algorithm port -O0 --no-verify --target=none | FileCheck %s --check-prefix=PORT
// RUN: mscclc %s --algorithm through_switch -O0 --no-verify --target=none | FileCheck %s --check-prefix=SWITCH
// RUN: mscclc %s --algorithm local -O0 --no-verify --target=none | FileCheck %s --check-prefix=LOCAL
// RUN: mscclc %s --algorithm options -O0 --no-verify --target=none | FileCheck %s --check-prefix=OPTIONS
// RUN: mscclc %s --algorithm custom --emit-ir -O0 | FileCheck %s --check-prefix=CUSTOM
#include <array>
#include <mscclc/dsl.hpp>
#include <span>
#include <vector>
using namespace mscclc;

MSCCLC_ALGORITHM void memory() {
  CollectiveProgram program("memory", AllReduce(2, 1, true), {.protocol = Protocol::LL});
  const Rank here(0), there(1);
  const Buffer scratch(0, 4), far(1, 4);
  const MemoryChannel channel(1, 0);
  // MEMORY: "rlxsignal"
  channel.signal(tb(0), {.sync = Sync::None, .relaxed = true});
  // MEMORY: "rlxwait"
  channel.wait(tb(0), {.sync = Sync::None, .relaxed = true});
  // MEMORY: "nop"
  // MEMORY-NEXT: "signal"
  // MEMORY-NEXT: "nop"
  channel.signal(tb(0), {.sync = Sync::Before | Sync::After});
  // MEMORY-NEXT: "nop"
  // MEMORY-NEXT: "wait"
  // MEMORY-NEXT: "nop"
  channel.wait(tb(0));
  // MEMORY-NEXT: "get"
  channel.get(here.input()[0], there.input()[0], tb(0));
  // MEMORY-NEXT: "put"
  channel.put(there.input()[0], here.input()[0], tb(0));
  // MEMORY-NEXT: "ppkt"
  channel.putPackets(far[1], here.input()[0], tb(0));
  // MEMORY-NEXT: "rppkt"
  channel.readPutPackets(far[2], scratch[2], tb(0));
  // MEMORY-NEXT: "rre"{{.*}}"reduce_op": "max"
  const std::array remotes{there.input()[0], there.input()[1]};
  channel.reduce(here.input()[0], remotes, tb(0), {.dst = here.input()[1], .op = ReduceOp::Max});
}

MSCCLC_ALGORITHM void port() {
  CollectiveProgram program("port", AllGather(2, 1, false), {.protocol = Protocol::LL});
  const Chunk dst = Rank(1).output()[0], src = Rank(0).input()[0];
  const Buffer scratch(0, 2), far(1, 2);
  PortChannel channel(1, 0);
  PortChannel again = channel;
  // PORT: "signal"
  channel.signal(tb(1), {.sync = Sync::None});
  // PORT-NEXT: "wait"
  channel.wait(tb(1), {.sync = Sync::None});
  // PORT-NEXT: "flush"
  again.flush(tb(1), {.sync = Sync::None});
  // PORT-NEXT: "put"
  channel.put(dst, src, tb(1));
  // PORT-NEXT: "pws"
  channel.putWithSignal(dst, src, tb(1));
  // PORT-NEXT: "pwsf"
  channel.putWithSignalAndFlush(dst, src, tb(1));
  // PORT-NEXT: "ppkt"
  channel.putPackets(far[0], scratch[0], tb(1));
  // PORT-NEXT: "rppkt"
  channel.readPutPackets(far[1], scratch[1], tb(1));
  // A copy of a channel is no channel of its own.
  // PORT: "connected_to": [1]
}

MSCCLC_ALGORITHM void through_switch() {
  CollectiveProgram program("switch", AllReduce(2, 2, true), {.protocol = Protocol::LL});
  const std::vector<int> ranks{0, 1};
  SwitchChannel inputs(ranks, BufferType::Input), scratches({0, 1}, BufferType::Scratch);
  const Buffer scratch(0, 2), other(1, 2);
  // SWITCH: "glre"{{.*}}"reduce_op": "min"
  inputs.atRank(0).reduce(0, 1, Rank(0).input()[0], tb(0), ReduceOp::Min);
  // SWITCH-NEXT: "gstore"
  inputs.atRank(0).broadcast(Rank(0).input().slice(1, 3), 1, 2, tb(0));
  // SWITCH-NEXT: "gstorepkt"
  scratches.atRank(0).broadcastPackets(scratch[0], 1, 1, tb(0));
  // SWITCH: "rank_groups": [{"size": 2, "ranks": [0, 1]}]
}

MSCCLC_ALGORITHM void local() {
  CollectiveProgram program("local", TestCollective(1, 4, 4), {.protocol = Protocol::LL});
  const Rank rank(0);
  const Buffer scratch(rank.id(), 4);
  const ThreadBlockGroup group({0, 1});
  // LOCAL: "copy"{{.*}}"size": 2{{.*}}"tbg_info": {"tb_id": 0, "tbg_size": 2}
  rank.copy(rank.output().slice(2), rank.input().slice(0, rank.input().size() - 2), group);
  // LOCAL-NEXT: "cpkt"
  rank.copyPackets(scratch[0], rank.input()[0], tb(0));
  // LOCAL-NEXT: "upkt"
  rank.unpackPackets(rank.output()[0], scratch[0], tb(0));
  // LOCAL-NEXT: "re"
  rank.reduce(rank.output()[0], {rank.input()[1], rank.input()[2]}, tb(0), {.dst = rank.output()[1]});
  // LOCAL-NEXT: "repkt"
  rank.reduce(rank.output()[0], {scratch[1]}, tb(0), {.packet = true});
  // LOCAL-NEXT: "barrier", "barrier_id": 0, "num_threadblocks": 2
  rank.barrier({0, 1});
  const Semaphore semaphore(0, 3);
  // LOCAL-NEXT: "sem_acquire"
  semaphore.acquire(tb(0), Sync::None);
  // LOCAL-NEXT: "nop"
  // LOCAL-NEXT: "sem_release"
  semaphore.release(tb(0), Sync::Before);
  // LOCAL-NEXT: "pipeline", "iter_context": {"unit_size": 65536, "num_chunks": 2}
  {
    PipelineLoop loop(64_KiB, 2);
    rank.copy(rank.output()[0], rank.input()[0], tb(0));
  }
  // LOCAL: "pipeline", "iter_context": {"unit_size": 1048576, "num_chunks": 3}
  pipeline(1_MiB, 3, [&] { rank.copy(rank.output()[1], rank.input()[1], tb(0)); });
  // LOCAL: "semaphores": [
  // LOCAL-NEXT: {"init_value": 3}
}

MSCCLC_ALGORITHM void options() {
  CollectiveProgram program("options", ReduceScatter(2, 2, true),
                            {.instances = 2,
                             .protocol = Protocol::Simple,
                             .fuse = false,
                             .autoSync = false,
                             .replication = Replication::None,
                             .reuseResources = true,
                             .threadsPerBlock = 512,
                             .doubleScratch = true,
                             .bufferAlignment = 32,
                             .minMessageSize = 1_KiB,
                             .maxMessageSize = 2_GiB});
  Rank(0).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
  // OPTIONS: "collective": "reducescatter"
  // OPTIONS: "protocol": "Simple"
  // OPTIONS: "inplace": true
  // OPTIONS: "reuse_resources": true
  // OPTIONS: "num_threads_per_block": 512
  // OPTIONS: "use_double_scratch_buffer": true
  // OPTIONS: "buffer_alignment": 32
  // OPTIONS: "min_message_size": 1024
  // OPTIONS: "max_message_size": 2147483648
}

MSCCLC_ALGORITHM void custom() {
  const std::array<int, 1> blocks{0};
  CustomCollective collective("sum_of_two", 2, 1, 1, false);
  collective.expect(0, 0, {{0, 0}, {1, 0}});
  CollectiveProgram program("custom", collective);
  const MemoryChannel channel(1, 0);
  channel.reduce(Rank(0).input()[0], {Rank(1).input()[0]}, tb(blocks[0]), {.dst = Rank(0).output()[0]});
  // CUSTOM: collective custom "sum_of_two"
}
