// Which thread of a block waits: the i-th one on the i-th channel or semaphore that an operation names. Threads go on
// without each other until a nop, so where two of them wait on one counter in a phase, one may take the signal that the
// other needs first; and on a channel both change the count of what it has waited for.
#include "passes/proof/findings.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {

class ThreadCheck {
public:
  ThreadCheck(const ProgramIndex &index, Findings &findings)
      : index_(index), findings_(findings), last_(index.numChannels() + index.numSemaphores()) {}

  void run() {
    for (block_ = 0; block_ < index_.numBlocks(); ++block_) {
      const auto &ops = index_.ops(block_).ops;
      ++phase_;
      runStart_ = 0;
      std::uint32_t begin = 0, end = none;
      for (std::uint32_t o = 0; o < ops.size(); ++o) {
        if (ops[o].kind == ir::OpKind::Pipeline && ops[o].bodySize != 0) {
          begin = o + 1;
          end = o + ops[o].bodySize;
          continue;
        }
        visit(o);
        if (o == end)
          comeRound(begin, end);
      }
    }
  }

private:
  struct Last {
    std::uint64_t phase = 0;
    std::uint32_t thread = 0, op = 0;
  };

  /// The body's operations up to its first sync, in the phase in which the iteration before ends.
  void comeRound(std::uint32_t begin, std::uint32_t end) {
    const std::uint64_t phase = phase_;
    runStart_ = end + 1;
    for (std::uint32_t o = begin; o <= end && phase_ == phase; ++o)
      visit(o);
  }

  void visit(std::uint32_t o) {
    const ir::ThreadBlock &code = index_.ops(block_);
    const ir::Op &op = code.ops[o];
    const bool acquires = op.kind == ir::OpKind::SemAcquire;
    if (!acquires)
      runStart_ = std::max(runStart_, o + 1);
    phase_ += ir::isBlockSync(op.kind) || ir::has(op.sync, ir::DataSync::Before);
    if (acquires || ir::isWait(op.kind))
      for (std::uint32_t i = 0; i < op.numIds; ++i)
        wait(o, i, code.idsOf(op)[i]);
    phase_ += ir::has(op.sync, ir::DataSync::After);
  }

  void wait(std::uint32_t o, std::uint32_t thread, std::uint32_t id) {
    const ir::Op &op = index_.ops(block_).ops[o];
    const std::uint32_t rank = index_.rankOf(block_);
    const bool semaphore = op.kind == ir::OpKind::SemAcquire;
    const std::uint32_t number = semaphore ? index_.semaphore(rank, id) : index_.channel(op.channelType, rank, id);
    Last &last = last_[semaphore ? index_.numChannels() + number : number];
    // A semaphore counts right whoever acquires it: only what a thread does between two acquires can make them hang.
    if (last.phase == phase_ && last.thread != thread && (!semaphore || last.op < runStart_))
      if (auto *f = findings_.add(diag::threads_share_wait, index_.place(block_, o), index_.place(block_, last.op))) {
        f->args = {semaphore ? index_.describeSemaphore(number) : index_.describeChannel(number), thread + 1,
                   last.thread + 1};
        f->notes.push_back({&diag::waited_here, findings_.where(index_.place(block_, last.op)), {}});
      }
    last = {phase_, thread, o};
  }

  const ProgramIndex &index_;
  Findings &findings_;
  std::vector<Last> last_;  ///< [channel end, then semaphore]
  std::uint64_t phase_ = 0; ///< of all blocks, so that none has the number of another
  std::uint32_t block_ = 0;
  std::uint32_t runStart_ = 0; ///< first of the acquires that stand in a row up to here
};

} // namespace

/// Waits on one counter by several threads of a block in one phase.
void checkThreads(const ProgramIndex &index, Findings &findings) {
  ThreadCheck(index, findings).run();
}

} // namespace mscclc::passes::proof
