#include "passes/schedule/order_sums.h"

#include "ir/program_index.h"
#include "passes/schedule/chunk_memory.h"
#include "passes/schedule/placement.h"
#include "passes/schedule/statement_findings.h"
#include "passes/schedule/statement_rewrite.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace mscclc::passes::schedule {
namespace {

using ir::Move;
using ir::RankChunk;
using proof::ValueId;
using proof::Values;

/// A value is the sum of `count` inputs. In the order of ranks and then chunks, `first` is the first of these inputs,
/// and `last` is the last.
struct Inputs {
  ir::Contribution first, last;
  std::uint32_t count = 0;

  std::string words() const {
    if (first.rank == last.rank)
      return "rank " + std::to_string(first.rank);
    const bool all = count == last.rank - first.rank + 1;
    return std::string(all ? "ranks " : "some of ranks ") + std::to_string(first.rank) + " to " +
           std::to_string(last.rank);
  }
};

class SumOrderer {
public:
  SumOrderer(ir::Program &program, ir::DiagnosticEngine &diags)
      : program_(program), given_(program.movement), values_(ir::ProgramIndex(program), 1), memory_(program, values_),
        findings_(program, diags), result_(program) {}

  bool run() {
    for (std::uint32_t s = 0; s < given_.statements.size() && !findings_.full(); ++s) {
      const Move &move = given_.statements[s];
      if (move.kind == ir::MoveKind::Reduce && !ir::isReorderable(move.reduceOp))
        orderStatement(s, move);
      else
        result_.made.append(move, given_.srcs(move), given_.dsts(move));
      execute(move);
    }
    if (findings_.errors() != 0)
      return false;
    result_.moveInto(program_);
    return true;
  }

private:
  /// The order in which a statement combines its operands, and the number of inputs in each operand.
  struct Combination {
    std::vector<std::uint32_t> operands, counts;
    friend bool operator==(const Combination &, const Combination &) = default;
  };

  /// Makes one statement for each run of chunks with the same combination.
  void orderStatement(std::uint32_t s, const Move &move) {
    eachRun(
        given_.places[move.firstPlace].size, [&](std::uint32_t chunk) { return combinationOf(s, move, chunk); },
        [&](std::uint32_t begin, std::uint32_t end, const Combination &wanted) {
          emit(move, wanted, begin, end - begin);
        });
  }

  Inputs inputsOf(const Move &move, std::uint32_t operand, std::uint32_t chunk) const {
    return made(memory_[memory_.firstOf(given_.srcs(move)[operand]) + chunk].value);
  }
  Inputs made(ValueId value) const {
    value = values_.decoded(value);
    if (!values_.partsOf(value).empty())
      return inputs_.at(value);
    const ir::Contribution leaf = values_.contribution(value);
    return {leaf, leaf, 1};
  }

  Combination combinationOf(std::uint32_t s, const Move &move, std::uint32_t chunk) {
    Combination wanted{std::vector<std::uint32_t>(move.numSrcs), {}};
    std::iota(wanted.operands.begin(), wanted.operands.end(), 0u);
    std::vector<Inputs> inputs;
    for (std::uint32_t i = 0; i < move.numSrcs; ++i)
      inputs.push_back(inputsOf(move, i, chunk));
    std::ranges::stable_sort(wanted.operands, {}, [&](std::uint32_t i) { return inputs[i].first; });
    for (const std::uint32_t i : wanted.operands)
      wanted.counts.push_back(inputs[i].count);
    const bool ranks = given_.order == ir::Order::Ranks;
    for (std::size_t i = 1; i < wanted.operands.size(); ++i) {
      const std::uint32_t a = wanted.operands[i - 1], b = wanted.operands[i];
      const bool apart = inputs[a].last < inputs[b].first;
      if (apart && (!ranks || inputs[b].count == 1))
        continue;
      // The operand that is a sum of several inputs is at fault.
      const bool isFirst = inputs[b].count == 1;
      report(s, move, ranks ? diag::sum_not_in_order : diag::sum_mixed, chunk, isFirst ? a : b, inputs[isFirst ? a : b],
             isFirst ? b : a, inputs[isFirst ? b : a]);
      return wanted;
    }
    if (!ranks)
      checkHalves(s, move, chunk, wanted, inputs, 0, wanted.operands.size());
    return wanted;
  }

  /// Returns how many operands from `begin` on make the first half of operands [begin, end); 0 if the half ends within
  /// an operand. Sets `inputs` to the number of inputs in the half.
  static std::size_t halfOf(const Combination &wanted, std::size_t begin, std::size_t end, std::uint32_t &inputs) {
    const std::uint32_t all = std::accumulate(wanted.counts.begin() + static_cast<std::ptrdiff_t>(begin),
                                              wanted.counts.begin() + static_cast<std::ptrdiff_t>(end), 0u);
    inputs = std::bit_floor(all - 1);
    std::uint32_t sum = 0;
    for (std::size_t i = begin; i < end; ++i)
      if ((sum += wanted.counts[i]) >= inputs)
        return sum == inputs ? i + 1 - begin : 0;
    return 0;
  }

