#include "passes/schedule/widen_sums.h"

#include "ir/collectives.h"
#include "passes/schedule/partial_sums.h"
#include "passes/schedule/placement.h"
#include "passes/schedule/statement_findings.h"
#include "passes/schedule/statement_rewrite.h"

#include <array>
#include <optional>
#include <unordered_set>

namespace mscclc::passes::schedule {
namespace {

using ir::BufferKind;
using ir::Move;
using ir::RankChunk;
using proof::ValueId;

class SumWidener {
public:
  SumWidener(ir::Program &program, bool onExecutor, ir::DiagnosticEngine &diags)
      : program_(program), given_(program.movement), onExecutor_(onExecutor), values_(program),
        findings_(program, diags), result_(program), aside_(program.ranks.size()) {}

  bool run() {
    partial_ = values_.partialSums([this](std::uint32_t maker, std::uint32_t adder) { refuse(maker, adder); });
    if (findings_.errors() != 0)
      return false;
    if (partial_.empty()) {
      program_.movement.accumulate = ir::Accumulate::Once;
      return true;
    }
    const ChunkMemory end =
        values_.eachStatement([this](std::uint32_t s, const ChunkMemory &memory) { rewrite(s, memory); });
    leaveOutputs(end);
    result_.moveInto(program_);
    return true;
  }

private:
  void refuse(std::uint32_t maker, std::uint32_t adder) {
    if (onExecutor_ && findings_.isNew(diag::partial_on_executor, maker))
      findings_.report(diag::partial_on_executor, maker, {ir::nounOf(given_.statements[maker].reduceOp)})
          .note(diag::partial_added_here, findings_.where(adder));
  }

  bool isMoved(const RankChunk &place, ValueId value) const {
    return place.buffer != BufferKind::Scratch && partial_.contains(value);
  }

  /// Appends one statement for each run of chunks in which the same places move to scratch.
  void rewrite(std::uint32_t s, const ChunkMemory &memory) {
    const Move &move = given_.statements[s];
    const auto srcs = given_.srcs(move), dsts = given_.dsts(move);
    const auto movedAt = [&](std::uint32_t i) {
      std::vector<bool> moved;
      for (const RankChunk &src : srcs)
        moved.push_back(isMoved(src, memory[memory.firstOf(src) + i].value));
      const ValueId result = values_.resultOf(move, memory, i);
      for (const RankChunk &dst : dsts)
        moved.push_back(isMoved(dst, result));
      return moved;
    };
    const auto append = [&](std::uint32_t begin, std::uint32_t end, const std::vector<bool> &moved) {
      std::vector<RankChunk> places;
      for (std::uint32_t p = 0; p < move.numSrcs + move.numDsts; ++p) {
        const RankChunk part = pieceOf(given_.places[move.firstPlace + p], begin, end - begin);
        places.push_back(moved[p] && move.kind != ir::MoveKind::Apply ? aside(part) : part);
      }
      if (move.kind == ir::MoveKind::Apply && moved[0])
        leave(places[0], move.loc);
      result_.made.append(move, std::span(places).first(move.numSrcs), std::span(places).subspan(move.numSrcs));
    };
    eachRun(given_.places[move.firstPlace].size, movedAt, append);
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

  /// Copies the final values of outputs from scratch, if the collective defines these outputs.
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

  /// Copies the partial results for `place` from scratch to `place`. A hook is applied only there, to rounded values.
  void leave(const RankChunk &place, ir::LocId loc) {
    const RankChunk from = aside(place);
    Move copy;
    copy.loc = loc;
    result_.made.append(copy, {&from, 1}, {&place, 1});
  }

  ir::Program &program_;
  const ir::Movement &given_;
  const bool onExecutor_;
  StatementValues values_;
  StatementFindings findings_;
  StatementRewrite result_;
  std::unordered_set<ValueId> partial_;
  std::vector<std::array<std::optional<std::uint32_t>, 3>> aside_; ///< [rank][buffer]: scratch of its partial results
};

} // namespace

bool widenSums(ir::Program &program, bool onExecutor, ir::DiagnosticEngine &diags) {
  return program.movement.accumulate != ir::Accumulate::Wide || SumWidener(program, onExecutor, diags).run();
}

} // namespace mscclc::passes::schedule
