// Programs of the MSCCL++ Python DSL's own tests, ported line by line.
#pragma once

#include "frontend/dsl/include/mscclc/dsl.hpp"

#include <map>
#include <utility>
#include <vector>

namespace mscclc::ported {

inline void copyPackets() {
  CollectiveProgram program("copy_packets_test", TestCollective(1, 1, 1), {.protocol = Protocol::LL});
  Rank rank(0);
  Buffer scratch(0, 1);
  rank.copyPackets(scratch.slice(0, 1), rank.input().slice(0, 1), tb(0));
  rank.unpackPackets(rank.output().slice(0, 1), scratch.slice(0, 1), tb(0));
}

inline void get() {
  const int gpus = 2;
  CollectiveProgram program("get_test", TestCollective(gpus, 2, 0));
  for (int src = 0; src < gpus; ++src)
    for (int dst = 0; dst < gpus; ++dst)
      if (src != dst) {
        MemoryChannel ch(dst, src);
        ch.signal(tb(0), {.relaxed = true});
        ch.wait(tb(0), {.sync = Sync::After, .relaxed = true});
        ch.get(Rank(src).input().slice(0, 1), Rank(dst).input().slice(1, 2), tb(0));
        ch.signal(tb(0), {.sync = Sync::Before});
        ch.wait(tb(0), {.sync = Sync::After});
      }
}

inline void putWithSignalAndFlush() {
  const int gpus = 2;
  CollectiveProgram program("put_with_signal_and_flush_test", TestCollective(gpus, 2, 0));
  for (int src = 0; src < gpus; ++src)
    for (int dst = 0; dst < gpus; ++dst)
      if (src != dst) {
        PortChannel ch(dst, src);
        ch.signal(tb(0));
        ch.wait(tb(0), {.sync = Sync::After});
        ch.putWithSignalAndFlush(Rank(dst).input().slice(1, 2), Rank(src).input().slice(0, 1), tb(0));
        ch.wait(tb(0), {.sync = Sync::After});
      }
}

inline void semaphore() {
  CollectiveProgram program("semaphore_test", TestCollective(1, 0, 0));
  Semaphore sm(0, 0);
  sm.acquire(tb(0), Sync::After);
  sm.release(tb(1), Sync::Before);
}

inline void barrier() {
  CollectiveProgram program("barrier_test", TestCollective(1, 0, 0));
  Rank(0).barrier({0, 1});
}

inline void pipelineCopy() {
  CollectiveProgram program("barrier_test", TestCollective(1, 1, 1), {.instances = 1});
  Rank rank(0);
  PipelineLoop loop(1_MiB, 1);
  rank.copy(rank.output().slice(0, 1), rank.input().slice(0, 1), tb(0));
}

inline void switchReduce() {
  CollectiveProgram program("switch_reduce_test", TestCollective(3, 1, 1));
  Buffer dst(0, 1);
  SwitchChannel ch({0, 1}, BufferType::Input);
  ch.atRank(0).reduce(0, 1, dst.slice(0, 1), tb(0));
}

inline void switchBroadcast() {
  CollectiveProgram program("group_store_test", TestCollective(3, 1, 1));
  Buffer src(0, 1);
  SwitchChannel ch({0, 1}, BufferType::Input);
  ch.atRank(0).broadcast(src.slice(0, 1), 0, 1, tb(0));
}

inline void groupReduceSend() {
  const int gpus = 2;
  CollectiveProgram program("reduce_send_test", TestCollective(gpus, 2, 2));
  for (int src = 0; src < gpus; ++src) {
    Rank rank(src);
    Buffer input = rank.input(), output = rank.output();
    for (int dst = 0; dst < gpus; ++dst)
      if (src != dst) {
        MemoryChannel ch(dst, src);
        ThreadBlockGroup tbg({0, 1, 2, 3});
        ch.signal(tb(0), {.relaxed = true});
        ch.wait(tb(0), {.sync = Sync::After, .relaxed = true});
        rank.reduce(input.slice(0, 1), {input.slice(1, 2)}, tbg, {.dst = output.slice(0, 1)});
        ch.put(Rank(dst).output().slice(1, 2), output.slice(0, 1), tbg);
        ch.signal(tb(0), {.sync = Sync::Before});
        ch.wait(tb(0), {.sync = Sync::After});
      }
  }
}

inline void readReduceSend() {
  const int gpus = 2;
  CollectiveProgram program("read_reduce_send_test", TestCollective(gpus, 2, 2));
  for (int src = 0; src < gpus; ++src) {
    Buffer input = Rank(src).input(), output = Rank(src).output();
    for (int dst = 0; dst < gpus; ++dst)
      if (src != dst) {
        MemoryChannel ch(dst, src);
        ch.signal(tb(0), {.relaxed = true});
        ch.wait(tb(0), {.sync = Sync::After, .relaxed = true});
        ch.reduce(input.slice(0, 1), {Rank(dst).input().slice(1, 2)}, tb(0), {.dst = output.slice(0, 1)});
        ch.put(Rank(dst).output().slice(1, 2), output.slice(0, 1), tb(0));
        ch.signal(tb(0), {.sync = Sync::Before});
        ch.wait(tb(0), {.sync = Sync::After});
      }
  }
}

inline void flush() {
  CollectiveProgram program("flush_test", TestCollective(2, 0, 0));
  PortChannel(1, 0).flush(tb(0), {.sync = Sync::Before});
}

inline void reduceCopySendPackets() {
  CollectiveProgram program("reduce_copy_send_packets_test", TestCollective(2, 1, 0), {.protocol = Protocol::LL});
  Rank rank(0);
  Buffer input = rank.input();
  const Buffer scratch[] = {Buffer(0, 2), Buffer(1, 1)};
  MemoryChannel ch(1, 0);
  rank.reduce(input.slice(0, 1), {scratch[0].slice(0, 1)}, tb(0), {.packet = true});
  rank.copyPackets(scratch[0].slice(1, 2), input.slice(0, 1), tb(0));
  ch.putPackets(scratch[1].slice(0, 1), input.slice(0, 1), tb(0));
}

inline void readPutPackets() {
  const int gpus = 2;
  CollectiveProgram program("read_put_packets_test", TestCollective(gpus, 0, 0), {.protocol = Protocol::LL});
  std::vector<Buffer> scratch;
  for (int rank = 0; rank < gpus; ++rank)
    scratch.push_back(Buffer(rank, 2));
  for (int src = 0; src < gpus; ++src)
    for (int dst = 0; dst < gpus; ++dst)
      if (src != dst)
        MemoryChannel(dst, src).readPutPackets(scratch[dst].slice(1, 2), scratch[src].slice(0, 1), tb(0));
}

inline void allgatherGroup() {
  const int gpus = 2;
  CollectiveProgram program("allgather_tbg", AllGather(gpus, 1, true));
  for (int src = 0; src < gpus; ++src) {
    Chunk mine = Rank(src).output()[src];
    for (int dst = 0; dst < gpus; ++dst) {
      Chunk theirs = Rank(dst).output()[src];
      if (src == dst)
        continue;
      MemoryChannel ch(dst, src);
      const std::vector<int> blocks{0, 1, 2, 3};
      ThreadBlockGroup tbg(blocks);
      ch.signal(tb(0), {.relaxed = true});
      ch.wait(tb(0), {.sync = Sync::After, .relaxed = true});
      Rank(src).barrier(blocks);
      ch.put(theirs, mine, tbg);
      Rank(src).barrier(blocks);
      ch.signal(tb(0), {.sync = Sync::Before});
      ch.wait(tb(0), {.sync = Sync::After});
    }
  }
}

inline void allreducePipeline() {
  const int ranks = 2;
  CollectiveProgram program("allreduce_pipeline", AllReduce(ranks, 1, true), {.reuseResources = true});
  SwitchChannel nvls({0, 1}, BufferType::Scratch);
  std::vector<Buffer> scratch;
  for (int i = 0; i < ranks; ++i)
    scratch.push_back(Buffer(i, ranks));
  for (int i = 0; i < ranks; ++i) {
    const int peer = (i + 1) % ranks;
    MemoryChannel chan(peer, i), chan1(peer, i);
    Rank rank(i);
    Semaphore sem0(i, 0), sem1(i, 0);
    pipeline(1_MiB, 1, [&] {
      for (int offset = 0; offset < ranks; ++offset)
        rank.copy(scratch[i][offset], rank.input()[offset], tb(0));
      chan.signal(tb(0), {.sync = Sync::Before});
      chan.wait(tb(0), {.sync = Sync::After});
      sem0.release(tb(0));
      sem0.acquire(tb(1), Sync::After);
      nvls.atRank(i).reduce(i, 1, scratch[i][i], tb(1));
      nvls.atRank(i).broadcast(scratch[i][i], i, 1, tb(1));
      chan1.signal(tb(1), {.sync = Sync::Before});
      sem1.release(tb(1));
      sem1.acquire(tb(2));
      chan1.wait(tb(2), {.sync = Sync::After});
      for (int index = 0; index < ranks; ++index)
        rank.copy(rank.output()[index], scratch[i][index], tb(2));
    });
  }
}

/// Not one of theirs: what decides ids and the order of tables, in one program.
inline void tables() {
  CollectiveProgram program("tables", TestCollective(4, 8, 8));
  std::map<std::pair<int, int>, PortChannel> ports;
  std::map<std::pair<int, int>, MemoryChannel> memory;
  for (int src = 0; src < 4; ++src)
    for (int dst = 3; dst >= 0; --dst)
      if (src != dst) {
        if (src % 2 == 0)
          memory[{dst, src}] = MemoryChannel(dst, src);
        ports[{dst, src}] = PortChannel(dst, src);
        if (src % 2 != 0)
          memory[{dst, src}] = MemoryChannel(dst, src);
      }
  Buffer a(1, 3), b(1, 2), c(0, 4);
  ports[{1, 0}].put(b[1], Rank(0).input()[0], tb(2));
  memory[{1, 0}].put(a[2], Rank(0).input()[0], tb(2));
  memory[{1, 0}].put(Rank(1).output()[2], Rank(0).input()[0], ThreadBlockGroup({5, 2}));
  memory[{2, 0}].reduce(c[0], {Rank(2).input()[1], Rank(2).output()[1]}, tb(2), {.op = ReduceOp::Max});
  memory[{1, 0}].get(c.slice(0, 2), a.slice(1), tb(1));
  Rank(0).barrier({1, 2});
  Rank(0).barrier({3});
  {
    PipelineLoop loop(4_KiB, 7);
    Rank(0).barrier({2, 5});
    memory[{3, 0}].put(Rank(3).output()[0], c[1], tb(1));
    Rank(0).barrier({1, 2});
    ports[{3, 0}].putWithSignal(Rank(3).output()[1], c[1], tb(7));
  }
  ports[{3, 0}].wait(tb(7));
  memory[{3, 0}].signal(ThreadBlockGroup({1, 0}), {.sync = Sync::None});
}

} // namespace mscclc::ported
