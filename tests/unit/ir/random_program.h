// Random programs that are structurally valid and use every operation and field. The same seed gives the same program.
//
// They are valid only in form: signals may have no waits, and results may be meaningless.
#pragma once

#include "ir/collectives.h"
#include "ir/op_semantics.h"
#include "ir/op_shapes.h"

#include <algorithm>
#include <random>

namespace mscclc::test {

struct RandomProgramOptions {
  std::uint32_t maxRanks = 4;
  std::uint32_t maxBlocks = 3;
  std::uint32_t maxOps = 30; ///< of a block
  bool locations = true;
  bool movement = false; ///< statements that move data instead of thread blocks
};

class RandomProgram {
public:
  explicit RandomProgram(std::uint64_t seed, RandomProgramOptions options = {}) : random_(seed), options_(options) {}

  ir::Program make() {
    using namespace ir;
    p_ = {};
    const std::uint32_t numRanks = below(options_.maxRanks - 1) + 2;
    makeOptions(numRanks);
    if (options_.locations)
      makeLocations();
    p_.ranks.resize(numRanks);
    const std::uint32_t share = below(3) + 1, scratch = below(6) + 4;
    for (Rank &rank : p_.ranks) {
      const CollectiveInfo &info = ir::info(p_.collective.kind);
      const bool gathers = info.input == Extent::Share && info.output == Extent::Whole;
      const bool scatters = info.input == Extent::Whole && info.output == Extent::Share;
      rank.inputChunks = gathers ? share : share * numRanks;
      rank.outputChunks = scatters ? share : share * numRanks;
      rank.scratchChunks = scratch;
    }
    makeExpectations();
    if (options_.movement) // it has no channels yet
      makeMovement();
    else
      makeSwitches(numRanks);
    for (std::uint32_t r = 0; r < numRanks && !options_.movement; ++r)
      makeRank(r);
    return std::move(p_);
  }

private:
  std::uint32_t below(std::uint32_t bound) { return bound == 0 ? 0 : static_cast<std::uint32_t>(random_() % bound); }
  bool chance(std::uint32_t oneIn) { return below(oneIn) == 0; }
  ir::LocId anyLoc() { return chance(3) ? ir::noLoc : below(static_cast<std::uint32_t>(p_.sources.size())); }
  std::string anyText() {
    std::string text;
    for (std::uint32_t i = below(8); i != 0; --i)
      text += static_cast<char>(random_());
    return text;
  }

  void makeOptions(std::uint32_t numRanks) {
    using namespace ir;
    p_.name = "random " + std::to_string(numRanks) + anyText();
    p_.collective.kind = static_cast<CollectiveKind>(below(collectiveInfos.size()));
    if (info(p_.collective.kind).hasRoot)
      p_.collective.root = below(numRanks);
    p_.collective.name = chance(4) ? "n" + anyText() : std::string(toString(p_.collective.kind));
    p_.collective.inplace = chance(2) && !info(p_.collective.kind).hasRows;
    if (info(p_.collective.kind).hasExperts) {
      p_.collective.experts = 1 + below(9);
      p_.collective.expertLayout = static_cast<ExpertLayout>(below(2));
      p_.readyRows = below(300);
    } else if (info(p_.collective.kind).hasRows && chance(2))
      p_.collective.rows = RowLayout::Packed;
    p_.collective.chunkFactor = below(3) + 1;
    p_.protocol = static_cast<Protocol>(below(2));
    p_.fuse = chance(2);
    p_.autoSync = chance(2);
    p_.instances = below(3) + 1;
    p_.replication = static_cast<Replication>(below(2));
    p_.reuseResources = chance(2);
    p_.doubleScratch = chance(2);
    p_.latePacketsApart = p_.doubleScratch && p_.fuse;
    p_.split = p_.doubleScratch && !p_.fuse;
    if (p_.collective.kind == CollectiveKind::Dispatch)
      p_.oncePerRank = static_cast<OncePerRank>(below(3));
    p_.threadsPerBlock = chance(2) ? 1024 : below(1024) + 1;
    if (chance(2))
      p_.tags = {"default", "level=" + std::to_string(below(3) + 2)};
    p_.hooks = {{.name = "h" + anyText()}, {.name = "rows", .granularity = Granularity::Row, .reads = {"a"}}};
    if (chance(2))
      p_.hooks.push_back({.name = "b",
                          .granularity = Granularity::Block,
                          .block = 8,
                          .reads = {"a", "c"},
                          .writes = {"c"},
                          .equal = {"a"},
                          .function = chance(2) ? "my::Function<float>" : "",
                          .header = ""});
    if (!p_.hooks.back().function.empty() && chance(2))
      p_.hooks.back().header = "my/function.cuh";
    if (chance(2))
      p_.collective.then = p_.hooks[below(static_cast<std::uint32_t>(p_.hooks.size()))].name;
    p_.bufferAlignment = chance(2) ? 16 : 1u << below(32);
    p_.minMessageSize = chance(2) ? 0 : below(4096);
    p_.maxMessageSize = chance(2) ? ~std::uint64_t{0} : (std::uint64_t{1} << 40) + below(4096);
  }

