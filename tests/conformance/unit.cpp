// The programs behind plans/unit, one algorithm each: every rule of fusion and of redundant sync once.
#include <mscclc/dsl.hpp>
using namespace mscclc;

namespace {

/// Calls `body(src, dst)` for every ordered pair of different ranks.
template <typename Body> void forEachPair(int ranks, Body body) {
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      if (src != dst)
        body(src, dst);
}

/// A handshake, then `body`, then another handshake, on block 0.
template <typename Body> void betweenHandshakes(MemoryChannel channel, Body body) {
  channel.signal(tb(0), {.relaxed = true});
  channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
  body();
  channel.signal(tb(0), {.sync = Sync::Before});
  channel.wait(tb(0), {.sync = Sync::After});
}

} // namespace

MSCCLC_ALGORITHM void barrier_test() {
  CollectiveProgram program("barrier_test", TestCollective(1, 0, 0));
  Rank(0).barrier({0, 1});
}

MSCCLC_ALGORITHM void copy_packet_test() {
  CollectiveProgram program("copy_packets_test", TestCollective(1, 1, 1), {.protocol = Protocol::LL});
  Rank rank(0);
  Rank(0).copyPackets(Buffer(0, 1).slice(0, 1), rank.input().slice(0, 1), tb(0));
}

MSCCLC_ALGORITHM void copy_test() {
  CollectiveProgram program("copy_test", TestCollective(1, 1, 1));
  Rank rank(0);
  rank.copy(rank.output().slice(0, 1), rank.input().slice(0, 1), tb(0));
}

MSCCLC_ALGORITHM void flush_flush_fuse_test() {
  CollectiveProgram program("flush_test", TestCollective(2, 0, 0));
  PortChannel(1, 0).flush(tb(0), {.sync = Sync::After});
  PortChannel(1, 0).flush(tb(0), {.sync = Sync::Before});
}

MSCCLC_ALGORITHM void flush_flush_test() {
  CollectiveProgram program("flush_test", TestCollective(2, 0, 0));
  PortChannel(1, 0).flush(tb(0), {.sync = Sync::Before});
}

MSCCLC_ALGORITHM void get_get_fuse_test() {
  CollectiveProgram program("get_test", TestCollective(2, 2, 0));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel channel(dst, src);
    betweenHandshakes(channel, [&] {
      channel.get(Rank(src).input()[0], Rank(dst).input()[1], tb(0));
      channel.get(Rank(src).input()[0], Rank(dst).input()[1], tb(0));
    });
  });
}

MSCCLC_ALGORITHM void get_get_test() {
  CollectiveProgram program("get_test", TestCollective(2, 2, 0));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel channel(dst, src);
    betweenHandshakes(channel, [&] { channel.get(Rank(src).input()[0], Rank(dst).input()[1], tb(0)); });
  });
}

MSCCLC_ALGORITHM void pipeline_test() {
  CollectiveProgram program("barrier_test", TestCollective(1, 1, 1));
  Rank rank(0);
  PipelineLoop loop(1_MiB, 1);
  rank.copy(rank.output()[0], rank.input()[0], tb(0));
}

MSCCLC_ALGORITHM void put_put_fuse_test() {
  CollectiveProgram program("put_test", TestCollective(2, 2, 0));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel first(dst, src);
    first.signal(tb(0), {.relaxed = true});
    first.wait(tb(0), {.sync = Sync::After, .relaxed = true});
    first.put(Rank(dst).input()[1], Rank(src).input()[0], tb(0));
    MemoryChannel second(dst, src);
    second.put(Rank(dst).input()[0], Rank(src).input()[1], tb(0));
    second.signal(tb(0), {.sync = Sync::Before});
    second.wait(tb(0), {.sync = Sync::After});
  });
}

MSCCLC_ALGORITHM void put_put_test() {
  CollectiveProgram program("put_test", TestCollective(2, 2, 0));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel channel(dst, src);
    betweenHandshakes(channel, [&] { channel.put(Rank(dst).input()[1], Rank(src).input()[0], tb(0)); });
  });
}

