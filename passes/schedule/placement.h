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

/// Returns the transport of data of `statement` from rank `from` to rank `to`: the statement's own transport if it has
/// one, else the usual one.
inline ir::Via wayOf(const ir::Movement &movement, const ir::Move &statement, std::uint32_t from, std::uint32_t to) {
  return statement.via.value_or(movement.wayOf(from, to));
}
/// True if one operation has to take all operands of a reduction. In a fixed order, the ranks would otherwise narrow
/// sums at different steps. If sums are narrowed only once, no partial result may be stored.
inline bool takesAllAtOnce(const ir::Movement &movement) {
  return ir::isFixed(movement.order) || movement.accumulate == ir::Accumulate::Once;
}
/// True if one operation of rank `by` can reduce all of `srcs` by reading: at most one of these is on rank `by`, and
/// the others are on other ranks of its node.
bool canReadAll(const ir::Movement &movement, std::span<const ir::RankChunk> srcs, std::uint32_t by);
/// True if a reduction may read operands of other ranks where they are. If one operation has to take more than two
/// operands, it may do so only if `readsAll` is true. `readsAll`: one operation can read all operands (canReadAll), and
/// the operand of its own rank may come after others (so passes::Target::listedOrder is false).
inline bool mayRead(const ir::Movement &movement, const ir::Move &statement, bool readsAll) {
  return statement.kind == ir::MoveKind::Reduce && (statement.numSrcs == 2 || !takesAllAtOnce(movement) || readsAll);
}
/// True if rank `to` reads the plain data of `statement` from rank `from`; false if rank `from` puts this data.
/// `readsAll`: as in mayRead.
bool isReadThere(const ir::Movement &movement, const ir::Move &statement, std::uint32_t from, std::uint32_t to,
                 bool readsAll = false);

/// True if each statement of the program has a rank `by` that executes it and a transport, in a form that an operation
/// can have:
/// - without `via`, all places are on rank `by`; a sum of packets may have a second destination, which keeps the sum as
///   packets;
/// - through memory, a copy has one source and one destination: one on rank `by`, and the other on another rank of the
///   node. A reduction has its first source and its destination on rank `by`, and all other sources on other ranks of
///   the node;
/// - through a port, a copy has its source on rank `by`, and its one destination on another rank; packets are made at a
///   first destination on rank `by`, and put to the second one;
/// - through memory, a copy within rank `by` makes packets of plain data;
/// - through memory, packets at a source on rank `by` are also the first destination, and are put to the second one;
/// - through a switch, the statement has one place on each of several ranks of the node, `by` among them, at the same
///   chunks of the same buffer.
/// Packets are in scratch.
bool isPlaced(const ir::Program &program);

/// True if `group` has the same chunks of the same buffer on several ranks, each rank once, and the rank of `own` is
/// one of these ranks.
bool isOnePlaceOfAll(std::span<const ir::RankChunk> group, const ir::RankChunk &own);

/// True if the program is placed, each statement has a thread block, and no rank has more blocks than there are
/// statements.
bool isCut(const ir::Program &program);

} // namespace mscclc::passes::schedule