  void makeLocations() {
    using namespace ir;
    for (std::uint32_t f = below(3) + 1; f != 0; --f)
      p_.sources.addFile("file " + std::to_string(f) + anyText());
    for (std::uint32_t i = below(20); i != 0; --i) {
      const auto known = static_cast<std::uint32_t>(p_.sources.size());
      const LocId holder = below(known);
      if (chance(3))
        p_.sources.merge(below(known), below(known));
      else if (holder != noLoc && !p_.sources.isMerge(holder) && chance(3))
        p_.sources.addElement(holder, p_.sources.addLabel(anyText()), below(9));
      else
        p_.sources.addPlace(below(static_cast<std::uint32_t>(p_.sources.files().size())), below(100) + 1, below(80) + 1,
                            chance(2) ? noLoc : below(known));
    }
  }

  void makeExpectations() {
    using namespace ir;
    if (p_.collective.kind != CollectiveKind::Custom)
      return;
    for (std::uint32_t i = below(4); i != 0; --i) {
      const auto rank = below(static_cast<std::uint32_t>(p_.ranks.size()));
      Expectation e{rank, below(p_.ranks[rank].outputChunks), {}, anyLoc()};
      for (std::uint32_t c = below(4); c != 0; --c) {
        const auto from = below(static_cast<std::uint32_t>(p_.ranks.size()));
        const Contribution more{from, below(p_.ranks[from].inputChunks)};
        if (std::ranges::find(e.contributions, more) == e.contributions.end())
          e.contributions.push_back(more);
      }
      if (std::ranges::none_of(p_.collective.expectations, [&](const Expectation &other) {
            return other.rank == e.rank && other.outputChunk == e.outputChunk;
          }))
        p_.collective.expectations.push_back(std::move(e));
    }
  }

  /// Creates switch groups on all their members. The last one is of all ranks, on scratch.
  void makeSwitches(std::uint32_t numRanks) {
    using namespace ir;
    for (std::uint32_t i = below(3) + 1; i != 0; --i) {
      SwitchChannel channel{i == 1 ? BufferKind::Scratch : static_cast<BufferKind>(below(3)), {}};
      for (std::uint32_t r = 0; r < numRanks; ++r)
        if (i == 1 || chance(2))
          channel.ranks.insert(channel.ranks.begin() + below(static_cast<std::uint32_t>(channel.ranks.size() + 1)), r);
      for (const std::uint32_t member : channel.ranks)
        p_.ranks[member].switchChannels.push_back(channel);
    }
  }

