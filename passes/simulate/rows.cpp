#include "passes/simulate/machine.h"

#include "ir/collectives.h"
#include "ir/op_memory.h"

#include <algorithm>
#include <cstring>

namespace mscclc::passes::sim {

namespace {
constexpr int deadRow = 0x5c; ///< each byte of the input rows that are not live
} // namespace

std::uint64_t rowBytesOf(const ir::Program &program, DataType type) {
  return std::max(program.bufferAlignment, sizeOf(type)); // both are powers of two
}

RowLaunch::RowLaunch(const ir::Program &program, std::uint64_t capacity, const RowCounts &given, std::uint64_t seed,
                     std::uint32_t launch)
    : ranks(static_cast<std::uint32_t>(program.ranks.size())), capacity(capacity) {
  const ir::RowLayout layout = program.collective.rows;
  const std::uint64_t room = capacity * ranks;
  std::vector<ir::RowCount> counts(ranks);
  if (ir::info(program.collective.kind).hasExperts)
    experts.emplace(program, capacity, given, seed, launch);
  const auto countOf = [&](std::uint32_t src, std::uint32_t dst) {
    return experts ? static_cast<std::int64_t>(experts->sent(src, dst))
                   : given.of(seed, launch, ranks, src, dst, capacity);
  };
  const auto place = [&](ir::BufferKind buffer, std::vector<ir::RowRange> &places) {
    for (std::uint32_t slot = 0; slot < ranks; ++slot)
      places.push_back(ir::rowPlace(ir::rowBegin(layout, buffer, ranks, slot), slot, capacity, room, counts));
  };
  for (std::uint32_t src = 0; src < ranks; ++src) {
    for (std::uint32_t dst = 0; dst < ranks; ++dst)
      counts[dst] = ir::rowCountOf(countOf(src, dst), capacity);
    place(ir::BufferKind::Input, inputs);
  }
  for (std::uint32_t dst = 0; dst < ranks; ++dst) {
    for (std::uint32_t src = 0; src < ranks; ++src)
      counts[src] = {.live = input(src, dst).count};
    place(ir::BufferKind::Output, outputs);
  }
}

ExpertLaunch::Bytes RowLaunch::sent(std::uint32_t src, std::uint32_t dst, std::uint32_t launch, const Inputs &values,
                                    std::uint64_t rowBytes) const {
  if (experts)
    return experts->pack(src, dst, values, rowBytes);
  ExpertLaunch::Bytes rows(input(src, dst).count * rowBytes);
  values.fill(src, launch, dst * capacity * rowBytes, rows.data(), rows.size());
  return rows;
}

ir::RowRange RowLaunch::rowsOf(const ir::RowPart &part, bool inOutput) const {
  const std::uint64_t live = input(part.src, part.dst).count, room = output(part.src, part.dst).count;
  const std::uint64_t begin = live * part.part / part.parts, end = live * (part.part + 1) / part.parts;
  return {begin, inOutput ? std::min(end, std::max(room, begin)) - begin : end - begin};
}

void Rows::reset(std::uint64_t seed) {
  seed_ = seed;
  launches_.clear();
  sent_.assign(std::size_t{ranks()} * 2 * ranks(), 0);
}

const RowLaunch &Rows::launch(std::uint32_t number, const Layout &layout) {
  const auto known = launches_.find(number);
  if (known != launches_.end())
    return known->second;
  const std::uint64_t capacity = layout.chunkBytes() * ir::chunksOfShare(program_) / rowBytes_;
  return launches_.try_emplace(number, program_, capacity, counts_, seed_, number).first->second;
}

bool Rows::hasAll(std::uint32_t rank, std::uint32_t launch) const {
  for (std::uint32_t src = 0; src < ranks(); ++src)
    if (!has(rank, launch, src))
      return false;
  return true;
}

/// Returns the buffer that holds chunk `chunk` of an operand. Sets `owner` to the rank of this buffer, and `index` to
/// the number of the chunk in it.
ir::BufferKind Rows::bufferOf(const ir::OpRef &place, std::uint32_t operand, std::uint32_t chunk, std::uint32_t &owner,
                              std::uint32_t &index) const {
  const ir::ThreadBlock &block = program_.ranks[place.rank].blocks[place.block];
  const ir::Op &op = block.ops[place.op];
  const ir::MemoryPiece piece = ir::pieceOf(program_, place.rank, op, operand, block.operands(op)[operand]);
  owner = piece.rank;
  index = piece.index + chunk;
  return piece.buffer;
}

std::optional<std::uint32_t> Rows::missing(const ir::OpRef &place, std::uint32_t operand, std::uint32_t chunk,
                                           std::uint32_t launch) const {
  const ir::RowPart part = slots_.of(program_, place, operand, chunk);
  if (!has(place.rank, launch, part.src))
    return part.src;
  std::uint32_t owner = 0, index = 0;
  if (bufferOf(place, operand, chunk, owner, index) == ir::BufferKind::Output &&
      program_.collective.rows == ir::RowLayout::Packed)
    for (std::uint32_t before = 0; before < part.src; ++before)
      if (!has(place.rank, launch, before))
        return before;
  return std::nullopt;
}

ByteSpan Rows::span(const ir::OpRef &place, std::uint32_t operand, std::uint32_t chunk, std::uint32_t launch,
                    const Layout &layout) {
  const ir::RowPart part = slots_.of(program_, place, operand, chunk);
  const RowLaunch &counts = this->launch(launch, layout);
  std::uint32_t owner = 0, index = 0;
  const ir::BufferKind buffer = bufferOf(place, operand, chunk, owner, index);
  const ir::RowRange rows = counts.rowsOf(part, buffer == ir::BufferKind::Output);
  switch (buffer) {
  case ir::BufferKind::Input:
    return {(counts.input(part.src, part.dst).begin + rows.begin) * rowBytes_, rows.count * rowBytes_};
  case ir::BufferKind::Output:
    return {(counts.output(part.src, part.dst).begin + rows.begin) * rowBytes_, rows.count * rowBytes_};
  case ir::BufferKind::Scratch:
    break;
  }
  return {index * layout.chunkBytes(), rows.count * rowBytes_};
}

// The members of Machine that handle rows.

/// Returns Blocked while the rank lacks counts that chunk `chunk` of an operand depends on.
Machine::Progress Machine::awaitCounts(const Lane &lane, std::uint32_t operand, std::uint32_t chunk) {
  const auto missing = rows_->missing({lane.rank, lane.block, lane.at.op()}, operand, chunk, ranks_[lane.rank].launch);
  return missing ? blockOn(key(Event::Counts, *missing)) : Progress::Ended;
}

/// Finds the rows that an operation moves to chunk `chunk` of its destination `pair`, and their source. Returns the
/// number of bytes to move; nothing if some lie outside of a buffer.
std::optional<std::uint64_t> Machine::locateRows(const Lane &lane, const ir::Op &op, std::uint32_t pair,
                                                 std::uint32_t chunk, Location &from, Location &to) {
  const ir::OpRef place{lane.rank, lane.block, lane.at.op()};
  const Layout &layout = layoutOf(lane.rank);
  const std::uint32_t launch = ranks_[lane.rank].launch;
  std::uint64_t bytes = ~std::uint64_t{0};
  const auto find = [&](std::uint32_t operand, Location &found) {
    const ir::Chunk &range = codeOf(lane).chunks[op.firstChunk + operand];
    const ir::MemoryPiece piece = ir::pieceOf(program_, lane.rank, op, operand, range);
    const ByteSpan span = rows_->span(place, operand, chunk, launch, layout);
    found.at = bufferOf(piece.rank, piece.buffer, layout) + span.offset;
    if (piece.inScratch() && program_.doubleScratch && (launch & 1) != 0)
      found.at += ranks_[piece.rank].scratchBytes;
    found.rank = piece.rank;
    bytes = std::min(bytes, span.bytes);
    return span.offset + span.bytes <= layout.bytesOf(piece.rank, piece.buffer);
  };
  if (find(op.numSrcs == 1 ? 0 : pair, from) && find(op.numSrcs + pair, to))
    return bytes;
  outcome_.kind = Outcome::OutOfBounds;
  outcome_.place = place;
  outcome_.size = sizeOf_[ranks_[lane.rank].call];
  return std::nullopt;
}

/// Moves rows as move() moves plain data, but chunk by chunk.
Machine::Progress Machine::moveRows(Lane &lane, const ir::Op &op) {
  std::uint64_t burst = 1 + random_() % 8;
  const std::uint32_t chunks = codeOf(lane).dsts(op)[0].size;
  const std::uint64_t row = rows_->rowBytes();
  for (; lane.pair < op.numDsts * chunks; ++lane.pair, lane.granule = 0) {
    const std::uint32_t pair = lane.pair / chunks, chunk = lane.pair % chunks;
    if (awaitCounts(lane, op.numSrcs + pair, chunk) == Progress::Blocked)
      return Progress::Blocked;
    Location from, to;
    const auto bytes = locateRows(lane, op, pair, chunk, from, to);
    if (!bytes)
      return Progress::Moved;
    for (; lane.granule * row < *bytes; ++lane.granule) {
      if (!isWord(lane, op, lane.granule))
        continue;
      if (burst-- == 0)
        return Progress::Moved;
      part_.resize(row);
      load(blockOf(lane), part_.data(), from.at + lane.granule * row, row);
      store(blockOf(lane), to.at + lane.granule * row, part_.data(), row);
    }
  }
  return Progress::Ended;
}

/// Waits for the counts of destination `lane.id`, and then asks `port` to send its rows.
Machine::Progress Machine::pushRows(const Lane &lane, const ir::Op &op, Port &port) {
  const std::uint32_t chunks = codeOf(lane).dsts(op)[lane.id].size;
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
    if (awaitCounts(lane, op.numSrcs + lane.id, chunk) == Progress::Blocked)
      return Progress::Blocked;
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    Location from, to;
    const auto bytes = locateRows(lane, op, lane.id, chunk, from, to);
    if (!bytes)
      return Progress::Moved;
    if (*bytes != 0)
      request(lane, port, from, to, *bytes);
  }
  return Progress::Ended;
}

