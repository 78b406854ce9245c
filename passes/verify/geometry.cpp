#include "passes/verify/geometry.h"

#include "ir/collectives.h"
#include "ir/cursor.h"
#include "ir/op_memory.h"

#include <algorithm>
#include <numeric>

namespace mscclc::passes::proof {

namespace {
constexpr std::uint64_t maxUnitsPerChunk = 1u << 16;
constexpr std::uint64_t maxUnrolledOps = 50'000'000;
constexpr std::uint64_t mostChunkBytes = std::uint64_t{1} << 31; ///< so that times a number of chunks they fit 64 bits
} // namespace

std::uint64_t reusedScratchChunkBytes(const ir::Program &program, const ir::Rank &rank) {
  if (rank.scratchChunks == 0)
    return 0;
  const std::uint64_t bytes = program.doubleScratch ? reusedScratchBytes / 2 : reusedScratchBytes;
  const std::uint64_t share = (bytes + rank.scratchChunks - 1) / rank.scratchChunks;
  return (share + program.bufferAlignment - 1) / program.bufferAlignment * program.bufferAlignment;
}

Geometry::Geometry(const ProgramIndex &index, std::uint32_t least) {
  scanOps(index);
  chooseSize(index, least);
}

Geometry Geometry::ofUnits(const ProgramIndex &index, std::uint32_t units) {
  Geometry g;
  g.scanOps(index);
  g.mostIterations_ = !g.rates_.empty();
  g.unitsPerChunk_ = units;
  return g;
}

void Geometry::scanOps(const ProgramIndex &index) {
  for (std::uint32_t b = 0; b < index.numBlocks(); ++b) {
    const ir::ThreadBlock &block = index.ops(b);
    const ir::Rank &rank = index.program.ranks[index.rankOf(b)];
    Rate *rate = nullptr;
    ir::forEachOp(block, [&](std::uint32_t o, std::uint32_t header) {
      const ir::Op &op = block.ops[o];
      if (op.groupSize > 1)
        groupLcm_ = std::min<std::uint64_t>(std::lcm(groupLcm_, std::uint64_t{op.groupSize}), maxUnitsPerChunk + 1);
      if (op.kind == ir::OpKind::Pipeline) {
        const auto same = std::find_if(rates_.begin(), rates_.end(),
                                       [&](const Rate &r) { return r.unit == op.imm && r.numChunks == op.count; });
        if (same != rates_.end())
          rate = &*same;
        else
          rate = &rates_.emplace_back(Rate{op.imm, op.count, 1, std::max(1u, op.count), false, index.place(b, o)});
      }
      if (header == none)
        return;
      for (const ir::Chunk &chunk : block.operands(op)) {
        const std::uint64_t n = std::max(1u, op.groupSize);
        if (n * rate->wide > rate->narrow * chunk.size) { // n / size > narrow / wide
          rate->narrow = n;
          rate->wide = chunk.size;
        }
        rate->scratch |= ir::bufferOf(rank, chunk) == ir::BufferKind::Scratch;
      }
    });
  }
}

void Geometry::chooseSize(const ProgramIndex &index, std::uint32_t wantedIterations) {
  std::uint64_t units = groupLcm_;
  if (!rates_.empty() && wantedIterations == 1) {
    mostIterations_ = 1;
  } else if (!rates_.empty()) {
    unitGcd_ = 0;
    for (const Rate &r : rates_)
      unitGcd_ = std::gcd(unitGcd_, r.unit);
    const std::uint64_t slots = countSlots(index.program);
    if (fault_ || !chooseChunk(wantedIterations, slots))
      return;
    for (const Rate &r : rates_) {
      const std::uint64_t unit = r.unit / unitGcd_;
      units = std::lcm(units, chunkBytes_ / std::gcd(chunkBytes_, unit));
      if (units > maxUnitsPerChunk)
        break;
    }
    if (units <= maxUnitsPerChunk) {
      wrapUnits_ = units * slots / chunkBytes_;
      if (!countIterations(index.program, slots != 0 && wantedIterations == 3))
        return;
    }
  }
  if (units > maxUnitsPerChunk) {
    fault_ = {GeometryFault::TooFine, rates_.empty() ? ir::OpRef{} : rates_[0].place, units};
    return;
  }
  unitsPerChunk_ = static_cast<std::uint32_t>(units);
}

/// Scratch slots of a chunk, where the largest message makes iterations share them; else 0. A fault where slices of a
/// pipeline do not divide them.
std::uint64_t Geometry::countSlots(const ir::Program &program) {
  std::uint64_t slots = 0;
  if (!program.reuseResources)
    return slots;
  for (const ir::Rank &rank : program.ranks) {
    const std::uint64_t bytes = reusedScratchChunkBytes(program, rank);
    const std::uint64_t chunks = std::max<std::uint64_t>(1, ir::chunksOfScale(rank));
    if (bytes == 0 || program.maxMessageSize / chunks <= bytes)
      continue;
    for (const Rate &r : rates_) {
      if (!r.scratch)
        continue;
      if (bytes % r.unit != 0) {
        fault_ = {GeometryFault::UnevenWrap, r.place, bytes};
        return slots;
      }
      slots = std::max(slots, bytes / unitGcd_);
    }
  }
  return slots;
}

/// Sets the bytes of a chunk, so that every operand of a pipeline sees the iterations wanted. False, and a fault, where
/// that takes too many.
bool Geometry::chooseChunk(std::uint32_t wantedIterations, std::uint64_t slots) {
  std::uint64_t step = 1, least = 1;
  for (const Rate &r : rates_) {
    const std::uint64_t unit = r.unit / unitGcd_;
    const std::uint64_t part = unit / std::gcd(unit, std::uint64_t{std::max(1u, r.numChunks)});
    const std::uint64_t wanted = wantedIterations + (wantedIterations == 3 && r.scratch ? slots / unit : 0);
    const bool small = part <= mostChunkBytes && static_cast<double>(wanted * r.narrow) * static_cast<double>(unit) <
                                                     static_cast<double>(std::uint64_t{1} << 62);
    step = small ? std::lcm(step, part) : mostChunkBytes + 1;
    least = std::max(least, small ? (wanted * unit * r.narrow + r.wide - 1) / r.wide : 0);
    if (std::max(step, least) > mostChunkBytes || groupLcm_ > maxUnitsPerChunk) {
      fault_ = {GeometryFault::TooFine, r.place, maxUnitsPerChunk + 1};
      return false;
    }
  }
  chunkBytes_ = (least + step - 1) / step * step;
  return true;
}

/// Sets the most iterations of a pipeline. False, and a fault, where all of them together are too many to unroll.
bool Geometry::countIterations(const ir::Program &program, bool ofSlots) {
  std::uint64_t most = 0, total = 0;
  ir::OpRef longest;
  for (const Rate &r : rates_)
    if (const std::uint64_t n = iterations(r.unit, r.numChunks); n >= most) {
      most = n;
      longest = r.place;
    }
  for (const ir::Rank &rank : program.ranks)
    for (const ir::ThreadBlock &block : rank.blocks)
      for (const ir::Op &op : block.ops)
        if (op.kind == ir::OpKind::Pipeline && total <= maxUnrolledOps)
          total += std::max(1u, op.bodySize) * std::min(iterations(op.imm, op.count), maxUnrolledOps + 1);
  if (total > maxUnrolledOps) {
    fault_ = {ofSlots ? GeometryFault::TooManySlots : GeometryFault::TooManyIterations, longest, most};
    return false;
  }
  mostIterations_ = static_cast<std::uint32_t>(most);
  return true;
}

std::uint64_t Geometry::iterations(std::uint64_t unit, std::uint32_t numChunks) const {
  return chunkBytes_ == 0 ? numChunks != 0 : numChunks * chunkBytes_ / (unit / unitGcd_);
}

LoopSlice Geometry::slice(const ir::Op &header, std::uint32_t iteration) const {
  if (chunkBytes_ == 0)
    return {0, ~std::uint64_t{0} >> 1};
  const std::uint64_t length = unitsPerChunk_ * (header.imm / unitGcd_) / chunkBytes_;
  return {iteration * length, length};
}

UnitSpan Geometry::span(const ir::Chunk &chunk, const ir::Op &op, const LoopSlice *loop, bool scratch) const {
  const std::uint64_t whole = std::uint64_t{chunk.size} * unitsPerChunk_;
  std::uint64_t first = std::uint64_t{chunk.index} * unitsPerChunk_, count = whole;
  if (op.groupSize > 1) {
    const auto cut = [&](std::uint64_t g) { // as the executor does (execution_plan.cc, calcOffset)
      return g * (whole / op.groupSize) + std::min(g, whole % op.groupSize);
    };
    first += cut(op.groupIndex);
    count = cut(op.groupIndex + std::uint64_t{1}) - cut(op.groupIndex);
  }
  if (loop) {
    count = loop->offset >= count ? 0 : std::min(count - loop->offset, loop->length);
    first += scratch && wrapUnits_ != 0 ? loop->offset % wrapUnits_ : loop->offset;
  }
  return {first, static_cast<std::uint32_t>(count)};
}

std::uint64_t Geometry::unitsTouched(const ProgramIndex &index) const {
  std::uint64_t total = 0;
  for (std::uint32_t b = 0; b < index.numBlocks(); ++b) {
    const ir::ThreadBlock &block = index.ops(b);
    for (const ir::Op &op : block.ops)
      for (std::uint32_t i = 0; i < op.numChunks(); ++i) {
        const ir::Chunk &chunk = block.operands(op)[i];
        std::uint64_t owners = 0;
        ir::forEachPiece(index.program, index.rankOf(b), op, i, chunk, [&](const ir::MemoryPiece &) { ++owners; });
        total += span(chunk, op, nullptr, false).count * owners; // iterations of a pipeline share it among them
      }
  }
  return total;
}

} // namespace mscclc::passes::proof
