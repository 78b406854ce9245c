#include "passes/schedule/meaning.h"

#include "ir/program_index.h"
#include "passes/schedule/promise.h"

#include <algorithm>

namespace mscclc::passes {
namespace schedule {

namespace {

using proof::ValueId;
using proof::Values;

/// The most chunks that statements may touch. A chunk counts each time a statement names it. This number of chunks
/// takes a few seconds.
constexpr std::uint64_t mostTouched = std::uint64_t{1} << 27;

class Interpreter {
public:
  Interpreter(const ir::Program &program, Values &values, StatementFindings &findings)
      : program_(program), movement_(program.movement), values_(values), memory_(program, values), findings_(findings) {
  }

  const ChunkMemory &run() {
    for (std::uint32_t s = 0; s < movement_.statements.size() && !findings_.full(); ++s) {
      const ir::Move &move = movement_.statements[s];
      cells_.clear();
      for (const ir::RankChunk &place : movement_.placesOf(move))
        cells_.push_back(memory_.firstOf(place));
      checkOperands(s, move);
      checkInputs(s, move);
      execute(s, move);
    }
    return memory_;
  }

private:
  /// An operand in memory: cells [begin, end).
  struct Range {
    std::size_t begin = 0, end = 0;
    std::uint32_t place = 0; ///< number among the statement's places; sources come first
  };

  /// Finds operands that overlap without being equal, and destinations that are equal.
  void checkOperands(std::uint32_t s, const ir::Move &move) {
    ranges_.clear();
    for (std::uint32_t i = 0; i < cells_.size(); ++i)
      ranges_.push_back({cells_[i], cells_[i] + movement_.placesOf(move)[i].size, i});
    std::ranges::sort(ranges_, {}, [](const Range &r) { return std::tuple(r.begin, r.end, r.place); });
    // Up to the first fault, ranges are equal or disjoint. So each range is compared only with the one before it.
    for (std::size_t i = 1; i < ranges_.size(); ++i) {
      const Range &before = ranges_[i - 1], &range = ranges_[i];
      if (range.begin >= before.end)
        continue;
      const bool equal = range.begin == before.begin && range.end == before.end;
      const bool bothWritten = before.place >= move.numSrcs && range.place >= move.numSrcs;
      if (equal && !bothWritten)
        continue;
      reportPair(equal ? diag::meaning_same_destination : diag::meaning_overlap, s, move, before, range);
      return;
    }
  }

  void reportPair(const ir::DiagInfo &info, std::uint32_t s, const ir::Move &move, const Range &a, const Range &b) {
    const ir::RankChunk &first = movement_.placesOf(move)[std::min(a.place, b.place)];
    const ir::RankChunk &second = movement_.placesOf(move)[std::max(a.place, b.place)];
    if (findings_.isNew(info, s))
      findings_.report(info, s, {describe(first), describe(second), first.buffer == second.buffer ? "" : " in place"});
  }

  void checkInputs(std::uint32_t s, const ir::Move &move) {
    if (program_.collective.inplace)
      return;
    for (std::uint32_t i = move.numSrcs; i < move.numSrcs + move.numDsts; ++i) {
      const ir::RankChunk &chunk = movement_.placesOf(move)[i];
      const bool staysThere = move.numSrcs == 1 && cells_[i] == cells_[0]; // the chunk is copied onto itself
      if (chunk.buffer == ir::BufferKind::Input && !staysThere && findings_.isNew(diag::meaning_input_written, s))
        findings_.report(diag::meaning_input_written, s, {describe(chunk)});
    }
  }

  void execute(std::uint32_t s, const ir::Move &move) {
    for (std::uint32_t source = 0; source < move.numSrcs; ++source)
      checkWritten(s, cells_[source], movement_.srcs(move)[source]);
    const bool makes = move.kind == ir::MoveKind::Apply || move.numSrcs != 1;
    memory_.execute(movement_, move, [&](std::uint32_t i) {
      memory_.partsOf(movement_, move, i, parts_);
      const ValueId value =
          move.kind == ir::MoveKind::Apply ? apply(s, move, i, parts_[0]) : values_.chain(move.reduceOp, parts_);
      return ChunkCell{value, s, makes ? s : memory_[cells_[0] + i].maker};
    });
  }

  /// Returns the value of chunk `i` after the hook of `move` was applied to `operand`.
  ValueId apply(std::uint32_t s, const ir::Move &move, std::uint32_t i, ValueId operand) {
    const ir::RankChunk &place = movement_.dsts(move)[0];
    const std::size_t unit = cells_[0] - memory_.firstOf(place.rank, ir::BufferKind::Output) + i;
    const proof::Application function = proof::applicationOf(program_, move.hook, place.rank, unit);
    const auto [before, isNew] = applied_.try_emplace(function, s);
    if (!isNew && !program_.hooks[move.hook].writes.empty() && findings_.isNew(diag::meaning_applied_twice, s))
      findings_
          .report(
              diag::meaning_applied_twice, s,
              {program_.hooks[move.hook].name, describe(ir::RankChunk{place.rank, place.buffer, place.index + i, 1})})
          .note(diag::meaning_applied_here, findings_.where(before->second));
    return values_.apply(function, operand);
  }

