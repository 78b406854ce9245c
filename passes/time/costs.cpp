#include "passes/time/costs.h"

#include "ir/collectives.h"
#include "ir/diagnostics.h"
#include "ir/hooks.h"
#include "ir/op_memory.h"
#include "ir/program_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace mscclc::passes::time {

namespace {
/// The payload, in bytes, of a packet with flags. A thread stores such a packet in one access.
constexpr double packetPayload = 8;
/// The rate, in GB/s, between nodes or GPUs that nothing connects. A program that sends data between them takes very
/// long.
constexpr double leastRate = 1e-3;

/// Returns the largest number of chunks that a message has on any rank.
std::uint64_t messageChunks(const ir::Program &program) {
  std::uint32_t most = 1;
  for (const ir::Rank &rank : program.ranks)
    most = std::max(most, ir::chunksOfMessage(program, rank));
  return most;
}

/// Returns Costs::sendsTo_ for rank 0 of `ranks` ranks.
std::vector<std::uint32_t> destinationsOf(const ir::Rank &rank, const OtherEnds &otherEnds, std::size_t ranks) {
  std::vector<std::uint32_t> destinations(ranks);
  std::iota(destinations.begin(), destinations.end(), 0u); // for peers without a channel
  for (const ir::ChannelType type : {ir::ChannelType::Port, ir::ChannelType::Memory}) {
    const std::vector<std::uint32_t> &peers = rank.peers(type),
                                     &ends = otherEnds[type == ir::ChannelType::Port ? 1 : 0];
    for (std::size_t id = 0; id < ends.size(); ++id)
      if (ends[id] != ir::none)
        destinations[peers[id]] = peers[ends[id]];
  }
  return destinations;
}
} // namespace

MessageBytes::MessageBytes(const ir::Program &program, std::uint64_t messageBytes, const LiveRows *rows)
    : program_(program), rows_(rows), unit_(program.bufferAlignment) {
  const std::uint64_t step = messageChunks(program) * unit_;
  chunk_ = std::max<std::uint64_t>(1, (messageBytes + step - 1) / step) * unit_;
  row_ = inSlot_ = rows && rows->rowBytes != 0 ? rows->rowBytes : unit_;
  if (!rows || program.oncePerRank != ir::OncePerRank::On)
    return;
  constexpr std::uint64_t placeBytes = 4;
  once_ = rows->choices;
  if (rows->rowBytes != 0)
    inSlot_ = (row_ + once_ * placeBytes + ir::wordBytes - 1) / ir::wordBytes * ir::wordBytes;
}

std::uint64_t MessageBytes::iterations(const ir::Op &header) const {
  return (header.count * chunk_ + header.imm - 1) / header.imm;
}

std::uint64_t MessageBytes::of(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                               std::uint32_t operand, const ir::Op *header, std::uint64_t iteration) const {
  if (rows_)
    return ofRows(rank, block, op, operand);
  std::uint64_t bytes = block.operands(op)[operand].size * chunk_;
  if (op.groupSize > 1) {
    const std::uint64_t units = bytes / unit_, n = op.groupSize;
    bytes = (units / n + (op.groupIndex < units % n ? 1 : 0)) * unit_;
  }
  if (header) {
    const std::uint64_t at = iteration * header->imm;
    bytes = at >= bytes ? 0 : std::min(bytes - at, header->imm);
  }
  return bytes;
}

std::uint64_t MessageBytes::ofRows(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                                   std::uint32_t operand) const {
  const ir::OpRef place{rank, static_cast<std::uint32_t>(&block - program_.ranks[rank].blocks.data()),
                        static_cast<std::uint32_t>(&op - block.ops.data())};
  std::uint64_t rows = 0;
  for (std::uint32_t chunk = 0; chunk < block.operands(op)[operand].size; ++chunk) {
    const ir::RowPart part = rows_->slots.of(program_, place, operand, chunk);
    const std::uint64_t live = rows_->counts.liveRows(program_, part.src, part.dst, capacity(), once_);
    rows += live * (part.part + 1) / part.parts - live * part.part / part.parts;
  }
  return rows * inSlot_;
}

/// Returns the number of rows for which a slot has room.
std::uint64_t MessageBytes::capacity() const {
  return chunk_ * ir::chunksOfShare(program_) / row_;
}

