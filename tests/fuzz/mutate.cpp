#include "random_program.h"

#include "ir/channel_pairing.h"
#include "ir/cursor.h"
#include "ir/op_memory.h"
#include "ir/op_semantics.h"
#include "ir/structure.h"

#include <algorithm>
#include <random>
#include <set>

namespace fuzz {

using namespace mscclc::ir;

namespace {

class Mutator {
public:
  Mutator(Program program, std::uint64_t seed) : program_(std::move(program)), random_(seed) {}

  /// One change, or two at once.
  std::optional<Program> make(std::string &what) {
    if (!changeOnce(what))
      return std::nullopt;
    if (std::string more; below(4) == 0 && changeOnce(more))
      what += ", and " + more;
    return std::move(program_);
  }

private:
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }

  bool wellFormed() const {
    DiagnosticEngine silent;
    return checkStructure(program_, silent);
  }

  bool changeOnce(std::string &what) {
    for (int tries = 0; tries < 50; ++tries) {
      const Program before = program_;
      if (change(what) && wellFormed())
        return true;
      program_ = before;
    }
    return false;
  }

  /// A random block and one of its operations; false if there is none.
  bool choose() {
    rank_ = below(program_.ranks.size());
    auto &blocks = program_.ranks[rank_].blocks;
    if (blocks.empty())
      return false;
    block_ = &blocks[below(blocks.size())];
    if (block_->ops.empty())
      return false;
    at_ = below(block_->ops.size());
    return true;
  }
  std::string here() const {
    return " rank " + std::to_string(rank_) + " block " + std::to_string(block_ - program_.ranks[rank_].blocks.data()) +
           " operation " + std::to_string(at_) + " (" + std::string(toString(block_->ops[at_].kind)) + ")";
  }

  bool change(std::string &what) {
    if (!choose())
      return false;
    auto &ops = block_->ops;
    Op &op = ops[at_];
    what = here();
    switch (below(28)) {
    case 0: // drop a nop
      if (op.kind != OpKind::Nop)
        return false;
      what = "drop" + what;
      ops.erase(ops.begin() + at_);
      return true;
    case 1: // drop anything
      what = "drop" + what;
      ops.erase(ops.begin() + at_);
      return true;
    case 2:
      what = "drop with its partner" + what;
      return dropPair();
    case 3:
      if (at_ + 1 >= ops.size())
        return false;
      what = "swap with the next" + what;
      std::swap(ops[at_], ops[at_ + 1]);
      return true;
    case 4:
    case 5: { // another chunk, or more or less of it
      if (op.numChunks() == 0)
        return false;
      Chunk &chunk = block_->chunks[op.firstChunk + below(op.numChunks())];
      what = "another chunk" + what;
      (below(4) == 0 ? chunk.size : chunk.index) += below(2) == 0 ? 1 : ~0u;
      return true;
    }
    case 6:
      what = "another peer" + what;
      return changePeer(op);
    case 7: { // once more
      what = "twice" + what;
      const Op copy = op;
      ops.insert(ops.begin() + at_, copy);
      return true;
    }
    case 8:
      what = "relaxed or not" + what;
      return changeStrength(op);
    case 9: // another channel or semaphore
      if (op.numIds == 0)
        return false;
      what = "another channel" + what;
      block_->ids[op.firstId + below(op.numIds)] = below(3);
      return true;
    case 10: { // elsewhere in the block
      what = "moved" + what;
      const Op moved = op;
      ops.erase(ops.begin() + at_);
      ops.insert(ops.begin() + below(ops.size() + 1), moved);
      return true;
    }
    case 11:
      what = "a packet slot used again" + what;
      return reuseSlot(op);
    case 12:
      what = "another start of a semaphore of rank " + std::to_string(rank_);
      return changeSemaphore();
    case 13:
      what = "scratch not doubled, or doubled";
      program_.doubleScratch = !program_.doubleScratch;
      return true;
    case 14:
      what = "another reduce operation" + what;
      if (!reduces(op.kind))
        return false;
      op.reduceOp =
          static_cast<ReduceOp>((static_cast<unsigned>(op.reduceOp) + 1 + below(reduceOpCount - 1)) % reduceOpCount);
      return true;
    case 15:
      what = "another slice" + what;
      if (op.groupSize < 2)
        return false;
      op.groupIndex = (op.groupIndex + 1) % op.groupSize;
      return true;
    case 16:
      what = "without the meeting" + what;
      return dropBarrier(op);
    case 17: // another position does what position i did
      what = "other positions" + what;
      return changePositions(op);
    case 18: { // other slices
      what = "more or fewer slices" + what;
      const std::uint32_t now = 1 + below(4);
      if (op.groupSize == 0 || now == op.groupSize || now <= op.groupIndex)
        return false;
      op.groupSize = now;
      return true;
    }
    case 19: { // ends a phase earlier or later
      const std::uint32_t other = below(2) == 0 ? at_ + 1 : at_ - 1;
      what = "a step on" + what;
      if (op.kind != OpKind::Nop || other >= ops.size())
        return false;
      std::swap(ops[at_], ops[other]);
      return true;
    }
    case 20:
    case 21:
      what = "signals before a pipeline, waits after it, or the reverse, of" + what;
      return displace();
    case 22:
    case 23:
      what = "another slice of all that uses the slot of" + what;
      return changeSlices(op);
    case 24:
    case 25:
    case 26: // sizes for which the program may be wrong
      what = "larger messages, or smaller ones";
      if (program_.minMessageSize == program_.maxMessageSize)
        return false;
      if (below(2) == 0) {
        program_.minMessageSize = 0;
        return true;
      }
      if (program_.maxMessageSize > std::uint64_t{1} << 30)
        return false;
      program_.maxMessageSize += program_.maxMessageSize / (1 + below(4));
      return true;
    default: // one of several channels
      if (op.numIds < 2 || op.numChunks() != 0)
        return false;
      what = "one channel less" + what;
      --op.numIds;
      return true;
    }
  }

