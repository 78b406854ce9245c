#include "passes/verify/values.h"

#include <algorithm>
#include <unordered_set>

namespace mscclc::passes::proof {

Application applicationOf(const ir::Program &program, std::uint32_t hook, std::uint32_t rank, std::uint64_t unit) {
  return {hook, program.hooks[hook].isOfRank() ? rank : none, unit};
}

std::string describe(const Application &application, std::uint32_t unitsPerChunk) {
  const std::string by = application.rank == none ? "" : "by rank " + std::to_string(application.rank) + " ";
  return by + "to output[" + std::to_string(application.unit / unitsPerChunk) + "]";
}

std::optional<Application> promisedApplication(const ir::Program &program, std::uint32_t rank, std::uint64_t unit) {
  const auto hook = std::ranges::find(program.hooks, program.collective.then, &ir::Hook::name);
  if (hook == program.hooks.end())
    return std::nullopt;
  return applicationOf(program, static_cast<std::uint32_t>(hook - program.hooks.begin()), rank, unit);
}

Values::Values(const ProgramIndex &index, std::uint32_t unitsPerChunk) : unitsPerChunk_(unitsPerChunk), wire_(none) {
  if (const ir::Hook *const wire = ir::wireOf(index.program))
    wire_ = static_cast<std::uint32_t>(wire - index.program.hooks.data());
  std::uint64_t next = unknown + 1;
  for (const ir::Rank &rank : index.program.ranks) {
    firstInput_.push_back(next);
    next += std::uint64_t{rank.inputChunks} * unitsPerChunk;
  }
  firstInput_.push_back(next);
  firstNode_ = next;
  table_.assign(1024, none);
  stamp_.assign(next, 0);
}

namespace {
std::uint64_t hashOf(ir::ReduceOp op, Values::Step step, std::span<const ValueId> parts) {
  std::uint64_t h = static_cast<std::uint64_t>(op) + (static_cast<std::uint64_t>(step) << 8) + 0x9e3779b97f4a7c15u;
  for (const ValueId part : parts)
    h = (h ^ part) * 0xff51afd7ed558ccdu, h ^= h >> 32;
  return h;
}
} // namespace

void Values::grow() {
  table_.assign(table_.size() * 2, none);
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    const Node &node = nodes_[n];
    if (node.step == Step::Switch || node.step == Step::Apply || node.step == Step::Zero)
      continue;
    std::size_t at = hashOf(node.op, node.step, {parts_.data() + node.firstPart, node.numParts}) & (table_.size() - 1);
    while (table_[at] != none)
      at = (at + 1) & (table_.size() - 1);
    table_[at] = n;
  }
}

ValueId Values::combine(ir::ReduceOp op, std::vector<ValueId> &parts) {
  return find(op, Step::Narrow, parts);
}

ValueId Values::find(ir::ReduceOp op, Step step, std::vector<ValueId> &parts) {
  if (parts.size() == 1)
    return parts[0];
  std::sort(parts.begin(), parts.end());
  if (parts[0] <= unknown)
    return parts[0];
  std::size_t at = hashOf(op, step, parts) & (table_.size() - 1);
  for (; table_[at] != none; at = (at + 1) & (table_.size() - 1)) {
    const Node &node = nodes_[table_[at]];
    if (node.op == op && node.step == step && node.numParts == parts.size() &&
        std::equal(parts.begin(), parts.end(), parts_.begin() + node.firstPart))
      return static_cast<ValueId>(firstNode_ + table_[at]);
  }
  table_[at] = static_cast<std::uint32_t>(nodes_.size());
  const ValueId made = add(op, step, parts);
  if (nodes_.size() * 2 > table_.size())
    grow();
  return made;
}

ValueId Values::add(ir::ReduceOp op, Step step, std::span<const ValueId> parts) {
  nodes_.push_back({static_cast<std::uint32_t>(parts_.size()), static_cast<std::uint32_t>(parts.size()), op, step});
  parts_.insert(parts_.end(), parts.begin(), parts.end());
  return static_cast<ValueId>(end() - 1);
}

ValueId Values::chain(ir::ReduceOp op, std::span<const ValueId> parts, bool wide) {
  ValueId value = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    step_.assign({value, parts[i]});
    value = find(op, i + 1 == parts.size() && !wide ? Step::Narrow : Step::Wide, step_);
  }
  return value;
}

ValueId Values::narrowed(ValueId value) {
  if (isZeroed(value))
    return zeroed(narrowed(partsOf(value)[0]));
  if (value < firstNode_ || stepOf(value) != Step::Wide)
    return value;
  const auto parts = partsOf(value);
  step_.assign(parts.begin(), parts.end());
  return find(nodes_[value - firstNode_].op, Step::Narrow, step_);
}

ValueId Values::inSwitch(ir::ReduceOp op, std::vector<ValueId> &parts) {
  std::sort(parts.begin(), parts.end());
  if (parts.size() < 3 || parts[0] <= unknown)
    return combine(op, parts);
  return add(op, Step::Switch, parts);
}

ValueId Values::zeroed(ValueId value) {
  if (value <= unknown || isZeroed(value))
    return value;
  const auto [it, isNew] = zeroed_.try_emplace(value);
  if (isNew)
    it->second = add(ir::ReduceOp::Sum, Step::Zero, {&value, 1});
  return it->second;
}

