#include "frontend/xml/read_xml.h"

#include "frontend/xml/collective.h"
#include "frontend/xml/races.h"
#include "frontend/xml/schedule_reader.h"
#include "frontend/xml/statements.h"
#include "ir/structure.h"

namespace mscclc::xml {

namespace {

/// The most chunks that all steps together may touch. So many take about a second.
constexpr std::uint64_t mostTouched = std::uint64_t{1} << 24;

bool fits(const Schedule &schedule, std::uint32_t factor, Findings &findings) {
  std::uint64_t touched = 0;
  for (const Gpu &gpu : schedule.gpus)
    for (const Block &block : gpu.blocks)
      for (const Step &step : block.steps)
        touched += std::uint64_t{step.count} * factor;
  if (touched > mostTouched)
    findings.report(diag::xml_too_large, schedule.chunksLoc,
                    {ir::plural(touched, "chunk") + " in all steps", mostTouched});
  return touched <= mostTouched;
}

std::optional<ir::Program> programOf(const Schedule &schedule, const ReadOptions &options, Findings &findings) {
  if (options.ranksPerNode != 0 && schedule.gpus.size() % options.ranksPerNode != 0)
    findings.report(diag::nodes_of_gpus, schedule.collectiveLoc,
                    {options.ranksPerNode, ir::plural(schedule.gpus.size(), "gpu")});
  ir::Program program = programFor(schedule, findings);
  if (findings.any() || !fits(schedule, chunksOfOne(program), findings))
    return std::nullopt;
  const StepGraph graph(schedule, findings);
  if (findings.any())
    return std::nullopt;
  const ir::ChunkCells cells(program);
  StoredSums stored(graph.size());
  std::optional<StepOrder> order = orderSteps(graph, cells, stored, findings);
  if (!order)
    return std::nullopt;
  checkRaces(graph, cells, *order, findings);
  if (findings.any())
    return std::nullopt;
  stored = sumsInPlace(graph, cells, *order);
  order = orderSteps(graph, cells, stored, findings);
  appendStatements(graph, *order, stored, options.keepBlocks, program);
  if (program.movement.statements.empty())
    return findings.report(diag::nothing_moves, schedule.collectiveLoc);
  findRoot(program);
  multiplyChunks(program, chunksOfOne(program));
  program.movement.ranksPerNode = options.ranksPerNode;
  // MSCCL's LL and LL128 are for short messages. For them, the time model decides whether packets pay off.
  program.movement.chooseProtocol = !schedule.simple;
  program.movement.chooseInstances = !options.keepBlocks;
  return program;
}

} // namespace

std::optional<ir::Program> readXml(std::string_view text, std::string_view filename, const ReadOptions &options,
                                   ir::DiagnosticEngine &engine) {
  ir::SourceMap sources;
  sources.setContents(sources.addFile(filename), std::string(text));
  engine.setSources(&sources);
  Findings findings(engine);
  const Schedule schedule = readSchedule(text, filename, sources, findings);
  std::optional<ir::Program> program;
  if (!findings.any())
    program = programOf(schedule, options, findings);
  if (program) {
    program->sources = sources;
    if (!ir::checkStructure(*program, engine))
      program.reset();
  }
  engine.setSources(nullptr);
  return program;
}

} // namespace mscclc::xml
