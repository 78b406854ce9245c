// Reads an MSCCL schedule in XML into a program of statements.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <optional>
#include <string_view>

namespace mscclc::xml {

/// What XML leaves open.
struct ReadOptions {
  std::uint32_t ranksPerNode = 0; ///< 0: all ranks are of one node
  bool keepBlocks = false;        ///< each step stays in its thread block; else blocks are chosen
};

/// The program that the schedule `text` describes, or nothing after errors. Each error names a place of `filename`;
/// several are found in one run. Statements are located at the steps that they come from.
///
/// The steps are those of MSCCL's interpreter in its NCCL fork. Chunks, and scratch with them, are those of the
/// schedule, but where the collective asks for more. Refused are, besides what is no such text: messages without a
/// receiver or a sender, steps that wait for one another in a circle, and races, judged by the schedule's own order.
/// What the steps leave in the buffers is not judged here. Memory is proportional to the text and the chunks that it
/// states; of these there are at most ir::ChunkCells::mostChunks.
std::optional<ir::Program> readXml(std::string_view text, std::string_view filename, const ReadOptions &options,
                                   ir::DiagnosticEngine &engine);

} // namespace mscclc::xml
