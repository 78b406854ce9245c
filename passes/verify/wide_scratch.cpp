// Finds operations that cannot convert elements, in programs with wide scratch (ir::Accumulate::Wide).
#include "passes/verify/findings.h"

#include "ir/cursor.h"
#include "ir/op_memory.h"

namespace mscclc::passes::proof {

namespace {

/// Reports a put through a port with scratch at one end only.
void checkPut(const ProgramIndex &index, std::uint32_t block, std::uint32_t o, Findings &findings) {
  const ir::ThreadBlock &code = index.ops(block);
  const ir::Rank &rank = index.program.ranks[index.rankOf(block)];
  const ir::Op &op = code.ops[o];
  for (std::uint32_t i = 0; i < op.numDsts; ++i) {
    const ir::BufferKind from = bufferOf(rank, code.srcs(op)[op.numSrcs == 1 ? 0 : i]),
                         to = bufferOf(rank, code.dsts(op)[i]);
    if ((from == ir::BufferKind::Scratch) == (to == ir::BufferKind::Scratch))
      continue;
    if (auto *f = findings.add(diag::port_cannot_convert, index.place(block, o)))
      f->args = {ir::toString(from), ir::toString(to)};
    return;
  }
}

} // namespace

/// Returns false if there are such operations.
bool checkWideScratch(const ProgramIndex &index, Findings &findings) {
  if (index.program.movement.accumulate != ir::Accumulate::Wide)
    return true;
  const std::uint64_t before = findings.errors();
  for (std::uint32_t b = 0; b < index.numBlocks(); ++b)
    ir::forEachOp(index.ops(b), [&](std::uint32_t o, std::uint32_t) {
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