/// Sends the counts of `rank` to the next rank. Each step sends to one rank.
Machine::Progress Machine::stepCounts(std::uint32_t rank) {
  RankState &s = ranks_[rank];
  if (s.stage == RankState::Done)
    return Progress::Ended;
  if (s.stage != RankState::Running || s.countsSent == ranks_.size())
    return blockOn(key(Event::Launch));
  const std::uint32_t to = s.countsSent++;
  rows_->send(rank, to, s.launch);
  wake(to, key(Event::Counts, rank));
  wake(to, key(Event::User));
  if (s.countsSent == ranks_.size())
    wake(rank, key(Event::User));
  return Progress::Moved;
}

/// Fills the input of `rank`: live rows with their values, and all other bytes with `deadRow`. No launch may move these
/// other bytes.
void Machine::fillRows(std::uint32_t rank) {
  const RankState &s = ranks_[rank];
  const RowLaunch &launch = rows_->launch(s.launch, layoutOf(rank));
  std::memset(s.input.get(), deadRow, s.inputBytes);
  const std::uint64_t row = rows_->rowBytes();
  for (std::uint32_t dst = 0; dst < launch.ranks; ++dst)
    std::ranges::copy(launch.sent(rank, dst, s.launch, inputs_, row),
                      s.input.get() + launch.input(rank, dst).begin * row);
}

