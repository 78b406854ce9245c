#include "passes/verify/slicing.h"

#include "ir/collectives.h"
#include "ir/containers.h"
#include "ir/cursor.h"
#include "ir/memory_map.h"
#include "ir/op_memory.h"
#include "passes/op_list.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace mscclc::passes::proof {

namespace {

constexpr std::uint64_t mostSizes = 1u << 16; ///< the most sizes that are examined
constexpr std::size_t mostPatterns = 128;     ///< the most patterns that are proven

/// A range of chunks that is divided into `parts` slices.
struct Range {
  std::uint32_t first = 0, end = 0, parts = 1;
  auto operator<=>(const Range &) const = default;
  std::uint32_t size() const { return end - first; }
  /// True if the slices have equal lengths only in some sizes.
  bool inexact() const { return size() % parts != 0; }
  bool meets(const Range &other) const { return first < other.end && other.first < end; }
};

/// The ranges of one buffer that operations access, each once, with one of these operations.
using Ranges = std::map<Range, ir::OpRef>;

/// Adds to `cuts` the ends of the slices of `range`, in a size with `units` units a chunk.
void addCuts(const Range &range, std::uint64_t units, std::vector<std::uint64_t> &cuts) {
  const std::uint64_t whole = range.size() * units, n = range.parts;
  for (std::uint64_t g = 0; g <= n; ++g)
    cuts.push_back(range.first * units + g * (whole / n) + std::min(g, whole % n));
}

/// Computes the patterns of sizes. `buffers`: the ranges whose slices may meet differently. `filled`: the least sizes
/// at which some slice of packets is not empty.
class Patterns {
public:
  Patterns(std::set<std::vector<Range>> buffers, std::set<std::uint64_t> filled)
      : buffers_(std::move(buffers)), filled_(std::move(filled)) {}

  /// True if some slice of packets is empty.
  bool anyEmpty(std::uint64_t units) const { return !filled_.empty() && units < *filled_.rbegin(); }

  /// Returns the pattern of a size: the number of sizes in `filled_` that are not larger, and the position of each cut
  /// among the different cuts of its buffer.
  std::vector<std::uint32_t> of(std::uint64_t units) const {
    std::vector<std::uint32_t> pattern{
        static_cast<std::uint32_t>(std::distance(filled_.begin(), filled_.upper_bound(units)))};
    std::vector<std::uint64_t> cuts, sorted;
    for (const std::vector<Range> &ranges : buffers_) {
      cuts.clear();
      for (const Range &range : ranges)
        addCuts(range, units, cuts);
      sorted = cuts;
      ir::sortUnique(sorted);
      for (const std::uint64_t cut : cuts)
        pattern.push_back(
            static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), cut) - sorted.begin()));
    }
    return pattern;
  }
  /// Returns the size from which patterns repeat, and their period; nothing if there would be too many sizes.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> period() const {
    std::uint64_t period = 1, most = filled_.empty() ? 1 : *filled_.rbegin();
    if (most > mostSizes / 3)
      return std::nullopt;
    for (const std::vector<Range> &ranges : buffers_)
      for (const Range &range : ranges) {
        period = std::lcm(period, std::uint64_t{range.parts / std::gcd(range.parts, range.size())});
        most = std::max<std::uint64_t>(most, range.parts);
        if (period * (2 * most + 1) > mostSizes)
          return std::nullopt;
      }
    return std::pair{2 * most * period, period};
  }

private:
  std::set<std::vector<Range>> buffers_;
  std::set<std::uint64_t> filled_;
};

class SliceScan {
public:
  explicit SliceScan(const ProgramIndex &index) : index_(index) {}

  SliceSizes run() {
    SliceSizes sizes;
    if (!cutsChunks(index_.program, false))
      return sizes;
    collect();
    std::set<std::vector<Range>> mixed;
    std::optional<ir::OpRef> place = packets_;
    sizes.packetsInLoop = packetsInLoop_;
    sizes.packets = packets_;
    for (const auto &[buffer, ranges] : buffers_) {
      std::vector<Range> together;
      for (const auto &[range, at] : ranges)
        if (range.inexact() && !alone(range, ranges)) {
          place = place ? place : at;
          for (const auto &[other, otherAt] : ranges)
            if (other.meets(range)) {
              together.push_back(other);
              if (inLoop(otherAt))
                sizes.inLoop = otherAt;
            }
        }
      ir::sortUnique(together);
      if (!together.empty())
        mixed.insert(std::move(together));
    }
    sizes.nested = mixed.empty();
    if ((!mixed.empty() || !filled_.empty()) && !sizes.inLoop && !sizes.packetsInLoop)
      choose(Patterns(std::move(mixed), std::move(filled_)), *place, sizes);
    return sizes;
  }

private:
  void collect() {
    ir::forEachOp(index_, [&](std::uint32_t b, std::uint32_t o) {
      const ir::Op &op = index_.ops(b).ops[o];
      ir::forEachMemory(index_.program, index_.rankOf(b), index_.ops(b), op, [&](const ir::MemoryPiece &piece) {
        const auto at = ir::canonicalPlace(index_.program, piece);
        const Range range{at.index, at.index + piece.size, std::max(1u, op.groupSize)};
        buffers_[{piece.rank, at.buffer, piece.isPacket()}].try_emplace(range, index_.place(b, o));
        if (piece.isPacket() && range.inexact())
          notePackets(range, op.groupIndex, index_.place(b, o));
      });
    });
  }