  void makeRank(std::uint32_t index) {
    using namespace ir;
    const auto numRanks = static_cast<std::uint32_t>(p_.ranks.size());
    Rank &rank = p_.ranks[index];
    const auto peer = [&] { return (index + 1 + below(numRanks - 1)) % numRanks; };
    // At least one channel to every peer, so that each remote buffer can be reached.
    for (std::uint32_t r = 0; r < numRanks; ++r)
      if (r != index) {
        rank.memoryPeers.push_back(r);
        rank.portPeers.push_back(r);
      }
    for (std::uint32_t i = below(3); i != 0; --i)
      rank.memoryPeers.push_back(peer());
    rank.portChannelsFirst = chance(2);
    for (std::uint32_t r = 0; r < numRanks; ++r)
      for (const BufferKind kind : {BufferKind::Scratch, BufferKind::Input, BufferKind::Output})
        if (r != index && (kind == BufferKind::Scratch || chance(2)))
          rank.remoteBuffers.push_back({r, kind, true, true});
    for (std::uint32_t i = below(3) + 1; i != 0; --i)
      rank.semaphores.push_back({below(5)});

    rank.blocks.resize(below(options_.maxBlocks) + 1);
    for (ThreadBlock &block : rank.blocks) {
      makeTables(rank, block);
      makeOps(index, block);
    }
    if (rank.blocks.size() >= 2) // a barrier over all
      for (ThreadBlock &block : rank.blocks) {
        Op op;
        op.kind = OpKind::Barrier;
        op.imm = 3;
        op.count = static_cast<std::uint32_t>(rank.blocks.size());
        op.loc = anyLoc();
        block.append(op);
      }
  }

  void makeMovement() {
    using namespace ir;
    const auto numRanks = static_cast<std::uint32_t>(p_.ranks.size());
    p_.schedule = Schedule::Auto;
    Movement &movement = p_.movement;
    // Nodes have the same number of ranks each; 0: all ranks are of one.
    do
      movement.ranksPerNode = below(numRanks + 1);
    while (movement.ranksPerNode != 0 && numRanks % movement.ranksPerNode != 0);
    movement.mostBlocks = below(5);
    movement.order = static_cast<Order>(below(4));
    movement.accumulate = static_cast<Accumulate>(below(3));
    movement.chooseProtocol = chance(2);
    movement.chooseInstances = chance(2);
    const auto places = [&](std::uint32_t count) {
      std::vector<RankChunk> side;
      for (; count != 0; --count) {
        RankChunk place{below(numRanks), static_cast<BufferKind>(below(3)), 0, 1};
        place.index = below(p_.ranks[place.rank].chunksOf(place.buffer));
        side.push_back(place);
      }
      return side;
    };
    for (std::uint32_t i = below(options_.maxOps + 1); i != 0; --i) {
      Move move;
      move.kind = static_cast<MoveKind>(below(3));
      if (move.kind == MoveKind::Apply) {
        const auto rank = below(static_cast<std::uint32_t>(p_.ranks.size()));
        const RankChunk place{rank, BufferKind::Output, below(p_.ranks[rank].outputChunks), 1};
        move.hook = below(static_cast<std::uint32_t>(p_.hooks.size()));
        movement.append(move, {&place, 1}, {&place, 1});
        continue;
      }
      const bool reduces = move.kind == MoveKind::Reduce;
      move.loc = anyLoc();
      if (reduces)
        move.reduceOp = static_cast<ReduceOp>(below(reduceOpCount));
      if (chance(2))
        move.via = static_cast<Via>(below(3));
      if (chance(2))
        move.block = below(9);
      if (chance(2))
        move.packets = chance(2);
      const auto srcs = places(reduces ? below(3) + 2 : 1);
      if (reduces)
        move.firstAfter = below(static_cast<std::uint32_t>(srcs.size()));
      if (chance(2))
        move.by = srcs[below(static_cast<std::uint32_t>(srcs.size()))].rank;
      movement.append(move, srcs, places(below(3) + 1));
    }
  }

