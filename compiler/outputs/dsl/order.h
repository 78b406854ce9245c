// In which order a source makes the operations of a rank's thread blocks.
#pragma once

#include "ir/program.h"

#include <optional>
#include <string>
#include <vector>

namespace mscclc::dsl {

/// A call, or where a pipeline begins or ends.
struct Event {
  enum class Kind : std::uint8_t { Call, LoopBegin, LoopEnd };
  Kind kind = Kind::Call;
  std::uint32_t block = 0;                ///< of the operation; of several, the first one's
  std::uint32_t op = 0;                   ///< of a call: index into the block's operations; of LoopBegin: of a header
  std::vector<std::uint32_t> blocks = {}; ///< of a call in several blocks: those of a barrier or, in order, of a group
};

/// Calls of `rank` in an order that gives its blocks their operations, and its remote buffers and barriers their
/// numbers: block after block, as far as that does. The program is one of calls (calls.h). Nothing if there is no such
/// order; `why` then says what stands in the way.
std::optional<std::vector<Event>> orderCalls(const ir::Program &program, std::uint32_t rank, std::string &why);

} // namespace mscclc::dsl
