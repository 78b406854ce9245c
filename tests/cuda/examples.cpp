#include "examples.h"

#include "program_maker.h"

#include <numeric>
#include <random>
#include <utility>

namespace mscclc::test {

namespace {

using ir::CollectiveKind;

/// Puts to every peer, one fused operation.
ir::Program allgatherPut(std::uint32_t n) {
  ProgramMaker m("allgather_put", CollectiveKind::AllGather, n, 2, 2 * n, 0, 1);
  const std::uint32_t channels = m.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    m.meet(r, 0, channels, true);
    m.add(r, 0, OpKind::Copy, {m.input(0, 2)}, {m.output(2 * r, 2)});
    std::vector<Chunk> srcs, dsts;
    for (std::uint32_t p = 0; p < n; ++p)
      if (p != r) {
        srcs.push_back(m.input(0, 2));
        dsts.push_back(m.remote(r, p, BufferKind::Output, 2 * r, 2));
      }
    m.add(r, 0, OpKind::Put, srcs, dsts, {}, ChannelType::Memory);
    m.meet(r, 0, channels, false);
  }
  return m.program;
}

/// Reads from every peer; source and target lie at different offsets.
ir::Program alltoallGet(std::uint32_t n) {
  ProgramMaker m("alltoall_get", CollectiveKind::AllToAll, n, n, n, 0, 1);
  const std::uint32_t channels = m.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    m.meet(r, 0, channels, false);
    m.add(r, 0, OpKind::Copy, {m.input(r)}, {m.output(r)});
    std::vector<Chunk> srcs, dsts;
    std::vector<std::uint32_t> ids;
    for (std::uint32_t p = 0; p < n; ++p)
      if (p != r) {
        srcs.push_back(m.remote(r, p, BufferKind::Input, r));
        dsts.push_back(m.output(p));
        ids.push_back(m.channel(channels, r, p));
      }
    m.add(r, 0, OpKind::Get, srcs, dsts, ids, ChannelType::Memory);
    m.meet(r, 0, channels, false);
  }
  return m.program;
}

/// Reduce-scatter and all-gather around the ring: the same few operations n - 1 times over.
ir::Program allreduceRing(std::uint32_t n) {
  ProgramMaker m("allreduce_ring", CollectiveKind::AllReduce, n, n, n, n, 1, true);
  const std::uint32_t channels = m.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    const std::uint32_t next = (r + 1) % n, last = (r + n - 1) % n;
    const auto signal = [&](std::uint32_t to, OpKind kind) {
      m.add(r, 0, kind, {}, {}, {m.channel(channels, r, to)}, ChannelType::Memory);
    };
    m.meet(r, 0, channels, true);
    for (std::uint32_t s = 0; s + 1 < n; ++s) {
      const std::uint32_t mine = (r + n - s) % n, theirs = (r + 2 * n - s - 1) % n;
      m.add(r, 0, OpKind::Put, {m.input(mine)}, {m.remote(r, next, BufferKind::Scratch, mine)}, {},
            ChannelType::Memory);
      m.nop(r, 0);
      signal(next, OpKind::Signal);
      signal(last, OpKind::Wait);
      m.nop(r, 0);
      m.add(r, 0, OpKind::Reduce, {m.input(theirs), m.scratch(theirs)}, {m.input(theirs)});
      m.nop(r, 0);
    }
    for (std::uint32_t s = 0; s + 1 < n; ++s) {
      const std::uint32_t mine = (r + 1 + n - s) % n;
      m.add(r, 0, OpKind::Put, {m.input(mine)}, {m.remote(r, next, BufferKind::Input, mine)}, {}, ChannelType::Memory);
      m.nop(r, 0);
      signal(next, OpKind::Signal);
      signal(last, OpKind::Wait);
      m.nop(r, 0);
    }
    m.meet(r, 0, channels, false);
  }
  return m.program;
}

/// Each rank reads and reduces its share, then puts the result. A group of blocks does this, and meets at a barrier.
ir::Program allreduceGroup(std::uint32_t n) {
  constexpr std::uint32_t group = 3;
  ProgramMaker m("allreduce_group_max", CollectiveKind::AllReduce, n, 2 * n, 2 * n, 0, group, true);
  const std::uint32_t channels = m.connectAll();
  for (std::uint32_t r = 0; r < n; ++r)
    for (std::uint32_t b = 0; b < group; ++b) {
      const auto barrier = [&] {
        ir::Op &op = m.add(r, b, OpKind::Barrier);
        op.count = group;
      };
      if (b == 0)
        m.meet(r, b, channels, false);
      barrier();
      std::vector<Chunk> srcs{m.input(2 * r, 2)}, dsts = srcs;
      for (std::uint32_t p = 0; p < n; ++p)
        if (p != r) {
          srcs.push_back(m.remote(r, p, BufferKind::Input, 2 * r, 2));
          dsts.push_back(srcs.back());
        }
      ir::Op &op = m.add(r, b, OpKind::ReadReduceSend, srcs, dsts, {}, ChannelType::Memory);
      op.groupIndex = b;
      op.groupSize = group;
      op.reduceOp = ir::ReduceOp::Max;
      barrier();
      if (b == 0)
        m.meet(r, b, channels, false);
    }
  return m.program;
}