std::uint64_t MessageBytes::entries(std::uint32_t rank) const {
  return rows_ && rows_->rowBytes != 0 ? rows_->counts.entries(program_, rank, capacity()) : 0;
}

std::uint64_t MessageBytes::ofSlots(std::uint32_t rank, ir::BufferKind buffer, bool copied) const {
  const bool isInput = buffer == ir::BufferKind::Input;
  if (!rows_)
    return (isInput ? program_.ranks[rank].inputChunks : program_.ranks[rank].outputChunks) * chunk_;
  std::uint64_t rows = 0;
  for (std::uint32_t other = 0; other < program_.ranks.size(); ++other)
    rows += rows_->counts.liveRows(program_, isInput ? rank : other, isInput ? other : rank, capacity(),
                                   copied ? 0 : once_);
  return rows * (copied ? row_ : inSlot_);
}

/// An operand as the machine sees it: the way to its data, and its bytes of payload.
struct Costs::Operand {
  ir::MemoryPiece piece;
  const ir::Chunk *chunk = nullptr;
  double bytes = 0;
  /// The number of members of a switch's group if a kernel loops over them, because the switch does not do the
  /// operation; else 1.
  double members = 1;
  bool switchWorks = true;
  bool reads() const { return piece.access == ir::Access::Read; }
  bool isLocal() const { return piece.reach == ir::Reach::Own; }
  bool inSwitch() const { return piece.reach == ir::Reach::SwitchChannel && switchWorks; }
};

/// Collects the resources that a flow uses, each once.
class Costs::Uses {
public:
  /// `slots` has one entry for each resource. All entries must be 0 here, and of() sets them to 0 again.
  explicit Uses(std::vector<std::uint32_t> &slots) : slots_(slots) {}
  void add(FluidNetwork::Resource resource, double bytes) {
    std::uint32_t &slot = slots_[resource];
    if (slot != 0) {
      uses_[slot - 1].weight += bytes;
      return;
    }
    uses_.push_back({resource, bytes});
    slot = static_cast<std::uint32_t>(uses_.size());
  }
  /// Returns the collected uses for one flow that represents `flows` flows of `payload` bytes. A use's weight is the
  /// number of bytes on its resource for each byte of one flow, times `flows`.
  std::vector<FluidNetwork::Use> of(double payload, std::uint32_t flows) && {
    for (FluidNetwork::Use &use : uses_) {
      slots_[use.resource] = 0;
      use.weight = use.weight / payload * flows;
    }
    return std::move(uses_);
  }

private:
  std::vector<std::uint32_t> &slots_; ///< [resource]: 1 + index into uses_
  std::vector<FluidNetwork::Use> uses_;
};

Costs::Costs(const ir::Program &program, const Machine &machine, Runner runner, FluidNetwork &network, Folding folding,
             const OtherEnds *otherEnds)
    : program_(program), machine_(machine), nodes_(program, machine), runner_(runner),
      threads_(threadsOfBlock(program, limitsOf(runner))), folding_(folding) {
  const MachineParameters &p = machine.parameters;
  const std::uint32_t ranks = static_cast<std::uint32_t>(program.ranks.size());
  for (std::uint32_t r = 0; r < (folding.ranks ? 1 : ranks); ++r) {
    out_.push_back(add(network, Cause::LinkOut, r, p.link));
    in_.push_back(add(network, Cause::LinkIn, r, p.link));
    memory_.push_back(add(network, Cause::Memory, r, p.memory));
    copyEngine_.push_back(add(network, Cause::CopyEngine, r, p.copyEngine));
    const double nic = std::max(networkRate(machine, nodes_.indexInNode(r)), leastRate);
    nicOut_.push_back(add(network, Cause::NicOut, r, nic));
    nicIn_.push_back(add(network, Cause::NicIn, r, nic));
  }
  if (machine.hasLinks())
    addLinks(network, otherEnds);
  // If only rank 0 is walked, all ranks use its resources.
  for (auto *resources : {&out_, &in_, &memory_, &copyEngine_, &nicOut_, &nicIn_})
    resources->resize(ranks, resources->front());
}

