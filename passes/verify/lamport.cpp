// Reports what a program with Lamport packets (ir::Protocol::Lamport) must not contain.
#include "passes/verify/findings.h"

#include "ir/cursor.h"
#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {

/// True if the operation accesses plain data in scratch.
bool hasPlainScratch(const ProgramIndex &index, std::uint32_t block, const ir::Op &op) {
  bool any = false;
  ir::forEachMemory(index.program, index.rankOf(block), index.ops(block), op,
                    [&](const ir::MemoryPiece &piece) { any |= piece.inScratch() && !piece.isPacket(); });
  return any;
}

} // namespace

/// Reports scratch that is not double, packets through ports or switches, and plain data in scratch. Returns false if
/// it reports any. Ports and switches may split words of 8 bytes. Plain data in scratch would be lost: kernels clear
/// all chunks of scratch, at times that are right for packets alone.
bool checkLamport(const ProgramIndex &index, Findings &findings) {
  if (index.program.protocol != ir::Protocol::Lamport)
    return true;
  const std::uint64_t before = findings.errors();
  if (!index.program.doubleScratch &&
      std::ranges::any_of(ir::opsOf(index.program.ranks), [](const ir::Op &op) { return ir::isPacketOp(op.kind); }))
    findings.addOnProgram(diag::lamport_one_buffer);
  ir::forEachOp(index, [&](std::uint32_t b, std::uint32_t o) {
    const ir::Op &op = index.ops(b).ops[o];
    const std::string word(ir::wordOf(index.program, op));
    const bool isPort = op.channelType == ir::ChannelType::Port;
    if (ir::isPacketOp(op.kind) && (isPort || op.channelType == ir::ChannelType::Switch))
      findings.report(diag::lamport_way, index.place(b, o), {word, isPort ? "port" : "switch"});
    else if (hasPlainScratch(index, b, op))
      findings.report(diag::lamport_plain, index.place(b, o), {word});
  });
  return findings.errors() == before;
}

} // namespace mscclc::passes::proof