MSCCLC_ALGORITHM void put_put_with_signal_and_flush_test() {
  CollectiveProgram program("put_with_signal_and_flush_test", TestCollective(2, 2, 0));
  forEachPair(2, [](int src, int dst) {
    PortChannel channel(dst, src);
    channel.signal(tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
    channel.putWithSignalAndFlush(Rank(dst).input()[1], Rank(src).input()[0], tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
  });
}

MSCCLC_ALGORITHM void put_put_with_signal_test() {
  CollectiveProgram program("put_with_signal_test", TestCollective(2, 2, 0));
  forEachPair(2, [](int src, int dst) {
    PortChannel channel(dst, src);
    channel.signal(tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
    channel.putWithSignal(Rank(dst).input()[1], Rank(src).input()[0], tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
  });
}

/// Has no plan of its own in plans/: the Python DSL's own check refuses it (two signals, one wait).
MSCCLC_ALGORITHM void put_put_with_signal_fuse_test() {
  CollectiveProgram program("put_with_signal_test", TestCollective(2, 4, 0));
  forEachPair(2, [](int src, int dst) {
    PortChannel channel(dst, src);
    channel.signal(tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
    channel.putWithSignal(Rank(dst).input()[1], Rank(src).input()[0], tb(0));
    channel.putWithSignal(Rank(dst).input()[3], Rank(src).input()[2], tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
  });
}

MSCCLC_ALGORITHM void put_packet_test() {
  CollectiveProgram program("put_packets_test", TestCollective(2, 1, 0), {.protocol = Protocol::LL});
  forEachPair(2, [](int src, int dst) {
    Buffer scratch(dst, 1);
    MemoryChannel channel(dst, src);
    channel.putPackets(scratch[0], Rank(src).input()[0], tb(0));
  });
}

MSCCLC_ALGORITHM void read_put_packet_test() {
  CollectiveProgram program("read_put_packets_test", TestCollective(2, 0, 0), {.protocol = Protocol::LL});
  Buffer scratch[] = {Buffer(0, 2), Buffer(1, 2)};
  forEachPair(
      2, [&](int src, int dst) { MemoryChannel(dst, src).readPutPackets(scratch[dst][1], scratch[src][0], tb(0)); });
}

MSCCLC_ALGORITHM void read_reduce_read_reduce_fuse_test() {
  CollectiveProgram program("read_reduce_test", TestCollective(2, 2, 2));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel channel(dst, src);
    betweenHandshakes(channel, [&] {
      channel.reduce(Rank(src).input()[0], {Rank(dst).input()[0]}, tb(0), {.dst = Rank(src).output()[0]});
      channel.reduce(Rank(src).input()[0], {Rank(dst).input()[1]}, tb(0), {.dst = Rank(src).output()[0]});
    });
  });
}

MSCCLC_ALGORITHM void read_reduce_read_reduce_test() {
  CollectiveProgram program("read_reduce_test", TestCollective(2, 2, 2));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel channel(dst, src);
    betweenHandshakes(channel, [&] {
      channel.reduce(Rank(src).input()[0], {Rank(dst).input()[1]}, tb(0), {.dst = Rank(src).output()[0]});
    });
  });
}

MSCCLC_ALGORITHM void read_reduce_send_test() {
  CollectiveProgram program("read_reduce_send_test", TestCollective(2, 2, 2));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel channel(dst, src);
    betweenHandshakes(channel, [&] {
      channel.reduce(Rank(src).input()[0], {Rank(dst).input()[1]}, tb(0), {.dst = Rank(src).output()[0]});
      channel.put(Rank(dst).output()[1], Rank(src).output()[0], tb(0));
    });
  });
}

MSCCLC_ALGORITHM void reduce_copy_packet_test() {
  CollectiveProgram program("reduce_copy_packets_test", TestCollective(1, 1, 0), {.protocol = Protocol::LL});
  Rank rank(0);
  Buffer scratch(0, 2);
  rank.reduce(rank.input()[0], {scratch[0]}, tb(0), {.packet = true});
  rank.copyPackets(scratch[1], rank.input()[0], tb(0));
}