  bool changePeer(const Op &op) {
    for (Chunk &chunk : block_->operands(op))
      if (chunk.space == ChunkSpace::Remote) {
        chunk.id = below(program_.ranks[rank_].remoteBuffers.size());
        return true;
      }
    return false;
  }

  /// Swaps two channels of an operation; for port operations, with their operands or without.
  bool changePositions(const Op &op) {
    if (op.numIds < 2)
      return false;
    const std::uint32_t i = below(op.numIds), j = (i + 1 + below(op.numIds - 1)) % op.numIds;
    std::swap(block_->ids[op.firstId + i], block_->ids[op.firstId + j]);
    if (op.numDsts == op.numIds && below(4) != 0) {
      std::swap(block_->chunks[op.firstChunk + op.numSrcs + i], block_->chunks[op.firstChunk + op.numSrcs + j]);
      if (op.numSrcs == op.numIds)
        std::swap(block_->chunks[op.firstChunk + i], block_->chunks[op.firstChunk + j]);
    }
    return true;
  }

  static bool changeStrength(Op &op) {
    switch (op.kind) {
    case OpKind::Signal:
    case OpKind::Wait:
      if (op.channelType != ChannelType::Memory)
        return false;
      op.kind = op.kind == OpKind::Signal ? OpKind::RelaxedSignal : OpKind::RelaxedWait;
      return true;
    case OpKind::PutWithSignalAndFlush:
      op.kind = OpKind::PutWithSignal;
      return true;
    default:
      return false;
    }
  }

  /// Makes the operation write the slot that another operation of the block writes.
  bool reuseSlot(const Op &op) {
    std::vector<std::uint32_t> slots;
    for (const Op &other : block_->ops)
      for (std::uint32_t i = 0; i < other.numDsts; ++i)
        if (formOfDestination(other.kind, i) == DataForm::Packet)
          slots.push_back(block_->dsts(other)[i].index);
    for (std::uint32_t i = 0; i < op.numDsts; ++i)
      if (formOfDestination(op.kind, i) == DataForm::Packet) {
        block_->chunks[op.firstChunk + op.numSrcs + i].index = slots[below(slots.size())];
        return true;
      }
    return false;
  }

  bool changeSemaphore() {
    auto &semaphores = program_.ranks[rank_].semaphores;
    if (semaphores.empty())
      return false;
    std::uint32_t &initial = semaphores[below(semaphores.size())].initialValue;
    initial = initial == 0 || below(2) == 0 ? initial + 1 : initial - 1;
    return true;
  }

  /// Removes the next meeting at a barrier, on all blocks.
  bool dropBarrier(const Op &op) {
    if (op.kind != OpKind::Barrier)
      return false;
    const std::uint64_t id = op.imm;
    std::uint32_t number = 0;
    for (std::uint32_t o = 0; o < at_; ++o)
      number += block_->ops[o].kind == OpKind::Barrier && block_->ops[o].imm == id;
    for (ThreadBlock &block : program_.ranks[rank_].blocks) {
      std::uint32_t seen = 0;
      for (std::uint32_t o = 0; o < block.ops.size(); ++o)
        if (block.ops[o].kind == OpKind::Barrier && block.ops[o].imm == id && seen++ == number) {
          block.ops.erase(block.ops.begin() + o);
          break;
        }
    }
    return true;
  }

