#include "backend-cuda/operand_writer.h"

#include "ir/memory_map.h"
#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::cuda {

using ir::Chunk;
using ir::DataForm;
using ir::Op;

namespace {

/// The most operands that are written one by one. Longer lists become a function of the operand's number.
constexpr std::uint32_t maxWrittenOut = 3;

ChunkExpr::View viewOf(ir::BufferKind buffer, DataForm form) {
  if (form == DataForm::Packet)
    return ChunkExpr::View::Packets;
  switch (buffer) {
  case ir::BufferKind::Input:
    return ChunkExpr::View::Input;
  case ir::BufferKind::Output:
    return ChunkExpr::View::Output;
  case ir::BufferKind::Scratch:
    return ChunkExpr::View::Scratch;
  }
  return {};
}

ListExpr listOf(std::uint32_t count, std::variant<Expr, ChunkExpr> item) {
  ListExpr list;
  list.runs.push_back({count, std::move(item)});
  return list;
}

} // namespace

OperandWriter::OperandWriter(const KernelFacts &facts, const std::vector<RankBlock> &instances, Tables &tables)
    : program_(facts.program), rows_(facts.rows), instances_(instances),
      finder_(static_cast<int>(program_.ranks.size()), tables),
      rank_(program_.ranks[static_cast<std::size_t>(instances[0].rank)]),
      block_(rank_.blocks[static_cast<std::size_t>(instances[0].block)]) {}

void OperandWriter::beginFormulasOnly() {
  formulasOnly_ = true;
  failed_ = false;
}

bool OperandWriter::endFormulasOnly() {
  formulasOnly_ = false;
  return !failed_;
}

template <class F> Expr OperandWriter::number(const At &at, int first, int count, F value) {
  const SampleSpace space{instances_, at.steps, first, count};
  const ValueOf valueOf = [&value](const Sample &s) { return static_cast<std::int64_t>(value(s)); };
  if (!formulasOnly_)
    return finder_.expressionOrTable(space, valueOf);
  if (Expr found = finder_.expression(space, valueOf))
    return found;
  failed_ = true;
  return constant(0);
}

Expr OperandWriter::position(const At &at) const {
  const auto first = constant(static_cast<std::int64_t>(at.op));
  if (at.steps == 1)
    return first;
  const Expr step = use(var::step);
  return binary(first, Operator::Add,
                at.stride == 1 ? step
                               : binary(constant(static_cast<std::int64_t>(at.stride)), Operator::Multiply, step));
}

Expr OperandWriter::barrier(const At &at) {
  return number(at, [&](const Sample &s) { return opAt(at, s).imm; });
}

ListExpr OperandWriter::ids(const At &at, std::uint32_t first, std::uint32_t count) {
  return listOf(count, number(at, 0, static_cast<int>(count), [&](const Sample &s) {
                  return blockAt(s).idsOf(opAt(at, s))[first + static_cast<std::uint32_t>(s.item)];
                }));
}

bool OperandWriter::areOneKind(const Chunk &a, const Chunk &b) const {
  return a.space == b.space && bufferOf(rank_, a) == bufferOf(rank_, b);
}

ChunkExpr OperandWriter::run(const At &at, std::uint32_t first, std::uint32_t count, DataForm form, int shift) {
  const auto items = static_cast<int>(count);
  const Op &op = this->op(at);
  const Chunk &chunk = block_.operands(op)[first];
  const auto operand = [&](const Sample &s) -> const Chunk & {
    return chunkAt(at, first + static_cast<std::uint32_t>(s.item - shift), s);
  };
  ChunkExpr written;
  written.view = viewOf(bufferOf(rank_, chunk), form);
  written.index = number(at, shift, items, [&](const Sample &s) { return operand(s).index; });
  addSlots(at, first, count, shift, written);
  if (ir::isLocal(chunk.space))
    return written;
  if (op.channelType == ir::ChannelType::Port) {
    written.reach = ChunkExpr::Reach::Port;
    return written;
  }
  written.reach = ChunkExpr::Reach::Peer;
  written.peer = number(at, shift, items, [&](const Sample &s) { return rankAt(s).remoteBuffers[operand(s).id].rank; });
  return written;
}

