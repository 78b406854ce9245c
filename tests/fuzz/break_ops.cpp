#include "break_ops.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace fuzz {

using namespace mscclc::ir;

namespace {

/// Returns the previous operand of the block that is a packet slot of the same memory; null if there is none.
const Chunk *slotBefore(const ThreadBlock &block, std::uint32_t o, const Chunk &slot) {
  while (o-- > 0)
    for (std::uint32_t i = 0; i < block.ops[o].numDsts; ++i) {
      const Chunk &other = block.dsts(block.ops[o])[i];
      if (formOfDestination(block.ops[o].kind, i) == DataForm::Packet && other.space == slot.space &&
          other.id == slot.id && other.index != slot.index && other.size == slot.size)
        return &other;
    }
  return nullptr;
}

} // namespace

void changeEach(const Program &program, std::uint32_t numRanks,
                const std::function<void(const Program &, const std::string &)> &visit) {
  Program changed = program;
  for (std::uint32_t r = 0; r < std::min<std::size_t>(numRanks, program.ranks.size()); ++r)
    for (std::uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b) {
      const ThreadBlock &before = program.ranks[r].blocks[b];
      ThreadBlock &block = changed.ranks[r].blocks[b];
      for (std::uint32_t o = 0; o < before.ops.size(); ++o) {
        const Op &op = before.ops[o];
        const auto tell = [&](const std::string &what) {
          visit(changed, what + " at rank " + std::to_string(r) + ", block " + std::to_string(b) + ", operation " +
                             std::to_string(o) + " (" + std::string(toString(op.kind)) + ")");
          block = before;
        };
        const bool header = op.kind == OpKind::Pipeline;
        if (!header && o + 1 < before.ops.size() && before.ops[o + 1].kind != OpKind::Pipeline) {
          std::swap(block.ops[o], block.ops[o + 1]);
          tell("the next operation first");
        }
        if (op.kind == OpKind::SemRelease) {
          if (--block.ops[o].numIds == 0)
            block.ops.erase(block.ops.begin() + o);
          if (before.ops.size() == block.ops.size() || o == 0 || before.ops[o - 1].kind != OpKind::Pipeline)
            tell("a release less");
          block = before;
        }
        if (op.numIds > 1) { // another thread for the first channel and the last
          const std::uint32_t last = op.numIds - 1;
          std::swap(block.ids[op.firstId], block.ids[op.firstId + last]);
          tell("other positions");
          if (op.numDsts == op.numIds) {
            std::swap(block.ids[op.firstId], block.ids[op.firstId + last]);
            const std::uint32_t first = op.firstChunk + op.numSrcs;
            std::swap(block.chunks[first], block.chunks[first + last]);
            tell("other destinations");
          }
        }
        if (reduces(op.kind)) {
          block.ops.insert(block.ops.begin() + o, op);
          tell("the reduce doubled");
        }
        for (std::uint32_t i = 0; i < op.numChunks(); ++i) {
          Chunk &chunk = block.chunks[op.firstChunk + i];
          ++chunk.index;
          tell("operand " + std::to_string(i) + " one chunk on");
          if (chunk.space == ChunkSpace::Remote && program.ranks[r].remoteBuffers.size() > 1) {
            chunk.id = (chunk.id + 1) % static_cast<std::uint32_t>(program.ranks[r].remoteBuffers.size());
            tell("operand " + std::to_string(i) + " on another rank");
          }
          if (i >= op.numSrcs && formOfDestination(op.kind, i - op.numSrcs) == DataForm::Packet)
            if (const Chunk *other = slotBefore(before, o, chunk)) {
              chunk.index = other->index;
              tell("a packet slot used again");
            }
        }
      }
    }
}

} // namespace fuzz
