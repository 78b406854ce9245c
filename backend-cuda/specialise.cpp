#include "backend-cuda/specialise.h"

#include "backend-cuda/block_writer.h"
#include "backend-cuda/dispatch.h"
#include "backend-cuda/printer.h"
#include "ir/collectives.h"
#include "ir/hooks.h"
#include "ir/internal_error.h"
#include "ir/kernel_threads.h"
#include "ir/op_memory.h"
#include "ir/shape_classes.h"

// The flags of the descriptor are defined by the ABI itself.
#include "runtime-min/include/mscclc/runtime_abi.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

namespace mscclc::cuda {

namespace {

using Instances = std::vector<RankBlock>;

/// Finds the kinds of peers' buffers that the kernel accesses by address, and the most switch and memory channels of
/// any rank.
void findPeers(const ir::Program &program, KernelModel &model) {
  const auto add = [&](ir::BufferKind buffer) { model.peerBuffers |= 1u << static_cast<unsigned>(buffer); };
  for (const ir::Rank &rank : program.ranks) {
    for (const ir::RemoteBuffer &remote : rank.remoteBuffers)
      if (remote.viaMemory)
        add(remote.buffer);
    for (const ir::SwitchChannel &channel : rank.switchChannels)
      add(channel.buffer);
    model.switchChannels = std::max(model.switchChannels, static_cast<std::uint32_t>(rank.switchChannels.size()));
    model.memoryChannels = std::max(model.memoryChannels, static_cast<std::uint32_t>(rank.memoryPeers.size()));
  }
}

/// Sets the division of the message into chunks (device/layout.cuh).
void chooseLayout(const ir::Program &program, KernelModel &model) {
  ir::Rank most; // the largest numbers of chunks of any rank
  for (const ir::Rank &r : program.ranks) {
    most.inputChunks = std::max(most.inputChunks, r.inputChunks);
    most.outputChunks = std::max(most.outputChunks, r.outputChunks);
    most.scratchChunks = std::max(most.scratchChunks, r.scratchChunks);
  }
  model.shares = ir::sharesOfMessage(program);
  model.groupChunks = ir::chunksOfMessage(program, most) / model.shares;
  model.scratchSlots = most.scratchChunks;
  // Chunks hold whole elements of every type, and so do their parts in operations.
  model.unit = std::lcm<std::uint64_t>(program.bufferAlignment, 8);
}

/// Adds the C++ types of the element types `names`, and the size of the longest one. Empty `names` stand for the usual
/// types of the program.
void addTypes(const ir::Program &program, std::vector<std::string> names, KernelModel &model) {
  struct Type {
    std::string_view name, spelling;
    std::uint32_t bytes;
  };
  static const Type known[] = {
#define MSCCLC_DTYPE(id, number, bytes, name, type) {name, #type, bytes},
#include "runtime-min/include/mscclc/dtypes.def"
  };
  if (names.empty() && model.wideScratch)
    names = {"f16", "bf16"};
  else if (const ir::Hook *const wire = ir::wireOf(program); names.empty() && wire)
    names = ir::info(wire->wire).types;
  else if (names.empty() && (!program.hooks.empty() || program.collective.kind == ir::CollectiveKind::Combine ||
                             program.protocol == ir::Protocol::Lamport))
    names = {"f32", "f16", "bf16"};
  else if (names.empty())
    names.assign(usualTypes.begin(), usualTypes.end());
  std::set<std::uint64_t> spreads;
  for (const std::string &name : names) {
    const auto *it = std::ranges::find(known, name, &Type::name);
    if (it == std::end(known))
      throw ir::InternalError("no type '" + name + "'");
    model.dtypes += (model.dtypes.empty() ? "" : ", ") + std::string(it->spelling);
    model.elementBytes = std::max(model.elementBytes, it->bytes);
    const bool isInteger = name[0] == 'i' || name[0] == 'u';
    if (isInteger && program.protocol == ir::Protocol::Lamport)
      model.withoutFlags = name;
    spreads.insert(ir::spreadInScratch(program, isInteger ? 0 : it->bytes));
  }
  model.mixesSpreads = spreads.size() > 1;
}

/// True if several blocks of a rank signal on one memory channel.
bool sharesSignals(const ir::Program &program) {
  for (const ir::Rank &rank : program.ranks) {
    constexpr std::size_t nobody = ~std::size_t{0};
    std::vector<std::size_t> signaller(rank.memoryPeers.size(), nobody);
    for (std::size_t b = 0; b < rank.blocks.size(); ++b)
      for (const ir::Op &op : rank.blocks[b].ops) {
        if (!ir::isSignal(op.kind) || op.channelType != ir::ChannelType::Memory)
          continue;
        for (const std::uint32_t channel : rank.blocks[b].idsOf(op)) {
          if (signaller[channel] != nobody && signaller[channel] != b)
            return true;
          signaller[channel] = b;
        }
      }
  }
  return false;
}

/// True if a launch changes an input that is separate from the output.
bool writesInput(const ir::Program &program) {
  bool writes = false;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (const ir::ThreadBlock &block : program.ranks[r].blocks)
      for (const ir::Op &op : block.ops)
        ir::forEachMemory(program, r, block, op, [&](const ir::MemoryPiece &piece) {
          writes |= piece.buffer == ir::BufferKind::Input && piece.access != ir::Access::Read;
        });
  return writes && !program.collective.inplace;
}

/// True if each launch has to give the length of rows.
bool takesRows(const ir::Program &program) {
  return ir::info(program.collective.kind).hasRows || std::ranges::any_of(program.hooks, [](const ir::Hook &hook) {
           return hook.granularity == ir::Granularity::Row;
         });
}

/// Returns the C++ class of the hook in a kernel. Adds the hook's arrays to those of the kernel.
std::string spellHook(const ir::Hook &hook, HookModel &model) {
  std::string text = hook.granularity == ir::Granularity::Element ? "ElementHook<"
                     : hook.granularity == ir::Granularity::Row   ? "RowHook<"
                                                                  : "BlockHook<" + std::to_string(hook.block) + ", ";
  text += hook.function;
  for (const std::string &name : hook.arrays()) {
    const bool isWritten = std::ranges::find(hook.writes, name) != hook.writes.end();
    auto at = std::ranges::find(model.arrays, name, &HookModel::Array::name);
    if (at == model.arrays.end()) {
      model.arrays.push_back({name, isWritten});
      at = std::prev(model.arrays.end());
    }
    text += (isWritten ? ", Writes<" : ", Reads<") + std::to_string(at - model.arrays.begin()) + ">";
  }
  return text + ">";
}

void addHooks(const ir::Program &program, HookModel &model) {
  for (const ir::Hook &hook : program.hooks) {
    const bool isWire = hook.wire != ir::Wire::None;
    model.spellings.push_back(isWire ? "" : spellHook(hook, model));
    if (isWire)
      model.wire = hook.function;
    if (!hook.header.empty() && std::ranges::find(model.headers, hook.header) == model.headers.end())
      model.headers.push_back(hook.header);
    if (hook.granularity != ir::Granularity::Element)
      model.blockElements = std::lcm<std::uint64_t>(std::max<std::uint64_t>(model.blockElements, 1),
                                                    std::max<std::uint64_t>(hook.block, 1));
  }
}

/// Finds the packets, reductions and channels that the program uses.
KernelFacts scanOps(const ir::Program &program, const EmitOptions &options, KernelModel &model) {
  constexpr const char *names[] = {
#define REDUCE_OP(id, ...) #id,
#include "ir/reduce_ops.def"
  };
  KernelFacts facts{program, {}, EarlierReads(program)};
  std::ranges::copy(names, facts.reduceOp.begin());
  std::set<ir::ReduceOp> used;
  bool port = false, multicast = false;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    const ir::Rank &rank = program.ranks[r];
    port |= !rank.portPeers.empty();
    multicast |= !rank.switchChannels.empty();
    for (const ir::ThreadBlock &block : rank.blocks)
      for (const ir::Op &op : block.ops) {
        if (op.numChunks() != 0) {
          const std::uint32_t parts = std::max<std::uint32_t>(op.groupSize, 1);
          model.mostRows = std::max<std::uint32_t>(model.mostRows, (block.operands(op)[0].size + parts - 1) / parts);
        }
        model.packets |= ir::isPacketOp(op.kind);
        if (ir::reduces(op.kind))
          used.insert(op.reduceOp);
      }
  }
  facts.hasPackets = model.packets;
  facts.rows = model.slots ? options.rows : nullptr;
  model.reduceOps = used.empty() ? "NoReduce" : used.size() > 1 ? "MixedReduce" : names[int(*used.begin())];
  if (used.size() == 1)
    facts.reduceOp.fill("Op");
  model.reduces = !used.empty();
  model.isTyped = model.reduces || !program.hooks.empty() || program.collective.kind == ir::CollectiveKind::Combine;
  if (model.isTyped)
    addTypes(program, options.types, model);
  else
    model.dtypes = "Byte";
  model.lamportPackets = model.packets && program.protocol == ir::Protocol::Lamport;
  model.packetKinds = model.lamportPackets ? "Lamport" : model.packets ? "LL8, LL16" : "NoPacket";
  const auto flag = [&](bool set, unsigned bit) { model.flags |= set ? bit : 0; };
  flag(program.collective.inplace, MSCCLC_IN_PLACE);
  flag(model.packets, MSCCLC_USES_PACKETS);
  // Scratch of Lamport packets has three parts, not two.
  flag(program.doubleScratch && !model.lamportPackets, MSCCLC_DOUBLE_SCRATCH);
  flag(port, MSCCLC_NEEDS_PORT);
  flag(multicast, MSCCLC_USES_MULTICAST);
  flag(model.messageBytes != 0, MSCCLC_SPECIALISED_SIZE);
  flag(model.root.has_value(), MSCCLC_ROOTED);
  flag(sharesSignals(program), MSCCLC_SHARED_SIGNALS);
  flag(writesInput(program), MSCCLC_WRITES_INPUT);
  flag(takesRows(program), MSCCLC_TAKES_ROWS);
  flag(model.slots.has_value(), MSCCLC_TAKES_COUNTS);
  flag(model.experts != 0, MSCCLC_TAKES_INDEX);
  flag(model.slots == ir::RowLayout::Packed, MSCCLC_PACKED_ROWS);
  flag(model.isSplit, MSCCLC_SPLIT);
  flag(model.oncePerRank, MSCCLC_ONCE_PER_RANK);
  const std::uint32_t node = program.movement.ranksPerNode;
  if (model.slots && port && node != 0 && node < model.ranks)
    model.ranksPerNode = node;
  // The runtime finds the places of buffers in place by their sizes. This flag marks the case in which sizes mislead.
  const bool oneSize =
      std::ranges::all_of(program.ranks, [](const ir::Rank &r) { return r.inputChunks == r.outputChunks; });
  flag(program.collective.inplace && !oneSize && ir::info(program.collective.kind).inPlace == ir::InPlace::OneBuffer,
       MSCCLC_ONE_START);
  return facts;
}

std::size_t tableLength(const Tables &tables) {
  return tables.entries() * 4;
}

std::size_t countMoves(const std::vector<Statement> &statements);

struct Moves {
  std::size_t operator()(const SyncStatement &) const { return 0; }
  std::size_t operator()(const CallStatement &call) const { return call.movesData ? 1 : 0; }
  std::size_t operator()(const UnitLoop &loop) const { return countMoves(loop.body); }
  std::size_t operator()(const RepeatLoop &loop) const { return countMoves(loop.body); }
};

/// Counts the statements that move data. A loop counts its body once.
std::size_t countMoves(const std::vector<Statement> &statements) {
  std::size_t n = 0;
  for (const Statement &s : statements)
    n += std::visit(Moves{}, s.what);
  return n;
}

std::size_t lengthOf(const BlockProgram &program) {
  return textLength(program.statements) + textLength(program.ofReceive);
}

/// Adds the programs of `instances`, which have one shape.
void addPrograms(const KernelFacts &facts, Instances instances, KernelModel &model) {
  Tables merged = model.tables;
  BlockProgram together = writeBlock(facts, instances, merged);
  const std::size_t tablesOfMerged = tableLength(merged) - tableLength(model.tables);
  const bool severalBlocks =
      std::any_of(instances.begin(), instances.end(), [&](const auto &at) { return at.block != instances[0].block; });
  if (tablesOfMerged != 0 && severalBlocks) {
    std::vector<Instances> byBlock;
    std::unordered_map<int, std::size_t> position;
    for (const auto &at : instances) {
      const auto [it, added] = position.try_emplace(at.block, byBlock.size());
      if (added)
        byBlock.emplace_back();
      byBlock[it->second].push_back(at);
    }
    Tables apart = model.tables;
    std::vector<BlockProgram> programs;
    std::size_t length = 0;
    for (const Instances &some : byBlock) {
      programs.push_back(writeBlock(facts, some, apart));
      length += lengthOf(programs.back());
    }
    if (length + tableLength(apart) - tableLength(model.tables) < lengthOf(together) + tablesOfMerged) {
      model.tables = std::move(apart);
      for (BlockProgram &p : programs)
        model.programs.push_back(std::move(p));
      return;
    }
  }
  model.tables = std::move(merged);
  model.programs.push_back(std::move(together));
}

} // namespace