void OperandWriter::addSlots(const At &at, std::uint32_t first, std::uint32_t count, int shift, ChunkExpr &written) {
  const auto isScratch = [&](const Chunk &chunk) { return bufferOf(rank_, chunk) == ir::BufferKind::Scratch; };
  if (rows_ == nullptr || !std::ranges::all_of(block_.operands(op(at)), isScratch))
    return;
  const auto slotAt = [&](const Sample &s, std::uint32_t row) {
    const ir::OpRef place{static_cast<std::uint32_t>(s.rank), static_cast<std::uint32_t>(s.block),
                          static_cast<std::uint32_t>(at.op + static_cast<std::size_t>(s.step) * at.stride)};
    const ir::RowPart held = rows_->of(program_, place, first + static_cast<std::uint32_t>(s.item - shift), row);
    const auto ranks = static_cast<std::int64_t>(program_.ranks.size());
    return (held.src * ranks + held.dst) * held.parts + held.part;
  };
  const std::uint32_t size = block_.operands(op(at))[first].size;
  const auto step = [&](const Sample &s) { return size == 1 ? 0 : slotAt(s, 1) - slotAt(s, 0); };
  const SampleSpace space{instances_, at.steps, shift, static_cast<int>(count)};
  const bool areSteps = forAll(space, [&](const Sample &s) {
    for (std::uint32_t row = 1; row < size; ++row)
      if (slotAt(s, row) != slotAt(s, 0) + row * step(s))
        return false;
    return true;
  });
  if (!areSteps)
    return;
  written.slot = number(at, shift, static_cast<int>(count), [&](const Sample &s) { return slotAt(s, 0); });
  written.slotStep = number(at, shift, static_cast<int>(count), step);
}

ListExpr OperandWriter::chunks(const At &at, std::uint32_t first, std::uint32_t count, DataForm form) {
  const auto all = block_.operands(op(at));
  ListExpr list;
  list.writtenOut = count <= maxWrittenOut;
  for (std::uint32_t begin = 0; begin < count;) {
    std::uint32_t end = begin + 1;
    while (!list.writtenOut && end < count && areOneKind(all[first + end], all[first + begin]))
      ++end;
    const int shift = list.writtenOut ? 0 : static_cast<int>(begin);
    list.runs.push_back({end, run(at, first + begin, end - begin, form, shift)});
    begin = end;
  }
  return list;
}

ListExpr OperandWriter::members(const At &at, std::uint32_t operand, DataForm form) {
  const Chunk &chunk = block_.operands(op(at))[operand];
  const auto size = static_cast<std::uint32_t>(rank_.switchChannels[chunk.id].ranks.size());
  ChunkExpr written;
  written.reach = ChunkExpr::Reach::Peer;
  written.view = viewOf(bufferOf(rank_, chunk), form);
  written.index = number(at, [&](const Sample &s) { return chunkAt(at, operand, s).index; });
  written.peer = number(at, 0, static_cast<int>(size), [&](const Sample &s) {
    const Chunk &c = chunkAt(at, operand, s);
    return rankAt(s).switchChannels[c.id].ranks[static_cast<std::size_t>(s.item)];
  });
  return listOf(size, std::move(written));
}

Expr OperandWriter::switchChannel(const At &at, std::uint32_t operand) {
  return number(at, [&](const Sample &s) { return chunkAt(at, operand, s).id; });
}

Expr OperandWriter::firstAfter(const At &at) {
  return number(at, [&](const Sample &s) { return opAt(at, s).firstAfter; });
}

bool OperandWriter::firstIsLater(const At &at) const {
  const SampleSpace space{instances_, at.steps, 0, 1};
  return !forAll(space, [&](const Sample &s) { return opAt(at, s).firstAfter == 0; });
}

SliceExpr OperandWriter::slice(const At &at, std::uint32_t operand) {
  const Op &op = this->op(at);
  SliceExpr slice;
  slice.rows = block_.operands(op)[operand].size;
  if (op.groupSize > 1) {
    slice.parts = op.groupSize;
    slice.part = number(at, [&](const Sample &s) { return opAt(at, s).groupIndex; });
    slice.dividesUnits = std::ranges::any_of(
        program_.hooks, [](const ir::Hook &hook) { return hook.granularity != ir::Granularity::Element; });
  }
  if (unit_ != 0) {
    slice.unit = &var::unit;
    slice.unitBytes = unit_;
  }
  return slice;
}

Expr OperandWriter::inOutput(const At &at, std::uint32_t operand) {
  return number(at, [&](const Sample &s) {
    const auto rank = static_cast<std::uint32_t>(s.rank);
    return *ir::outputOffset(program_, rank, ir::memoryOf(program_, rank, chunkAt(at, operand, s)));
  });
}

bool OperandWriter::areOneChunk(const At &at, std::uint32_t first, std::uint32_t count) const {
  const SampleSpace space{instances_, at.steps, 1, static_cast<int>(count) - 1};
  return forAll(space, [&](const Sample &s) {
    return chunkAt(at, first + static_cast<std::uint32_t>(s.item), s) == chunkAt(at, first, s);
  });
}

} // namespace mscclc::cuda