MSCCLC_ALGORITHM void reduce_copy_send_packet_test() {
  CollectiveProgram program("reduce_copy_send_packets_test", TestCollective(2, 1, 0), {.protocol = Protocol::LL});
  Rank rank(0);
  Buffer here(0, 2), there(1, 1);
  MemoryChannel channel(1, 0);
  rank.reduce(rank.input()[0], {here[0]}, tb(0), {.packet = true});
  rank.copyPackets(here[1], rank.input()[0], tb(0));
  channel.putPackets(there[0], rank.input()[0], tb(0));
}

MSCCLC_ALGORITHM void reduce_packet_reduce_packets_fuse_test() {
  CollectiveProgram program("reduce_packets_test", TestCollective(1, 0, 0), {.protocol = Protocol::LL});
  Rank rank(0);
  Buffer scratch(0, 4);
  rank.reduce(scratch[0], {scratch[1]}, tb(0), {.dst = scratch[3], .packet = true});
  rank.reduce(scratch[0], {scratch[2]}, tb(0), {.dst = scratch[3], .packet = true});
}

MSCCLC_ALGORITHM void reduce_packet_reduce_packets_test() {
  CollectiveProgram program("reduce_packets_test", TestCollective(1, 0, 0), {.protocol = Protocol::LL});
  Rank rank(0);
  Buffer scratch(0, 3);
  rank.reduce(scratch[0], {scratch[1]}, tb(0), {.dst = scratch[2], .packet = true});
}

MSCCLC_ALGORITHM void reduce_reduce_fuse_test() {
  CollectiveProgram program("reduce_test", TestCollective(1, 3, 2));
  Rank rank(0);
  rank.reduce(rank.input()[0], {rank.input()[1]}, tb(0), {.dst = rank.output()[0]});
  rank.reduce(rank.input()[0], {rank.input()[2]}, tb(0), {.dst = rank.output()[0]});
}

MSCCLC_ALGORITHM void reduce_reduce_test() {
  CollectiveProgram program("reduce_test", TestCollective(1, 2, 1));
  Rank rank(0);
  rank.reduce(rank.input()[0], {rank.input()[1]}, tb(0), {.dst = rank.output()[0]});
}

MSCCLC_ALGORITHM void reduce_send_packet_test() {
  CollectiveProgram program("reduce_send_packets_test", TestCollective(2, 0, 0), {.protocol = Protocol::LL});
  Buffer scratch[] = {Buffer(0, 4), Buffer(1, 4)};
  forEachPair(2, [&](int src, int dst) {
    MemoryChannel channel(dst, src);
    Rank(src).reduce(scratch[src][0], {scratch[src][1]}, tb(0), {.dst = scratch[src][2], .packet = true});
    channel.putPackets(scratch[dst][3], scratch[src][2], tb(0));
  });
}

MSCCLC_ALGORITHM void reduce_send_test() {
  CollectiveProgram program("reduce_send_test", TestCollective(2, 2, 2));
  forEachPair(2, [](int src, int dst) {
    Rank rank(src);
    MemoryChannel channel(dst, src);
    betweenHandshakes(channel, [&] {
      rank.reduce(rank.input()[0], {rank.input()[1]}, tb(0), {.dst = rank.output()[0]});
      channel.put(Rank(dst).output()[1], rank.output()[0], tb(0));
    });
  });
}

MSCCLC_ALGORITHM void semaphore() {
  CollectiveProgram program("semaphore_test", TestCollective(1, 0, 0));
  Semaphore semaphore(0, 0);
  semaphore.acquire(tb(0), Sync::After);
  semaphore.release(tb(1), Sync::Before);
}

MSCCLC_ALGORITHM void signal_wait_relaxed_signal_wait_fuse_test() {
  CollectiveProgram program("relaxed_signal_wait_test", TestCollective(2, 0, 0));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel(dst, src).signal(tb(0), {.relaxed = true});
    MemoryChannel(dst, src).signal(tb(0), {.relaxed = true});
    MemoryChannel(dst, src).wait(tb(0), {.relaxed = true});
    MemoryChannel(dst, src).wait(tb(0), {.relaxed = true});
  });
}