  /// Reports chunks that were never written. Values that are computed from such chunks are unknown, and not reported
  /// again.
  void checkWritten(std::uint32_t s, std::size_t first, const ir::RankChunk &chunk) {
    for (std::uint32_t i = 0; i < chunk.size; ++i) {
      ChunkCell &cell = memory_[first + i];
      if (cell.value != Values::unwritten)
        continue;
      cell.value = Values::unknown;
      if (!findings_.isNew(diag::meaning_read_unwritten, s))
        continue;
      ir::DiagBuilder finding = findings_.report(
          diag::meaning_read_unwritten, s, {describe(ir::RankChunk{chunk.rank, chunk.buffer, chunk.index + i, 1})});
      if (const auto writer = firstWriter(first + i))
        finding.note(diag::meaning_written_later, findings_.where(*writer));
    }
  }

  std::optional<std::uint32_t> firstWriter(std::size_t cell) const {
    for (std::uint32_t s = 0; s < movement_.statements.size(); ++s)
      for (const ir::RankChunk &chunk : movement_.dsts(movement_.statements[s]))
        if (const std::size_t first = memory_.firstOf(chunk); cell >= first && cell < first + chunk.size)
          return s;
    return std::nullopt;
  }

  const ir::Program &program_;
  const ir::Movement &movement_;
  Values &values_;
  ChunkMemory memory_;
  StatementFindings &findings_;
  std::vector<std::size_t> cells_; ///< the first cell of each operand of the statement
  std::vector<Range> ranges_;
  std::vector<ValueId> parts_;
  std::map<proof::Application, std::uint32_t> applied_; ///< the statement that applied the function first
};

/// Returns true if the program has few enough chunks to follow their values. Otherwise reports an error.
bool fits(const ir::Program &program, StatementFindings &findings) {
  const auto refuse = [&](std::uint64_t count, std::string_view noun, std::uint64_t most) {
    findings.reportOnProgram(diag::meaning_too_large, {ir::plural(count, noun), most});
    return false;
  };
  if (const std::uint64_t chunks = ir::ChunkCells::chunksOf(program); chunks > ir::ChunkCells::mostChunks)
    return refuse(chunks, "chunk", ir::ChunkCells::mostChunks);
  std::uint64_t touched = 0;
  for (const ir::RankChunk &chunk : program.movement.places)
    touched += chunk.size;
  return touched <= mostTouched || refuse(touched, "chunk operand", mostTouched);
}

std::vector<ValueId> valuesOf(const ir::Program &program, const ChunkMemory &memory, std::uint32_t rank,
                              ir::BufferKind buffer) {
  std::vector<ValueId> values;
  for (std::uint32_t chunk = 0; chunk < program.ranks[rank].chunksOf(buffer); ++chunk)
    values.push_back(memory[memory.firstOf(rank, buffer, chunk)].value);
  return values;
}

} // namespace

std::optional<Meaning> meaningOf(const ir::Program &program, ir::DiagnosticEngine &diags) {
  StatementFindings findings(program, diags);
  if (!fits(program, findings))
    return std::nullopt;
  Meaning meaning{Values(ir::ProgramIndex(program), 1), {}, {}, program.movement.order == ir::Order::Any};
  Interpreter interpreter(program, meaning.values, findings);
  const ChunkMemory &memory = interpreter.run();
  if (!findings.full())
    checkPromise(program, memory, meaning.values, findings);
  if (findings.errors() != 0)
    return std::nullopt;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    meaning.inputs.push_back(valuesOf(program, memory, r, ir::BufferKind::Input));
    meaning.outputs.push_back(valuesOf(program, memory, r, ir::BufferKind::Output));
  }
  return meaning;
}

} // namespace schedule

Pass createCheckMeaningPass() {
  Pass pass;
  pass.run = [](PassContext &context) {
    const ir::Program &program = context.program;
    const auto hasBlocks = [](const ir::Rank &rank) { return !rank.blocks.empty(); };
    if (program.schedule != ir::Schedule::Auto ||
        (program.movement.statements.empty() && std::ranges::any_of(program.ranks, hasBlocks)))
      return;
    schedule::meaningOf(program, context.diags);
    context.stats.count("statements", program.movement.statements.size());
  };
  return pass;
}

} // namespace mscclc::passes
