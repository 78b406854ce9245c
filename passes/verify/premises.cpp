#include "passes/verify/premises.h"

#include "ir/cursor.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::proof {

/// Counts the signals and waits of one launch, for each queue. `all` is the count in the proven size, and `once` is the
/// count outside of pipelines. If signals and waits agree in both counts, they agree at every size.
class PremiseScan {
public:
  PremiseScan(Premises &premises, const ProgramIndex &index, const Geometry &geometry, Findings &findings)
      : p_(premises), index_(index), geometry_(geometry), findings_(findings), sent_(index.numQueues()),
        taken_(sent_.size()), used_(index.numChannels()) {}

  void run() {
    for (std::uint32_t b = 0; b < index_.numBlocks(); ++b)
      scanBlock(b);
    checkChannels();
    checkSemaphores();
    collectShared();
  }

private:
  struct Side {
    std::uint64_t all = 0, once = 0;
    std::uint32_t block = none; ///< the first block on this side
    std::uint32_t op = 0;       ///< the first operation of that block on this side
    bool several = false;
    std::string words() const {
      if (all == once)
        return ir::plural(once, "time");
      return (once != 0 ? ir::plural(once, "time") + " and " : "") + std::string("in a loop");
    }
    std::string perLaunch() const { return words() + (all == once ? " a launch" : ""); }
  };

  void scanBlock(std::uint32_t b) {
    const ir::ThreadBlock &code = index_.ops(b);
    const std::uint32_t rank = index_.rankOf(b);
    for (const ir::ResourceUse &use : code.channels)
      if (use.type == ir::ChannelType::Memory || use.type == ir::ChannelType::Port)
        used_[index_.channel(use.type, rank, use.id)] = true;
    ir::forEachOp(code, [&](std::uint32_t o, std::uint32_t header) {
      const ir::Op &op = code.ops[o];
      const bool inLoop = header != none;
      if (op.kind == ir::OpKind::Nop && o != 0 && !inLoop && ir::isBlockSync(code.ops[o - 1].kind))
        findings_.report(diag::sync_orders_nothing, index_.place(b, o),
                         {ir::wordOf(index_.program, op), ir::wordOf(index_.program, code.ops[o - 1])});
      const bool takes = ir::takes(op.kind);
      if (!takes && !ir::sends(op.kind))
        return;
      const std::uint64_t times = inLoop ? geometry_.iterations(code.ops[header]) : 1;
      for (const std::uint32_t id : code.idsOf(op))
        if (!ir::isSemaphoreOp(op.kind) && index_.pairOf(index_.channel(op.channelType, rank, id)) == none)
          unpaired(b, o, op, id);
        else
          count((takes ? taken_ : sent_)[index_.queue(rank, op, id)], b, o, times, inLoop);
    });
  }

  void count(Side &side, std::uint32_t b, std::uint32_t o, std::uint64_t times, bool inLoop) {
    side.all += times;
    side.once += !inLoop;
    if (side.block == none) {
      side.block = b;
      side.op = o;
    } else if (side.block != b) {
      side.several = true;
    }
  }

  void unpaired(std::uint32_t b, std::uint32_t o, const ir::Op &op, std::uint32_t id) {
    p_.hold_ = false;
    const std::uint32_t rank = index_.rankOf(b), peer = index_.program.ranks[rank].peers(op.channelType)[id];
    if (auto *f = findings_.add(diag::channel_not_paired, index_.place(b, o))) {
      const auto &back = index_.program.ranks[peer].peers(op.channelType);
      f->args = {ir::wordOf(index_.program, op), index_.describeChannel(index_.channel(op.channelType, rank, id)), peer,
                 ir::plural(static_cast<std::uint64_t>(std::count(back.begin(), back.end(), rank)),
                            std::string(toString(op.channelType)) + " channel")};
    }
  }

  /// True if blocks signal and wait at channel end `end`, but no block does so at its other end.
  bool dealsWithItself(std::uint32_t end) const {
    const std::uint32_t other = index_.pairOf(end);
    return other != none && taken_[end].all != 0 && sent_[end].all == 0 && sent_[other].all != 0 &&
           taken_[other].all == 0;
  }
  void itself(std::uint32_t end) {
    const std::uint32_t other = index_.pairOf(end);
    const Side &signals = sent_[other];
    if (auto *f = findings_.add(diag::channel_with_itself, index_.place(taken_[end].block, taken_[end].op))) {
      f->args = {index_.describeChannel(end), index_.describeChannel(other), index_.rankOfChannel(other)};
      f->notes.push_back({&diag::signalled_here, findings_.where(index_.place(signals.block, signals.op)), {}});
    }
  }

