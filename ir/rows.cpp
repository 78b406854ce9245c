#include "ir/rows.h"

#include "ir/collectives.h"
#include "ir/internal_error.h"

#include <algorithm>

namespace mscclc::ir {

RowPart rowPartOf(const Program &program, std::uint32_t rank, BufferKind buffer, std::uint32_t chunk) {
  const std::uint32_t parts = chunksOfShare(program), other = chunk / parts;
  const bool isInput = buffer == BufferKind::Input;
  return {isInput ? rank : other, isInput ? other : rank, chunk % parts, parts};
}

void RowSlots::set(const OpRef &place, std::uint32_t source, std::uint32_t chunk, const Contribution &content) {
  contents_.insert_or_assign({place, source, chunk}, content);
}

RowPart RowSlots::of(const Program &program, const OpRef &place, std::uint32_t operand, std::uint32_t chunk) const {
  const Op &op = opAt(program, place);
  const std::uint32_t source = operand < op.numSrcs ? operand : op.numSrcs == 1 ? 0 : operand - op.numSrcs;
  const auto at = contents_.find({place, source, chunk});
  if (at == contents_.end())
    throw InternalError("rows of an operation that the proof has not seen");
  return rowPartOf(program, at->second.rank, BufferKind::Input, at->second.chunk);
}

RowCount rowCountOf(std::int64_t given, std::uint64_t capacity) {
  if (given < 0)
    return {.isClamped = true};
  const auto rows = static_cast<std::uint64_t>(given);
  return rows <= capacity ? RowCount{.live = rows} : RowCount{capacity, rows - capacity, true};
}

std::int64_t RowSum::valueOf(std::uint64_t capacity, std::span<const RowCount> counts) const {
  // Counts may be arbitrarily large, so the sum saturates.
  std::int64_t value = 0;
  const auto add = [&](std::int64_t factor, std::uint64_t rows) {
    std::int64_t term = 0;
    if (factor == 0)
      return;
    if (rows > std::uint64_t{1} << 62 || __builtin_mul_overflow(factor, static_cast<std::int64_t>(rows), &term) ||
        __builtin_add_overflow(value, term, &value))
      value = std::int64_t{1} << 62;
  };
  add(capacities, capacity);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    add(slots[i].live, counts[i].live);
    add(slots[i].excess, counts[i].excess);
  }
  return value;
}

std::optional<std::int64_t> RowSum::least() const {
  std::int64_t value = capacities;
  for (const Factors &factors : slots) {
    if (factors.excess < 0)
      return std::nullopt;
    value += std::min<std::int64_t>(factors.live, 0);
  }
  return value;
}

RowSum rowBegin(RowLayout layout, BufferKind buffer, std::uint32_t slots, std::uint32_t slot) {
  RowSum sum{0, std::vector<RowSum::Factors>(slots)};
  switch (layout) {
  case RowLayout::Padded:
    sum.capacities = slot;
    break;
  case RowLayout::Packed:
    for (std::uint32_t before = 0; before < slot; ++before)
      sum.slots[before] = {1, buffer == BufferKind::Input ? 1 : 0};
    break;
  }
  return sum;
}

RowSum rowBeginInGroup(std::uint32_t slots, std::uint32_t group, std::uint32_t slot) {
  RowSum sum{std::int64_t{slot / group} * group, std::vector<RowSum::Factors>(slots)};
  for (std::uint32_t before = slot / group * group; before < slot; ++before)
    sum.slots[before].live = 1;
  return sum;
}

ExpertCells expertCellsOf(const Program &program) {
  const Collective &collective = program.collective;
  return {static_cast<std::uint32_t>(program.ranks.size()), info(collective.kind).hasExperts ? collective.experts : 0,
          collective.expertLayout};
}

RowRange rowPlace(const RowSum &begin, std::uint32_t slot, std::uint64_t capacity, std::uint64_t room,
                  std::span<const RowCount> counts) {
  const auto value = static_cast<std::uint64_t>(begin.valueOf(capacity, counts));
  const std::uint64_t first = std::min(value, room);
  return {first, std::min(value + counts[slot].live, room) - first};
}

} // namespace mscclc::ir
