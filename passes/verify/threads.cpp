#include "passes/verify/threads.h"

#include "passes/phases.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {

/// Calls visit(op, phase, again) for each operation of a block in order, except for headers of pipelines. Two
/// iterations share a phase if no sync separates the end of one from the beginning of the next. So after a pipeline,
/// the first operations of its body are visited again, with `again` set. Then the operations in the last phase of the
/// last iteration are visited once more, because operations after the pipeline continue in that phase.
template <typename Visit> void walkPhases(const ir::ThreadBlock &code, std::uint64_t &phase, Visit visit) {
  const auto &ops = code.ops;
  std::uint32_t begin = 0, end = none;
  for (std::uint32_t o = 0; o < ops.size(); ++o) {
    if (ops[o].kind == ir::OpKind::Pipeline && ops[o].bodySize != 0) {
      begin = o + 1;
      end = o + ops[o].bodySize;
      continue;
    }
    phase += beginsPhase(ops[o]);
    visit(o, phase, false);
    phase += endsPhase(ops[o]);
    if (o != end)
      continue;
    std::uint32_t tail = end + 1; // the first operation after the last sync of the body
    while (tail != begin && !endsPhase(ops[tail - 1]) && (tail > end || !beginsPhase(ops[tail])))
      --tail;
    const auto isSync = [](const ir::Op &op) { return ir::isBlockSync(op.kind); };
    if (beginsPhase(ops[begin]) || std::all_of(ops.begin() + tail, ops.begin() + end + 1, isSync))
      continue; // no phase contains operations of two iterations
    for (std::uint32_t again = begin; again <= end && !beginsPhase(ops[again]); ++again) {
      visit(again, phase, true);
      if (endsPhase(ops[again]))
        break;
    }
    if (tail == begin) // all iterations are in one phase
      continue;
    for (++phase; tail <= end; ++tail)
      visit(tail, phase, false);
  }
}

} // namespace

class ThreadScan {
public:
  ThreadScan(const ProgramIndex &index, bool inTurns, Findings &findings, ThreadRoles &roles)
      : index_(index), threads_(inTurns ? none : index.program.threadsPerBlock), findings_(findings), roles_(roles),
        waited_(index.numQueues()), sent_(index.numQueues()) {}

  void run() {
    roles_.relays_.assign(index_.numBlocks(), false);
    for (block_ = 0; block_ < index_.numBlocks(); ++block_) {
      const ir::ThreadBlock &code = index_.ops(block_);
      ++phase_; // so that phases of different blocks have different numbers
      inTurns_ = false;
      walkPhases(code, phase_, [&](std::uint32_t o, std::uint64_t phase, bool again) { visit(o, phase, again); });
      if (inTurns_)
        findTurns();
    }
  }

private:
  struct Last {
    std::uint64_t phase = 0;
    std::uint32_t thread = 0, op = 0;
    std::uint64_t row = 0; ///< number of the row of consecutive acquires
  };

  std::uint32_t queueOf(const ir::Op &op, std::uint32_t id) const {
    const std::uint32_t rank = index_.rankOf(block_);
    if (ir::isSemaphoreOp(op.kind))
      return index_.semaphoreQueue(rank, id);
    return index_.channel(op.channelType, rank, id);
  }

  void visit(std::uint32_t o, std::uint64_t phase, bool again) {
    const ir::ThreadBlock &code = index_.ops(block_);
    const ir::Op &op = code.ops[o];
    row_ += op.kind != ir::OpKind::SemAcquire || again != again_; // acquires of another iteration are another row
    again_ = again;
    const bool issues = ir::sends(op.kind) || (op.channelType == ir::ChannelType::Port && op.numDsts != 0);
    if (!issues && !ir::takes(op.kind))
      return;
    const auto ids = code.idsOf(op);
    const auto threads = std::max(op.numIds, issues ? op.numDsts : 0);
    if (threads > threads_)
      findings_.report(diag::threads_too_few, index_.place(block_, o),
                       {ir::wordOf(index_.program, op), threads, ir::plural(threads_, "thread")});
    if (waitsOf_.size() < threads)
      waitsOf_.resize(threads, 0);
    for (std::uint32_t i = 0; i < threads; ++i) {
      if (ir::takes(op.kind)) {
        waitsOf_[i] = phase;
        wait(o, i, ids[i], phase);
      } else {
        roles_.relays_[block_] = roles_.relays_[block_] || waitsOf_[i] == phase;
        if (ir::sends(op.kind) && i < ids.size())
          send(o, i, ids[i], phase);
      }
    }
  }

