#include "frontend/xml/collective.h"

#include "ir/chunk_cells.h"
#include "ir/collectives.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace mscclc::xml {

namespace {

using ir::BufferKind;
using ir::Extent;

std::optional<ir::CollectiveKind> kindOf(std::string_view name) {
  if (name == "reduce_scatter")
    return ir::CollectiveKind::ReduceScatter;
  for (const bool hasRoot : {false, true})
    if (const auto kind = ir::namedCollective(name, hasRoot))
      return kind;
  return std::nullopt;
}

/// Returns true if the longer buffer has a share for each rank.
bool hasShares(const ir::Program &program) {
  const ir::CollectiveInfo &about = ir::info(program.collective.kind);
  return about.input != about.output || ir::sharesOfMessage(program) != 1;
}

std::uint32_t chunksOf(const ir::Program &program, BufferKind buffer, std::uint32_t loopChunks) {
  const ir::CollectiveKind kind = program.collective.kind;
  const bool other = ir::extentOf(kind, BufferKind::Input) != ir::extentOf(kind, BufferKind::Output);
  const bool share = other && ir::extentOf(kind, buffer) == Extent::Share;
  return share ? loopChunks / static_cast<std::uint32_t>(program.ranks.size()) : loopChunks;
}

/// Compares the sizes that gpus state with those of the collective.
void checkStated(const Schedule &schedule, const ir::Program &program, Findings &findings) {
  for (std::uint32_t g = 0; g < schedule.gpus.size() && !findings.full(); ++g)
    for (const BufferKind buffer : {BufferKind::Input, BufferKind::Output}) {
      const std::uint32_t stated = schedule.gpus[g].chunksOf(buffer), most = program.ranks[g].chunksOf(buffer);
      if (stated > most)
        findings.report(diag::chunks_too_many, schedule.gpus[g].loc,
                        {buffer == BufferKind::Input ? "i_chunks" : "o_chunks", stated, schedule.collective,
                         ir::plural(schedule.gpus.size(), "gpu"), schedule.loopChunks, most});
    }
}

void setKnown(const Schedule &schedule, ir::CollectiveKind kind, ir::Program &program, Findings &findings) {
  program.collective.kind = kind;
  program.collective.name = ir::toString(kind);
  const std::size_t ranks = program.ranks.size();
  if (hasShares(program) && schedule.loopChunks % ranks != 0)
    findings.report(diag::shares_uneven, schedule.chunksLoc,
                    {schedule.loopChunks, schedule.collective, ir::plural(ranks, "gpu"), ranks});
  for (ir::Rank &rank : program.ranks) {
    rank.inputChunks = chunksOf(program, BufferKind::Input, schedule.loopChunks);
    rank.outputChunks = chunksOf(program, BufferKind::Output, schedule.loopChunks);
  }
  checkStated(schedule, program, findings);
}

/// Gives every rank as many chunks as the largest gpu states.
void setCustom(const Schedule &schedule, ir::Program &program, Findings &findings) {
  ir::Collective &collective = program.collective;
  collective.kind = ir::CollectiveKind::Custom;
  const bool taken = ir::namedCollective(schedule.collective, false) || ir::namedCollective(schedule.collective, true);
  collective.name = taken ? ir::toString(collective.kind) : std::string_view(schedule.collective);
  std::uint32_t input = 0, output = 0;
  for (const Gpu &gpu : schedule.gpus) {
    input = std::max(input, gpu.inputChunks);
    output = std::max(output, gpu.outputChunks);
  }
  if (collective.inplace && input != 0 && output != 0) {
    findings.report(diag::custom_not_in_place, schedule.collectiveLoc, {schedule.collective});
    collective.inplace = false;
  }
  if (collective.inplace)
    input = output = std::max(input, output);
  for (ir::Rank &rank : program.ranks) {
    rank.inputChunks = std::max(input, 1u);
    rank.outputChunks = std::max(output, 1u);
  }
  if (schedule.collective != ir::toString(ir::CollectiveKind::Custom))
    findings.report(diag::nothing_promised, schedule.collectiveLoc, {schedule.collective});
}

/// The origin of data, whatever its values are.
struct Origin {
  std::uint32_t rank = 0, chunk = 0;
  std::uint64_t parts = 0; ///< number of inputs in the data; 0: nothing wrote it
};

} // namespace

