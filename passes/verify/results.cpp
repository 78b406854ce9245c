// Compares the final outputs with the collective.
#include "passes/verify/report.h"

#include "ir/chunk_cells.h"
#include "ir/collectives.h"

#include <algorithm>
#include <cctype>

namespace mscclc::passes::proof {

namespace {

/// Returns a collective with the same name, except for case and punctuation.
std::optional<ir::CollectiveKind> nearlyNamed(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto meant = ir::namedCollective(letters, false);
  return meant ? meant : ir::namedCollective(letters, true);
}

} // namespace

/// Returns the number of output chunks for which a custom collective states no value. Warns if it states no value at
/// all.
std::uint64_t checkStated(const ProgramIndex &index, Findings &findings) {
  const ir::Program &program = index.program;
  if (ir::info(program.collective.kind).promise != ir::Promise::Stated)
    return 0;
  std::uint64_t outputs = 0, stated = 0;
  for (const ir::Rank &rank : program.ranks)
    outputs += rank.outputChunks;
  for (const ir::Expectation &e : program.collective.expectations)
    stated += !e.contributions.empty();
  if (stated == 0 && outputs != 0) {
    const auto meant = nearlyNamed(program.collective.name);
    if (auto *f = findings.addOnProgram(meant ? diag::outputs_not_compared : diag::nothing_stated)) {
      const std::string hint =
          meant ? "'" + std::string(ir::toString(*meant)) + (ir::info(*meant).hasRoot ? "' and its root" : "'")
          : program.collective.loc != ir::noLoc ? "; in C++, CustomCollective::expect() states one"
                                                : "";
      f->args = {program.collective.name, ir::plural(outputs, "output chunk"), ir::plural(index.numRanks(), "rank"),
                 hint};
      f->where.loc = program.collective.loc;
    }
  }
  return outputs - stated;
}

/// Reports the wrong final value of an output chunk. `ops` is set if the chunk is reduced with another operation than
/// other chunks: its operation, and theirs.
void Reporter::wrongResult(std::uint32_t rank, std::uint32_t chunk, const Cell &cell, const Values::Verdict &verdict,
                           const std::optional<std::pair<ir::ReduceOp, ir::ReduceOp>> &ops) {
  using V = Values::Verdict;
  const ir::DiagInfo &info = ops                                   ? diag::result_ops_differ
                             : verdict.kind == V::Unwritten        ? diag::result_unwritten
                             : verdict.kind == V::Missing          ? diag::result_missing
                             : verdict.kind == V::Twice            ? diag::result_twice
                             : verdict.kind == V::MixedOps         ? diag::result_mixed_ops
                             : verdict.kind == V::NotApplied       ? diag::result_not_applied
                             : verdict.kind == V::AppliedEarly     ? diag::result_applied_early
                             : verdict.kind == V::AppliedElsewhere ? diag::result_applied_elsewhere
                             : verdict.kind == V::Zeroed           ? diag::result_zeroed
                             : verdict.kind == V::ZeroedResult     ? diag::result_hook_zeroed
                             : verdict.kind == V::Reencoded        ? diag::result_encoded_twice
                             : verdict.kind == V::Quantised        ? diag::result_quantised
                                                                   : diag::result_foreign;
  const std::uint32_t writer = cell.write.exists() && !cell.write.isUser() ? run_->opOf(cell.write) : none;
  auto *f = writer != none ? findings_.add(info, place(cell.write, writer)) : findings_.addOnRank(info, rank);
  if (!f)
    return;
  if (writer == none)
    f->where.loc = index_.program.collective.loc; // no operation is at fault
  const std::string where = ir::describe(ir::RankChunk{rank, ir::BufferKind::Output, chunk, 1});
  f->args = {where, verdict.which.chunk, verdict.which.rank};
  if (verdict.kind == V::Unwritten)
    f->args = {where, writer != none ? ", or from what was never written" : ""};
  const ir::Program &program = index_.program;
  if (verdict.kind == V::NotApplied || verdict.kind == V::ZeroedResult)
    f->args = {where, program.collective.then};
  if (verdict.kind == V::AppliedEarly || verdict.kind == V::AppliedElsewhere)
    f->args = {where, program.hooks[verdict.application.hook].name,
               describe(verdict.application, geometry_.unitsPerChunk())};
  if (ops)
    f->args = {where, ir::toString(ops->first), ir::toString(ops->second)};
  if (writer != none)
    f->notes.push_back({&diag::last_written,
                        f->where,
                        {index_.rankOf(order_.blockOf(cell.write)), index_.idOf(order_.blockOf(cell.write))}});
}

ir::Where Reporter::writerOf(const Cell &cell) const {
  if (!cell.write.exists() || cell.write.isUser())
    return {};
  return findings_.where(place(cell.write, run_->opOf(cell.write)));
}

std::uint64_t Reporter::checkResults(Values &values, std::uint32_t unitsPerChunk) {
  const ir::Program &program = index_.program;
  const ir::WantedOutputs wanted(program);
  std::vector<ir::Contribution> inputs;
  std::vector<ValueId> leaves;
  std::unordered_set<std::uint64_t> right; // pairs (value, input of rank 0 that it must contain) that were right before
  std::uint64_t lastRight = 0;
  std::uint64_t looked = 0;
  bool haveOp = false;
  ir::ReduceOp firstOp = ir::ReduceOp::Sum;
  for (std::uint32_t r = 0; r < index_.numRanks(); ++r)
    for (std::uint32_t chunk = 0; chunk < program.ranks[r].outputChunks; ++chunk) {
      const std::optional<std::uint32_t> reduced = wanted.reducedOverAll(r, chunk);
      const auto knownRight = [&](std::uint32_t unit) {
        const CellId id = memory_.base(r, ir::BufferKind::Output, false) + chunk * unitsPerChunk + unit;
        const std::uint64_t pair =
            std::uint64_t{memory_[id].value} << 32 | values.input(0, std::uint64_t{*reduced} * unitsPerChunk + unit);
        return (pair == lastRight || right.contains(pair)) &&
               values.isOf(memory_[id].value,
                           promisedApplication(program, r, std::uint64_t{chunk} * unitsPerChunk + unit));
      };
      bool known = reduced.has_value();
      for (std::uint32_t unit = 0; known && unit < unitsPerChunk; ++unit)
        known = knownRight(unit);
      if (known) {
        ++looked;
        continue;
      }
      wanted.of(r, chunk, inputs);
      if (inputs.empty())
        continue;
      ++looked;
      for (std::uint32_t unit = 0; unit < unitsPerChunk; ++unit) {
        const CellId id = memory_.base(r, ir::BufferKind::Output, false) + chunk * unitsPerChunk + unit;
        const Cell &cell = memory_[id];
        const ValueId key = values.input(inputs[0].rank, std::uint64_t{inputs[0].chunk} * unitsPerChunk + unit);
        const auto function = promisedApplication(program, r, std::uint64_t{chunk} * unitsPerChunk + unit);
        if (inputs.size() == 1 && cell.value == key && !function)
          continue;
        const std::uint64_t pair = std::uint64_t{cell.value} << 32 | key;
        leaves.clear();
        for (const ir::Contribution &c : inputs)
          leaves.push_back(values.input(c.rank, std::uint64_t{c.chunk} * unitsPerChunk + unit));
        const Values::Verdict verdict = values.check(cell.value, leaves, function);
        using V = Values::Verdict;
        const ValueId result = values.operandOf(cell.value);
        ir::ReduceOp op;
        const bool opsDiffer = verdict.kind == V::Right && values.reduced(result, op) && haveOp && op != firstOp;
        if (verdict.kind == V::Right && values.reduced(result, op) && !haveOp) {
          haveOp = true;
          firstOp = op;
        }
        if (verdict.kind == V::Unknown)
          continue;
        if (verdict.kind == V::Right && !opsDiffer) {
          right.insert(lastRight = pair);
          continue;
        }
        wrongResult(r, chunk, cell, verdict, opsDiffer ? std::optional(std::pair(op, firstOp)) : std::nullopt);
        break;
      }
    }
  return looked;
}

} // namespace mscclc::passes::proof