  void makeTables(const ir::Rank &rank, ir::ThreadBlock &block) {
    using namespace ir;
    const auto list = [&](std::vector<ResourceUse> &table, ChannelType type, std::size_t count) {
      for (std::uint32_t i = 0; i < count; ++i)
        table.push_back({type, i});
    };
    list(block.channels, ChannelType::Memory, rank.memoryPeers.size());
    list(block.channels, ChannelType::Port, rank.portPeers.size());
    list(block.channels, ChannelType::Switch, rank.switchChannels.size());
    list(block.remoteBuffers, ChannelType::Memory, rank.remoteBuffers.size());
    list(block.remoteBuffers, ChannelType::Port, rank.remoteBuffers.size());
    std::shuffle(block.channels.begin(), block.channels.end(), random_);
    std::shuffle(block.remoteBuffers.begin(), block.remoteBuffers.end(), random_);
  }

  void makeOps(std::uint32_t rank, ir::ThreadBlock &block) {
    using namespace ir;
    std::size_t bodyEnd = 0;
    for (std::uint32_t i = below(options_.maxOps + 1); i != 0; --i) {
      const auto kind = static_cast<OpKind>(below(opKindCount));
      if (kind == OpKind::Barrier || (kind == OpKind::Pipeline && block.ops.size() < bodyEnd))
        continue;
      Op op;
      op.kind = kind;
      op.loc = anyLoc();
      if (kind == OpKind::Pipeline) {
        op.imm = below(1 << 20) + 1;
        op.count = below(10);
        op.bodySize = std::min(below(5), i - 1);
        block.append(op);
        bodyEnd = block.ops.size() + op.bodySize;
      } else {
        if (kind == OpKind::Apply) // in a pipeline, to single elements
          op.imm = block.ops.size() < bodyEnd ? 0 : below(static_cast<std::uint32_t>(p_.hooks.size()));
        makeOp(rank, block, op);
      }
    }
    // Skipped operations may have been counted as part of a body.
    for (std::size_t i = 0; i < block.ops.size(); ++i) {
      const std::size_t left = block.ops.size() - i - 1;
      block.ops[i].bodySize = static_cast<std::uint32_t>(std::min<std::size_t>(block.ops[i].bodySize, left));
    }
  }

  void makeOp(std::uint32_t index, ir::ThreadBlock &block, ir::Op op) {
    using namespace ir;
    const Rank &rank = p_.ranks[index];
    const OpShape shape = shapeOf(op.kind);
    do {
      op.channelType = static_cast<ChannelType>(below(4));
    } while (!shape.allows(op.channelType));
    if (hasDataSync(op.kind))
      op.sync = static_cast<DataSync>(below(4));
    if (reduces(op.kind))
      op.reduceOp = static_cast<ReduceOp>(below(reduceOpCount));
    if (canBeSliced(op.kind) && chance(4)) {
      op.groupSize = below(4) + 1;
      op.groupIndex = below(op.groupSize);
    }
    std::vector<Chunk> srcs, dsts;
    const std::uint32_t size = chance(3) ? 2 : 1;
    if (op.kind == OpKind::Apply) {
      dsts.push_back({ChunkSpace::Output, below(rank.outputChunks), 1, 0});
      block.append(op, dsts, dsts);
      return;
    }
    makeSide(rank, op, shape.srcs, true, size, 0, srcs);
    makeSide(rank, op, shape.dsts, false, size, shape.pairwise ? static_cast<std::uint32_t>(srcs.size()) : 0, dsts);
    if (addsFirstAnywhere(op.kind) && chance(2))
      op.firstAfter = below(static_cast<std::uint32_t>(srcs.size()));
    block.append(op, srcs, dsts, makeIds(rank, op, shape, srcs, dsts));
  }