/// Compares all bytes of an output: the live rows of each slot must be in their place, and other bytes must be
/// unchanged. For a collective with experts, then compares the unpacked rows with the definition of the collective.
void Machine::compareRows(std::uint32_t rank) {
  const RankState &s = ranks_[rank];
  const RowLaunch &launch = rows_->launch(s.launch, layoutOf(rank));
  const std::uint64_t row = rows_->rowBytes();
  std::vector<std::byte> wanted(s.outputBytes, std::byte{unwrittenOutput});
  std::vector<ExpertLaunch::Bytes> came;
  for (std::uint32_t src = 0; src < launch.ranks; ++src) {
    const ir::RowRange &rows = launch.output(src, rank);
    came.push_back(launch.sent(src, rank, s.launch, inputs_, row));
    std::copy_n(came.back().begin(), rows.count * row, wanted.data() + rows.begin * row);
  }
  if (!isSame(rank, {s.output.get(), s.outputBytes}, wanted) || !launch.experts)
    return;
  const ExpertLaunch &experts = *launch.experts;
  ExpertLaunch::Bytes got(experts.rowsOfResult(rank) * row, std::byte{unwrittenOutput});
  wanted = got;
  experts.unpack(rank, came, type_, row, got);
  experts.define(rank, inputs_, type_, row, wanted);
  isSame(rank, got, wanted);
}

/// True if `got`, bytes of `rank` at the end of a launch, equals `wanted`. Otherwise sets the outcome to the first
/// difference.
bool Machine::isSame(std::uint32_t rank, std::span<const std::byte> got, std::span<const std::byte> wanted) {
  const RankState &s = ranks_[rank];
  const std::uint64_t chunkBytes = layoutOf(rank).chunkBytes(), element = sizeOf(type_);
  for (std::uint64_t at = 0; at < wanted.size(); at += element) {
    if (std::memcmp(wanted.data() + at, got.data() + at, element) == 0)
      continue;
    outcome_.kind = Outcome::Wrong;
    outcome_.rank = rank;
    outcome_.launch = s.launch;
    outcome_.chunk = static_cast<std::uint32_t>(at / chunkBytes);
    outcome_.element = at % chunkBytes / element;
    outcome_.size = sizeOf_[s.call];
    outcome_.got = elementAt(type_, got.data(), at / element);
    outcome_.wanted = elementAt(type_, wanted.data(), at / element);
    outcome_.maxError = 1e300;
    return false;
  }
  return true;
}

} // namespace mscclc::passes::sim
