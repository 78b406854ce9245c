// Equality of programs, but for how operands are laid out in their blocks' arrays.
#pragma once

#include "ir/program.h"

#include <algorithm>

namespace mscclc::test {

inline bool sameBlock(const ir::ThreadBlock &a, const ir::ThreadBlock &b) {
  if (a.channels != b.channels || a.remoteBuffers != b.remoteBuffers || a.ops.size() != b.ops.size())
    return false;
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    const ir::Op &x = a.ops[i], &y = b.ops[i];
    if (x.kind != y.kind || x.channelType != y.channelType || x.reduceOp != y.reduceOp || x.sync != y.sync ||
        x.loc != y.loc || x.groupIndex != y.groupIndex || x.groupSize != y.groupSize || x.imm != y.imm ||
        x.count != y.count || x.bodySize != y.bodySize || x.numSrcs != y.numSrcs || x.firstAfter != y.firstAfter ||
        !std::ranges::equal(a.operands(x), b.operands(y)) || !std::ranges::equal(a.idsOf(x), b.idsOf(y)))
      return false;
  }
  return true;
}

inline bool sameRank(const ir::Rank &a, const ir::Rank &b) {
  return a.inputChunks == b.inputChunks && a.outputChunks == b.outputChunks && a.scratchChunks == b.scratchChunks &&
         a.memoryPeers == b.memoryPeers && a.portPeers == b.portPeers && a.portChannelsFirst == b.portChannelsFirst &&
         a.switchChannels == b.switchChannels && a.remoteBuffers == b.remoteBuffers && a.semaphores == b.semaphores &&
         std::ranges::equal(a.blocks, b.blocks, sameBlock);
}

inline bool sameMovement(const ir::Movement &a, const ir::Movement &b) {
  const auto sameMove = [&](const ir::Move &x, const ir::Move &y) {
    return x.kind == y.kind && x.reduceOp == y.reduceOp && x.hook == y.hook && x.loc == y.loc && x.via == y.via &&
           x.by == y.by && x.block == y.block && x.packets == y.packets && x.firstAfter == y.firstAfter &&
           std::ranges::equal(a.srcs(x), b.srcs(y)) && std::ranges::equal(a.dsts(x), b.dsts(y));
  };
  return a.ranksPerNode == b.ranksPerNode && a.mostBlocks == b.mostBlocks && a.order == b.order &&
         a.accumulate == b.accumulate && a.chooseProtocol == b.chooseProtocol &&
         a.chooseInstances == b.chooseInstances && std::ranges::equal(a.statements, b.statements, sameMove);
}

inline bool sameProgram(const ir::Program &a, const ir::Program &b) {
  const auto sameExpectation = [](const ir::Expectation &x, const ir::Expectation &y) {
    return x.rank == y.rank && x.outputChunk == y.outputChunk && x.contributions == y.contributions && x.loc == y.loc;
  };
  const auto sameSources = [](const ir::SourceMap &x, const ir::SourceMap &y) {
    if (x.files() != y.files() || x.size() != y.size())
      return false;
    for (ir::LocId id = 0; id < x.size(); ++id)
      if (x.get(id) != y.get(id))
        return false;
    return true;
  };
  return a.name == b.name && a.collective.kind == b.collective.kind && a.collective.name == b.collective.name &&
         a.collective.loc == b.collective.loc && a.collective.inplace == b.collective.inplace &&
         a.collective.chunkFactor == b.collective.chunkFactor && a.collective.root == b.collective.root &&
         a.collective.rows == b.collective.rows && a.collective.experts == b.collective.experts &&
         a.collective.expertLayout == b.collective.expertLayout &&
         std::ranges::equal(a.collective.expectations, b.collective.expectations, sameExpectation) &&
         a.protocol == b.protocol && a.fuse == b.fuse && a.autoSync == b.autoSync && a.instances == b.instances &&
         a.replication == b.replication && a.reuseResources == b.reuseResources && a.doubleScratch == b.doubleScratch &&
         a.latePacketsApart == b.latePacketsApart && a.split == b.split && a.readyRows == b.readyRows &&
         a.oncePerRank == b.oncePerRank && a.threadsPerBlock == b.threadsPerBlock &&
         a.bufferAlignment == b.bufferAlignment && a.minMessageSize == b.minMessageSize &&
         a.maxMessageSize == b.maxMessageSize && a.tags == b.tags && a.hooks == b.hooks &&
         a.collective.then == b.collective.then && a.schedule == b.schedule && sameMovement(a.movement, b.movement) &&
         std::ranges::equal(a.ranks, b.ranks, sameRank) && sameSources(a.sources, b.sources);
}

} // namespace mscclc::test
