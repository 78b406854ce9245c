// Finds operations that cannot convert elements where scratch holds elements in another form (ir::Accumulate::Wide, or
// a wire format).
#include "passes/verify/findings.h"

#include "ir/cursor.h"
#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {

/// Reports a put through a port if only one of its ends is in scratch.
void checkPut(const ProgramIndex &index, std::uint32_t block, std::uint32_t o, Findings &findings) {
  const ir::ThreadBlock &code = index.ops(block);
  const ir::Rank &rank = index.program.ranks[index.rankOf(block)];
  const ir::Op &op = code.ops[o];
  for (std::uint32_t i = 0; i < op.numDsts; ++i) {
    const ir::BufferKind from = bufferOf(rank, code.srcs(op)[op.numSrcs == 1 ? 0 : i]),
                         to = bufferOf(rank, code.dsts(op)[i]);
    if ((from == ir::BufferKind::Scratch) == (to == ir::BufferKind::Scratch))
      continue;
    return findings.report(diag::port_cannot_convert, index.place(block, o), {ir::toString(from), ir::toString(to)});
  }
}

/// Returns why a program with a wire format must not have an operation, as in "goes through a port". Returns an empty
/// text if it may have the operation.
std::string_view wireFault(const ir::Program &program, const ir::Rank &rank, const ir::ThreadBlock &code,
                           const ir::Op &op) {
  if (op.kind == ir::OpKind::Pipeline)
    return "is a loop over parts of chunks";
  if (ir::info(op.kind).step != ir::OpStep::Data)
    return "";
  if (ir::info(program.collective.kind).hasRows)
    return "moves rows";
  if (ir::reduces(op.kind) && ir::isReorderable(op.reduceOp))
    return "takes a maximum or a minimum, which is no sum";
  if (op.channelType == ir::ChannelType::Port || op.channelType == ir::ChannelType::Switch)
    return op.channelType == ir::ChannelType::Port ? "goes through a port" : "goes through a switch";
  if (ir::isPacketOp(op.kind) && program.protocol == ir::Protocol::Lamport)
    return "moves packets without flags";
  const auto isPlainThere = [&](const ir::Chunk &chunk) {
    return chunk.space == ir::ChunkSpace::Remote && ir::bufferOf(rank, chunk) != ir::BufferKind::Scratch;
  };
  return std::ranges::any_of(code.operands(op), isPlainThere) ? "reaches an input or output of another rank" : "";
}

/// Reports the operations that a program with a wire format must not have. Returns false if there are any.
bool checkWire(const ProgramIndex &index, Findings &findings) {
  const ir::Program &program = index.program;
  const ir::Hook *const wire = ir::wireOf(program);
  if (!wire)
    return true;
  const std::uint64_t before = findings.errors();
  ir::forEachOp(index, [&](std::uint32_t b, std::uint32_t o) {
    const ir::Op &op = index.ops(b).ops[o];
    const std::string_view fault = wireFault(program, program.ranks[index.rankOf(b)], index.ops(b), op);
    if (!fault.empty())
      findings.report(diag::wire_operation, index.place(b, o),
                      {ir::wordOf(program, op), fault, ir::wireNames[static_cast<std::size_t>(wire->wire)]});
  });
  return findings.errors() == before;
}

} // namespace

/// Reports the operations that cannot convert elements between scratch and other buffers. Returns false if there are
/// any.
bool checkWideScratch(const ProgramIndex &index, Findings &findings) {
  if (!checkWire(index, findings))
    return false;
  if (index.program.movement.accumulate != ir::Accumulate::Wide)
    return true;
  const std::uint64_t before = findings.errors();
  ir::forEachOp(index, [&](std::uint32_t b, std::uint32_t o) {
    const ir::Op &op = index.ops(b).ops[o];
    if (op.channelType == ir::ChannelType::Port)
      return checkPut(index, b, o, findings);
    bool inScratch = false;
    if (op.channelType == ir::ChannelType::Switch)
      ir::forEachMemory(index.program, index.rankOf(b), index.ops(b), op,
                        [&](const ir::MemoryPiece &piece) { inScratch |= piece.inScratch(); });
    if (inScratch)
      findings.add(diag::switch_cannot_convert, index.place(b, o));
  });
  return findings.errors() == before;
}

} // namespace mscclc::passes::proof
