// What a placed statement looks like.
#pragma once

#include "ir/memory_map.h"
#include "ir/program.h"

#include <compare>
#include <span>

namespace mscclc::passes::schedule {

/// Memory of plain data in that place.
ir::MemoryRange plainMemoryOf(const ir::Program &program, const ir::RankChunk &place);

/// Where that memory begins. Starts on one rank in one buffer are neighbours in their order.
struct MemoryStart {
  std::uint32_t rank = 0;
  ir::BufferKind buffer{};
  std::uint64_t begin = 0; ///< in plain chunks

  friend auto operator<=>(const MemoryStart &, const MemoryStart &) = default;
};

/// Where plain data in that place begins.
MemoryStart startOf(const ir::Program &program, const ir::RankChunk &place);

/// True if both are the same memory.
bool isSameMemory(const ir::Program &program, const ir::RankChunk &a, const ir::RankChunk &b);

/// Through what data of `statement` goes from rank `from` to rank `to`: as it says, or as they reach each other.
inline ir::Via wayOf(const ir::Movement &movement, const ir::Move &statement, std::uint32_t from, std::uint32_t to) {
  return statement.via.value_or(movement.wayOf(from, to));
}
/// True if a reduction may read operands of other ranks where they are. In a fixed order it may not, if it has more
/// than two: an operand of its own would come between them, so that each rank would narrow at other steps.
inline bool mayRead(const ir::Movement &movement, const ir::Move &statement) {
  return statement.kind == ir::MoveKind::Reduce && (statement.numSrcs == 2 || !ir::isFixed(movement.order));
}
/// Whether plain data of `statement` that goes from rank `from` to rank `to` is read there, and not put there.
bool isReadThere(const ir::Movement &movement, const ir::Move &statement, std::uint32_t from, std::uint32_t to);

/// True if each statement of the program says who executes it and how, in a form that an operation can have:
/// - without `via`, all its places are of the rank that executes it;
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

/// True if `group` stands at the same chunks of the same buffer on several ranks, each once, and `own` is of one of
/// them.
bool isOnePlaceOfAll(std::span<const ir::RankChunk> group, const ir::RankChunk &own);

/// True if the program is placed, each statement says which thread block executes it, and no rank has more blocks than
/// there are statements.
bool isCut(const ir::Program &program);

} // namespace mscclc::passes::schedule
