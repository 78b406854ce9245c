// The programs that mscclc-perf --calibrate runs. The time of each depends on only a few parameters of a machine.
//
// Small messages of a program show latencies, and large ones show bandwidths. Two programs that differ in one aspect
// show the cost of this aspect. All programs are proven, and no launch waits for the launch before it.
#include <mscclc/dsl.hpp>

#include <string>
using namespace mscclc;

namespace {

/// The largest message of programs that measure latencies. They need no larger messages, and a chain of many small
/// operations would take long with them.
constexpr auto chainLimit = 64_KiB;

std::string named(const char *what, int count) {
  return std::string(what) + "_" + std::to_string(count);
}

List<int> upTo(int count) {
  List<int> numbers;
  for (int i = 0; i < count; ++i)
    numbers.push_back(i);
  return numbers;
}

/// Lets both GPUs of a pair meet, after they have begun or finished. Block 0 of each signals block 0 of the other.
void meet(const MemoryChannel &channel, bool relaxed) {
  channel.signal(tb(0), {.sync = relaxed ? Sync::None : Sync::Before, .relaxed = relaxed});
  channel.wait(tb(0), {.sync = Sync::After, .relaxed = relaxed});
}

} // namespace

/// One GPU copies its input. With one block, this shows the rate of a block; with many, the rate of the memory; with
/// few threads, the rate of a thread.
MSCCLC_ALGORITHM void copy(int blocks = 1, int threads = 1024) {
  CollectiveProgram program(named("copy", blocks) + "_of_" + std::to_string(threads), AllReduce(1, blocks, false),
                            {.threadsPerBlock = threads});
  for (int block = 0; block < blocks; ++block)
    Rank(0).copy(Rank(0).output()[block], Rank(0).input()[block], tb(block));
}

/// One block makes copies one after the other. If `inTurn`, each copy needs synchronisation with the copy before it.
/// Otherwise no copy needs synchronisation.
MSCCLC_ALGORITHM void copies(bool inTurn = false, int count = 16) {
  CollectiveProgram program(inTurn ? "copies_in_turn" : "copies_apart", AllReduce(1, 2 * count, false),
                            {.maxMessageSize = chainLimit});
  Rank rank(0);
  Buffer scratch(0, 2);
  // The even chunks come first, then the odd ones. Neighbours would be merged into one copy.
  for (int odd = 0; odd < 2; ++odd)
    for (int i = 0; i < count; ++i) {
      const int chunk = 2 * i + odd;
      if (inTurn) {
        rank.copy(scratch[0], rank.input()[chunk], tb(0));
        rank.copy(scratch[1], scratch[0], tb(0));
        rank.copy(rank.output()[chunk], scratch[1], tb(0));
      } else {
        rank.copy(rank.output()[chunk], rank.input()[chunk], tb(0));
      }
    }
}

/// Blocks pass chunks to their neighbours in several rounds, with a barrier of all blocks between rounds.
MSCCLC_ALGORITHM void barriers(int blocks = 16, int rounds = 8) {
  CollectiveProgram program("barriers", AllReduce(1, blocks, false), {.maxMessageSize = chainLimit});
  Rank rank(0);
  Buffer scratch(0, 2 * blocks);
  const List<int> all = upTo(blocks);
  for (int block = 0; block < blocks; ++block)
    rank.copy(scratch[block], rank.input()[block], tb(block));
  for (int round = 0; round < rounds; ++round) {
    rank.barrier(all);
    const int from = round % 2 * blocks, to = blocks - from;
    for (int block = 0; block < blocks; ++block)
      rank.copy(scratch[to + (block + 1) % blocks], scratch[from + block], tb(block));
  }
  rank.barrier(all);
  for (int block = 0; block < blocks; ++block)
    rank.copy(rank.output()[block], scratch[rounds % 2 * blocks + (block + rounds) % blocks], tb(block));
}

enum class Way { Put, Get };

