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

/// Returns the program that the schedule `text` describes; nothing after errors. One call finds several errors, and
/// each names a place of `filename`. Statements have the locations of their steps.
///
/// Steps are executed as by MSCCL's interpreter in its NCCL fork. The program has the chunks of the schedule, also in
/// scratch, unless the collective requires more. The reader refuses text that is not such a schedule, messages without
/// a receiver or a sender, circles of steps that wait for one another, and races by the schedule's own order. It does
/// not check the final contents of buffers. Memory is proportional to the text and to the stated chunks, which may be
/// at most mostChunks (collective.h).
std::optional<ir::Program> readXml(std::string_view text, std::string_view filename, const ReadOptions &options,
                                   ir::DiagnosticEngine &engine);

} // namespace mscclc::xml
