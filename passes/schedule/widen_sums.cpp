#include "passes/schedule/widen_sums.h"

#include "ir/collectives.h"
#include "ir/program_index.h"
#include "passes/schedule/chunk_memory.h"
#include "passes/schedule/statement_findings.h"
#include "passes/schedule/statement_rewrite.h"

#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace mscclc::passes::schedule {
namespace {

using ir::BufferKind;
using ir::Move;
using ir::RankChunk;
using proof::ValueId;
using proof::Values;

class SumWidener {
public:
  SumWidener(ir::Program &program, bool onExecutor, ir::DiagnosticEngine &diags)
      : program_(program), given_(program.movement), onExecutor_(onExecutor), values_(ir::ProgramIndex(program), 1),
        findings_(program, diags), result_(program), aside_(program.ranks.size()) {}

  bool run() {
    findPartial();
    if (findings_.errors() != 0)
      return false;
    if (partial_.empty()) {
      program_.movement.accumulate = ir::Accumulate::Once;
      return true;
    }
    const ChunkMemory end = eachStatement([this](std::uint32_t s, const ChunkMemory &memory) { rewrite(s, memory); });
    leaveOutputs(end);
    result_.moveInto(program_);
    return true;
  }

private:
  /// Executes the statements. Calls visit(number, memory before it) for each. Returns the memory behind the last one.
  template <typename Visit> ChunkMemory eachStatement(const Visit &visit) {
    ChunkMemory memory(program_, values_);
    for (std::uint32_t s = 0; s < given_.statements.size(); ++s) {
      const Move &move = given_.statements[s];
      visit(s, std::as_const(memory));
      memory.execute(given_, move, [&](std::uint32_t i) { return ChunkCell{resultOf(move, memory, i)}; });
    }
    return memory;
  }
  std::uint32_t sizeOf(const Move &move) const { return given_.places[move.firstPlace].size; }

  /// Returns the value that a statement gives chunk `i` of its destinations.
  ValueId resultOf(const Move &move, const ChunkMemory &memory, std::uint32_t i) {
    memory.partsOf(given_, move, i, parts_);
    if (move.kind != ir::MoveKind::Apply)
      return values_.chain(move.reduceOp, parts_);
    const RankChunk &place = given_.dsts(move)[0];
    const std::size_t unit = memory.firstOf(place) - memory.firstOf(place.rank, BufferKind::Output) + i;
    return values_.apply(proof::applicationOf(program_, move.hook, place.rank, unit), parts_[0]);
  }

  /// Finds the partial results: sums that some statement makes, and to which another one adds.
  void findPartial() {
    std::unordered_map<ValueId, std::uint32_t> makers;
    eachStatement([&](std::uint32_t s, const ChunkMemory &memory) {
      const Move &move = given_.statements[s];
      if (move.kind != ir::MoveKind::Reduce || ir::isReorderable(move.reduceOp))
        return;
      for (std::uint32_t i = 0; i < sizeOf(move); ++i) {
        makers.try_emplace(resultOf(move, memory, i), s);
        for (const ValueId part : parts_)
          if (const auto maker = makers.find(part); maker != makers.end() && partial_.insert(part).second)
            refuse(maker->second, s);
      }
    });
  }

  void refuse(std::uint32_t maker, std::uint32_t adder) {
    if (onExecutor_ && findings_.isNew(diag::partial_on_executor, maker))
      findings_.report(diag::partial_on_executor, maker, {ir::nounOf(given_.statements[maker].reduceOp)})
          .note(diag::partial_added_here, findings_.where(adder));
  }

  bool isMoved(const RankChunk &place, ValueId value) const {
    return place.buffer != BufferKind::Scratch && partial_.contains(value);
  }

  /// Appends the statement, once for each run of chunks whose places move alike.
  void rewrite(std::uint32_t s, const ChunkMemory &memory) {
    const Move &move = given_.statements[s];
    const auto srcs = given_.srcs(move), dsts = given_.dsts(move);
    const auto movedAt = [&](std::uint32_t i) {
      std::vector<bool> moved;
      for (const RankChunk &src : srcs)
        moved.push_back(isMoved(src, memory[memory.firstOf(src) + i].value));
      const ValueId result = resultOf(move, memory, i);
      for (const RankChunk &dst : dsts)
        moved.push_back(isMoved(dst, result));
      return moved;
    };
    std::uint32_t begin = 0;
    std::vector<bool> moved = movedAt(0);
    for (std::uint32_t i = 1; i <= sizeOf(move); ++i) {
      std::vector<bool> next = i < sizeOf(move) ? movedAt(i) : std::vector<bool>();
      if (next == moved)
        continue;
      std::vector<RankChunk> places;
      for (std::uint32_t p = 0; p < move.numSrcs + move.numDsts; ++p) {
        const RankChunk &place = given_.places[move.firstPlace + p];
        const RankChunk part{place.rank, place.buffer, place.index + begin, i - begin};
        places.push_back(moved[p] && move.kind != ir::MoveKind::Apply ? aside(part) : part);
      }
      if (move.kind == ir::MoveKind::Apply && moved[0])
        leave(places[0], move.loc);
      result_.made.append(move, std::span(places).first(move.numSrcs), std::span(places).subspan(move.numSrcs));
      moved = std::move(next);
      begin = i;
    }
  }

  /// Returns the place in scratch for partial results of `place`. Scratch gets room for the whole buffer at once.
  RankChunk aside(const RankChunk &place) {
    const ir::CanonicalPlace at = ir::canonicalPlace(program_, place.rank, place.buffer, place.index);
    std::optional<std::uint32_t> &first = aside_[place.rank][static_cast<std::size_t>(at.buffer)];
    if (!first) {
      first = result_.scratch[place.rank];
      result_.scratch[place.rank] += program_.ranks[place.rank].chunksOf(at.buffer);
    }
    return {place.rank, BufferKind::Scratch, *first + at.index, place.size};
  }

  /// Copies what outputs hold in the end, if the collective asks for it.
  void leaveOutputs(const ChunkMemory &end) {
    const ir::WantedOutputs wanted(program_);
    std::vector<ir::Contribution> inputs;
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (std::uint32_t chunk = 0; chunk < program_.ranks[r].outputChunks; ++chunk) {
        const RankChunk output{r, BufferKind::Output, chunk, 1};
        wanted.of(r, chunk, inputs);
        if (!isMoved(output, end[end.firstOf(output)].value) || (wanted.any() && inputs.empty()))
          continue;
        leave(output, given_.statements.back().loc);
      }
  }

  /// Copies the partial results of `place` there. A hook is applied to them only where they are rounded.
  void leave(const RankChunk &place, ir::LocId loc) {
    const RankChunk from = aside(place);
    Move copy;
    copy.loc = loc;
    result_.made.append(copy, {&from, 1}, {&place, 1});
  }

  ir::Program &program_;
  const ir::Movement &given_;
  const bool onExecutor_;
  Values values_;
  StatementFindings findings_;
  StatementRewrite result_;
  std::unordered_set<ValueId> partial_;
  std::vector<std::array<std::optional<std::uint32_t>, 3>> aside_; ///< [rank][buffer]: its chunks for partial results
  std::vector<ValueId> parts_;
};

} // namespace

bool widenSums(ir::Program &program, bool onExecutor, ir::DiagnosticEngine &diags) {
  return program.movement.accumulate != ir::Accumulate::Wide || SumWidener(program, onExecutor, diags).run();
}

} // namespace mscclc::passes::schedule
