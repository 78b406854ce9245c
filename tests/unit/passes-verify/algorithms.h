// Right programs of every kind of synchronisation, to be proven, broken and run.
#pragma once

#include "plan.h"

#include "passes/run/geometry.h"

#include <functional>
#include <string>

namespace plan {

/// Everybody puts its chunk into everybody's output.
inline Plan allGather(std::uint32_t n) {
  Plan p(CollectiveKind::AllGather, n, 1, n, true);
  p.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    Block b = p.on(r);
    Chunks to, from;
    for (std::uint32_t q = 0; q < n; ++q)
      if (q != r) {
        to.push_back(b.of(q, BufferKind::Output, r));
        from.push_back(out(r));
      }
    b.relaxedSignal(p.allChannels()).relaxedWait(p.allChannels()).nop();
    b.remote(OpKind::Put, to, from).nop().signal(p.allChannels()).wait(p.allChannels());
  }
  return p;
}

/// Everybody reads everybody's chunk.
inline Plan allGatherGet(std::uint32_t n) {
  Plan p(CollectiveKind::AllGather, n, 1, n);
  p.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    Block b = p.on(r);
    Chunks to, from;
    for (std::uint32_t q = 0; q < n; ++q)
      if (q != r) {
        from.push_back(b.of(q, BufferKind::Input, 0));
        to.push_back(out(q));
      }
    b.relaxedSignal(p.allChannels()).relaxedWait(p.allChannels()).copy(out(r), in(0)).nop();
    b.remote(OpKind::Get, to, from, ChannelType::Memory, p.allChannels()).nop();
    b.relaxedSignal(p.allChannels()).relaxedWait(p.allChannels());
  }
  return p;
}

/// Each rank reduces one chunk, reading from all and writing to all.
inline Plan allReduce(std::uint32_t n) {
  Plan p(CollectiveKind::AllReduce, n, n, n, true);
  p.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    Block b = p.on(r);
    Chunks from{in(r)}, to{in(r)};
    for (std::uint32_t q = 0; q < n; ++q)
      if (q != r) {
        from.push_back(b.of(q, BufferKind::Input, r));
        to.push_back(from.back());
      }
    b.relaxedSignal(p.allChannels()).relaxedWait(p.allChannels()).nop();
    b.remote(OpKind::ReadReduceSend, to, from).nop().signal(p.allChannels()).wait(p.allChannels());
  }
  return p;
}

/// The same in packets, through scratch.
inline Plan allReducePackets(std::uint32_t n, bool twice) {
  Plan p(CollectiveKind::AllReduce, n, n, n, true, 2 * n);
  p.program.protocol = Protocol::LL;
  p.program.doubleScratch = twice;
  p.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    Block b = p.on(r);
    Chunks to, from, parts{in(r)}, results{in(r)};
    for (std::uint32_t q = 0; q < n; ++q)
      if (q != r) {
        to.push_back(b.of(q, BufferKind::Scratch, r));
        from.push_back(in(q));
        parts.push_back(scratch(q));
        results.push_back(b.of(q, BufferKind::Scratch, n + r));
      }
    b.remote(OpKind::PutPacket, to, from).remote(OpKind::ReduceSendPacket, results, parts);
    for (std::uint32_t q = 0; q < n; ++q)
      if (q != r)
        b.remote(OpKind::UnpackPacket, {in(q)}, {scratch(n + q)}, ChannelType::None);
  }
  return p;
}

/// A ring: chunks travel n - 1 steps, one neighbour to the next.
inline Plan allGatherRing(std::uint32_t n) {
  Plan p(CollectiveKind::AllGather, n, 1, n, true);
  for (std::uint32_t r = 0; r < n; ++r) {
    p.channel(r, (r + 1) % n);
    p.channel(r, (r + n - 1) % n);
  }
  for (std::uint32_t r = 0; r < n; ++r) {
    Block b = p.on(r);
    const std::uint32_t next = (r + 1) % n;
    b.relaxedSignal({1}).relaxedWait({0}).nop();
    for (std::uint32_t s = 0; s + 1 < n; ++s) {
      const std::uint32_t chunk = (r + n - s) % n;
      b.remote(OpKind::Put, {b.of(next, BufferKind::Output, chunk)}, {out(chunk)}).nop().signal({0}).wait({1});
      if (s + 2 < n)
        b.nop();
    }
  }
  return p;
}

