#include "passes/run/geometry.h"

#include "ir/collectives.h"
#include "ir/containers.h"
#include "ir/cursor.h"
#include "ir/op_memory.h"

#include <algorithm>
#include <numeric>

namespace mscclc::passes::proof {

namespace {
constexpr std::uint64_t maxUnitsPerChunk = 1u << 16;
constexpr std::uint64_t maxUnrolledOps = 50'000'000;
constexpr std::uint64_t longest = std::uint64_t{1} << 60; ///< grains of a chunk
constexpr std::uint64_t mostGrains =
    std::uint64_t{1} << 32; ///< grains of a unit, so that the product with a number of chunks fits 64 bits
} // namespace

std::uint64_t reusedScratchChunkBytes(const ir::Program &program, const ir::Rank &rank) {
  if (rank.scratchChunks == 0)
    return 0;
  const std::uint64_t bytes = program.doubleScratch ? reusedScratchBytes / 2 : reusedScratchBytes;
  const std::uint64_t share = (bytes + rank.scratchChunks - 1) / rank.scratchChunks;
  return (share + program.bufferAlignment - 1) / program.bufferAlignment * program.bufferAlignment;
}

std::uint64_t bytesOfUnit(const ir::Program &program) {
  std::uint64_t chunks = 1;
  for (const ir::Rank &rank : program.ranks)
    chunks = std::max<std::uint64_t>(chunks, ir::chunksOfMessage(program, rank));
  return chunks * program.bufferAlignment;
}

std::pair<std::uint64_t, std::uint64_t> unitsAllowed(const ir::Program &program) {
  const std::uint64_t step = bytesOfUnit(program);
  const std::uint64_t least = program.minMessageSize / step + (program.minMessageSize % step != 0);
  return {std::max<std::uint64_t>(1, least), std::max<std::uint64_t>(1, program.maxMessageSize / step)};
}

LoopRates::LoopRates(const ProgramIndex &index) {
  scan(index);
  if (groupLcm_ > maxUnitsPerChunk) {
    fault_ = {GeometryFault::TooFine, rates_.empty() ? ir::OpRef{} : rates_[0].place, groupLcm_};
    return;
  }
  if (!rates_.empty())
    unitGcd_ = 0;
  for (const Rate &rate : rates_)
    unitGcd_ = std::gcd(unitGcd_, rate.unit);
  for (const Rate &rate : rates_)
    for (const Share &share : rate.shares)
      if (scale_ <= mostGrains)
        scale_ = std::lcm(scale_, share.size); // both numbers are below 2^32
  for (const Rate &rate : rates_)
    if (!fault_ && (scale_ > mostGrains || rate.unit / unitGcd_ > mostGrains / scale_))
      fault_ = {GeometryFault::TooFine, rate.place, maxUnitsPerChunk + 1};
  if (!fault_)
    countSlots(index.program);
}

void LoopRates::scan(const ProgramIndex &index) {
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
          rate = &rates_.emplace_back(Rate{op.imm, op.count, {{1, std::max(1u, op.count)}}, false, index.place(b, o)});
      }
      if (header == none)
        return;
      for (const ir::Chunk &chunk : block.operands(op)) {
        const Share share{std::max(1u, op.groupSize), std::max(1u, chunk.size)};
        const bool isNew = std::ranges::none_of(rate->shares, [&](const Share &had) {
          return had.parts * share.size == share.parts * had.size; // all numbers are below 2^32
        });
        if (isNew)
          rate->shares.push_back(share);
        rate->scratch |= ir::bufferOf(rank, chunk) == ir::BufferKind::Scratch;
      }
    });
  }
}

/// Finds the number of grains of a scratch chunk, if iterations share these in the largest message. Sets a fault if the
/// unit of a pipeline does not divide the chunk.
void LoopRates::countSlots(const ir::Program &program) {
  if (!program.reuseResources)
    return;
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
        return;
      }
      slots_ = std::max(slots_, grainsOf(bytes));
    }
  }
}

std::vector<std::uint64_t> LoopRates::lengths(const ir::Program &program, std::uint64_t iterations,
                                              bool backward) const {
  std::vector<std::uint64_t> all, steps;
  for (const Rate &rate : rates_) {
    const std::uint64_t unit = grainsOf(rate.unit), slots = rate.scratch ? slots_ / unit : 0;
    for (const Share &share : rate.shares) {
      const bool own = &share == rate.shares.data();
      steps.push_back(step(rate, share));
      // If some operands need fewer iterations than their pipeline, it needs as many iterations without them as with
      // them.
      const std::uint64_t most = own && rate.shares.size() > 1 ? 2 * iterations : iterations;
      const auto add = [&](std::uint64_t times) {
        all.push_back(std::min(times, longest / steps.back()) * steps.back());
      };
      for (std::uint64_t n = 1; n <= most; ++n)
        add(n);
      for (std::uint64_t n = backward ? 1 : iterations; slots != 0 && n <= iterations; ++n)
        add(slots + n);
    }
  }
  ir::sortUnique(all);
  // Adds, above each length, the least one at which a pipeline has one more iteration. There, the other pipelines may
  // have no more iterations than before.
  for (std::size_t i = 0, end = all.size(); i + 1 < end; ++i) {
    std::uint64_t next = all[i + 1];
    for (const std::uint64_t step : steps)
      next = std::min(next, (all[i] / step + 1) * step);
    all.push_back(next);
  }
  ir::sortUnique(all);
  const auto [least, most] = unitsAllowed(program);
  const auto upTo = std::partition_point(all.begin(), all.end() - 1, [&](std::uint64_t length) {
    return bytesOf(length) / program.bufferAlignment < most;
  });
  all.erase(upTo + 1, all.end());
  // The last length may be longer than any chunk. A pipeline treats the longest chunk like the first multiple of its
  // step that is at least as long.
  const auto reaches = [&](std::uint64_t length) { return bytesOf(length) / program.bufferAlignment >= most; };
  for (const std::uint64_t step : steps) {
    std::uint64_t above = all.back() / step, below = 0;
    if (above == 0 || !reaches(above * step))
      continue;
    while (above - below > 1) {
      const std::uint64_t middle = below + (above - below) / 2;
      (reaches(middle * step) ? above : below) = middle;
    }
    all.back() = above * step;
  }
  const auto from = std::partition_point(all.begin(), all.end() - 1, [&](std::uint64_t length) {
    return bytesOf(length) / program.bufferAlignment < least;
  });
  all.erase(all.begin(), from);
  return all;
}