/// Two GPUs write to each other, or read from each other, with several blocks.
MSCCLC_ALGORITHM void pair(Way way = Way::Put, int blocks = 1, int threads = 1024) {
  CollectiveProgram program(named(way == Way::Put ? "put" : "get", blocks) + "_of_" + std::to_string(threads),
                            SendRecv(2, blocks, false), {.threadsPerBlock = threads});
  const List<int> all = upTo(blocks);
  for (int rank = 0; rank < 2; ++rank) {
    const int peer = 1 - rank;
    const MemoryChannel channel(peer, rank);
    meet(channel, /*relaxed=*/true);
    if (blocks > 1)
      Rank(rank).barrier(all);
    for (int block = 0; block < blocks; ++block)
      if (way == Way::Put)
        channel.put(Rank(peer).output()[block], Rank(rank).input()[block], tb(block));
      else
        channel.get(Rank(rank).output()[block], Rank(peer).input()[block], tb(block));
    if (blocks > 1)
      Rank(rank).barrier(all);
    meet(channel, /*relaxed=*/false);
  }
}

/// Two GPUs write packets to each other.
MSCCLC_ALGORITHM void packets(int blocks = 1) {
  CollectiveProgram program(named("packets", blocks), SendRecv(2, blocks, false),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  const List<Buffer> scratch = {Buffer(0, blocks), Buffer(1, blocks)};
  for (int rank = 0; rank < 2; ++rank)
    for (int block = 0; block < blocks; ++block) {
      MemoryChannel(1 - rank, rank).putPackets(scratch[1 - rank][block], Rank(rank).input()[block], tb(block));
      Rank(rank).unpackPackets(Rank(rank).output()[block], scratch[rank][block], tb(block));
    }
}

/// Signals go back and forth between two GPUs, either without data or each after a small put.
MSCCLC_ALGORITHM void turns(bool data = false, int count = 8) {
  CollectiveProgram program(data ? "puts_in_turn" : "signals_in_turn", SendRecv(2, count, false),
                            {.maxMessageSize = chainLimit});
  const MemoryChannel channels[2] = {MemoryChannel(1, 0), MemoryChannel(0, 1)};
  for (int rank = 0; rank < 2; ++rank)
    meet(channels[rank], /*relaxed=*/true);
  const auto put = [&](int rank, int first, int last) {
    channels[rank].put(Rank(1 - rank).output().slice(first, last), Rank(rank).input().slice(first, last), tb(0));
  };
  for (int turn = 0; turn < count; ++turn)
    for (int rank = 0; rank < 2; ++rank) {
      if (turn != 0 || rank != 0)
        channels[rank].wait(tb(0), {.sync = Sync::After, .relaxed = !data});
      if (data)
        put(rank, turn, turn + 1);
      channels[rank].signal(tb(0), {.sync = Sync::Before, .relaxed = !data});
    }
  channels[0].wait(tb(0), {.sync = Sync::After, .relaxed = !data});
  for (int rank = 0; rank < 2; ++rank) {
    if (!data)
      put(rank, 0, count);
    meet(channels[rank], /*relaxed=*/false);
  }
}

/// Two GPUs write data to each other, and each GPU adds the data that it received. This is a reduction from a GPU's own
/// memory.
MSCCLC_ALGORITHM void reduce() {
  CollectiveProgram program("reduce_1", AllReduce(2, 1, true));
  const List<Buffer> scratch = {Buffer(0, 1), Buffer(1, 1)};
  for (int rank = 0; rank < 2; ++rank) {
    const int peer = 1 - rank;
    const MemoryChannel channel(peer, rank);
    meet(channel, /*relaxed=*/true);
    channel.put(scratch[peer][0], Rank(rank).input()[peer], tb(0));
    meet(channel, /*relaxed=*/false);
    Rank(rank).reduce(Rank(rank).input()[rank], {scratch[rank][0]}, tb(0));
    channel.put(Rank(peer).input()[rank], Rank(rank).input()[rank], tb(0));
    meet(channel, /*relaxed=*/false);
  }
}

/// All GPUs write to all others at once. Each pair of GPUs has its own blocks, unless `together`. Then the same blocks
/// write to all peers, so that the fences of these blocks wait for the writes to all peers.
MSCCLC_ALGORITHM void allpairs(int ranks = 8, int blocks = 2, bool together = false) {
  CollectiveProgram program(together ? "allpairs_together" : "allpairs", AllToAll(ranks, blocks, false));
  for (int rank = 0; rank < ranks; ++rank) {
    Rank(rank).copy(Rank(rank).output().slice(rank * blocks, (rank + 1) * blocks),
                    Rank(rank).input().slice(rank * blocks, (rank + 1) * blocks), tb(0));
    List<MemoryChannel> channels;
    for (int step = 1; step < ranks; ++step)
      for (int block = 0; block < blocks; ++block)
        channels.push_back(MemoryChannel((rank + step) % ranks, rank));
    const int pairs = (ranks - 1) * blocks;
    const auto on = [&](int pair) { return tb(together ? pair % blocks : pair); };
    for (int pair = 0; pair < pairs; ++pair)
      channels[pair].signal(on(pair), {.sync = Sync::None, .relaxed = true});
    for (int pair = 0; pair < pairs; ++pair)
      channels[pair].wait(on(pair), {.sync = Sync::After, .relaxed = true});
    for (int pair = 0; pair < pairs; ++pair) {
      const int peer = (rank + 1 + pair / blocks) % ranks, block = pair % blocks;
      channels[pair].put(Rank(peer).output()[rank * blocks + block], Rank(rank).input()[peer * blocks + block],
                         on(pair));
    }
    for (int pair = 0; pair < pairs; ++pair)
      channels[pair].signal(on(pair), {.sync = Sync::Before});
    for (int pair = 0; pair < pairs; ++pair)
      channels[pair].wait(on(pair), {.sync = Sync::After});
  }
}

/// Each GPU reduces a share in the switch. If `broadcast`, it also broadcasts the share. Only a broadcast makes the
/// last signals wait for stores.
MSCCLC_ALGORITHM void multimem(int ranks = 8, int blocks = 1, bool broadcast = true) {
  CollectiveProgram program(named(broadcast ? "multimem" : "multimem_reduce", blocks),
                            broadcast ? Collective(AllReduce(ranks, blocks, true))
                                      : Collective(ReduceScatter(ranks, blocks, true)));
  const List<int> all = upTo(ranks);
  for (int block = 0; block < blocks; ++block) {
    const SwitchChannel group(all, BufferType::Input);
    for (int rank = 0; rank < ranks; ++rank) {
      List<MemoryChannel> channels;
      for (int step = 1; step < ranks; ++step)
        channels.push_back(MemoryChannel((rank + step) % ranks, rank));
      const auto meetAll = [&](bool relaxed) {
        for (const MemoryChannel &channel : channels)
          channel.signal(tb(block), {.sync = relaxed ? Sync::None : Sync::Before, .relaxed = relaxed});
        for (const MemoryChannel &channel : channels)
          channel.wait(tb(block), {.sync = Sync::After, .relaxed = relaxed});
      };
      meetAll(/*relaxed=*/true);
      const int index = rank * blocks + block;
      const Chunk share = Rank(rank).input()[index];
      group.atRank(rank).reduce(index, 1, share, tb(block));
      if (broadcast)
        group.atRank(rank).broadcast(share, index, 1, tb(block));
      meetAll(/*relaxed=*/false);
    }
  }
}

enum class Port { Put, Turns, Flushes };

/// Two GPUs use ports: for a put, for signals back and forth, or for many small puts with a flush after each.
MSCCLC_ALGORITHM void ports(Port what = Port::Put, int count = 8) {
  const char *const names[] = {"port_put", "port_turns", "port_flushes"};
  const int chunks = what == Port::Flushes ? count : 1;
  CollectiveProgram program(names[static_cast<int>(what)], SendRecv(2, chunks, false),
                            {.maxMessageSize = what == Port::Put ? 1_GiB * 16 : chainLimit});
  const PortChannel channels[2] = {PortChannel(1, 0), PortChannel(0, 1)};
  for (const PortChannel &channel : channels) {
    channel.signal(tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
  }
  for (int turn = 0; turn < (what == Port::Turns ? count : 0); ++turn)
    for (const PortChannel &channel : channels) {
      channel.signal(tb(0));
      channel.wait(tb(0), {.sync = Sync::After});
    }
  for (int rank = 0; rank < 2; ++rank)
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const Chunk to = Rank(1 - rank).output()[chunk], from = Rank(rank).input()[chunk];
      if (chunk + 1 == chunks)
        channels[rank].putWithSignal(to, from, tb(0));
      else
        channels[rank].put(to, from, tb(0));
      if (what == Port::Flushes)
        channels[rank].flush(tb(0));
    }
  for (const PortChannel &channel : channels) {
    channel.wait(tb(0), {.sync = Sync::After});
    channel.flush(tb(0));
  }
}