/// A group of blocks shares each put; block 0 talks to the peers.
inline Plan allGatherGroup(std::uint32_t n, std::uint32_t blocks) {
  Plan p(CollectiveKind::AllGather, n, 1, n, true);
  p.connectAll();
  for (std::uint32_t r = 0; r < n; ++r)
    for (std::uint32_t t = 0; t < blocks; ++t) {
      Block b = p.on(r, t);
      if (t == 0)
        b.relaxedSignal(p.allChannels()).relaxedWait(p.allChannels());
      b.barrier(0, blocks);
      for (std::uint32_t q = 0; q < n; ++q)
        if (q != r)
          b.remote(OpKind::Put, {b.of(q, BufferKind::Output, r)}, {out(r)}).slice(t, blocks);
      b.barrier(0, blocks);
      if (t == 0)
        b.signal(p.allChannels()).wait(p.allChannels());
    }
  return p;
}

/// Through port channels, each to the next.
inline Plan sendPort(std::uint32_t n) {
  Plan p(CollectiveKind::SendRecv, n, 1, 1);
  for (std::uint32_t r = 0; r < n; ++r) {
    p.channel(r, (r + 1) % n, ChannelType::Port);
    p.channel(r, (r + n - 1) % n, ChannelType::Port);
  }
  for (std::uint32_t r = 0; r < n; ++r) {
    Block b = p.on(r);
    const Chunk to = b.of((r + 1) % n, BufferKind::Output, 0, 1, ChannelType::Port);
    b.signal({1}, ChannelType::Port).wait({0}, ChannelType::Port).nop();
    b.remote(OpKind::Put, {to}, {in(0)}, ChannelType::Port, {0}).nop();
    b.signal({0}, ChannelType::Port).flush({0}).wait({1}, ChannelType::Port);
  }
  return p;
}

/// A switch reduces and broadcasts.
inline Plan allReduceSwitch(std::uint32_t n) {
  Plan p(CollectiveKind::AllReduce, n, n, n, true);
  p.connectAll();
  p.switchChannel(BufferKind::Input);
  for (std::uint32_t r = 0; r < n; ++r) {
    Block b = p.on(r);
    b.relaxedSignal(p.allChannels()).relaxedWait(p.allChannels()).nop();
    b.remote(OpKind::SwitchReduceBroadcast, {onSwitch(0, r)}, {onSwitch(0, r)}, ChannelType::Switch, {0}).nop();
    b.signal(p.allChannels()).wait(p.allChannels());
  }
  return p;
}

/// One block puts into scratch of the peer, a second reduces, semaphores hand slots over: two ranks, in a pipeline.
inline Plan allReducePipeline(std::uint64_t unit) {
  Plan p(CollectiveKind::AllReduce, 2, 2, 2, false, 2);
  for (std::uint32_t r = 0; r < 2; ++r) {
    const std::uint32_t q = 1 - r;
    const std::uint32_t filled = p.channel(r, q), done = p.channel(r, q);
    const std::uint32_t full = p.semaphore(r), empty = p.semaphore(r, 1);
    Block fill = p.on(r, 0);
    fill.pipeline(unit, 1, 8);
    fill.acquire({empty}).nop();
    fill.remote(OpKind::Put, {fill.of(q, BufferKind::Scratch, 0), fill.of(q, BufferKind::Scratch, 1)}, {in(0), in(1)});
    fill.nop().signal({filled}).wait({filled}).nop().release({full});
    Block add = p.on(r, 1);
    add.pipeline(unit, 1, 9);
    add.acquire({full}).nop().reduce(out(0), {in(0), scratch(0)}).reduce(out(1), {in(1), scratch(1)});
    add.nop().relaxedSignal({done}).relaxedWait({done}).nop().release({empty});
  }
  return p;
}

/// The same with one slot of scratch for all iterations. Scratch then has a size of its own. It has chunks that nobody
/// uses, so that the slot is small. Small messages then take the slot over and over.
inline Plan allReduceOneSlot() {
  constexpr std::uint32_t scratchChunks = 8192;
  Plan p = allReducePipeline(mscclc::passes::proof::reusedScratchBytes / scratchChunks);
  for (Rank &rank : p.program.ranks)
    rank.scratchChunks = scratchChunks;
  p.program.reuseResources = true;
  return p;
}

struct Named {
  std::string name;
  std::function<Plan()> make;
  bool oneSize = false; ///< right where all launches have one message size
};

/// One of each kind, small.
inline std::vector<Named> all() {
  return {{"allGather", [] { return allGather(3); }},
          {"allGatherGet", [] { return allGatherGet(3); }},
          {"allReduce", [] { return allReduce(3); }},
          {"allReducePackets", [] { return allReducePackets(3, false); }, true},
          {"allReducePacketsTwice", [] { return allReducePackets(3, true); }},
          {"allGatherRing", [] { return allGatherRing(4); }},
          {"allGatherGroup", [] { return allGatherGroup(2, 3); }},
          {"sendPort", [] { return sendPort(3); }},
          {"allReduceSwitch", [] { return allReduceSwitch(3); }},
          {"allReducePipeline", [] { return allReducePipeline(1024); }},
          {"allReduceOneSlot", allReduceOneSlot}};
}

} // namespace plan