  /// Removes a signal and the wait that it matches, or a release and its acquire. Both are counted from the start of
  /// their blocks.
  bool dropPair() {
    const Op op = block_->ops[at_];
    if (op.numIds != 1 || !(isSignal(op.kind) || op.kind == OpKind::SemRelease))
      return false;
    const std::uint32_t id = block_->idsOf(op)[0];
    std::uint32_t number = 0;
    for (std::uint32_t o = 0; o < at_; ++o) {
      const Op &before = block_->ops[o];
      if (before.numIds == 1 && block_->idsOf(before)[0] == id && before.channelType == op.channelType &&
          (isSignal(before.kind) || putsAndSignals(before.kind)) == isSignal(op.kind) &&
          (before.kind == OpKind::SemRelease) == (op.kind == OpKind::SemRelease))
        ++number;
    }
    std::uint32_t otherRank = rank_, otherId = id;
    if (op.kind != OpKind::SemRelease) {
      const auto peer = ChannelPairing(program_).peer(op.channelType, {rank_, id});
      if (!peer)
        return false;
      otherRank = peer->rank;
      otherId = peer->channel;
    }
    for (ThreadBlock &block : program_.ranks[otherRank].blocks) {
      std::uint32_t seen = 0;
      for (std::uint32_t o = 0; o < block.ops.size(); ++o) {
        const Op &other = block.ops[o];
        const bool meets = op.kind == OpKind::SemRelease ? other.kind == OpKind::SemAcquire
                                                         : isWait(other.kind) && other.channelType == op.channelType;
        for (std::uint32_t i = 0; meets && i < other.numIds; ++i) {
          if (block.idsOf(other)[i] != otherId || seen++ != number)
            continue;
          if (other.numIds == 1) {
            block.ops.erase(block.ops.begin() + o);
            at_ -= &block == block_ && o < at_;
          } else {
            const auto first = block.ids.begin() + other.firstId;
            std::rotate(first + i, first + i + 1, first + other.numIds);
            --block.ops[o].numIds;
          }
          block_->ops.erase(block_->ops.begin() + at_);
          return true;
        }
      }
    }
    return false;
  }

  /// Moves the start of a queue that a pipeline signals or releases: there are a few more signals before that pipeline,
  /// and as many more waits after the pipeline that waits; or the signals come after the one and the waits before the
  /// other.
  bool displace() {
    const std::uint32_t header = headerOf(*block_, at_);
    const Op op = block_->ops[at_];
    if (header == none || op.numIds != 1 || !(isSignal(op.kind) || op.kind == OpKind::SemRelease))
      return false;
    const ProgramIndex index(program_);
    const std::uint32_t queue = index.queue(rank_, op, block_->idsOf(op)[0]);
    const bool before = below(3) != 0;
    const std::uint32_t times = 1 + below(6);
    for (std::uint32_t r = 0; r < program_.ranks.size() && queue != none; ++r)
      for (ThreadBlock &block : program_.ranks[r].blocks)
        for (std::uint32_t o = 0; o < block.ops.size(); ++o) {
          const Op other = block.ops[o];
          const std::uint32_t loop = headerOf(block, o);
          if (loop == none || !takes(other.kind) || other.numIds != 1 ||
              index.queue(r, other, block.idsOf(other)[0]) != queue)
            continue;
          const auto insert = [&](ThreadBlock &into, std::uint32_t around, bool first, const Op &what) {
            const std::uint32_t place = first ? around : around + 1 + into.ops[around].bodySize;
            into.ops.insert(into.ops.begin() + place, times, what);
          };
          if (&block == block_) // one of the two would move
            return false;
          insert(*block_, header, before, op);
          insert(block, loop, !before, other);
          return true;
        }
    return false;
  }

  static std::uint32_t headerOf(const ThreadBlock &block, std::uint32_t op) {
    std::uint32_t found = none;
    forEachOp(block, [&](std::uint32_t o, std::uint32_t header) { found = o == op ? header : found; });
    return found;
  }

  /// Moves all uses of slices of one packet slot to the next slice.
  bool changeSlices(const Op &op) {
    if (op.groupSize < 2 || !isPacketOp(op.kind))
      return false;
    std::set<std::pair<std::uint32_t, std::uint32_t>> slots; // rank, index
    const auto visitSlots = [&](std::uint32_t rank, const ThreadBlock &block, const Op &of, const auto &visit) {
      forEachMemory(program_, rank, block, of, [&](const MemoryPiece &piece) {
        if (piece.isPacket())
          visit(std::pair(piece.rank, piece.index));
      });
    };
    visitSlots(rank_, *block_, op, [&](const auto &slot) { slots.insert(slot); });
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (ThreadBlock &block : program_.ranks[r].blocks)
        for (Op &other : block.ops) {
          bool uses = false;
          if (other.groupSize > 1)
            visitSlots(r, block, other, [&](const auto &slot) { uses |= slots.contains(slot); });
          if (uses)
            other.groupIndex = (other.groupIndex + 1) % other.groupSize;
        }
    return true;
  }

  Program program_;
  std::mt19937_64 random_;
  std::uint32_t rank_ = 0, at_ = 0;
  ThreadBlock *block_ = nullptr;
};

} // namespace

std::optional<Program> mutate(const Program &program, std::uint64_t seed, std::string &what) {
  return Mutator(program, seed).make(what);
}

} // namespace fuzz
