// Chooses the order in which a source makes the operations of a rank's thread blocks.
#pragma once

#include "ir/program.h"

#include <vector>

namespace mscclc::dsl {

/// A call, or the beginning or end of a pipeline.
struct Event {
  enum class Kind : std::uint8_t { Call, LoopBegin, LoopEnd };
  Kind kind = Kind::Call;
  std::uint32_t block = 0; ///< block of the operation; for several blocks, the first one
  std::uint32_t op = 0;    ///< index of a call's operation in the block; for LoopBegin, of the header
  /// The blocks of a barrier, or those of a thread-block group in its order. Empty for a call in one block.
  std::vector<std::uint32_t> blocks = {};
};

/// Returns the calls of `rank` in an order that gives its blocks their operations, and its remote buffers and barriers
/// their numbers. It goes block after block as far as possible. The program must consist of calls (calls.h). If there
/// is no such order, throws NoSource.
std::vector<Event> orderCalls(const ir::Program &program, std::uint32_t rank);

} // namespace mscclc::dsl
