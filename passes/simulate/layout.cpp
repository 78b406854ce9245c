#include "passes/simulate/layout.h"

#include "ir/collectives.h"
#include "ir/diagnostics.h"
#include "ir/rows.h"
#include "passes/run/geometry.h"

#include <algorithm>

namespace mscclc::passes::sim {

namespace {

constexpr std::uint64_t mostBytes = std::uint64_t{4} << 30; ///< most bytes in the buffers of all ranks together
constexpr std::uint64_t mostOperations = 50'000'000;        ///< operations of a launch, with each iteration

/// Returns the multiples of `step` around `bytes`, in words.
std::string nearest(std::uint64_t bytes, std::uint64_t step) {
  const std::uint64_t below = bytes / step * step, above = below + step;
  if (above < below)
    return "";
  return "; " + (below == 0 ? "" : std::to_string(below) + " and ") + std::to_string(above) +
         (below == 0 ? " is the least" : " are the nearest");
}

/// Returns the rank with the longest message buffer; null if all ranks have scratch only.
const ir::Rank *rankOfMessage(const ir::Program &program) {
  const ir::Rank *most = nullptr;
  for (const ir::Rank &rank : program.ranks)
    if (const std::uint32_t chunks = ir::chunksOfMessage(program, rank);
        chunks > (most ? ir::chunksOfMessage(program, *most) : 0))
      most = &rank;
  return most;
}

} // namespace

Layout::Layout(const ir::Program &program, std::uint64_t messageBytes, std::uint32_t elementBytes)
    : program_(program), spread_(ir::spreadInScratch(program, elementBytes)) {
  const ir::Rank *rank = rankOfMessage(program);
  if (!rank) {
    chunk_ = program.bufferAlignment; // scratch alone
    return;
  }
  const std::uint64_t chunks = ir::chunksOfMessage(program, *rank), step = chunks * program.bufferAlignment;
  if (messageBytes == 0)
    refusal_ = "a launch of 0 bytes is none, so it runs nothing" + nearest(messageBytes, step);
  else if (messageBytes % step != 0)
    refusal_ = "it must be a multiple of " + std::to_string(step) + " bytes, " + ir::plural(chunks, "chunk") + " of " +
               ir::plural(program.bufferAlignment, "byte") + " each" + nearest(messageBytes, step);
  else if (messageBytes < program.minMessageSize || messageBytes > program.maxMessageSize)
    refusal_ = "the program takes " + std::to_string(program.minMessageSize) + " to " +
               std::to_string(program.maxMessageSize) + " bytes";
  else
    chunk_ = messageBytes / chunks;
  double total = 0; // a double, because counts and sizes come from a plan and may have any value
  for (const ir::Rank &r : program.ranks) {
    const double in = r.inputChunks, out = r.outputChunks, each = static_cast<double>(chunk_);
    const double slot =
        program.reuseResources ? std::min(each, static_cast<double>(proof::reusedScratchChunkBytes(program, r))) : each;
    total += (program.collective.inplace ? std::max(in, out) : in + out) * each +
             r.scratchChunks * slot * static_cast<double>(spread_) * (ir::usesPackets(program.protocol) ? 4 : 2);
  }
  if (!refusal_ && total > static_cast<double>(mostBytes))
    refusal_ = "the buffers of all ranks take more than the " + std::to_string(mostBytes >> 30) +
               " GiB that are set aside here";
  if (!refusal_ && operations() > static_cast<double>(mostOperations))
    refusal_ = "its pipelines make for more than the " + std::to_string(mostOperations / 1'000'000) +
               " million operations a launch that are run here";
}

double Layout::operations() const {
  double total = 0;
  for (const ir::Op &op : ir::opsOf(program_.ranks))
    total += 1 + (op.kind == ir::OpKind::Pipeline ? static_cast<double>(iterations(op)) * op.bodySize : 0);
  return total;
}

std::uint64_t Layout::bytesOf(std::uint32_t rank, ir::BufferKind buffer) const {
  return buffer == ir::BufferKind::Scratch ? scratchBytes(rank) : program_.ranks[rank].chunksOf(buffer) * chunk_;
}

std::uint64_t Layout::scratchBytes(std::uint32_t rank) const {
  const ir::Rank &r = program_.ranks[rank];
  std::uint64_t each = chunk_;
  if (program_.reuseResources)
    each = std::min(each, proof::reusedScratchChunkBytes(program_, r));
  return r.scratchChunks * each * spread_ * (ir::usesPackets(program_.protocol) ? 2 : 1);
}

std::uint64_t Layout::iterations(const ir::Op &header) const {
  return (header.count * chunk_ + header.imm - 1) / header.imm;
}

ByteSpan Layout::span(const ir::Chunk &chunk, const ir::Op &op, const ir::Op *header, std::uint64_t iteration,
                      bool scratch, std::uint32_t rank) const {
  const std::uint64_t slot =
      scratch && program_.reuseResources ? proof::reusedScratchChunkBytes(program_, program_.ranks[rank]) : 0;
  ByteSpan s{chunk.index * (slot != 0 ? std::min(slot, chunk_) : chunk_), chunk.size * chunk_};
  if (op.groupSize > 1) {
    const std::uint64_t units = s.bytes / program_.bufferAlignment, n = op.groupSize;
    const auto start = [&](std::uint64_t g) {
      return (g * (units / n) + std::min(g, units % n)) * program_.bufferAlignment;
    };
    s.offset += start(op.groupIndex);
    s.bytes = start(op.groupIndex + 1) - start(op.groupIndex);
  }
  if (header) {
    const std::uint64_t at = iteration * header->imm;
    s.bytes = at >= s.bytes ? 0 : std::min(s.bytes - at, header->imm);
    s.offset += slot != 0 ? at % slot : at;
  }
  return s;
}

std::vector<std::uint64_t> smallSizes(const ir::Program &program, std::uint32_t elementBytes) {
  const ir::Rank *rank = rankOfMessage(program);
  const std::uint64_t unit = std::max(program.bufferAlignment, elementBytes); // both are powers of two
  const std::uint64_t step = rank ? ir::chunksOfMessage(program, *rank) * unit : 16;
  std::uint64_t longest = 1; // the longest unit of a pipeline, as a multiple of `unit`
  bool slices = false;
  for (const ir::Op &op : ir::opsOf(program.ranks)) {
    slices |= op.groupSize > 1;
    if (op.kind == ir::OpKind::Pipeline)
      longest = std::max(longest, op.imm / unit);
  }
  // With fewer rows than experts, the cells of a slot would have no room for a row.
  const std::uint64_t rows = std::max<std::uint64_t>(1, ir::expertCellsOf(program).experts);
  std::vector<std::uint64_t> times{1, 5};
  if (rows > 1)
    times = {1, rows, 5 * rows};
  const std::uint64_t least = (std::max<std::uint64_t>(1, program.minMessageSize) + step - 1) / step;
  if (slices && least <= longMessage / step)
    times = {1, 2, 3, 5, 6, 7, 11};
  if (longest > 1 && longest <= mostBytes / 4 / step)
    times.push_back(3 * longest + 1);
  std::vector<std::uint64_t> sizes{least * step};
  const auto add = [&](std::uint64_t units) {
    const std::uint64_t size = units * step;
    if (size > sizes.back() && size <= program.maxMessageSize && !Layout(program, size).refusal())
      sizes.push_back(size);
  };
  for (std::size_t i = 1; i < times.size(); ++i)
    add(least / 2 * 2 + times[i]); // the sum is odd if times[i] is odd, because its first term is even
  if (sizes.size() == 1)
    add(program.maxMessageSize / step);
  if (sizes.size() == 1) // the maximum size may be too large to run
    add(least + 1);
  return sizes;
}

} // namespace mscclc::passes::sim