std::uint64_t LoopRates::longestMessage(const ir::Program &program, const ir::Op &header,
                                        std::uint64_t iterations) const {
  const std::uint64_t chunks = std::max(1u, header.count), step = bytesOfUnit(program);
  const std::uint64_t bytes =
      header.imm / chunks * iterations + header.imm % chunks * iterations / chunks; // bytes of a chunk in this message
  const std::uint64_t units = bytes / program.bufferAlignment;
  return units > ~std::uint64_t{0} / step ? ~std::uint64_t{0} : units * step;
}

Geometry::Geometry(const LoopRates &rates) : mostIterations_(!rates.empty()), fault_(rates.fault()) {
  unitsPerChunk_ = static_cast<std::uint32_t>(std::min(rates.groupLcm_, maxUnitsPerChunk));
}

Geometry Geometry::ofUnits(const LoopRates &rates, std::uint32_t units) {
  Geometry g;
  g.mostIterations_ = !rates.empty();
  g.unitsPerChunk_ = units;
  return g;
}

Geometry::Geometry(const ProgramIndex &index, const LoopRates &rates, std::uint64_t length)
    : unitGcd_(rates.unitGcd_), scale_(rates.scale_), length_(length), fault_(rates.fault()) {
  if (fault_)
    return;
  std::uint64_t units = rates.groupLcm_;
  for (const LoopRates::Rate &rate : rates.rates_) {
    const std::uint64_t part = length / std::gcd(length, rates.grainsOf(rate.unit));
    units = std::max(units, part) > maxUnitsPerChunk ? maxUnitsPerChunk + 1 : std::lcm(units, part);
  }
  wrapUnits_ = rates.slots_ < length ? units * rates.slots_ / length : 0;
  if (!countIterations(index.program, rates))
    return;
  if (units > maxUnitsPerChunk) {
    fault_ = {GeometryFault::TooFine, rates.rates_[0].place, units};
    return;
  }
  unitsPerChunk_ = static_cast<std::uint32_t>(units);
}

/// Finds the most iterations of a pipeline. Returns false and sets a fault if the pipelines together have too many
/// iterations to unroll.
bool Geometry::countIterations(const ir::Program &program, const LoopRates &rates) {
  std::uint64_t most = 0, total = 0;
  ir::OpRef longest;
  for (const LoopRates::Rate &r : rates.rates_)
    if (const std::uint64_t n = iterations(r.unit, r.numChunks); n >= most) {
      most = n;
      longest = r.place;
    }
  for (const ir::Op &op : ir::opsOf(program.ranks))
    if (op.kind == ir::OpKind::Pipeline && total <= maxUnrolledOps)
      total += std::max(1u, op.bodySize) * std::min(iterations(op.imm, op.count), maxUnrolledOps + 1);
  if (total > maxUnrolledOps) {
    fault_ = {wraps() ? GeometryFault::TooManySlots : GeometryFault::TooManyIterations, longest, most};
    return false;
  }
  mostIterations_ = static_cast<std::uint32_t>(most);
  return true;
}

std::uint64_t Geometry::iterations(std::uint64_t unit, std::uint32_t numChunks) const {
  if (length_ == 0)
    return numChunks != 0;
  constexpr std::uint64_t tooMany = std::uint64_t{1} << 62;
  const std::uint64_t grains = unit / unitGcd_ * scale_, whole = length_ / grains, rest = length_ % grains;
  if (whole > tooMany / std::max(1u, numChunks))
    return tooMany;
  return whole * numChunks + (rest * numChunks + grains - 1) / grains; // rest and numChunks are below 2^32
}

LoopSlice Geometry::slice(const ir::Op &header, std::uint32_t iteration) const {
  if (length_ == 0)
    return {0, ~std::uint64_t{0} >> 1};
  const std::uint64_t length = unitsPerChunk_ * (header.imm / unitGcd_ * scale_) / length_;
  return {iteration * length, length};
}

UnitSpan Geometry::span(const ir::Chunk &chunk, const ir::Op &op, const LoopSlice *loop, bool scratch) const {
  const std::uint64_t whole = std::uint64_t{chunk.size} * unitsPerChunk_;
  std::uint64_t first = std::uint64_t{chunk.index} * unitsPerChunk_, count = whole;
  if (op.groupSize > 1) {
    const auto cut = [&](std::uint64_t g) { // divides as the executor does (execution_plan.cc, calcOffset)
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
        total += span(chunk, op, nullptr, false).count * owners; // without a slice, covers all iterations
      }
  }
  return total;
}

} // namespace mscclc::passes::proof
