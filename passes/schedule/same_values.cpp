#include "passes/schedule/same_values.h"

#include "ir/internal_error.h"
#include "passes/schedule/chunk_memory.h"

#include <algorithm>
#include <limits>

namespace mscclc::passes::schedule {

using ir::BufferKind;
using proof::ValueId;
using proof::Values;

namespace {

/// Returns a + b × times, but at most the largest number.
std::uint32_t addCounts(std::uint32_t a, std::uint32_t b, std::uint32_t times) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(most, a + std::uint64_t{b} * times));
}

} // namespace

/// Returns the parts of reduction `value`. If the order does not matter, a part with the same operation is replaced by
/// its own parts, and so on.
std::vector<CommonForms::Reader::Part> CommonForms::Reader::partsOf(ValueId value, ir::ReduceOp op) const {
  std::vector<Part> parts;
  if (!forms_.anyOrder(op)) {
    for (const ValueId part : values_.partsOf(value))
      parts.push_back({part, 1});
    return parts;
  }
  std::map<ValueId, std::uint32_t, std::greater<>> open; // the latest value first: its parts were made before it
  for (const ValueId part : values_.partsOf(value))
    open[part] = addCounts(open[part], 1, 1);
  while (!open.empty()) {
    const auto [part, count] = *open.begin();
    open.erase(open.begin());
    ir::ReduceOp inner;
    if (!values_.reduced(part, inner) || inner != op) {
      parts.push_back({part, count});
      continue;
    }
    for (const ValueId smaller : values_.partsOf(part))
      open[smaller] = addCounts(open[smaller], 1, count);
  }
  return parts;
}

CommonForms::Form CommonForms::Reader::leaf(ValueId value) {
  if (value == Values::unwritten)
    return {Form::unwritten, 0};
  if (value == Values::unknown)
    return {Form::unknown, 0};
  const std::uint64_t unit = values_.unitOf(value);
  const std::uint32_t rank = values_.contribution(value).rank;
  const auto chunk = static_cast<std::size_t>(unit / pieces_);
  if (forms_.leaves_.size() <= rank)
    forms_.leaves_.resize(rank + 1);
  std::vector<std::uint32_t> &leaves = forms_.leaves_[rank];
  if (leaves.size() <= chunk)
    leaves.resize(chunk + 1, Form::unwritten);
  if (leaves[chunk] == Form::unwritten)
    leaves[chunk] = forms_.next_++;
  return {leaves[chunk], static_cast<std::uint32_t>(unit % pieces_)};
}

CommonForms::Form CommonForms::Reader::applied(proof::Application function, const Form &operand) {
  const bool isAnywhere = function.unit == proof::Application::anywhere;
  if (operand.id == Form::unknown || (!isAnywhere && function.unit % pieces_ != operand.piece))
    return {Form::unknown, 0};
  if (!isAnywhere)
    function.unit /= pieces_;
  const auto [it, isNew] = forms_.applications_.try_emplace({function, operand.id}, forms_.next_);
  forms_.next_ += isNew;
  return {it->second, operand.piece};
}

void CommonForms::Reader::setKnown(ValueId value, const Form &form) {
  if (known_.size() <= value)
    known_.resize(std::size_t{value} + 1, {notKnown, 0});
  known_[value] = form;
}

CommonForms::Form CommonForms::Reader::of(ValueId value) {
  if (isKnown(value))
    return known_[value];
  std::vector<ValueId> open{value}; // no recursion, because chains may be as long as the program
  while (!open.empty()) {
    const ValueId top = open.back();
    ir::ReduceOp op;
    if (isKnown(top)) {
      open.pop_back();
      continue;
    }
    if (const proof::Application *function = values_.applicationOf(top)) {
      const ValueId operand = values_.partsOf(top)[0];
      if (isKnown(operand))
        setKnown(top, applied(*function, known_[operand]));
      else
        open.push_back(operand);
      continue;
    }
    if (!values_.reduced(top, op)) {
      setKnown(top, leaf(top));
      continue;
    }
    const std::vector<Part> parts = partsOf(top, op);
    const std::size_t before = open.size();
    for (const Part &part : parts)
      if (!isKnown(part.value))
        open.push_back(part.value);
    if (open.size() != before)
      continue;
    std::vector<Counted> forms;
    const std::uint32_t piece = known_[parts.front().value].piece;
    bool onePiece = true;
    for (const Part &part : parts) {
      const Form form = known_[part.value];
      onePiece = onePiece && form.piece == piece && form.id != Form::unknown;
      forms.emplace_back(form.id, part.count);
    }
    setKnown(top, onePiece ? Form{forms_.reduction(op, forms), piece} : Form{Form::unknown, 0});
  }
  return known_[value];
}