FluidNetwork::Resource Costs::add(FluidNetwork &network, Cause kind, std::uint32_t rank, double capacity,
                                  std::uint32_t peer) {
  meanings_.push_back({kind, rank, peer});
  slots_.push_back(0);
  return network.addResource(capacity);
}

/// Adds the links inside each node. The rate of a link is in payload of stores; the capacity of a resource is in bytes
/// on the line.
void Costs::addLinks(FluidNetwork &network, const OtherEnds *otherEnds) {
  const MachineParameters &p = machine_.parameters;
  const std::uint32_t ranks = static_cast<std::uint32_t>(folding_.ranks ? 1 : program_.ranks.size());
  if (folding_.ranks)
    sendsTo_ = destinationsOf(program_.ranks[0], *otherEnds, program_.ranks.size());
  paths_ = LinkPaths(fabricOf(machine_));
  nowhere_ = add(network, Cause::LinkOut, 0, leastRate);
  for (std::uint32_t first = 0; first < ranks; first += nodes_.ranksPerNode())
    for (const Link &link : paths_.links()) {
      const std::uint32_t gpus = machine_.gpusPerNode;
      const bool leaves = link.from < gpus;
      links_.push_back(add(network, leaves ? Cause::LinkOut : Cause::LinkIn, first + (leaves ? link.from : link.to),
                           static_cast<double>(link.rate) / 1000 * p.link / p.store,
                           leaves && link.to < gpus ? first + link.to : Span::none));
    }
}

void Costs::addLink(Uses &uses, std::uint32_t from, std::uint32_t to, double lineBytes) const {
  if (from == to)
    return;
  uses.add(out_[from], lineBytes);
  uses.add(in_[to], lineBytes);
  if (!machine_.hasLinks())
    return;
  if (folding_.ranks && to == 0)
    to = sendsTo_[std::exchange(from, 0)];
  const auto path = paths_.between(nodes_.indexInNode(from), nodes_.indexInNode(to));
  for (const std::uint32_t link : path)
    uses.add(links_[nodes_.nodeOf(from) * paths_.links().size() + link], lineBytes);
  if (path.empty())
    uses.add(nowhere_, lineBytes);
}

/// Adds a rank's link to or from the switch that reduces and multicasts.
void Costs::addSwitchLink(Uses &uses, std::uint32_t rank, bool leaves, double lineBytes) const {
  if (!machine_.hasLinks())
    return;
  const std::uint32_t gpu = nodes_.indexInNode(rank);
  const std::optional<std::uint32_t> link = leaves ? paths_.toSwitch(gpu) : paths_.fromSwitch(gpu);
  uses.add(link ? links_[nodes_.nodeOf(rank) * paths_.links().size() + *link] : nowhere_, lineBytes);
}

Time Costs::readLatency(const Operand &operand) const {
  const MachineParameters &p = machine_.parameters;
  return us(operand.inSwitch() ? p.multimemLatency : operand.isLocal() ? p.loadLocal : p.loadRemote);
}

bool Costs::isLamport() const {
  return program_.protocol == ir::Protocol::Lamport;
}

/// Returns the payload that a link carries in packets, in bytes a nanosecond. Packets without flags are half as long.
double Costs::packetRate() const {
  const MachineParameters &p = machine_.parameters;
  return isLamport() ? std::min(2 * p.packet, p.store) : p.packet;
}

/// Returns the number of sources that a thread loads from at the same time. In a reduction, the executor loads from one
/// source after the other, because its loop over sources is not unrolled. A kernel polls eight packets together
/// (device/packets.cuh).
std::size_t Costs::sourcesAtOnce(const ir::Op &op) const {
  if (!ir::reduces(op.kind))
    return std::numeric_limits<std::size_t>::max();
  if (runner_ == Runner::Executor)
    return 1;
  return ir::isPacketOp(op.kind) ? 8 : std::numeric_limits<std::size_t>::max();
}

/// Returns the time until a thread has loaded one word of each source.
Time Costs::dataLatency(const ir::Op &op, const std::vector<Operand> &operands) const {
  const std::size_t atOnce = sourcesAtOnce(op);
  std::size_t sources = 0;
  Time all = 0, longest = 0;
  for (const Operand &operand : operands) {
    if (!operand.reads())
      continue;
    if (sources++ % atOnce == 0)
      all += std::exchange(longest, 0);
    longest = std::max(longest, readLatency(operand));
  }
  return all + longest;
}