/// Every form of packets: local copies, puts, forwarding and all packet reductions.
ir::Program allreducePackets(std::uint32_t n) {
  ProgramMaker m("allreduce_packets", CollectiveKind::AllReduce, n, n, n, 4 * n, 1);
  m.program.protocol = ir::Protocol::LL;
  m.program.doubleScratch = true;
  m.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    std::vector<Chunk> own, slots, packets{m.input(r)};
    for (std::uint32_t p = 0; p < n; ++p)
      if (p != r) {
        own.push_back(m.input(p));
        slots.push_back(m.remote(r, p, BufferKind::Scratch, r));
        packets.push_back(m.scratch(p));
      }
    m.add(r, 0, OpKind::PutPacket, own, slots, {}, ChannelType::Memory);
    std::vector<Chunk> results{m.output(r)};
    // The result goes out as packets: directly, through a copy of our own, or forwarded from one.
    for (std::uint32_t p = 0; p < n; ++p)
      if (p != r)
        results.push_back(m.remote(r, p, BufferKind::Scratch, n + r));
    if (r % 3 == 0) {
      m.add(r, 0, OpKind::ReduceSendPacket, packets, results, {}, ChannelType::Memory);
    } else if (r % 3 == 1) {
      results.insert(results.begin() + 1, m.scratch(2 * n));
      m.add(r, 0, OpKind::ReduceCopySendPacket, packets, results, {}, ChannelType::Memory);
      m.add(r, 0, OpKind::UnpackPacket, {m.scratch(2 * n)}, {m.output(r)});
    } else {
      m.add(r, 0, OpKind::ReduceCopyPacket, packets, {m.output(r), m.scratch(2 * n)});
      m.add(r, 0, OpKind::ReadPutPacket, {m.scratch(2 * n)}, {results.begin() + 1, results.end()}, {},
            ChannelType::Memory);
    }
    for (std::uint32_t p = 0; p < n; ++p)
      if (p != r)
        m.add(r, 0, OpKind::UnpackPacket, {m.scratch(n + p)}, {m.output(p)});
    // A chunk to ourselves, as packets.
    m.add(r, 0, OpKind::CopyPacket, {m.output(r)}, {m.scratch(3 * n)}).sync = ir::DataSync::Before;
    m.add(r, 0, OpKind::UnpackPacket, {m.scratch(3 * n)}, {m.output(r)}).sync = ir::DataSync::Before;
  }
  return m.program;
}

/// A pipeline in units that are no multiple of 16, over two blocks with semaphores, one slice smaller than the loop.
ir::Program allgatherPipeline(std::uint32_t n) {
  ProgramMaker m("allgather_pipeline", CollectiveKind::AllGather, n, 2, 2 * n, 2 * n, 2);
  const std::uint32_t channels = m.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    m.program.ranks[r].semaphores = {{0}};
    m.meet(r, 0, channels, true);
    const auto loop = [&](std::uint32_t block, std::uint32_t operations) {
      ir::Op &op = m.add(r, block, OpKind::Pipeline);
      op.imm = 88;
      op.count = 2;
      op.bodySize = operations;
    };
    loop(0, 6);
    std::vector<Chunk> srcs, dsts;
    for (std::uint32_t p = 0; p < n; ++p)
      if (p != r) {
        srcs.push_back(m.input(0, 2));
        dsts.push_back(m.remote(r, p, BufferKind::Scratch, 2 * r, 2));
      }
    m.add(r, 0, OpKind::Put, srcs, dsts, {}, ChannelType::Memory);
    m.nop(r, 0);
    m.all(r, 0, OpKind::Signal, channels);
    m.all(r, 0, OpKind::Wait, channels);
    m.nop(r, 0);
    m.add(r, 0, OpKind::SemRelease, {}, {}, {0});
    loop(1, n + 3);
    m.add(r, 1, OpKind::SemAcquire, {}, {}, {0});
    m.nop(r, 1);
    for (std::uint32_t p = 0; p < n; ++p) // of our own, chunk by chunk: shorter than the loop
      if (p != r)
        m.add(r, 1, OpKind::Copy, {m.scratch(2 * p, 2)}, {m.output(2 * p, 2)});
    m.add(r, 1, OpKind::Copy, {m.input(0)}, {m.output(2 * r)});
    m.add(r, 1, OpKind::Copy, {m.input(1)}, {m.output(2 * r + 1)});
  }
  return m.program;
}