KernelModel specialise(const ir::Program &program, const EmitOptions &options) {
  KernelModel model;
  model.ranks = static_cast<std::uint32_t>(program.ranks.size());
  model.threads = ir::kernelThreads(program);
  model.blocksOnEach = options.blocksOnEach;
  model.messageBytes = options.messageSize;
  model.minMessageBytes = options.messageSize != 0 ? options.messageSize : program.minMessageSize;
  model.maxMessageBytes = options.messageSize != 0 ? options.messageSize : program.maxMessageSize;
  model.bufferAlignment = program.bufferAlignment;
  model.doubleScratch = program.doubleScratch;
  model.isSplit = program.split;
  model.oncePerRank = program.oncePerRank == ir::OncePerRank::On;
  model.wideScratch = program.movement.accumulate == ir::Accumulate::Wide;
  if (ir::info(program.collective.kind).hasRows)
    model.slots = program.collective.rows;
  model.experts = ir::expertCellsOf(program).experts;
  model.readyRows = program.readyRows;
  if (ir::info(program.collective.kind).hasRoot)
    model.root = program.collective.root;
  chooseLayout(program, model);
  findPeers(program, model);
  addHooks(program, model.hooks);
  const KernelFacts facts = scanOps(program, options, model);

  // Blocks by shape, in order of first appearance.
  std::vector<Instances> shapes;
  ir::ShapeClasses classes;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    const ir::Rank &rank = program.ranks[r];
    model.maxBlocks = std::max(model.maxBlocks, static_cast<std::uint32_t>(rank.blocks.size()));
    for (std::uint32_t b = 0; b < rank.blocks.size(); ++b) {
      const std::uint32_t number = classes.of(ir::shapeOf(rank, rank.blocks[b]));
      shapes.resize(classes.size());
      shapes[number].push_back({static_cast<int>(r), static_cast<int>(b)});
    }
  }
  for (Instances &instances : shapes)
    addPrograms(facts, std::move(instances), model);

  chooseDispatch(program, model);
  // The most statements that move data inline. In a kernel with packets each one counts twice, for the two kinds of
  // packets. With more, compiling would take too long.
  constexpr std::size_t maxInlined = 12;
  std::size_t moves = 0;
  for (const BlockProgram &p : model.programs)
    moves += countMoves(p.statements) + countMoves(p.ofReceive);
  model.outlined = moves * (model.packets ? 2 : 1) > maxInlined;
  model.descriptor = describeRanks(program, model.descriptorTables);
  model.waits = findWaits(program, model.descriptorTables);
  return model;
}

} // namespace mscclc::cuda
