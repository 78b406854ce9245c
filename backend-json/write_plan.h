// Writes a program as an MSCCL++ execution plan.
#pragma once

#include "ir/program.h"

#include <ostream>
#include <string>
#include <string_view>

namespace mscclc::json {

struct WriteOptions {
  bool compact = false;     ///< no line breaks and no spaces
  std::string nameOverride; ///< the plan's name; empty: the program's
  /// A flush gets an entry in `dst_buff` for each channel. MSCCL++'s executor flushes as many channels as it finds
  /// entries there (execution_kernel.hpp, handleFlush), so none where there are none, as the Python DSL writes it.
  bool countedFlushes = false;
};

/// Writes `program` to `stream` as it goes, one operation a line; memory does not grow with the program. The same
/// program gives the same bytes. False if the stream failed (a full disk, say); what was written is then incomplete.
/// Requires thread blocks (ir::requireBlocks), data syncs lowered to nops, instances replicated, and every channel and
/// remote buffer that an operation names in its block's tables; otherwise throws ir::InternalError.
bool writePlan(const ir::Program &program, std::ostream &stream, const WriteOptions &options = {});

/// True if `text` is UTF-8, so that a plan can have it as its name; what is not is replaced.
bool isUtf8(std::string_view text);

/// One operation as the plan prints it, on one line; a pipeline without its body. `rank`, `block`, `op` must exist.
std::string planTextOf(const ir::Program &program, const ir::OpRef &op);

} // namespace mscclc::json
