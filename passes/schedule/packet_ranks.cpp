#include "passes/schedule/packet_ranks.h"

#include "ir/chunk_cells.h"
#include "passes/schedule/placement.h"
#include "passes/schedule/wire_packets.h"

#include <algorithm>
#include <span>
#include <utility>

namespace mscclc::passes::schedule {
namespace {

using ir::Move;
using ir::MoveKind;
using ir::RankChunk;

/// True if the statement only unpacks or reduces its sources in scratch of `rank`, as packets allow.
bool readsAtHome(const ir::Movement &given, const Move &statement, std::uint32_t rank) {
  return statement.via != ir::Via::Switch &&
         std::ranges::all_of(given.dsts(statement), [&](const RankChunk &dst) { return dst.rank == rank; });
}

/// True if a sum at `dst` has operands in packets, provided that its rank has no plain data in scratch. Then an operand
/// at `dst` itself is read first, or becomes packets, too. So the sum needs no other place.
bool takesPackets(const ir::Movement &given, const Move &statement, const RankChunk &dst) {
  return std::ranges::any_of(given.srcs(statement),
                             [&](const RankChunk &src) { return src.rank != dst.rank || isScratch(src); });
}

} // namespace

PacketRanks::PacketRanks(const ir::Program &program, const ir::Movement &given, std::uint32_t piece, bool onExecutor)
    : program_(program), keepsPlainData_(program.ranks.size(), false) {
  if (ir::wireOf(program)) {
    wireIsPackets_ =
        wireFitsPackets(program, given, piece, [this](const Move &move, std::uint32_t from, std::uint32_t to) {
          return isAskedFor(move, from, to);
        });
    if (!wireIsPackets_) {
      whyNone_ = "some value of the wire format is in scratch as plain data";
      keepsPlainData_.assign(keepsPlainData_.size(), true);
    }
    return;
  }
  findPlainScratch(given, piece);
  // If a rank cannot make packets, its operands arrive as plain data at other ranks.
  while (findPlainOperands(given)) {
  }
  if (onExecutor && mixesScratch(given)) {
    whyNone_ = "an executor takes none where a port, a switch or another rank touches plain data in scratch";
    keepsPlainData_.assign(keepsPlainData_.size(), true);
  }
}

/// True if the statement asks for packets from rank `from` to rank `to`. If it does not say, the protocol of the
/// program decides, but a copy that reads from another rank gets plain data.
bool PacketRanks::isAskedFor(const Move &statement, std::uint32_t from, std::uint32_t to) const {
  const bool isRead = statement.kind == MoveKind::Copy && statement.by == to;
  return from != to && statement.packets.value_or(ir::usesPackets(program_.protocol) && !isRead) &&
         wayOf(program_.movement, statement, from, to) == program_.movement.wayOf(from, to);
}

bool PacketRanks::travelsInPackets(const Move &statement, std::uint32_t from, std::uint32_t to) const {
  return isAskedFor(statement, from, to) && !keepsPlainData(to) &&
         (program_.movement.sameNode(from, to) || !keepsPlainData(from));
}

/// Finds ranks with plain data in scratch. If something in scratch is written but never read, all ranks count as ranks
/// with plain data. No sync follows such a write, and packets would not make it visible.
void PacketRanks::findPlainScratch(const ir::Movement &given, std::uint32_t piece) {
  enum class Piece : std::uint8_t { New, Written, Read };
  bool readsAll = true;
  auto pieces = ir::forScratch(program_, Piece::New);
  for (const Move &statement : given.statements) {
    for (const RankChunk &src : given.srcs(statement))
      for (std::uint32_t at = 0; isScratch(src) && at < src.size; at += piece) {
        const Piece before = std::exchange(pieces[src.rank][src.index + at], Piece::Read);
        if (before == Piece::New || !readsAtHome(given, statement, src.rank))
          keepsPlainData_[src.rank] = true;
      }
    for (const RankChunk &dst : given.dsts(statement))
      for (std::uint32_t at = 0; isScratch(dst) && at < dst.size; at += piece) {
        const Piece before = std::exchange(pieces[dst.rank][dst.index + at], Piece::Written);
        if (before != Piece::New || statement.kind != MoveKind::Copy ||
            !isAskedFor(statement, given.srcs(statement)[0].rank, dst.rank))
          keepsPlainData_[dst.rank] = true;
        readsAll = readsAll && before != Piece::Written;
      }
  }
  for (const std::vector<Piece> &ofRank : pieces)
    readsAll = readsAll && std::ranges::find(ofRank, Piece::Written) == ofRank.end();
  if (!readsAll) {
    whyNone_ = "nothing does where something is written to scratch that nobody reads";
    keepsPlainData_.assign(keepsPlainData_.size(), true);
  }
}

bool PacketRanks::isSentSum(const ir::Movement &given, const Move &statement) const {
  return wireIsPackets_ && statement.kind == MoveKind::Reduce && isScratch(given.dsts(statement)[0]);
}

/// Finds ranks that need plain data in scratch, for one of two reasons: the rank gets plain data for a Buffer or for a
/// reduction, or a sum without packets needs a slot, because its place holds an operand after the first one. Returns
/// true if new ranks were found.
bool PacketRanks::findPlainOperands(const ir::Movement &given) {
  bool found = false;
  for (const Move &statement : given.statements) {
    if (statement.via == ir::Via::Switch)
      continue;
    for (const RankChunk &dst : given.dsts(statement))
      for (const RankChunk &src : given.srcs(statement)) {
        const bool comesPlain = src.rank != dst.rank && !travelsInPackets(statement, src.rank, dst.rank);
        const bool isKept = statement.kind == MoveKind::Reduce || isScratch(dst);
        const bool needsSlot = isSameMemory(program_, src, dst) && &src != given.srcs(statement).data() &&
                               !takesPackets(given, statement, dst);
        if (!keepsPlainData(dst.rank) && ((isKept && comesPlain) || needsSlot))
          keepsPlainData_[dst.rank] = found = true;
      }
  }
  return found;
}

/// True if there are packets, which double scratch, and also plain data in scratch that another rank, a port or a
/// switch touches. An executor expects such data in the first half of scratch at every launch.
bool PacketRanks::mixesScratch(const ir::Movement &given) const {
  bool packets = false, plain = false;
  for (const Move &statement : given.statements) {
    const std::span<const RankChunk> srcs = given.srcs(statement), dsts = given.dsts(statement);
    if (statement.via == ir::Via::Switch) {
      plain = plain || std::ranges::any_of(srcs, isScratch) || std::ranges::any_of(dsts, isScratch);
      continue;
    }
    for (const RankChunk &dst : dsts)
      for (const RankChunk &src : srcs) {
        if (src.rank == dst.rank)
          continue;
        if (travelsInPackets(statement, src.rank, dst.rank))
          packets = true;
        else if (isReadThere(program_.movement, statement, src.rank, dst.rank))
          plain = plain || isScratch(src);
        else // operands of a reduction are put into a slot
          plain = plain || statement.kind == MoveKind::Reduce || isScratch(dst) ||
                  (wayOf(program_.movement, statement, src.rank, dst.rank) == ir::Via::Port && isScratch(src));
      }
  }
  return packets && plain;
}

} // namespace mscclc::passes::schedule
