// Whether the outputs end as the collective says.
#include "passes/verify/report.h"

#include "ir/memory_map.h"

#include <algorithm>
#include <cctype>

namespace mscclc::passes::proof {

namespace {

/// The input chunks that output chunk `chunk` of `rank` is made of; empty: nothing is asked of it.
class Wanted {
public:
  explicit Wanted(const ir::Program &program) : program_(program) {
    for (const ir::Expectation &e : program.collective.expectations)
      custom_[std::uint64_t{e.rank} << 32 | e.outputChunk] = &e.contributions;
  }
  /// The first of them, where all collectives but a custom one have one list for each first.
  std::optional<ir::Contribution> first(std::uint32_t rank, std::uint32_t chunk) const {
    switch (program_.collective.kind) {
    case ir::CollectiveKind::AllReduce:
      return ir::Contribution{0, chunk};
    case ir::CollectiveKind::ReduceScatter:
      return ir::Contribution{0, rank * program_.ranks[rank].outputChunks + chunk};
    case ir::CollectiveKind::AllGather:
    case ir::CollectiveKind::AllToAll:
    case ir::CollectiveKind::SendRecv:
    case ir::CollectiveKind::Test:
    case ir::CollectiveKind::Custom:
      break;
    }
    return std::nullopt;
  }
  void of(std::uint32_t rank, std::uint32_t chunk, std::vector<ir::Contribution> &wanted) const {
    const auto ranks = static_cast<std::uint32_t>(program_.ranks.size());
    const ir::Rank &r = program_.ranks[rank];
    wanted.clear();
    const auto everyRank = [&](std::uint32_t input) {
      for (std::uint32_t i = 0; i < ranks; ++i)
        wanted.push_back({i, input});
    };
    switch (program_.collective.kind) {
    case ir::CollectiveKind::AllGather:
      wanted.push_back({chunk / r.inputChunks, chunk % r.inputChunks});
      break;
    case ir::CollectiveKind::AllReduce:
      everyRank(chunk);
      break;
    case ir::CollectiveKind::ReduceScatter:
      everyRank(rank * r.outputChunks + chunk);
      break;
    case ir::CollectiveKind::AllToAll: {
      const std::uint32_t share = r.inputChunks / ranks;
      wanted.push_back({chunk / share, rank * share + chunk % share});
      break;
    }
    case ir::CollectiveKind::SendRecv:
      wanted.push_back({(rank + ranks - 1) % ranks, chunk});
      break;
    case ir::CollectiveKind::Custom:
      if (const auto it = custom_.find(std::uint64_t{rank} << 32 | chunk); it != custom_.end())
        wanted = *it->second;
      break;
    case ir::CollectiveKind::Test:
      break;
    }
  }

private:
  const ir::Program &program_;
  std::unordered_map<std::uint64_t, const std::vector<ir::Contribution> *> custom_;
};

/// The collective whose name `name` differs from in case and punctuation alone.
std::optional<ir::CollectiveKind> nearlyNamed(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ir::namedCollective(letters);
}

} // namespace

/// Output chunks of a custom collective of which nothing is stated. Where that is all, there is a warning.
std::uint64_t checkStated(const ProgramIndex &index, Findings &findings) {
  const ir::Program &program = index.program;
  if (program.collective.kind != ir::CollectiveKind::Custom)
    return 0;
  std::uint64_t outputs = 0, stated = 0;
  for (const ir::Rank &rank : program.ranks)
    outputs += rank.outputChunks;
  for (const ir::Expectation &e : program.collective.expectations)
    stated += !e.contributions.empty();
  if (stated == 0 && outputs != 0) {
    const auto meant = nearlyNamed(program.collective.name);
    if (auto *f = findings.addOnProgram(meant ? diag::outputs_not_compared : diag::nothing_stated)) {
      f->args = {program.collective.name, ir::plural(outputs, "output chunk"), ir::plural(index.numRanks(), "rank"),
                 meant                                 ? std::string(ir::toString(*meant))
                 : program.collective.loc != ir::noLoc ? "; CustomCollective::expect() states one"
                                                       : ""};
      f->where.loc = program.collective.loc;
    }
  }
  return outputs - stated;
}

std::uint64_t Reporter::checkResults(Values &values, std::uint32_t unitsPerChunk) {
  const ir::Program &program = index_.program;
  const Wanted wanted(program);
  std::vector<ir::Contribution> inputs;
  std::vector<ValueId> leaves;
  std::unordered_set<std::uint64_t> right; // (value, first input) of reductions found right
  std::uint64_t lastRight = 0;
  std::uint64_t looked = 0;
  bool haveOp = false;
  ir::ReduceOp firstOp = ir::ReduceOp::Sum;
  for (std::uint32_t r = 0; r < index_.numRanks(); ++r)
    for (std::uint32_t chunk = 0; chunk < program.ranks[r].outputChunks; ++chunk) {
      const auto first = wanted.first(r, chunk);
      const auto knownRight = [&](std::uint32_t unit) {
        const CellId id = memory_.base(r, ir::BufferKind::Output, false) + chunk * unitsPerChunk + unit;
        const std::uint64_t pair = std::uint64_t{memory_[id].value} << 32 |
                                   values.input(first->rank, std::uint64_t{first->chunk} * unitsPerChunk + unit);
        return pair == lastRight || right.contains(pair);
      };
      bool known = first.has_value();
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
        if (inputs.size() == 1 && cell.value == key)
          continue;
        const std::uint64_t pair = std::uint64_t{cell.value} << 32 | key;
        leaves.clear();
        for (const ir::Contribution &c : inputs)
          leaves.push_back(values.input(c.rank, std::uint64_t{c.chunk} * unitsPerChunk + unit));
        const Values::Verdict verdict = values.check(cell.value, leaves);
        using V = Values::Verdict;
        ir::ReduceOp op;
        const bool opsDiffer = verdict.kind == V::Right && values.reduced(cell.value, op) && haveOp && op != firstOp;
        if (verdict.kind == V::Right && values.reduced(cell.value, op) && !haveOp) {
          haveOp = true;
          firstOp = op;
        }
        if (verdict.kind == V::Unknown)
          continue;
        if (verdict.kind == V::Right && !opsDiffer) {
          right.insert(lastRight = pair);
          continue;
        }
        const ir::DiagInfo &info = opsDiffer                      ? diag::result_ops_differ
                                   : verdict.kind == V::Unwritten ? diag::result_unwritten
                                   : verdict.kind == V::Missing   ? diag::result_missing
                                   : verdict.kind == V::Twice     ? diag::result_twice
                                   : verdict.kind == V::MixedOps  ? diag::result_mixed_ops
                                                                  : diag::result_foreign;
        const std::uint32_t writer = cell.write.exists() && !cell.write.isUser() ? machine_->opOf(cell.write) : none;
        auto *f = writer != none ? findings_.add(info, place(cell.write, writer)) : findings_.addOnRank(info, r);
        if (!f)
          break;
        const std::string where = "output[" + std::to_string(chunk) + "] of rank " + std::to_string(r);
        f->args = {where, verdict.which.chunk, verdict.which.rank};
        if (verdict.kind == V::Unwritten)
          f->args = {where, writer != none ? ", or from what was never written" : ""};
        if (opsDiffer)
          f->args = {where, ir::toString(op), ir::toString(firstOp)};
        if (writer != none)
          f->notes.push_back({&diag::last_written,
                              f->where,
                              {index_.rankOf(order_.blockOf(cell.write)), index_.idOf(order_.blockOf(cell.write))}});
        break;
      }
    }
  return looked;
}

} // namespace mscclc::passes::proof