ValueId Values::apply(const Application &function, ValueId operand) {
  if (operand <= unknown)
    return operand;
  const auto [it, isNew] = applied_.try_emplace({function, operand});
  if (isNew) {
    it->second = add(ir::ReduceOp::Sum, Step::Apply, {&operand, 1});
    applications_.emplace(it->second, function);
  }
  return it->second;
}

bool Values::isEncoded(ValueId value) const {
  const Application *const function = wire_ == none ? nullptr : applicationOf(value);
  return function && function->hook == wire_;
}

const Application *Values::applicationOf(ValueId value) const {
  const auto it = applications_.find(value);
  return it == applications_.end() ? nullptr : &it->second;
}

bool Values::isOf(ValueId value, const std::optional<Application> &function) const {
  const Application *applied = function ? applicationOf(value) : nullptr;
  return !function || (applied && *applied == *function);
}

ValueId Values::operandOf(ValueId value) const {
  while (applicationOf(value) && !isEncoded(value))
    value = partsOf(value)[0];
  return value;
}

std::span<const ValueId> Values::partsOf(ValueId value) const {
  if (value < firstNode_)
    return {};
  const Node &node = nodes_[value - firstNode_];
  return {parts_.data() + node.firstPart, node.numParts};
}

bool Values::contains(ValueId value, ValueId part) const {
  std::vector<ValueId> open{value};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    if (next == part)
      return part > unknown;
    if (next > part) { // a value has a larger number than its parts
      const auto parts = partsOf(next);
      open.insert(open.end(), parts.begin(), parts.end());
    }
  }
  return false;
}

ir::Contribution Values::contribution(ValueId leaf) const {
  const auto rank = static_cast<std::uint32_t>(std::upper_bound(firstInput_.begin(), firstInput_.end(), leaf) -
                                               firstInput_.begin() - 1);
  return {rank, static_cast<std::uint32_t>((leaf - firstInput_[rank]) / unitsPerChunk_)};
}

bool Values::reduced(ValueId value, ir::ReduceOp &op) const {
  value = unzeroed(value);
  if (value < firstNode_ || stepOf(value) == Step::Apply)
    return false;
  op = nodes_[value - firstNode_].op;
  return true;
}

Values::Verdict Values::check(ValueId value, std::span<const ValueId> wanted,
                              const std::optional<Application> &function) {
  if (value <= unknown)
    return {.kind = value == unwritten ? Verdict::Unwritten : Verdict::Unknown};
  if (const Application *applied = applicationOf(value); function && applied && applied->hook == function->hook) {
    if (*applied != *function)
      return {.kind = Verdict::AppliedElsewhere, .application = *applied};
    value = partsOf(value)[0];
  } else if (function && (!applied || isEncoded(value))) {
    return {.kind = isOf(unzeroed(value), function) ? Verdict::ZeroedResult : Verdict::NotApplied};
  }
  const bool wasEncoded = isEncoded(value);
  value = decoded(value);
  if (isEncoded(value))
    return {.kind = Verdict::Reencoded};
  if (wasEncoded && wanted.size() == 1 && wanted[0] == value)
    return {.kind = Verdict::Quantised, .which = contribution(value)};
  if (isZeroed(value)) {
    value = partsOf(value)[0];
    if (value < firstNode_ && wanted.size() == 1 && wanted[0] == value)
      return {.kind = Verdict::Zeroed, .which = contribution(value)};
  }
  if (value < firstNode_) {
    if (wanted.size() == 1 && wanted[0] == value)
      return {};
    if (std::find(wanted.begin(), wanted.end(), value) == wanted.end())
      return {Verdict::Foreign, contribution(value), {}};
    const auto other = std::find_if(wanted.begin(), wanted.end(), [&](ValueId v) { return v != value; });
    return {Verdict::Missing, contribution(*other), {}};
  }
  round_ += 2; // stamps of this round: round_ for a wanted leaf, round_ + 1 for a found one
  for (const ValueId leaf : wanted)
    stamp_[leaf] = round_;
  std::size_t found = 0;
  const ir::ReduceOp op = nodes_[value - firstNode_].op;
  const bool idempotent = ir::isIdempotent(op);
  std::unordered_set<ValueId> seen; // parts that were met, for an idempotent operation
  std::vector<ValueId> open{value};
  // The walk ends at the first leaf that is met twice or is not wanted, so it is at most as long as the list of wanted
  // inputs.
  while (!open.empty()) {
    const ValueId v = bare(open.back());
    if (v >= firstNode_ && isEncoded(open.back()))
      return {.kind = Verdict::Reencoded};
    open.pop_back();
    if (idempotent && !seen.insert(v).second)
      continue;
    if (const Application *applied = applicationOf(v))
      return {.kind = Verdict::AppliedEarly, .application = *applied};
    if (v >= firstNode_) {
      const Node &node = nodes_[v - firstNode_];
      if (node.op != op)
        return {.kind = Verdict::MixedOps};
      open.insert(open.end(), parts_.begin() + node.firstPart, parts_.begin() + node.firstPart + node.numParts);
    } else if (stamp_[v] == round_) {
      stamp_[v] = round_ + 1;
      ++found;
    } else {
      return {stamp_[v] == round_ + 1 ? Verdict::Twice : Verdict::Foreign, contribution(v), {}};
    }
  }
  if (found == wanted.size())
    return {};
  for (const ValueId leaf : wanted)
    if (stamp_[leaf] == round_)
      return {Verdict::Missing, contribution(leaf), {}};
  return {};
}

} // namespace mscclc::passes::proof
