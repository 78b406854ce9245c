// Writes a program as an MSCCL++ execution plan.
#pragma once

#include "ir/program.h"

#include <ostream>
#include <string>
#include <string_view>

namespace mscclc::json {

struct WriteOptions {
  bool compact = false;     ///< without line breaks and spaces
  std::string nameOverride; ///< replaces the program's name; empty: no replacement
  /// A flush gets an entry in `dst_buff` for each channel. MSCCL++'s executor flushes as many channels as there are
  /// entries (execution_kernel.hpp, handleFlush). Without entries, as in plans of the Python DSL, it flushes none.
  bool countedFlushes = false;
};

/// Writes `program` to `stream` piece by piece, one operation a line, in constant memory. The same program gives the
/// same bytes. Returns false if the stream failed, for example on a full disk. Then the text is incomplete. Throws
/// ir::InternalError unless the program has thread blocks (ir::requireBlocks), data syncs are lowered to nops,
/// instances are replicated, and block tables hold every channel and remote buffer that operations name.
bool writePlan(const ir::Program &program, std::ostream &stream, const WriteOptions &options = {});

/// True if `text` is UTF-8, so that it can be the name of a plan. In other texts, writePlan() would replace bytes.
bool isUtf8(std::string_view text);

/// Returns one operation as the plan prints it, on one line. Of a pipeline, leaves out the body. `op` must name an
/// operation of the program.
std::string planTextOf(const ir::Program &program, const ir::OpRef &op);

} // namespace mscclc::json