std::uint32_t CommonForms::reduction(ir::ReduceOp op, const std::vector<Counted> &parts) {
  std::vector<Counted> counted;
  for (const auto &[form, count] : parts) {
    // A part may simplify to a reduction of this operation, as max(x, x) simplifies to x.
    const auto it = anyOrder(op) ? reductionOf_.find(form) : reductionOf_.end();
    if (it != reductionOf_.end() && it->second->op == op)
      for (const auto &[smaller, times] : it->second->parts)
        counted.emplace_back(smaller, addCounts(0, count, times));
    else
      counted.emplace_back(form, count);
  }
  std::ranges::sort(counted);
  std::size_t kept = 0;
  for (const auto &[form, count] : counted)
    if (kept != 0 && counted[kept - 1].first == form)
      counted[kept - 1].second = addCounts(counted[kept - 1].second, count, 1);
    else
      counted[kept++] = {form, count};
  counted.resize(kept);
  if (ir::isIdempotent(op))
    for (Counted &part : counted)
      part.second = 1;
  if (counted.size() == 1 && counted[0].second == 1)
    return counted[0].first;
  const auto [it, isNew] = reductions_.try_emplace({op, std::move(counted)}, next_);
  if (isNew)
    reductionOf_[next_++] = &it->first;
  return it->second;
}

namespace {

/// Returns the number of pieces that the buffers of `end` have for each chunk of the meaning.
std::uint32_t piecesOf(const Meaning &meaning, const proof::FinalBuffers &end) {
  std::uint64_t pieces = 0;
  bool same = meaning.inputs.size() == end.program.ranks.size();
  for (std::uint32_t r = 0; same && r < end.program.ranks.size(); ++r)
    for (const auto buffer : {BufferKind::Input, BufferKind::Output}) {
      const std::uint64_t chunks = meaning.chunksOf(r, buffer).size();
      const std::uint64_t units = std::uint64_t{end.program.ranks[r].chunksOf(buffer)} * end.unitsPerChunk;
      if (pieces == 0 && chunks != 0)
        pieces = units / chunks;
      same = same && units == pieces * chunks;
    }
  if (!same || (pieces == 0 && !meaning.inputs.empty()))
    throw ir::InternalError("the schedule of '" + end.program.name + "' changes the number of ranks or chunks");
  return static_cast<std::uint32_t>(pieces);
}

} // namespace

void checkSameResult(const Meaning &meaning, const proof::FinalBuffers &end) {
  using Form = CommonForms::Form;
  const std::uint32_t pieces = piecesOf(meaning, end);
  CommonForms forms(meaning.reassociate);
  CommonForms::Reader meant(forms, meaning.values, 1), held(forms, end.values, pieces);
  for (std::uint32_t r = 0; r < meaning.inputs.size(); ++r)
    for (const auto buffer : {BufferKind::Input, BufferKind::Output})
      for (std::uint32_t chunk = 0; chunk < meaning.chunksOf(r, buffer).size(); ++chunk) {
        const Form wanted = meant.of(meaning.chunksOf(r, buffer)[chunk]);
        for (std::uint32_t piece = 0; piece < pieces; ++piece) {
          const Form got = held.of(end.of(r, buffer, std::uint64_t{chunk} * pieces + piece));
          const Form right{wanted.id, wanted.id == Form::unwritten ? 0 : piece};
          if (got != right)
            throw ir::InternalError("the schedule of '" + end.program.name + "' leaves another value in " +
                                    describe(ir::RankChunk{r, buffer, chunk, 1}) + " than its statements");
        }
      }
}

} // namespace mscclc::passes::schedule