  void wait(std::uint32_t o, std::uint32_t thread, std::uint32_t id, std::uint64_t phase) {
    const ir::Op &op = index_.ops(block_).ops[o];
    const bool semaphore = op.kind == ir::OpKind::SemAcquire;
    const std::uint32_t queue = queueOf(op, id);
    std::vector<Last> &inPhase = waited_[queue];
    if (!inPhase.empty() && inPhase.back().phase != phase)
      inPhase.clear();
    // Counts the distinct rows in which the thread waited. Two are enough, because any other row differs from one of
    // them.
    int rows = 0;
    for (const Last &had : inPhase) {
      if (had.thread == thread) {
        rows += had.row == row_ ? 2 : 1;
        continue;
      }
      if (semaphore)
        roles_.acquiredTogether_.emplace(block_, queue);
      // A semaphore counts correctly, whichever threads acquire it. Acquires can hang only if a thread does something
      // else between two of them.
      if (semaphore && had.row == row_)
        continue;
      if (auto *f = findings_.add(diag::threads_share_wait, index_.place(block_, o), index_.place(block_, had.op))) {
        f->args = {semaphore ? index_.describeSemaphore(queue - index_.numChannels()) : index_.describeChannel(queue),
                   thread + 1, had.thread + 1};
        f->notes.push_back({&diag::waited_here, findings_.where(index_.place(block_, had.op)), {}});
      }
      break;
    }
    if (rows < 2)
      inPhase.push_back({phase, thread, o, row_});
  }

  void send(std::uint32_t o, std::uint32_t thread, std::uint32_t id, std::uint64_t phase) {
    Last &last = sent_[queueOf(index_.ops(block_).ops[o], id)];
    inTurns_ = inTurns_ || (last.phase == phase && last.thread != thread);
    last = {phase, thread, o, row_};
  }

  struct Send {
    std::uint32_t queue;
    std::uint64_t phase;
    std::uint32_t op, thread;
    bool relaxed, again;
  };

  /// Collects the sends of the block for each counter and phase. Gives turns to the sends that several threads make.
  void findTurns() {
    std::vector<Send> all;
    const ir::ThreadBlock &code = index_.ops(block_);
    std::uint64_t phase = 0;
    walkPhases(code, phase, [&](std::uint32_t o, std::uint64_t in, bool again) {
      const ir::Op &op = code.ops[o];
      if (!ir::sends(op.kind))
        return;
      for (std::uint32_t i = 0; i < op.numIds; ++i)
        all.push_back({queueOf(op, code.idsOf(op)[i]), in, o, i, op.kind == ir::OpKind::RelaxedSignal, again});
    });
    const auto same = [](const Send &a, const Send &b) { return a.queue == b.queue && a.phase == b.phase; };
    std::stable_sort(all.begin(), all.end(), [](const Send &a, const Send &b) {
      return std::pair(a.queue, a.phase) < std::pair(b.queue, b.phase);
    });
    for (auto first = all.begin(), end = first; first != all.end(); first = end) {
      end = std::find_if_not(first, all.end(), [&](const Send &s) { return same(s, *first); });
      giveTurns({first, end});
    }
  }

  void giveTurns(std::span<const Send> group) {
    ThreadRoles::Turn turn;
    bool goesRound = false;
    for (const Send &s : group) {
      turn.anyRelaxed |= s.relaxed;
      turn.allRelaxed &= s.relaxed;
      goesRound |= s.again;
      if (std::find(turn.threads.begin(), turn.threads.end(), s.thread) == turn.threads.end())
        turn.threads.push_back(s.thread);
    }
    // Signals of one kind through memory channels carry the same knowledge: everything before the phase. So their order
    // makes no difference.
    const bool isPort = index_.ops(block_).ops[group[0].op].channelType == ir::ChannelType::Port;
    const bool differ = isPort || roles_.relays_[block_] || turn.anyRelaxed != turn.allRelaxed;
    if (turn.threads.size() == 1 || !differ)
      return;
    turn.of = goesRound ? none : static_cast<std::uint32_t>(group.size());
    for (const Send &s : group) {
      ++turn.number;
      auto &had = roles_.turns_[{block_, s.op, s.thread}];
      had = had.of == none ? had : turn;
    }
  }

  const ProgramIndex &index_;
  const std::uint32_t threads_; ///< number of threads of a block; each executes a part of every operation
  Findings &findings_;
  ThreadRoles &roles_;
  std::vector<std::vector<Last>> waited_; ///< [channel end or semaphore]: the waits in the phase of the last wait
  std::vector<Last> sent_;                ///< [channel end or semaphore]: the last send
  std::vector<std::uint64_t> waitsOf_;    ///< [thread]: phase of its last wait
  std::uint64_t phase_ = 0;
  std::uint32_t block_ = 0;
  std::uint64_t row_ = 0; ///< number of the current row of consecutive acquires
  bool again_ = false;
  bool inTurns_ = false; ///< true if several threads of the block send to one counter in a phase
};

ThreadRoles::ThreadRoles(const ProgramIndex &index, bool inTurns, Findings &findings) {
  ThreadScan(index, inTurns, findings, *this).run();
}

} // namespace mscclc::passes::proof