/// Ports: waits, and puts with and without signal and flush.
ir::Program allgatherPort(std::uint32_t n) {
  ProgramMaker m("allgather_port", CollectiveKind::AllGather, n, 2, 2 * n, 0, 2);
  const std::uint32_t memory = m.connectAll(), first = m.connectAll(ChannelType::Port),
                      second = m.connectAll(ChannelType::Port);
  for (std::uint32_t r = 0; r < n; ++r)
    for (std::uint32_t b = 0; b < 2; ++b) {
      const std::uint32_t channels = b == 0 ? first : second;
      std::vector<Chunk> srcs, dsts;
      std::vector<std::uint32_t> ids;
      for (std::uint32_t p = 0; p < n; ++p)
        if (p != r) {
          srcs.push_back(m.input(b));
          dsts.push_back(m.remote(r, p, BufferKind::Output, 2 * r + b, 1, ChannelType::Port));
          ids.push_back(m.channel(channels, r, p));
        }
      if (b == 0) {
        m.meet(r, b, memory, false);
        m.add(r, b, OpKind::Put, srcs, dsts, ids, ChannelType::Port);
        m.nop(r, b);
        m.all(r, b, OpKind::Signal, channels, ChannelType::Port);
        m.nop(r, b);
        m.all(r, b, OpKind::Flush, channels, ChannelType::Port);
      } else {
        m.add(r, b, OpKind::PutWithSignalAndFlush, srcs, dsts, ids, ChannelType::Port);
      }
      m.add(r, b, OpKind::Copy, {m.input(b)}, {m.output(2 * r + b)});
      m.all(r, b, OpKind::Wait, channels, ChannelType::Port);
      m.nop(r, b);
    }
  return m.program;
}

/// Packets through ports: some are sent from scratch after a sync; others are forwarded as soon as they arrive.
ir::Program allgatherPortPackets(std::uint32_t n) {
  ProgramMaker m("allgather_port_packets", CollectiveKind::AllGather, n, 2, 2 * n, 4 * n, 1);
  m.program.protocol = ir::Protocol::LL;
  m.program.doubleScratch = true;
  const std::uint32_t channels = m.connectAll(ChannelType::Port);
  for (std::uint32_t r = 0; r < n; ++r) {
    std::vector<Chunk> srcs, dsts, second;
    std::vector<std::uint32_t> ids;
    for (std::uint32_t p = 0; p < n; ++p)
      if (p != r) {
        srcs.push_back(m.scratch(3 * n + r));
        dsts.push_back(m.remote(r, p, BufferKind::Scratch, r, 1, ChannelType::Port));
        second.push_back(m.remote(r, p, BufferKind::Scratch, n + r, 1, ChannelType::Port));
        ids.push_back(m.channel(channels, r, p));
      }
    m.add(r, 0, OpKind::CopyPacket, {m.input(0)}, {m.scratch(3 * n + r)});
    m.nop(r, 0);
    m.add(r, 0, OpKind::PutPacket, srcs, dsts, ids, ChannelType::Port);
    m.add(r, 0, OpKind::CopyPacket, {m.input(1)}, {m.scratch(2 * n + r)});
    m.add(r, 0, OpKind::ReadPutPacket, {m.scratch(2 * n + r)}, second, ids, ChannelType::Port);
    m.add(r, 0, OpKind::Copy, {m.input(0, 2)}, {m.output(2 * r, 2)});
    for (std::uint32_t p = 0; p < n; ++p)
      if (p != r) {
        m.add(r, 0, OpKind::UnpackPacket, {m.scratch(p)}, {m.output(2 * p)});
        m.add(r, 0, OpKind::UnpackPacket, {m.scratch(n + p)}, {m.output(2 * p + 1)});
      }
    // Forwarded packets have left before the launch after next writes their slot again.
    m.all(r, 0, OpKind::Flush, channels, ChannelType::Port);
  }
  return m.program;
}

/// Switch channels: reduce, broadcast, and both at once.
ir::Program allreduceSwitch(std::uint32_t n) {
  ProgramMaker m("allreduce_switch", CollectiveKind::AllReduce, n, 2 * n, 2 * n, 2, 1, true);
  const std::uint32_t channels = m.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    std::vector<std::uint32_t> everyone(n);
    for (std::uint32_t p = 0; p < n; ++p)
      everyone[p] = p;
    m.program.ranks[r].switchChannels = {{BufferKind::Input, everyone}};
    m.meet(r, 0, channels, false);
    m.add(r, 0, OpKind::SwitchReduceBroadcast, {m.multicast(0, 2 * r)}, {m.multicast(0, 2 * r)}, {0},
          ChannelType::Switch);
    m.add(r, 0, OpKind::SwitchReduce, {m.multicast(0, 2 * r + 1)}, {m.scratch(1)}, {0}, ChannelType::Switch);
    m.nop(r, 0);
    m.add(r, 0, OpKind::SwitchBroadcast, {m.scratch(1)}, {m.multicast(0, 2 * r + 1)}, {0}, ChannelType::Switch);
    m.meet(r, 0, channels, false);
  }
  return m.program;
}