  /// Notes that slice `index` of `range` holds packets.
  void notePackets(const Range &range, std::uint32_t index, ir::OpRef place) {
    if (inLoop(place))
      packetsInLoop_ = packetsInLoop_ ? packetsInLoop_ : place;
    if (index < range.size()) // never empty
      return;
    packets_ = packets_ ? packets_ : place;
    filled_.insert(index / range.size() + 1);
  }

  /// True if every range that overlaps `range` is divided in the same way, or contains `range` in one of its slices.
  static bool alone(const Range &range, const Ranges &ranges) {
    return std::all_of(ranges.begin(), ranges.end(), [&](const auto &entry) {
      const Range &other = entry.first;
      if (other == range || !other.meets(range))
        return true;
      if (other.inexact() || other.first > range.first || other.end < range.end)
        return false;
      const std::uint32_t length = other.size() / other.parts; // length of a slice of `other`
      return (range.first - other.first) / length == (range.end - 1 - other.first) / length;
    });
  }

  bool inLoop(ir::OpRef place) const {
    return pipelineAround(index_.program.ranks[place.rank].blocks[place.block], place.op) != noPipeline;
  }

  void choose(const Patterns &patterns, ir::OpRef place, SliceSizes &sizes) const {
    const auto period = patterns.period();
    if (!period) {
      sizes.tooMany = place;
      return;
    }
    const auto [settled, distance] = *period;
    std::map<std::vector<std::uint32_t>, std::uint32_t> leastOf;
    for (std::uint32_t units = 1; units < settled + 2 * distance; ++units)
      leastOf.try_emplace(patterns.of(units), units);
    const std::uint32_t even = leastOf.at(patterns.of(settled + distance - settled % distance));
    const auto [least, most] = unitsAllowed(index_.program);
    std::map<std::uint32_t, SliceSize> chosen; // [units]
    for (std::uint64_t units = least, n = 0; units <= most && n < settled + 2 * distance; ++units, ++n) {
      const std::uint64_t like = units < settled ? units : settled + (units - settled) % distance;
      const std::uint32_t first = leastOf.at(patterns.of(like));
      SliceSize &size = chosen.try_emplace(first, SliceSize{first}).first->second;
      size.emptyPackets = patterns.anyEmpty(first);
      size.last = units < settled && size.last != SliceSize::again ? units : SliceSize::again;
      size.number += size.number < 2;
    }
    chosen.erase(even);
    for (const auto &[units, size] : chosen)
      sizes.sizes.push_back(size);
    const auto empty = std::ranges::stable_partition(sizes.sizes, std::logical_not(), &SliceSize::emptyPackets);
    std::ranges::sort(empty, std::greater(), &SliceSize::last);
    if (sizes.sizes.size() > mostPatterns)
      sizes.tooMany = place;
  }

  const ProgramIndex &index_;
  std::map<std::tuple<std::uint32_t, ir::BufferKind, bool>, Ranges> buffers_;
  std::set<std::uint64_t> filled_; ///< least sizes at which some slice of packets is not empty
  std::optional<ir::OpRef> packets_, packetsInLoop_;
};

} // namespace

bool cutsChunks(const ir::Program &program, bool scratchOnly) {
  for (const ir::Rank &rank : program.ranks)
    for (const ir::ThreadBlock &block : rank.blocks)
      for (const ir::Op &op : block.ops)
        for (const ir::Chunk &chunk : op.groupSize > 1 ? block.operands(op) : std::span<const ir::Chunk>())
          if (chunk.size % op.groupSize != 0 && (!scratchOnly || ir::bufferOf(rank, chunk) == ir::BufferKind::Scratch))
            return true;
  return false;
}

SliceSizes sliceSizes(const ProgramIndex &index) {
  return SliceScan(index).run();
}

} // namespace mscclc::passes::proof
