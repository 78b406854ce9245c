#include "passes/analysis/shared_chunks.h"

#include "ir/memory_map.h"
#include "passes/diagnostics.h"

#include <algorithm>
#include <array>
#include <string>

namespace mscclc::passes {
namespace {

/// A piece of a buffer that an operation accesses as a whole.
struct AccessedRange {
  std::uint64_t index = 0; // in canonical chunks
  std::uint64_t size = 0;
  bool written = false;
  ir::OpRef op;
};

/// A memory whose chunks may be shared: a canonical buffer of a rank, either plain or as packets.
struct Memory {
  std::uint64_t grain = 0; // size of all pieces, which begin at multiples of it, unless `mixed` is true
  bool mixed = false;
  bool written = false;
  std::vector<AccessedRange> pieces; // empty unless `mixed` and `written` are true
};

constexpr std::size_t memoriesPerRank = 6; // three spaces, each plain or packets

class SharedChunkSearch {
public:
  SharedChunkSearch(const ir::Program &program, ir::DiagnosticEngine &diags)
      : program_(program), diags_(diags), n_(program.instances), memories_(program.ranks.size() * memoriesPerRank) {}

  void run() {
    forEachPiece([](Memory &memory, const AccessedRange &piece) {
      if (memory.grain == 0)
        memory.grain = piece.size;
      memory.mixed |= piece.size != memory.grain || piece.index % memory.grain != 0;
      memory.written |= piece.written;
    });
    const bool any =
        std::ranges::any_of(memories_, [](const Memory &memory) { return memory.mixed && memory.written; });
    if (!any)
      return;
    forEachPiece([](Memory &memory, const AccessedRange &piece) {
      if (memory.mixed && memory.written)
        memory.pieces.push_back(piece);
    });
    for (std::size_t i = 0; i < memories_.size(); ++i)
      search(memories_[i], static_cast<std::uint32_t>(i / memoriesPerRank));
  }

private:
  template <typename Visit> void forEachPiece(Visit visit) {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b) {
        const ir::ThreadBlock &block = program_.ranks[r].blocks[b];
        for (std::uint32_t o = 0; o < block.ops.size(); ++o)
          ir::forEachMemory(program_, r, block, block.ops[o], [&](const ir::MemoryPiece &piece) {
            if (piece.size == 0)
              return;
            const ir::CanonicalPlace place = ir::canonicalPlace(program_, piece);
            Memory &memory =
                memories_[(piece.rank * std::size_t{3} + std::size_t(place.buffer)) * 2 + piece.isPacket()];
            visit(memory, AccessedRange{place.index, piece.size, piece.access == ir::Access::Write, {r, b, o}});
          });
      }
  }

  /// The part of a piece that one instance accesses.
  struct Share {
    std::uint64_t begin, end;
    std::uint32_t instance;
    const AccessedRange *piece;
  };

  /// The two shares of different instances that extend furthest so far. They are sufficient to decide whether the share
  /// of another instance extends beyond a point.
  struct Furthest {
    std::array<Share, 2> shares{};
    void add(const Share &share) {
      if (share.instance == shares[0].instance || shares[0].end == 0) {
        if (share.end > shares[0].end)
          shares[0] = share;
      } else if (share.end > shares[0].end) {
        shares[1] = shares[0];
        shares[0] = share;
      } else if (share.end > shares[1].end) {
        shares[1] = share;
      }
    }
    const AccessedRange *other(const Share &share) const {
      for (const Share &seen : shares)
        if (seen.end > share.begin && seen.instance != share.instance)
          return seen.piece;
      return nullptr;
    }
  };

  void search(Memory &memory, std::uint32_t rank) {
    std::vector<AccessedRange> &pieces = memory.pieces;
    std::ranges::stable_sort(pieces, [](const AccessedRange &a, const AccessedRange &b) {
      return std::tie(a.index, a.size, b.written) < std::tie(b.index, b.size, a.written);
    });
    const auto repeats = std::ranges::unique(
        pieces, [](const AccessedRange &a, const AccessedRange &b) { return a.index == b.index && a.size == b.size; });
    pieces.erase(repeats.begin(), repeats.end()); // keeps the first of equal pieces, which is written if any is

    std::vector<Share> shares;
    shares.reserve(pieces.size() * n_);
    for (const AccessedRange &piece : pieces)
      for (std::uint32_t i = 0; i < n_; ++i)
        shares.push_back({piece.index * n_ + i * piece.size, piece.index * n_ + (i + 1) * piece.size, i, &piece});
    std::ranges::stable_sort(shares, {}, &Share::begin);
    Furthest all, written;
    for (const Share &share : shares) {
      if (const AccessedRange *other = (share.piece->written ? all : written).other(share)) {
        report(rank, *other, *share.piece);
        break;
      }
      all.add(share);
      if (share.piece->written)
        written.add(share);
    }
    pieces = {};
  }

  void report(std::uint32_t rank, const AccessedRange &a, const AccessedRange &b) {
    const auto [first, second] =
        std::minmax(a, b, [](const AccessedRange &x, const AccessedRange &y) { return x.op < y.op; });
    diags_
        .report(diag::instances_share_chunk, whereIs(program_, second.op), {n_, ir::plural(second.size, "chunk"), rank})
        .note(diag::instances_share_other, whereIs(program_, first.op), {ir::plural(first.size, "chunk")});
  }

  const ir::Program &program_;
  ir::DiagnosticEngine &diags_;
  const std::uint32_t n_;
  std::vector<Memory> memories_;
};

} // namespace

void reportSharedChunks(const ir::Program &program, ir::DiagnosticEngine &diags) {
  SharedChunkSearch(program, diags).run();
}

} // namespace mscclc::passes
