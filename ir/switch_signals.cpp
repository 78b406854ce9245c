#include "ir/switch_signals.h"

#include "ir/cursor.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::ir {

namespace {

/// Returns the kind of the same operation through a memory channel.
constexpr OpKind memoryKind(OpKind kind) {
  if (isSignal(kind))
    return isRelaxed(kind) ? OpKind::RelaxedSignal : OpKind::Signal;
  return isRelaxed(kind) ? OpKind::RelaxedWait : OpKind::Wait;
}

class Speller {
public:
  Speller(Rank &rank, std::uint32_t index, SpelledBy by) : rank_(rank), by_(by) {
    const auto own = static_cast<std::uint32_t>(rank.memoryPeers.size());
    for (const SwitchChannel &channel : rank.switchChannels) {
      std::vector<std::uint32_t> &ids = channels_.emplace_back();
      for (const std::uint32_t member : channel.ranks)
        if (member != index) {
          ids.push_back(static_cast<std::uint32_t>(rank.memoryPeers.size()));
          rank.memoryPeers.push_back(member);
        }
    }
    rank.switchSignals = static_cast<std::uint32_t>(rank.memoryPeers.size()) - own;
  }

  void run() {
    for (ThreadBlock &block : rank_.blocks)
      if (std::ranges::any_of(block.ops, [](const Op &op) { return signalsThroughSwitch(op.kind); }))
        spellOut(block);
  }

private:
  void spellOut(ThreadBlock &block) {
    const ThreadBlock old = std::move(block);
    block = {};
    block.channels = old.channels;
    block.remoteBuffers = old.remoteBuffers;
    rewriteOps(old, block.ops, [&](std::uint32_t o) {
      const Op &op = old.ops[o];
      if (signalsThroughSwitch(op.kind))
        spellOut(block, op, channels_[old.idsOf(op)[0]]);
      else
        block.append(op, old.srcs(op), old.dsts(op), old.idsOf(op));
    });
    for (const ResourceUse &use : old.channels)
      if (use.type == ChannelType::Switch)
        for (const std::uint32_t id : channels_[use.id])
          block.channels.push_back({ChannelType::Memory, id});
  }

  void spellOut(ThreadBlock &block, Op op, const std::vector<std::uint32_t> &ids) const {
    const DataSync sync = op.sync;
    op.kind = memoryKind(op.kind);
    op.channelType = ChannelType::Memory;
    if (ids.empty()) { // in a group of one rank, there is no other rank to signal
      op = {.sync = DataSync::None, .loc = op.loc};
      if (sync != DataSync::None)
        block.append(op);
      return;
    }
    if (by_ == SpelledBy::ThreadEach) {
      block.append(op, {}, {}, ids);
      return;
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      op.sync = (i == 0 ? sync & DataSync::Before : DataSync::None) |
                (i + 1 == ids.size() ? sync & DataSync::After : DataSync::None);
      block.append(op, {}, {}, {&ids[i], 1});
    }
  }

  Rank &rank_;
  const SpelledBy by_;
  std::vector<std::vector<std::uint32_t>>
      channels_; ///< [switch channel]: the memory channels, one to each other member
};

} // namespace

bool hasSwitchSignals(const Program &program) {
  return std::ranges::any_of(opsOf(program.ranks), [](const Op &op) { return signalsThroughSwitch(op.kind); });
}

Program spellOutSwitchSignals(const Program &program, SpelledBy by) {
  Program spelled = program;
  for (std::uint32_t r = 0; r < spelled.ranks.size(); ++r)
    Speller(spelled.ranks[r], r, by).run();
  return spelled;
}

} // namespace mscclc::ir
