#include "drop_sync.h"

#include "ir/channel_pairing.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace fuzz {

using namespace mscclc::ir;

namespace {

/// Removes operation `o`, also from the pipeline that contains it.
void erase(ThreadBlock &block, std::uint32_t o) {
  std::uint32_t header = 0, left = 0;
  for (std::uint32_t i = 0; i < o; ++i) {
    left -= left != 0;
    if (block.ops[i].kind == OpKind::Pipeline) {
      header = i;
      left = block.ops[i].bodySize;
    }
  }
  if (left != 0)
    --block.ops[header].bodySize;
  block.ops.erase(block.ops.begin() + o);
}

bool inLoop(const ThreadBlock &block, std::uint32_t o) {
  for (std::uint32_t i = 0; i < o; ++i)
    if (block.ops[i].kind == OpKind::Pipeline && i + block.ops[i].bodySize >= o)
      return true;
  return false;
}

/// Removes id number `i` of operation `o`, and the operation if that was its last id.
void dropId(ThreadBlock &block, std::uint32_t o, std::uint32_t i) {
  Op &op = block.ops[o];
  const auto first = block.ids.begin() + op.firstId;
  std::rotate(first + i, first + i + 1, first + op.numIds);
  if (--op.numIds == 0)
    erase(block, o);
}

class Dropper {
public:
  Dropper(const Program &program, const std::function<void(const Program &, const Dropped &)> &visit)
      : program_(program), less_(program), pairing_(program), visit_(visit) {}

  void block(std::uint32_t r, std::uint32_t b) {
    const ThreadBlock &code = program_.ranks[r].blocks[b];
    for (std::uint32_t o = 0; o < code.ops.size(); ++o) {
      const Op &op = code.ops[o];
      if (op.kind == OpKind::Nop || op.kind == OpKind::Flush)
        single(op.kind == OpKind::Nop ? Dropped::Nop : Dropped::Flush, {r, b, o});
      else if (op.kind == OpKind::Barrier)
        barrier({r, b, o});
      else if (isSignal(op.kind) || isWait(op.kind) || isSemaphoreOp(op.kind))
        single(Dropped::Alone, {r, b, o});
      if (isSignal(op.kind) || op.kind == OpKind::SemRelease)
        for (std::uint32_t i = 0; i < op.numIds; ++i)
          pair({r, b, o}, i);
    }
  }

private:
  ThreadBlock &code(OpRef at) { return less_.ranks[at.rank].blocks[at.block]; }
  void tell(Dropped::Kind kind, OpRef at, const std::string &what) {
    visit_(less_, {kind, at,
                   what + " at rank " + std::to_string(at.rank) + ", block " + std::to_string(at.block) +
                       ", operation " + std::to_string(at.op)});
  }
  void restore(std::uint32_t rank) { less_.ranks[rank] = program_.ranks[rank]; }

  void single(Dropped::Kind kind, OpRef at) {
    const std::string name(toString(code(at).ops[at.op].kind));
    erase(code(at), at.op);
    tell(kind, at, name);
    restore(at.rank);
  }

  /// Removes the meeting at a barrier that `at` belongs to, on all its blocks. It is visited once, for the first of the
  /// blocks.
  void barrier(OpRef at) {
    const std::uint64_t id = code(at).ops[at.op].imm;
    const auto is = [&](const Op &op) { return op.kind == OpKind::Barrier && op.imm == id; };
    const auto &mine = program_.ranks[at.rank].blocks[at.block].ops;
    const auto number = std::count_if(mine.begin(), mine.begin() + at.op, is);
    for (std::uint32_t b = 0; b < less_.ranks[at.rank].blocks.size(); ++b) {
      ThreadBlock &block = less_.ranks[at.rank].blocks[b];
      auto left = number;
      for (std::uint32_t o = 0; o < block.ops.size(); ++o)
        if (is(block.ops[o]) && left-- == 0) {
          if (b < at.block) // told of there
            return restore(at.rank);
          erase(block, o);
          break;
        }
    }
    tell(Dropped::Barrier, at, "barrier");
    restore(at.rank);
  }

  void pair(OpRef at, std::uint32_t i) {
    const ThreadBlock &block = program_.ranks[at.rank].blocks[at.block];
    const Op op = block.ops[at.op];
    const std::uint32_t id = block.idsOf(op)[i];
    const bool semaphore = op.kind == OpKind::SemRelease;
    std::uint32_t otherRank = at.rank, otherId = id;
    if (!semaphore) {
      const auto peer = pairing_.peer(op.channelType, {at.rank, id});
      if (!peer)
        return;
      otherRank = peer->rank;
      otherId = peer->channel;
    }
    // How many of them came before, on this side; in a loop and outside are counted apart.
    const bool looped = inLoop(block, at.op);
    std::uint32_t number = 0;
    for (const ThreadBlock &other : program_.ranks[at.rank].blocks)
      for (std::uint32_t o = 0; o < other.ops.size() && (&other != &block || o <= at.op); ++o) {
        const Op &x = other.ops[o];
        const bool sends = semaphore ? x.kind == OpKind::SemRelease
                                     : (isSignal(x.kind) || putsAndSignals(x.kind)) && x.channelType == op.channelType;
        if (!sends || inLoop(other, o) != looped)
          continue;
        for (std::uint32_t j = 0; j < x.numIds && (&other != &block || o < at.op || j < i); ++j)
          number += other.idsOf(x)[j] == id;
        if (&other == &block && o == at.op)
          break;
      }
    for (std::uint32_t b = 0; b < program_.ranks[otherRank].blocks.size(); ++b) {
      const ThreadBlock &other = program_.ranks[otherRank].blocks[b];
      for (std::uint32_t o = 0; o < other.ops.size(); ++o) {
        const Op &x = other.ops[o];
        const bool takes = semaphore ? x.kind == OpKind::SemAcquire : isWait(x.kind) && x.channelType == op.channelType;
        if (!takes || inLoop(other, o) != looped)
          continue;
        for (std::uint32_t j = 0; j < x.numIds; ++j) {
          if (other.idsOf(x)[j] != otherId || number-- != 0)
            continue;
          const bool sameBlock = otherRank == at.rank && b == at.block;
          if (sameBlock && o > at.op)
            dropId(less_.ranks[otherRank].blocks[b], o, j);
          dropId(code(at), at.op, i);
          if (!sameBlock)
            dropId(less_.ranks[otherRank].blocks[b], o, j);
          if (!sameBlock || o > at.op)
            tell(Dropped::Pair, at,
                 semaphore ? "release+acquire of semaphore " + std::to_string(id)
                           : "signal+wait of channel " + std::to_string(id));
          restore(at.rank);
          restore(otherRank);
          return;
        }
      }
    }
  }

  const Program &program_;
  Program less_;
  ChannelPairing pairing_;
  const std::function<void(const Program &, const Dropped &)> &visit_;
};

} // namespace

void dropEach(const Program &program, std::uint32_t numRanks,
              const std::function<void(const Program &, const Dropped &)> &visit) {
  Dropper dropper(program, visit);
  for (std::uint32_t r = 0; r < std::min<std::size_t>(numRanks, program.ranks.size()); ++r)
    for (std::uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b)
      dropper.block(r, b);
}

} // namespace fuzz
