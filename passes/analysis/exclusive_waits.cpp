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
      // An iteration ends in the phase in which the next one begins.
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
        uses_.push_back({phases_[o], static_cast<std::uint32_t>(op.channelType), id, run, thread++});
  }
  std::sort(uses_.begin(), uses_.end());
  const auto several = [&](const Use &use) {
    const auto [first, last] = std::equal_range(uses_.begin(), uses_.end(), use, [](const Use &a, const Use &b) {
      return std::tie(a.phase, a.type, a.id) < std::tie(b.phase, b.type, b.id);
    });
    const auto otherThread = [&](const Use &other) { return other.thread != first->thread; };
    return first->op != std::prev(last)->op && std::any_of(first, last, otherThread);
  };
  alone_.assign(numOps, true);
  for (std::uint32_t o = 0; o < numOps; ++o) {
    const Op &op = block.ops[o];
    if (op.kind == OpKind::SemAcquire || ir::isWait(op.kind))
      for (const std::uint32_t id : block.idsOf(op))
        if (several({phases_[o], static_cast<std::uint32_t>(op.channelType), id, 0, 0}))
          alone_[o] = false;
  }
}

} // namespace mscclc::passes