/// Returns the rate at which the block can issue data, in bytes of payload a nanosecond. A thread has a number of words
/// in flight, each for the latency of its loads. A multiprocessor has a limit of its own.
double Costs::blockCap(const ir::Op &op, double payload, const std::vector<Operand> &operands) const {
  const MachineParameters &p = machine_.parameters;
  const double threads = threads_;
  double reads = 0, writes = 0; // bytes
  bool packets = false, inSwitch = false;
  for (const Operand &operand : operands) {
    (operand.reads() ? reads : writes) += operand.bytes * operand.members;
    packets |= operand.piece.isPacket();
    inSwitch |= operand.inSwitch() && operand.reads();
  }
  if (inSwitch)
    return p.blockMultimem * payload / std::max(reads, 1.0);
  const double word = packets && !isLamport() ? packetPayload : ir::wordBytes;
  const double perWord = std::max(dataLatency(op, operands), 1.0); // ns
  if (ir::reduces(op.kind))
    return std::min(threads * word / perWord, p.blockReduce * payload / std::max(reads, 1.0));
  const double moved = std::max(reads, writes); // a copy to several places reads its source again for each place
  return std::min(p.blockCopy, threads * word * p.copyDepth / perWord) * payload / std::max(moved, 1.0);
}

/// Returns the bytes that elements take in `buffer`, divided by the bytes that they take in the message. Elements are
/// assumed to have 16 bits, which is usual.
double Costs::spreadOf(ir::BufferKind buffer) const {
  constexpr std::uint32_t elementBytes = 2;
  if (const ir::Hook *const wire = ir::wireOf(program_); wire && buffer == ir::BufferKind::Scratch) {
    const ir::WireInfo &info = ir::info(wire->wire);
    const double elements = wire->block;
    return (elements * info.elementBytes + info.scaleBytes) / (elements * info.messageBytes);
  }
  return buffer == ir::BufferKind::Scratch ? static_cast<double>(ir::spreadInScratch(program_, elementBytes)) : 1;
}

DataCost Costs::data(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, const ir::Op *header,
                     std::uint64_t iteration, const MessageBytes &bytes) const {
  const MachineParameters &p = machine_.parameters;
  std::vector<Operand> operands;
  DataCost cost;
  for (std::uint32_t i = 0; i < op.numChunks(); ++i) {
    const ir::Chunk &chunk = block.chunks[op.firstChunk + i];
    const std::uint64_t payload = bytes.of(rank, block, op, i, header, iteration);
    const ir::MemoryPiece piece = ir::pieceOf(program_, rank, op, i, chunk);
    operands.push_back({piece, &chunk, static_cast<double>(payload) * spreadOf(piece.buffer)});
    if (ir::reduces(op.kind) && !ir::isDoneInSwitch(op.reduceOp) && operands.back().inSwitch()) {
      operands.back().switchWorks = false;
      operands.back().members = 0;
      ir::forEachPiece(program_, rank, op, i, chunk, [&](const ir::MemoryPiece &) { ++operands.back().members; });
    }
    cost.bytes = std::max(cost.bytes, payload);
  }
  if (cost.bytes == 0)
    return cost;
  Uses uses(slots_);
  for (const Operand &operand : operands) {
    const bool packet = operand.piece.isPacket(), reads = operand.reads();
    const double line = operand.bytes * (operand.inSwitch() ? p.link / p.multimem * (packet ? 2 : 1)
                                         : packet           ? p.link / packetRate()
                                                            : p.link / (reads ? p.load : p.store));
    // The switch reduces the data of all members into one flow, and multicasts one flow to all members.
    if (operand.inSwitch()) {
      uses.add(reads ? in_[rank] : out_[rank], line);
      addSwitchLink(uses, rank, !reads, line);
    }
    ir::forEachPiece(program_, rank, op, operand.piece.operand, *operand.chunk, [&](const ir::MemoryPiece &piece) {
      uses.add(memory_[piece.rank], operand.bytes * (packet ? 2 : 1)); // packets: flags, or clearing, double the bytes
      if (operand.inSwitch()) {
        uses.add(reads ? out_[piece.rank] : in_[piece.rank], line);
        addSwitchLink(uses, piece.rank, reads, line);
      } else {
        addLink(uses, reads ? piece.rank : rank, reads ? rank : piece.rank, line);
      }
    });
  }
  const double payload = static_cast<double>(cost.bytes);
  cost.uses = std::move(uses).of(payload, folding_.instances);
  cost.cap = blockCap(op, payload, operands);
  cost.latency = dataLatency(op, operands);
  return cost;
}

