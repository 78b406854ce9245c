// Reads an MSCCL schedule in XML into a program of statements.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <optional>
#include <string_view>

namespace mscclc::xml {

/// The choices that XML does not contain.
struct ReadOptions {
  std::uint32_t ranksPerNode = 0; ///< 0: all ranks are of one node
  bool keepBlocks = false;        ///< each step stays in its thread block; else the compiler chooses blocks
};

/// Returns the program of the schedule in `text`; nothing after errors. One call finds several errors, and each error
/// names a place in `filename`. A statement has the source location of its step.
///
/// Steps have the meaning that the interpreter in MSCCL's fork of NCCL gives them. The program has the chunks that the
/// schedule states, also in scratch, unless the collective requires more. These are refused: text that is not such a
/// schedule; a message without a receiver or a sender; steps that wait for one another in a circle; and two accesses
/// that race because the schedule does not order them. The final contents of buffers are not checked. The memory used
/// is proportional to the text and to the stated chunks, of which there may be at most mostChunks (collective.h).
std::optional<ir::Program> readXml(std::string_view text, std::string_view filename, const ReadOptions &options,
                                   ir::DiagnosticEngine &engine);

} // namespace mscclc::xml