  void makeSide(const ir::Rank &rank, const ir::Op &op, const ir::SideShape &shape, bool sources, std::uint32_t size,
                std::uint32_t count, std::vector<ir::Chunk> &side) {
    using namespace ir;
    const auto some = [&](std::uint8_t least, std::uint8_t most) -> std::uint32_t {
      return count != 0 && most == anyCount ? count : most == anyCount ? least + below(3) : least;
    };
    const auto packet = [&](std::uint32_t i) {
      return (sources ? formOfSource(op, i) : formOfDestination(op.kind, i)) == DataForm::Packet;
    };
    const auto place = [&](Chunk chunk, std::uint32_t chunks) {
      chunk.size = std::min(size, chunks);
      chunk.index = below(chunks - chunk.size + 1);
      side.push_back(chunk);
    };
    for (std::uint32_t i = some(shape.minLocal, shape.maxLocal); i != 0; --i) {
      const BufferKind kind = packet(static_cast<std::uint32_t>(side.size())) || smallBuffers(rank, size)
                                  ? BufferKind::Scratch
                                  : static_cast<BufferKind>(below(3));
      place({spaceOf(kind), 0, 0, 0}, rank.chunksOf(kind));
    }
    for (std::uint32_t i = some(shape.minRemote, shape.maxRemote); i != 0; --i) {
      std::uint32_t id;
      do {
        id = below(static_cast<std::uint32_t>(rank.remoteBuffers.size()));
      } while ((packet(static_cast<std::uint32_t>(side.size())) || smallBuffers(rank, size)) &&
               rank.remoteBuffers[id].buffer != BufferKind::Scratch);
      const RemoteBuffer &remote = rank.remoteBuffers[id];
      place({ChunkSpace::Remote, 0, 0, id}, p_.ranks[remote.rank].chunksOf(remote.buffer));
    }
    for (std::uint32_t i = shape.numSwitch; i != 0; --i) {
      const auto id = static_cast<std::uint32_t>(rank.switchChannels.size() - 1); // the last one is on scratch
      place({ChunkSpace::Switch, 0, 0, id}, rank.scratchChunks);
    }
  }

  static bool smallBuffers(const ir::Rank &rank, std::uint32_t size) {
    return rank.inputChunks < size || rank.outputChunks < size;
  }

  std::vector<std::uint32_t> makeIds(const ir::Rank &rank, const ir::Op &op, const ir::OpShape &shape,
                                     const std::vector<ir::Chunk> &srcs, const std::vector<ir::Chunk> &dsts) {
    using namespace ir;
    std::vector<std::uint32_t> ids;
    const auto some = [&](std::size_t count) {
      for (std::uint32_t i = below(3) + 1; i != 0; --i)
        ids.push_back(below(static_cast<std::uint32_t>(count)));
    };
    switch (shape.ids) {
    case IdRule::None:
      break;
    case IdRule::Channels:
      some(rank.peers(op.channelType).size());
      break;
    case IdRule::Semaphores:
      some(rank.semaphores.size());
      break;
    case IdRule::PerRemoteIfPort:
      if (op.channelType == ChannelType::Memory)
        break;
      [[fallthrough]];
    case IdRule::PerRemote:
      for (const Chunk &chunk : shape.srcs.maxRemote != 0 ? srcs : dsts) {
        const auto &peers = rank.peers(op.channelType);
        const auto it = std::find(peers.begin(), peers.end(), rank.remoteBuffers[chunk.id].rank);
        ids.push_back(static_cast<std::uint32_t>(it - peers.begin()));
      }
      break;
    case IdRule::OneSwitch:
      ids.push_back(below(static_cast<std::uint32_t>(rank.switchChannels.size())));
      break;
    case IdRule::PerSwitch: // all are on one channel
      ids.push_back((srcs[0].space == ChunkSpace::Switch ? srcs : dsts)[0].id);
      break;
    }
    return ids;
  }

  std::mt19937_64 random_;
  RandomProgramOptions options_;
  ir::Program p_;
};

/// A random structurally valid program; equal seeds give equal programs.
inline ir::Program randomProgram(std::uint64_t seed, RandomProgramOptions options = {}) {
  return RandomProgram(seed, options).make();
}

} // namespace mscclc::test