DataCost Costs::put(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint32_t pair,
                    const ir::Op *header, std::uint64_t iteration, const MessageBytes &bytes) const {
  const MachineParameters &p = machine_.parameters;
  const ir::Chunk &to = block.dsts(op)[pair];
  const std::uint32_t owner = ir::pieceOf(program_, rank, op, op.numSrcs + pair, to).rank;
  DataCost cost;
  cost.bytes = bytes.of(rank, block, op, op.numSrcs + pair, header, iteration);
  cost.cap = std::numeric_limits<double>::infinity();
  // A packet is sent with its flags, so it has twice the bytes of its payload.
  const double scale = (op.kind == ir::OpKind::PutPacket ? 2 : 1) * spreadOf(ir::bufferOf(program_.ranks[rank], to));
  Uses uses(slots_);
  uses.add(memory_[rank], scale);
  uses.add(memory_[owner], scale);
  if (nodes_.areTogether(rank, owner)) {
    uses.add(copyEngine_[rank], scale);
    addLink(uses, rank, owner, scale * p.link / std::max(p.copyEngine, p.link));
    cost.latency = us(p.copyEngineLatency);
  } else {
    uses.add(nicOut_[rank], scale);
    uses.add(nicIn_[owner], scale);
    cost.latency = us(p.nicLatency);
  }
  cost.uses = std::move(uses).of(1, folding_.instances);
  return cost;
}

void Costs::addStores(UnfencedStores &stores, std::uint32_t rank, const ir::ThreadBlock &block,
                      const ir::Op &op) const {
  ir::forEachMemory(program_, rank, block, op, [&](const ir::MemoryPiece &piece) {
    if (piece.access == ir::Access::Read || piece.reach == ir::Reach::Own)
      return;
    if (piece.reach == ir::Reach::SwitchChannel)
      stores.multicast = true;
    else
      stores.peers.insert(piece.rank);
  });
}

Time Costs::fence(const UnfencedStores &stores) const {
  const MachineParameters &p = machine_.parameters;
  const double direct = stores.peers.empty() ? 0 : p.fence + p.fencePeer * static_cast<double>(stores.peers.size() - 1);
  return us(std::max(direct, stores.multicast ? p.fenceMulticast : 0));
}

/// Returns the time in which `lanes` threads count the entries of an index once. The index is divided into parts, and
/// each thread counts the entries of one expert in one part.
Time Costs::counting(double entries, double lanes) const {
  constexpr double together = 8, shortest = 32, mostParts = 32; // loads in flight; fewest entries of a part; most parts
  const MachineParameters &p = machine_.parameters;
  const double cells = ir::expertCellsOf(program_).count();
  const double parts = std::max(1.0, std::floor(std::min({lanes / cells, entries / shortest, mostParts})));
  const double turns = std::ceil(parts * cells / lanes) * std::ceil(entries / parts / together);
  return turns * us(p.loadLocal) * (parts > 1 ? 2 : 1) + (parts > 1 ? us(p.barrier) : 0);
}

