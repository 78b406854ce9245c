#include "passes/schedule/wire_packets.h"

#include "ir/chunk_cells.h"
#include "passes/schedule/placement.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace mscclc::passes::schedule {
namespace {

using ir::Move;
using ir::MoveKind;
using ir::RankChunk;

/// The values in scratch, while statements are visited in their order.
class WireValues {
public:
  WireValues(const ir::Program &program, const ir::Movement &given, std::uint32_t piece)
      : cells_(program), given_(given), piece_(piece), pieces_(ir::forScratch(program, Piece{})) {}

  template <class IsAskedFor> bool fit(const IsAskedFor &isAskedFor) {
    const std::span<const Move> all = given_.statements;
    for (std::uint32_t s = 0; s < all.size(); ++s) {
      if (keepsSum(all[s]) && !isCopiedBy(all[s], all.subspan(s + 1)))
        return false;
      for (std::uint32_t at = 0; at < given_.dsts(all[s])[0].size; at += piece_)
        if (!takes(all[s], at) || !stores(all[s], s, at, isAskedFor))
          return false;
    }
    return std::ranges::none_of(pieces_, [](const std::vector<Piece> &ofRank) {
      return std::ranges::any_of(ofRank, [](const Piece &p) { return p.holds == Holds::Came && !p.isRead; });
    });
  }

private:
  enum class Holds : std::uint8_t { Nothing, Own, Came };
  struct Piece {
    Holds holds = Holds::Nothing;
    bool isRead = false;
    std::uint32_t since = 0; ///< the statement that wrote the piece
    std::size_t source = 0;  ///< for an own value: its cell in the message
  };

  bool keepsSum(const Move &move) const { return move.kind == MoveKind::Reduce && isScratch(given_.dsts(move)[0]); }
  /// True if the first statement of `behind` copies all of `sum` to the message of its rank.
  bool isCopiedBy(const Move &sum, std::span<const Move> behind) const {
    if (behind.empty() || behind[0].kind != MoveKind::Copy || behind[0].numDsts != 1)
      return false;
    const RankChunk &kept = given_.dsts(sum)[0], &dst = given_.dsts(behind[0])[0];
    return given_.srcs(behind[0])[0] == kept && dst.rank == kept.rank && !isScratch(dst);
  }

  /// Notes what a statement reads from one piece of its sources, which begins at chunk `at`. Returns false if packets
  /// do not allow this.
  bool takes(const Move &move, std::uint32_t at) {
    takesPlain_ = takesOwn_ = takesCome_ = false;
    for (const RankChunk &src : given_.srcs(move)) {
      if (!isScratch(src)) {
        takesPlain_ = true;
        source_ = cells_.firstOf(src) + at;
        continue;
      }
      Piece &from = pieces_[src.rank][src.index + at];
      from.isRead = true;
      (from.holds == Holds::Own ? takesOwn_ : takesCome_) = true;
      const auto written = written_.find(from.source);
      const bool isIntact = written == written_.end() || written->second <= from.since;
      if (from.holds == Holds::Nothing || (from.holds == Holds::Own && !isIntact))
        return false;
      source_ = from.source;
    }
    const bool isOfWire = keepsSum(move) || takesOwn_ || takesCome_;
    return move.kind != MoveKind::Reduce || !isOfWire || (takesOwn_ && takesCome_ && !takesPlain_);
  }

  template <class IsAskedFor>
  bool stores(const Move &move, std::uint32_t s, std::uint32_t at, const IsAskedFor &isAskedFor) {
    const std::uint32_t home = given_.srcs(move)[0].rank;
    const bool copies = move.kind == MoveKind::Copy;
    for (const RankChunk &dst : given_.dsts(move)) {
      const bool isHere = copies && dst.rank == home;
      if (!isScratch(dst)) {
        if (isHere && takesOwn_)
          return false;
        written_[cells_.firstOf(dst) + at] = s;
        continue;
      }
      Piece &to = pieces_[dst.rank][dst.index + at];
      if (to.holds != Holds::Nothing || (isHere && !takesPlain_) ||
          (copies && !isHere && !isAskedFor(move, home, dst.rank)))
        return false;
      to = {isHere ? Holds::Own : Holds::Came, false, s, source_};
    }
    return true;
  }

  const ir::ChunkCells cells_;
  const ir::Movement &given_;
  const std::uint32_t piece_;
  std::vector<std::vector<Piece>> pieces_;       ///< [rank][chunk of scratch]
  std::map<std::size_t, std::uint32_t> written_; ///< [cell] of a piece of a message: the last statement that wrote it
  // These members describe what the current statement takes.
  bool takesPlain_ = false, takesOwn_ = false, takesCome_ = false;
  std::size_t source_ = 0;
};

} // namespace

bool wireFitsPackets(const ir::Program &program, const ir::Movement &given, std::uint32_t piece,
                     const std::function<bool(const Move &, std::uint32_t, std::uint32_t)> &isAskedFor) {
  return WireValues(program, given, piece).fit(isAskedFor);
}

} // namespace mscclc::passes::schedule
