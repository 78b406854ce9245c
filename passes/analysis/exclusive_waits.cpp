#include "passes/analysis/exclusive_waits.h"

#include "passes/phases.h"

#include <algorithm>
#include <tuple>

namespace mscclc::passes {

using ir::Op;
using ir::OpKind;

void ExclusiveWaits::start(const ir::ThreadBlock &block) {
  const auto numOps = static_cast<std::uint32_t>(block.ops.size());
  phases_.resize(numOps);
  std::uint32_t phase = 0, newest = 0, bodyEnd = 0, bodyBegin = 0;
  for (std::uint32_t o = 0; o < numOps; ++o) {
    const Op &op = block.ops[o];
    if (beginsPhase(op))
      phase = ++newest;
    phases_[o] = phase;
    if (endsPhase(op))
      phase = ++newest;
    if (op.kind == OpKind::Pipeline && op.bodySize != 0) {
      bodyBegin = o;
      bodyEnd = o + op.bodySize;
    } else if (o != 0 && o == bodyEnd && phase != phases_[bodyBegin]) {
      // The end of an iteration is in the phase in which the next iteration begins.
      for (std::uint32_t i = o; i > bodyBegin && phases_[i] == phase; --i)
        phases_[i] = phases_[bodyBegin];
      phase = phases_[bodyBegin];
    }
  }
  uses_.clear();
  std::uint32_t run = 0;
  for (std::uint32_t o = 0; o < numOps; ++o) {
    const Op &op = block.ops[o];
    const bool acquires = op.kind == OpKind::SemAcquire;
    if (!acquires || (o != 0 && block.ops[o - 1].kind != OpKind::SemAcquire))
      run = o;
    std::uint32_t thread = 0;
    if (acquires || ir::isWait(op.kind))
      for (const std::uint32_t id : block.idsOf(op))
        uses_.push_back({phases_[o], static_cast<std::uint32_t>(op.channelType), id, o, run, thread++});
  }
  const auto counterOf = [](const Use &use) { return std::tie(use.phase, use.type, use.id); };
  std::ranges::sort(uses_, {}, counterOf);
  alone_.assign(numOps, true);
  for (auto first = uses_.begin(), last = first; first != uses_.end(); first = last) {
    bool oneRun = true, oneThread = true;
    for (; last != uses_.end() && counterOf(*last) == counterOf(*first); ++last) {
      oneRun = oneRun && last->run == first->run;
      oneThread = oneThread && last->thread == first->thread;
    }
    for (auto use = first; use != last && !oneRun && !oneThread; ++use)
      alone_[use->op] = false;
  }
}

} // namespace mscclc::passes