Time Costs::packing(std::uint32_t rank, bool before, const MessageBytes *bytes) const {
  const ir::CollectiveInfo &collective = ir::info(program_.collective.kind);
  if (!collective.hasExperts)
    return 0;
  const MachineParameters &p = machine_.parameters;
  const bool isDispatch = ir::indexedBuffer(program_.collective.kind) == ir::BufferKind::Input;
  const bool isOnce = program_.oncePerRank == ir::OncePerRank::On;
  // The blocks meet three times before the operations: when ordinals are known, when cells are known, and when rows are
  // packed. They meet once before unpacking. With oncePerRank, they meet once more each time: when first entries are
  // known, and when cells have places.
  Time time = ((before ? 3 : 1) + (isOnce ? 1 : 0)) * us(p.barrier);
  // A thread reads all cells in turn. It waits once for each cache line of an array of cells. If it polls the cells, it
  // waits once for several polls.
  const ir::ExpertCells cells = ir::expertCellsOf(program_);
  constexpr std::uint32_t cellsOfLine = 32, pollsAtOnce = 8;
  const std::uint32_t lines = (cells.experts + cellsOfLine - 1) / cellsOfLine, // lines of one rank's cells
      linesOfAll = 2 * ((cells.count() + cellsOfLine - 1) / cellsOfLine);
  std::uint32_t loads = before ? lines : 0;
  if (before && !isDispatch)
    loads += lines + linesOfAll;
  if (!before && isDispatch)
    loads += (cells.experts + pollsAtOnce - 1) / pollsAtOnce + linesOfAll;
  time += loads * us(p.loadLocal);
  if (!bytes)
    return time;
  const double blocks = std::max(1.0, static_cast<double>(program_.ranks[rank].blocks.size()));
  if (before)
    time += (isOnce ? 2 : 1) * counting(static_cast<double>(bytes->entries(rank)), blocks * threads_);
  const double block = std::min(p.blockCopy, threads_ * ir::wordBytes * p.copyDepth / us(p.loadLocal));
  const auto moved = static_cast<double>(
      bytes->ofSlots(rank, before ? ir::BufferKind::Input : ir::BufferKind::Output, /*copied=*/!before));
  return time + moved / std::min(p.memory / 2, blocks * block); // half of it, because each byte is read and written
}

Time Costs::portLatency(std::uint32_t rank, std::uint32_t peer) const {
  return us(nodes_.areTogether(rank, peer) ? machine_.parameters.copyEngineLatency : machine_.parameters.nicLatency);
}

Time Costs::flushLatency(std::uint32_t rank, std::uint32_t peer) const {
  return nodes_.areTogether(rank, peer) ? us(machine_.parameters.copyEngineLatency) : 0;
}

const ExecutorLimits *limitsOf(Runner runner) {
  return runner == Runner::Executor ? &executorLimits.front() : nullptr;
}

std::optional<std::string> cannotRun(const ir::Program &program, const Machine &machine) {
  const RankNodes nodes(program, machine);
  const LinkPaths paths = machine.hasLinks() ? LinkPaths(fabricOf(machine)) : LinkPaths();
  if (program.movement.ranksPerNode > machine.gpusPerNode)
    return "it has " + std::to_string(program.movement.ranksPerNode) + " ranks on a node, and a node of " +
           machine.name + " has " + ir::plural(machine.gpusPerNode, "GPU");
  if (nodes.nodes() > machine.nodes)
    return program.movement.ranksPerNode != 0 ? "its ranks are on " + ir::plural(nodes.nodes(), "node") + ", and " +
                                                    machine.name + " has " + std::to_string(machine.nodes)
                                              : "it has " + std::to_string(program.ranks.size()) + " ranks, and " +
                                                    machine.name + " " + std::to_string(machine.gpus()) + " GPUs";
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    const ir::Rank &rank = program.ranks[r];
    for (const std::uint32_t peer : rank.memoryPeers)
      if (!nodes.areTogether(peer, r))
        return "ranks " + std::to_string(r) + " and " + std::to_string(peer) +
               " have a memory channel, and are on different nodes of " + machine.name;
      else if (machine.hasLinks() && !paths.joins(nodes.indexInNode(r), nodes.indexInNode(peer)))
        return "ranks " + std::to_string(r) + " and " + std::to_string(peer) +
               " have a memory channel, and no link of " + machine.name + " joins them";
    for (const ir::SwitchChannel &channel : rank.switchChannels) {
      if (machine.parameters.multimem == 0 || (machine.hasLinks() && !paths.hasCommonSwitch()))
        return "it has a switch channel, and nothing on " + machine.name + " reduces on the way";
      for (const std::uint32_t peer : channel.ranks)
        if (!nodes.areTogether(peer, r))
          return "ranks " + std::to_string(r) + " and " + std::to_string(peer) +
                 " have a switch channel, and are on different nodes of " + machine.name;
    }
  }
  return std::nullopt;
}

} // namespace mscclc::passes::time