ir::Program programFor(const Schedule &schedule, Findings &findings) {
  ir::Program program;
  program.name = schedule.name;
  program.schedule = ir::Schedule::Auto;
  program.minMessageSize = schedule.minBytes;
  program.maxMessageSize = schedule.maxBytes;
  program.ranks.resize(schedule.gpus.size());
  program.collective.inplace = schedule.inplace;
  program.collective.loc = schedule.collectiveLoc;
  for (std::size_t r = 0; r < program.ranks.size(); ++r)
    program.ranks[r].scratchChunks = schedule.gpus[r].scratchChunks;
  if (const auto kind = kindOf(schedule.collective); kind && ir::hasChunkFactor(*kind))
    setKnown(schedule, *kind, program, findings);
  else
    setCustom(schedule, program, findings);
  const std::uint64_t chunks = ir::ChunkCells::chunksOf(program) * chunksOfOne(program);
  if (chunks > mostChunks)
    findings.report(diag::xml_too_large, schedule.chunksLoc, {ir::plural(chunks, "chunk"), mostChunks});
  return program;
}

std::uint32_t chunksOfOne(const ir::Program &program) {
  const ir::CollectiveKind kind = program.collective.kind;
  if (!ir::hasChunkFactor(kind) || hasShares(program) || ir::extentOf(kind, BufferKind::Input) != Extent::Whole)
    return 1;
  const auto ranks = static_cast<std::uint32_t>(program.ranks.size());
  return ranks / std::gcd(ranks, program.ranks.front().inputChunks);
}

void multiplyChunks(ir::Program &program, std::uint32_t factor) {
  for (ir::Rank &rank : program.ranks) {
    rank.inputChunks *= factor;
    rank.outputChunks *= factor;
    rank.scratchChunks *= factor;
  }
  for (ir::RankChunk &place : program.movement.places) {
    place.index *= factor;
    place.size *= factor;
  }
}

void findRoot(ir::Program &program) {
  if (!ir::info(program.collective.kind).hasRoot)
    return;
  const ir::ChunkCells numbers(program);
  std::vector<Origin> cells(numbers.size());
  const auto ranks = static_cast<std::uint32_t>(program.ranks.size());
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (std::uint32_t c = 0; c < program.ranks[r].inputChunks; ++c)
      cells[numbers.firstOf(r, BufferKind::Input, c)] = {r, c, 1};
  for (const ir::Move &move : program.movement.statements)
    for (std::uint32_t i = 0; i < program.movement.places[move.firstPlace].size; ++i) {
      Origin sum{};
      for (const ir::RankChunk &src : program.movement.srcs(move)) {
        const Origin &part = cells[numbers.firstOf(src) + i];
        sum = {part.rank, part.chunk, sum.parts + part.parts};
      }
      for (const ir::RankChunk &dst : program.movement.dsts(move))
        cells[numbers.firstOf(dst) + i] = sum;
    }
  // Candidates for the root are the rank whose data an output holds, and the output's own rank.
  std::vector<std::uint64_t> met(ranks);
  const std::uint32_t share = ir::chunksOfShare(program);
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (std::uint32_t c = 0; c < program.ranks[r].outputChunks; ++c) {
      const Origin &holds = cells[numbers.firstOf(r, BufferKind::Output, c)];
      for (const std::uint32_t candidate : {holds.rank, r}) {
        program.collective.root = candidate;
        const ir::Contribution wanted = ir::contributionOf(program.collective, ranks, share, r, c);
        const bool good = wanted.rank == ir::everyRank
                              ? holds.parts == ranks
                              : holds.parts == 1 && wanted == ir::Contribution{holds.rank, holds.chunk};
        met[candidate] += good;
        if (holds.rank == r)
          break;
      }
    }
  program.collective.root = static_cast<std::uint32_t>(std::ranges::max_element(met) - met.begin());
}

} // namespace mscclc::xml
