// Chooses the order in which a source states the operations of a rank's thread blocks.
#pragma once

#include "ir/program.h"

#include <vector>

namespace mscclc::dsl {

/// An event in the source of a rank: a call, or the beginning or end of a pipeline.
struct Event {
  enum class Kind : std::uint8_t { Call, LoopBegin, LoopEnd };
  Kind kind = Kind::Call;
  std::uint32_t block = 0; ///< block of the operation; if it has several blocks, the first one
  std::uint32_t op = 0;    ///< index of the operation in `block`; for LoopBegin, index of the pipeline's header
  /// The blocks of a barrier, or the blocks of a thread-block group in the group's order. Empty for a call in one
  /// block.
  std::vector<std::uint32_t> blocks = {};
};

/// Returns the calls of `rank` in an order that reproduces the operations of each block, and the numbers of remote
/// buffers and barriers. Calls of one block follow each other as far as possible. The program must consist of calls
/// (calls.h). Throws NoSource if there is no such order.
std::vector<Event> orderCalls(const ir::Program &program, std::uint32_t rank);

} // namespace mscclc::dsl