  void checkChannels() {
    for (std::uint32_t end = 0; end < index_.numChannels(); ++end) {
      const Side &s = sent_[end], &t = taken_[end];
      if (index_.pairOf(end) == none && !used_[end])
        if (auto *f = findings_.addOnRank(diag::channel_without_use, index_.rankOfChannel(end)))
          f->args = {index_.describeChannel(end)};
      if (s.all == t.all && s.once == t.once)
        continue;
      p_.hold_ = false;
      const std::uint32_t other = index_.pairOf(end);
      if (dealsWithItself(end))
        itself(end);
      else if (other == none || !dealsWithItself(other)) // else it is reported at the other end
        mismatch(s, t, {diag::wait_without_signal, diag::signal_without_wait, diag::signalled_here, diag::waited_here},
                 [&](bool starves, const Side &at, const Side &partner) -> std::vector<ir::DiagArg> {
                   return {index_.describeChannel(starves ? end : other), at.perLaunch(),
                           index_.describeChannel(starves ? other : end), partner.words()};
                 });
    }
  }

  struct MismatchDiagnostics {
    const ir::DiagInfo &tooFewSent, &tooFewTaken, &sentHere, &takenHere;
  };
  /// Reports that a queue is not signalled as often as it is waited on. `argsOf(starves, at, partner)` returns the
  /// arguments of the finding at side `at`. If signals are missing (`starves`), this is the side of the waits, else
  /// that of the signals.
  void mismatch(const Side &sent, const Side &taken, const MismatchDiagnostics &infos, auto &&argsOf) {
    const bool starves = taken.all > sent.all || sent.all == 0;
    const Side &at = starves ? taken : sent, &partner = starves ? sent : taken;
    auto *f = findings_.add(starves ? infos.tooFewSent : infos.tooFewTaken, index_.place(at.block, at.op));
    if (!f)
      return;
    f->args = argsOf(starves, at, partner);
    if (partner.block != none)
      f->notes.push_back(
          {starves ? &infos.sentHere : &infos.takenHere, findings_.where(index_.place(partner.block, partner.op)), {}});
  }

  void checkSemaphores() {
    for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
      std::uint32_t unused = 0, firstUnused = 0;
      for (std::uint32_t id = 0; id < index_.program.ranks[r].semaphores.size(); ++id) {
        const std::uint32_t queue = index_.semaphoreQueue(r, id);
        const Side &s = sent_[queue], &t = taken_[queue];
        const std::uint32_t initial = index_.program.ranks[r].semaphores[id].initialValue;
        if (t.all == 0 && s.all == 0 && initial != 0 && unused++ == 0)
          firstUnused = id;
        if (s.all == t.all && s.once == t.once)
          continue;
        p_.hold_ = false;
        mismatch(
            s, t,
            {diag::acquire_without_release, diag::release_without_acquire, diag::released_here, diag::acquired_here},
            [&](bool starves, const Side &at, const Side &partner) -> std::vector<ir::DiagArg> {
              return {index_.describeSemaphore(index_.semaphore(r, id)), at.perLaunch(),
                      partner.words() + (starves && initial != 0 ? ", starting at " + std::to_string(initial) : "")};
            });
      }
      if (unused != 0)
        reportUnused(r, firstUnused, unused);
    }
  }

  void reportUnused(std::uint32_t rank, std::uint32_t first, std::uint32_t count) {
    if (auto *f = findings_.addOnRank(diag::semaphore_without_use, rank))
      f->args = {index_.describeSemaphore(index_.semaphore(rank, first)),
                 index_.program.ranks[rank].semaphores[first].initialValue,
                 count == 1 ? "" : ", nor any of " + std::to_string(count - 1) + " more of the rank"};
  }

  /// Collects the queues that several blocks signal or wait on, with the counts of each block.
  void collectShared() {
    for (std::uint32_t q = 0; q < sent_.size(); ++q)
      if (sent_[q].several || taken_[q].several)
        p_.shared_[q];
    if (p_.shared_.empty())
      return;
    const auto add = [](std::vector<SharedSync::Party> &parties, std::uint32_t block, std::uint64_t times) {
      if (parties.empty() || parties.back().block != block)
        parties.push_back({block, 0});
      parties.back().count += times;
    };
    for (std::uint32_t b = 0; b < index_.numBlocks(); ++b) {
      const ir::ThreadBlock &code = index_.ops(b);
      const std::uint32_t rank = index_.rankOf(b);
      ir::forEachOp(code, [&](std::uint32_t o, std::uint32_t header) {
        const ir::Op &op = code.ops[o];
        const bool takes = ir::takes(op.kind);
        if (!takes && !ir::sends(op.kind))
          return;
        for (const std::uint32_t id : code.idsOf(op)) {
          const auto it = p_.shared_.find(index_.queue(rank, op, id));
          if (it != p_.shared_.end())
            add(takes ? it->second.waiters : it->second.signallers, b,
                header != none ? geometry_.iterations(code.ops[header]) : 1);
        }
      });
    }
  }

  Premises &p_;
  const ProgramIndex &index_;
  const Geometry &geometry_;
  Findings &findings_;
  std::vector<Side> sent_, taken_; ///< [queue]
  std::vector<bool> used_;         ///< [channel]: true if some block uses it
};

Premises::Premises(const ProgramIndex &index, const Geometry &geometry, Findings &findings) {
  PremiseScan(*this, index, geometry, findings).run();
}

} // namespace mscclc::passes::proof