/// Packets to the whole group.
ir::Program allgatherSwitchPackets(std::uint32_t n) {
  ProgramMaker m("allgather_switch_packets", CollectiveKind::AllGather, n, 1, n, n + 1, 1);
  m.program.protocol = ir::Protocol::LL;
  m.program.doubleScratch = true;
  for (std::uint32_t r = 0; r < n; ++r) {
    std::vector<std::uint32_t> everyone(n);
    for (std::uint32_t p = 0; p < n; ++p)
      everyone[p] = p;
    m.program.ranks[r].switchChannels = {{BufferKind::Scratch, everyone}};
    m.add(r, 0, OpKind::CopyPacket, {m.input(0)}, {m.scratch(n)});
    m.add(r, 0, OpKind::SwitchBroadcastPacket, {m.scratch(n)}, {m.multicast(0, r)}, {0}, ChannelType::Switch);
    for (std::uint32_t p = 0; p < n; ++p)
      m.add(r, 0, OpKind::UnpackPacket, {m.scratch(p)}, {m.output(p)});
  }
  return m.program;
}

/// Double scratch with plain data, local and remote: no rank waits until a peer has read the data of the last launch.
ir::Program reduceScatterDouble(std::uint32_t n) {
  ProgramMaker m("reducescatter_double_min", CollectiveKind::ReduceScatter, n, 2 * n, 2, 2 * n, 1);
  m.program.doubleScratch = true;
  const std::uint32_t channels = m.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    std::vector<Chunk> srcs, dsts, all{m.input(2 * r, 2)};
    for (std::uint32_t p = 0; p < n; ++p)
      if (p != r) {
        srcs.push_back(m.input(2 * p, 2));
        dsts.push_back(m.remote(r, p, BufferKind::Scratch, 2 * r, 2));
        all.push_back(m.scratch(2 * p, 2));
      }
    m.add(r, 0, OpKind::Put, srcs, dsts, {}, ChannelType::Memory);
    m.meet(r, 0, channels, false);
    m.add(r, 0, OpKind::Reduce, all, {m.output(0, 2)}).reduceOp = ir::ReduceOp::Min;
  }
  return m.program;
}

/// A thousand chunks to the next rank, on each rank in another order, which no formula describes.
ir::Program sendrecvScattered(std::uint32_t n) {
  constexpr std::uint32_t chunks = 1000;
  ProgramMaker m("sendrecv_scattered", CollectiveKind::SendRecv, n, chunks, chunks, 0, 1);
  const std::uint32_t channels = m.connectAll();
  std::mt19937 random(1);
  std::vector<std::uint32_t> order(chunks);
  std::iota(order.begin(), order.end(), 0u);
  for (std::uint32_t r = 0; r < n; ++r) {
    for (std::uint32_t i = chunks - 1; i > 0; --i)
      std::swap(order[i], order[random() % (i + 1)]);
    std::vector<Chunk> srcs, dsts;
    for (const std::uint32_t chunk : order) {
      srcs.push_back(m.input(chunk));
      dsts.push_back(m.remote(r, (r + 1) % n, BufferKind::Output, chunk));
    }
    m.meet(r, 0, channels, true);
    m.add(r, 0, OpKind::Put, srcs, dsts, {}, ChannelType::Memory);
    m.meet(r, 0, channels, false);
  }
  return m.program;
}

} // namespace

const std::map<std::string, std::function<ir::Program(std::uint32_t)>> &examples() {
  static const std::map<std::string, std::function<ir::Program(std::uint32_t)>> all{
      {"allgather_put", allgatherPut},
      {"alltoall_get", alltoallGet},
      {"allreduce_ring", allreduceRing},
      {"allreduce_group", allreduceGroup},
      {"allreduce_packets", allreducePackets},
      {"allgather_pipeline", allgatherPipeline},
      {"allgather_port", allgatherPort},
      {"allgather_port_packets", allgatherPortPackets},
      {"allreduce_switch", allreduceSwitch},
      {"allgather_switch_packets", allgatherSwitchPackets},
      {"reducescatter_double", reduceScatterDouble},
      {"sendrecv_scattered", sendrecvScattered},
  };
  return all;
}

} // namespace mscclc::test
