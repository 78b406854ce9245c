#include "backend-cuda/channel_order.h"

#include "backend-cuda/block_order.h"
#include "ir/op_semantics.h"

namespace mscclc::cuda {

namespace {

using ir::Op;

class Marker {
public:
  Marker(const ir::Rank &rank, const ir::ThreadBlock &block, std::vector<char> &before)
      : block_(block), before_(before), memoryWaits_(rank.memoryPeers.size()), memorySignals_(rank.memoryPeers.size()),
        portWaits_(rank.portPeers.size()), requests_(rank.portPeers.size()) {}

  void run() {
    forEachInOrder(block_, [&](std::size_t o) { visit(o); });
  }

private:
  /// The thread that last used a channel, and the phase of this use.
  struct Last {
    std::uint32_t phase = 0, thread = 0;
  };

  std::vector<Last> *lastOf(const Op &op) {
    const bool port = op.channelType == ir::ChannelType::Port;
    if (ir::isWait(op.kind))
      return port ? &portWaits_ : &memoryWaits_;
    return port ? &requests_ : ir::isSignal(op.kind) ? &memorySignals_ : nullptr;
  }

  void visit(std::size_t o) {
    const Op &op = block_.ops[o];
    if (ir::isBlockSync(op.kind) || has(op.sync, ir::DataSync::Before) || before_[o] != 0)
      ++phase_;
    if (std::vector<Last> *last = op.numIds != 0 && !ir::isSemaphoreOp(op.kind) ? lastOf(op) : nullptr) {
      const auto ids = block_.idsOf(op);
      const auto reach = [&](auto f) {
        // Pairs of different sizes become separate statements (operation_writer.cpp). Each statement counts threads
        // anew.
        const bool pairs = op.numSrcs == op.numIds && op.numChunks() != 0;
        std::uint32_t begin = 0;
        for (std::uint32_t i = 0; i < op.numIds; ++i) {
          if (pairs && block_.operands(op)[i].size != block_.operands(op)[begin].size)
            begin = i;
          f((*last)[ids[i]], i - begin);
        }
      };
      bool astray = false;
      reach([&](const Last &l, std::uint32_t thread) { astray |= l.phase == phase_ && l.thread != thread; });
      if (astray) {
        before_[o] = 1;
        ++phase_;
      }
      reach([&](Last &l, std::uint32_t thread) { l = {phase_, thread}; });
    }
    if (has(op.sync, ir::DataSync::After))
      ++phase_;
  }

  const ir::ThreadBlock &block_;
  std::vector<char> &before_;
  std::uint32_t phase_ = 1;
  std::vector<Last> memoryWaits_, memorySignals_, portWaits_, requests_;
};

} // namespace

void markUnorderedChannels(const ir::Rank &rank, const ir::ThreadBlock &block, std::vector<char> &before) {
  Marker(rank, block, before).run();
}

} // namespace mscclc::cuda