MSCCLC_ALGORITHM void signal_wait_relaxed_signal_wait_test() {
  CollectiveProgram program("relaxed_signal_wait_test", TestCollective(2, 0, 0));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel channel(dst, src);
    channel.signal(tb(0), {.relaxed = true});
    channel.wait(tb(0), {.relaxed = true});
  });
}

MSCCLC_ALGORITHM void signal_wait_signal_wait_fuse_test() {
  CollectiveProgram program("signal_wait_test", TestCollective(2, 0, 0));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel(dst, src).signal(tb(0));
    MemoryChannel(dst, src).signal(tb(0));
    MemoryChannel(dst, src).wait(tb(0));
    MemoryChannel(dst, src).wait(tb(0));
  });
}

MSCCLC_ALGORITHM void signal_wait_signal_wait_test() {
  CollectiveProgram program("signal_wait_test", TestCollective(2, 0, 0));
  forEachPair(2, [](int src, int dst) {
    MemoryChannel channel(dst, src);
    channel.signal(tb(0), {.sync = Sync::Before});
    channel.wait(tb(0), {.sync = Sync::After});
  });
}

MSCCLC_ALGORITHM void switch_broadcast_test() {
  CollectiveProgram program("group_store_test", TestCollective(3, 1, 1));
  Buffer scratch(0, 1);
  SwitchChannel({0, 1}, BufferType::Input).atRank(0).broadcast(scratch[0], 0, 1, tb(0));
}

MSCCLC_ALGORITHM void switch_reduce_test() {
  CollectiveProgram program("switch_reduce_test", TestCollective(3, 1, 1));
  Buffer scratch(0, 1);
  SwitchChannel({0, 1}, BufferType::Input).atRank(0).reduce(0, 1, scratch[0], tb(0));
}

MSCCLC_ALGORITHM void tbg_tbg_copy_test() {
  CollectiveProgram program("copy_test", TestCollective(1, 1, 1));
  Rank rank(0);
  rank.copy(rank.output()[0], rank.input()[0], ThreadBlockGroup({0, 1, 2, 3}));
}

MSCCLC_ALGORITHM void tbg_tbg_reduce_fuse_test() {
  CollectiveProgram program("reduce_test", TestCollective(1, 3, 2));
  Rank rank(0);
  ThreadBlockGroup group({0, 1, 2, 3});
  rank.reduce(rank.input()[0], {rank.input()[1]}, group, {.dst = rank.output()[0]});
  rank.reduce(rank.input()[0], {rank.input()[2]}, group, {.dst = rank.output()[0]});
}

MSCCLC_ALGORITHM void tbg_tbg_reduce_send_test() {
  CollectiveProgram program("reduce_send_test", TestCollective(2, 2, 2));
  forEachPair(2, [](int src, int dst) {
    Rank rank(src);
    MemoryChannel channel(dst, src);
    ThreadBlockGroup group({0, 1, 2, 3});
    betweenHandshakes(channel, [&] {
      rank.reduce(rank.input()[0], {rank.input()[1]}, group, {.dst = rank.output()[0]});
      channel.put(Rank(dst).output()[1], rank.output()[0], group);
    });
  });
}

MSCCLC_ALGORITHM void tbg_tbg_reduce_test() {
  CollectiveProgram program("reduce_test", TestCollective(1, 2, 1));
  Rank rank(0);
  rank.reduce(rank.input()[0], {rank.input()[1]}, ThreadBlockGroup({0, 1, 2, 3}), {.dst = rank.output()[0]});
}

MSCCLC_ALGORITHM void unpack_packet_test() {
  CollectiveProgram program("unpack_packets_test", TestCollective(1, 1, 1), {.protocol = Protocol::LL});
  Rank rank(0);
  Buffer scratch(0, 1);
  rank.copyPackets(scratch[0], rank.input()[0], tb(0));
  rank.unpackPackets(rank.output()[0], scratch[0], tb(0));
}
