// The form of a placed statement.
#pragma once

#include "ir/memory_map.h"
#include "ir/program.h"

#include <span>

namespace mscclc::passes::schedule {

inline bool isScratch(const ir::RankChunk &place) {
  return place.buffer == ir::BufferKind::Scratch;
}
/// Returns the piece of `size` chunks that begins `at` chunks after the beginning of a place.
inline ir::RankChunk pieceOf(const ir::RankChunk &place, std::uint32_t at, std::uint32_t size) {
  return {place.rank, place.buffer, place.index + at, size};
}

/// True if plain data at both places is in the same memory.
bool isSameMemory(const ir::Program &program, const ir::RankChunk &a, const ir::RankChunk &b);

/// Returns the transport of data of `statement` from rank `from` to rank `to`: its own if it has one, else the usual
/// one.
inline ir::Via wayOf(const ir::Movement &movement, const ir::Move &statement, std::uint32_t from, std::uint32_t to) {
  return statement.via.value_or(movement.wayOf(from, to));
}
/// True if one operation has to take all operands of a reduction. In a fixed order, the ranks would otherwise narrow
/// sums at different steps. If sums are narrowed only once, no partial result may be stored.
inline bool takesAllAtOnce(const ir::Movement &movement) {
  return ir::isFixed(movement.order) || movement.accumulate == ir::Accumulate::Once;
}
/// True if one operation of rank `by` can reduce all of `srcs` by reading: at most one of them is its own, and the
/// others are of its node.
bool canReadAll(const ir::Movement &movement, std::span<const ir::RankChunk> srcs, std::uint32_t by);
/// True if a reduction may read operands of other ranks where they are. If one operation has to take all of more than
/// two, it may not where an operand of its own would come between them. `readsAll`: one operation can read all
/// (canReadAll), and its own operand may come after others (passes::Target::listedOrder).
inline bool mayRead(const ir::Movement &movement, const ir::Move &statement, bool readsAll) {
  return statement.kind == ir::MoveKind::Reduce && (statement.numSrcs == 2 || !takesAllAtOnce(movement) || readsAll);
}
/// Whether plain data of `statement` that goes from rank `from` to rank `to` is read there, and not put there.
/// `readsAll`: as in mayRead.
bool isReadThere(const ir::Movement &movement, const ir::Move &statement, std::uint32_t from, std::uint32_t to,
                 bool readsAll = false);

/// True if each statement of the program has a rank that executes it and a transport, in a form that an operation can
/// have:
/// - without `via`, all its places are of the rank that executes it; a sum of packets may also be kept as packets, at a
///   second destination;
/// - through memory, a copy has one source and one destination, one of them there and the other on another rank of the
///   node, and a reduction has its first source and its destination there and all other sources on other such ranks;
/// - through a port, a copy has its source there and its one destination on another rank; packets are made at a first
///   destination there, and put to the second;
/// - through memory, a copy within the rank makes packets of plain data;
/// - through memory, packets that lie at a source there are also its first destination, and put to the second;
/// - through a switch, one place on each of several ranks of the node, the executing one among them, stands at the same
///   chunks of the same buffer on all.
/// Packets lie in scratch.
bool isPlaced(const ir::Program &program);

/// True if `group` is the same chunks of the same buffer on several ranks, each rank once, and `own` is one of them.
bool isOnePlaceOfAll(std::span<const ir::RankChunk> group, const ir::RankChunk &own);

/// True if the program is placed, each statement has a thread block, and no rank has more blocks than there are
/// statements.
bool isCut(const ir::Program &program);

} // namespace mscclc::passes::schedule