  void checkHalves(std::uint32_t s, const Move &move, std::uint32_t chunk, const Combination &wanted,
                   const std::vector<Inputs> &inputs, std::size_t begin, std::size_t end) {
    if (end - begin < 2)
      return;
    std::uint32_t half = 0;
    if (const std::size_t operands = halfOf(wanted, begin, end, half)) {
      checkHalves(s, move, chunk, wanted, inputs, begin, begin + operands);
      checkHalves(s, move, chunk, wanted, inputs, begin + operands, end);
      return;
    }
    if (!findings_.isNew(diag::sum_no_tree, s))
      return;
    std::size_t i = begin; // the operand with inputs of both halves
    for (std::uint32_t sum = 0; (sum += wanted.counts[i]) <= half;)
      ++i;
    findings_.report(diag::sum_no_tree, s,
                     {ir::nounOf(move.reduceOp), ir::plural(half, "input"), nameOf(move, wanted.operands[i], chunk),
                      inputs[wanted.operands[i]].words()});
  }

  std::string nameOf(const Move &move, std::uint32_t operand, std::uint32_t chunk) const {
    return ir::describe(pieceOf(given_.srcs(move)[operand], chunk, 1));
  }

  void report(std::uint32_t s, const Move &move, const ir::DiagInfo &info, std::uint32_t chunk, std::uint32_t a,
              const Inputs &ofA, std::uint32_t b, const Inputs &ofB) {
    if (findings_.isNew(info, s))
      findings_.report(
          info, s,
          {ir::nounOf(move.reduceOp), nameOf(move, a, chunk), ofA.words(), nameOf(move, b, chunk), ofB.words()});
  }

  /// Appends the reductions for chunks [begin, begin + size) of the statement.
  void emit(const Move &move, const Combination &wanted, std::uint32_t begin, std::uint32_t size) {
    if (findings_.errors() != 0)
      return;
    std::vector<RankChunk> operands, dsts;
    for (const std::uint32_t i : wanted.operands)
      operands.push_back(pieceOf(given_.srcs(move)[i], begin, size));
    for (const RankChunk &dst : given_.dsts(move))
      dsts.push_back(pieceOf(dst, begin, size));
    if (given_.order == ir::Order::Tree)
      operands = chainOf(move, wanted, operands, 0, operands.size(), dsts[0].rank);
    result_.made.append(move, operands, dsts);
  }

  /// Returns the chain of operands that is equal to the tree of operands [begin, end): the chain of the first half,
  /// then the second half as one operand.
  std::vector<RankChunk> chainOf(const Move &move, const Combination &wanted, const std::vector<RankChunk> &operands,
                                 std::size_t begin, std::size_t end, std::uint32_t rank) {
    if (end - begin == 1)
      return {operands[begin]};
    std::uint32_t half = 0;
    const std::size_t middle = begin + halfOf(wanted, begin, end, half);
    std::vector<RankChunk> chain = chainOf(move, wanted, operands, begin, middle, rank);
    std::vector<RankChunk> second = chainOf(move, wanted, operands, middle, end, rank);
    if (second.size() == 1) {
      chain.push_back(second[0]);
      return chain;
    }
    const RankChunk partial{rank, ir::BufferKind::Scratch, result_.scratch[rank], operands[0].size};
    result_.scratch[rank] += partial.size;
    result_.made.append(move, second, {&partial, 1});
    chain.push_back(partial);
    return chain;
  }

  void execute(const Move &move) {
    memory_.execute(given_, move, [&](std::uint32_t i) {
      memory_.partsOf(given_, move, i, parts_);
      Inputs all = made(parts_[0]);
      all.count = 0;
      for (const ValueId part : parts_) {
        const Inputs inputs = made(part);
        all = {std::min(all.first, inputs.first), std::max(all.last, inputs.last), all.count + inputs.count};
      }
      const ValueId value = values_.combine(move.reduceOp, parts_);
      if (parts_.size() > 1)
        inputs_.try_emplace(value, all);
      return ChunkCell{value};
    });
  }

  ir::Program &program_;
  const ir::Movement &given_;
  Values values_;
  ChunkMemory memory_;
  StatementFindings findings_;
  StatementRewrite result_;
  std::unordered_map<ValueId, Inputs> inputs_; ///< by reduction
  std::vector<ValueId> parts_;
};

} // namespace

bool orderSums(ir::Program &program, ir::DiagnosticEngine &diags) {
  return !ir::isFixed(program.movement.order) || SumOrderer(program, diags).run();
}

} // namespace mscclc::passes::schedule
