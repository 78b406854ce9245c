// The structural checker's part for operations.
#include "ir/ir_diagnostics.h"
#include "ir/memory_map.h"
#include "ir/op_semantics.h"
#include "ir/op_shapes.h"
#include "ir/structure_checker.h"
#include "ir/text_words.h"

namespace mscclc::ir {

void addSwitchChannels(std::span<const Chunk> operands, std::vector<std::uint32_t> &channels) {
  for (const Chunk &chunk : operands)
    if (chunk.space == ChunkSpace::Switch && std::ranges::find(channels, chunk.id) == channels.end())
      channels.push_back(chunk.id);
}

std::string countWords(std::uint32_t least, bool more, std::string_view noun) {
  if (least == 0 && !more)
    return "no " + std::string(noun);
  if (!more)
    return plural(least, noun);
  return std::to_string(least) + " or more " + std::string(noun) + "s";
}

void StructureChecker::checkOp(const Op &op) {
  if (!checkRanges(op))
    return;
  checkFields(op);
  if (info(op.kind).step == OpStep::Loop)
    checkPipeline(op);
  const bool inLoop = at_.op < pipelineEnd_;
  if (op.kind == OpKind::Barrier && (barriers_.empty() || barriers_.back().id != op.imm ||
                                     barriers_.back().block != at_.block || barriers_.back().count != op.count))
    barriers_.push_back({op.imm, at_.block, at_.op, op.count});
  if (!opShapes[static_cast<std::size_t>(op.kind)].allows(op.channelType)) {
    const std::string words =
        op.channelType == ChannelType::None ? "no channel" : std::string(toString(op.channelType)) + " channels";
    fault(diag::channel_type_not_allowed, {toString(op.kind), words});
    return;
  }
  const bool sources = checkSide(op, Side::Source);
  const bool destinations = checkSide(op, Side::Destination);
  const bool ids = checkIds(op);
  if (sources && destinations) {
    checkSizes(op);
    if (op.kind == OpKind::Apply && block_->srcs(op)[0] != block_->dsts(op)[0])
      fault(diag::apply_moves, {toString(op.kind)});
    if (op.kind == OpKind::Apply)
      checkHookUse(toString(op.kind), op.imm, at_.rank, block_->dsts(op)[0], inLoop);
    if (ids)
      checkDestinationsOfChannels(op);
  }
}

bool StructureChecker::checkRanges(const Op &op) {
  const auto outside = [](std::uint64_t first, std::uint64_t count, std::size_t size) {
    return count != 0 && first + count > size;
  };
  const bool chunks = outside(op.firstChunk, std::uint64_t{op.numSrcs} + op.numDsts, block_->chunks.size());
  if (chunks || outside(op.firstId, op.numIds, block_->ids.size())) {
    fault(diag::operands_outside,
          {toString(op.kind), chunks ? "operands" : "ids",
           chunks ? std::to_string(op.firstChunk) + ":" +
                        std::to_string(std::uint64_t{op.firstChunk} + op.numSrcs + op.numDsts)
                  : std::to_string(op.firstId) + ":" + std::to_string(std::uint64_t{op.firstId} + op.numIds),
           chunks ? block_->chunks.size() : block_->ids.size()});
    return false;
  }
  if (op.loc >= program_.sources.size())
    fault(diag::unknown_location_id, {op.loc, plural(program_.sources.size() - 1, "location")});
  return true;
}

void StructureChecker::checkFields(const Op &op) {
  const auto unwanted = [&](bool isThere, std::string_view what) {
    if (isThere) [[unlikely]]
      fault(diag::field_not_allowed, {toString(op.kind), what});
  };
  const bool loop = op.kind == OpKind::Pipeline;
  unwanted(op.sync != DataSync::None && !hasDataSync(op.kind), "data sync");
  unwanted(op.reduceOp != ReduceOp::Sum && !reduces(op.kind), "reduce operation");
  unwanted(op.firstAfter != 0 && !addsFirstAnywhere(op.kind), "place of the first source among the others");
  if (op.firstAfter != 0 && op.firstAfter >= op.numSrcs)
    fault(diag::first_after_range, {toString(op.kind), op.firstAfter, plural(op.numSrcs, "source")});
  unwanted((op.imm != 0 || op.count != 0) && !loop && op.kind != OpKind::Barrier &&
               (op.kind != OpKind::Apply || op.count != 0),
           "immediate or count");
  unwanted(op.bodySize != 0 && !loop, "body");
  if ((op.groupSize | op.groupIndex) != 0) {
    unwanted(op.groupSize != 0 && !canBeSliced(op.kind), "slice of a thread-block group");
    if (op.groupIndex >= op.groupSize)
      fault(diag::slice_out_of_range, {toString(op.kind), op.groupIndex, op.groupSize});
  }
}

/// Checks the hook of an operation or statement `what` that writes `chunk` of `rank`.
void StructureChecker::checkHookUse(std::string_view what, std::uint64_t hook, std::uint32_t rank, const Chunk &chunk,
                                    bool inLoop) {
  if (hook >= program_.hooks.size()) {
    fault(diag::hook_outside, {what, hook, plural(program_.hooks.size(), "hook")});
    return;
  }
  if (program_.hooks[hook].wire != Wire::None)
    fault(diag::hook_bad, {program_.hooks[hook].name, "is a wire format, which no operation names"});
  if (inLoop && program_.hooks[hook].granularity != Granularity::Element)
    fault(diag::hook_in_pipeline, {what, program_.hooks[hook].name,
                                   granularityNames[static_cast<std::size_t>(program_.hooks[hook].granularity)]});
  if (!outputOffset(program_, rank, memoryOf(program_, rank, chunk)))
    fault(diag::hook_place,
          {what, std::string(words::spaces[static_cast<std::size_t>(chunk.space)]) + "[" + std::to_string(chunk.index) +
                     ":" + std::to_string(std::uint64_t{chunk.index} + chunk.size) + "]"});
}

void StructureChecker::checkPipeline(const Op &op) {
  const std::uint64_t left = block_->ops.size() - at_.op - 1;
  if (op.bodySize > left)
    fault(diag::pipeline_too_long, {plural(op.bodySize, "operation")});
  if (at_.op < pipelineEnd_)
    fault(diag::pipeline_nested, {});
  if (op.imm == 0)
    fault(diag::pipeline_unit_zero, {});
  const auto end = static_cast<std::uint32_t>(at_.op + 1 + std::min<std::uint64_t>(op.bodySize, left));
  pipelineEnd_ = std::max(pipelineEnd_, end);
}

bool StructureChecker::checkSide(const Op &op, Side side) {
  const OpShape &full = opShapes[static_cast<std::size_t>(op.kind)];
  const SideShape &shape = side == Side::Source ? full.srcs : full.dsts;
  const auto operands = side == Side::Source ? block_->srcs(op) : block_->dsts(op);
  const std::uint32_t least = shape.minLocal + shape.minRemote + shape.numSwitch;
  const bool more = shape.maxLocal == anyCount || shape.maxRemote == anyCount;
  if (operands.size() < least || (operands.size() > least && !more)) {
    const std::string_view noun = sideNames[static_cast<std::size_t>(side)];
    fault(diag::operand_count, {toString(op.kind), countWords(least, more, noun), operands.size()});
    return false;
  }
  bool good = true;
  for (std::uint32_t i = 0; i < operands.size(); ++i)
    good &= checkChunk(op, side, i, operands[i]);
  return good;
}

bool StructureChecker::checkChunk(const Op &op, Side side, std::uint32_t index, const Chunk &chunk) {
  const OpShape &opShape = opShapes[static_cast<std::size_t>(op.kind)];
  const SideShape &shape = side == Side::Source ? opShape.srcs : opShape.dsts;
  const std::string_view sideName = sideNames[static_cast<std::size_t>(side)];

  // Local operands come first. A side that also takes remote operands has a fixed number of local ones.
  const bool wantsSwitch = shape.numSwitch != 0;
  const bool wantsRemote = shape.maxRemote != 0 && index >= shape.maxLocal;
  if (wantsSwitch ? chunk.space != ChunkSpace::Switch
                  : (wantsRemote ? chunk.space != ChunkSpace::Remote : !isLocal(chunk.space))) {
    const std::string_view wanted = wantsSwitch ? "on a switch channel" : wantsRemote ? "remote" : "local";
    fault(diag::operand_space,
          {toString(op.kind), sideName, index, wanted, words::spaces[static_cast<std::size_t>(chunk.space)]});
    return false;
  }

  std::uint32_t limit;
  BufferKind buffer;
  if (isLocal(chunk.space)) {
    buffer = static_cast<BufferKind>(chunk.space);
    limit = rank_->chunksOf(buffer);
    if (chunk.id != 0)
      fault(diag::field_not_allowed, {"a local chunk", "id"});
  } else if (chunk.space == ChunkSpace::Remote) {
    if (chunk.id >= rank_->remoteBuffers.size()) {
      fault(diag::id_out_of_range,
            {toString(op.kind), "remote buffer", chunk.id, plural(rank_->remoteBuffers.size(), "remote buffer")});
      return false;
    }
    if (!remoteTable_[static_cast<std::size_t>(op.channelType)].contains(chunk.id)) {
      fault(diag::remote_not_in_table, {toString(op.kind), chunk.id, toString(op.channelType)});
      return false;
    }
    buffer = rank_->remoteBuffers[chunk.id].buffer;
    limit = remoteChunks_[chunk.id];
  } else {
    if (chunk.id >= rank_->switchChannels.size()) {
      fault(diag::id_out_of_range,
            {toString(op.kind), "switch channel", chunk.id, plural(rank_->switchChannels.size(), "switch channel")});
      return false;
    }
    buffer = rank_->switchChannels[chunk.id].buffer;
    limit = switchChunks_[chunk.id];
  }

  if (chunk.size == 0)
    fault(diag::chunk_empty, {toString(op.kind), sideName, index});
  else if (std::uint64_t{chunk.index} + chunk.size > limit)
    fault(diag::chunk_out_of_range, {toString(op.kind), words::spaces[static_cast<std::size_t>(chunk.space)],
                                     chunk.index, std::uint64_t{chunk.index} + chunk.size, plural(limit, "chunk")});
  const DataForm form = side == Side::Source ? formOfSource(op, index) : formOfDestination(op.kind, index);
  if (form == DataForm::Packet && buffer != BufferKind::Scratch)
    fault(diag::packet_not_in_scratch, {toString(op.kind), sideName, index, toString(buffer)});
  return true;
}

bool StructureChecker::checkIds(const Op &op) {
  const OpShape &shape = opShapes[static_cast<std::size_t>(op.kind)];
  const auto ids = block_->idsOf(op);
  std::uint32_t least = 0;
  bool more = false;
  std::vector<std::uint32_t> named;
  switch (shape.ids) {
  case IdRule::None:
    break;
  case IdRule::Channels:
  case IdRule::Semaphores:
    least = 1;
    more = true;
    break;
  case IdRule::PerRemoteIfPort:
    if (op.channelType == ChannelType::Memory)
      break;
    [[fallthrough]];
  case IdRule::PerRemote:
    least = shape.srcs.maxRemote != 0 ? op.numSrcs : op.numDsts;
    break;
  case IdRule::OneSwitch:
    least = 1;
    break;
  case IdRule::PerSwitch:
    addSwitchChannels(block_->operands(op), named);
    least = static_cast<std::uint32_t>(std::max<std::size_t>(named.size(), 1));
    break;
  }
  const bool semaphores = shape.ids == IdRule::Semaphores;
  const std::string_view noun = semaphores ? "semaphore" : "channel";
  if (ids.size() < least || (ids.size() > least && !more)) {
    fault(diag::id_count, {toString(op.kind), countWords(least, more, noun), ids.size()});
    return false;
  }
  const std::size_t limit = semaphores                            ? rank_->semaphores.size()
                            : op.channelType == ChannelType::None ? 0
                                                                  : numChannels(op.channelType);
  for (const std::uint32_t id : ids) {
    if (id >= limit) {
      const std::string what =
          semaphores ? std::string(noun) : std::string(toString(op.channelType)) + " " + std::string(noun);
      fault(diag::id_out_of_range, {toString(op.kind), what, id, plural(limit, what)});
      return false;
    }
    if (!semaphores && !channelTable_[static_cast<std::size_t>(op.channelType)].contains(id)) {
      fault(diag::channel_not_in_table, {toString(op.kind), toString(op.channelType), id});
      return false;
    }
  }
  return true;
}

void StructureChecker::checkDestinationsOfChannels(const Op &op) {
  const OpShape &shape = opShapes[static_cast<std::size_t>(op.kind)];
  const auto ids = block_->idsOf(op);
  if (shape.ids == IdRule::PerSwitch) {
    std::vector<std::uint32_t> named;
    addSwitchChannels(block_->operands(op), named);
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (ids[i] != named[i])
        fault(diag::switch_channels_differ, {toString(op.kind), named[i], ids[i]});
    return;
  }
  if (ids.empty() || (shape.ids != IdRule::PerRemote && shape.ids != IdRule::PerRemoteIfPort))
    return;
  const auto remotes = shape.srcs.maxRemote != 0 ? block_->srcs(op) : block_->dsts(op);
  const auto &peers = rank_->peers(op.channelType);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::uint32_t owner = rank_->remoteBuffers[remotes[i].id].rank;
    if (peers[ids[i]] != owner)
      fault(diag::channel_leads_elsewhere, {toString(op.kind), ids[i], peers[ids[i]], remotes[i].id, owner});
  }
}

void StructureChecker::checkSizes(const Op &op) {
  const OpShape &shape = opShapes[static_cast<std::size_t>(op.kind)];
  const auto srcs = block_->srcs(op), dsts = block_->dsts(op);
  if (srcs.empty())
    return;
  if (shape.pairwise && srcs.size() != dsts.size()) {
    fault(diag::counts_differ, {toString(op.kind), srcs.size(), dsts.size()});
    return;
  }
  const auto compare = [&](const Chunk &model, std::uint32_t of, const Chunk &chunk, Side side, std::uint32_t index) {
    if (chunk.size == model.size) [[likely]]
      return true;
    fault(diag::chunk_sizes_differ, {toString(op.kind), sideNames[static_cast<std::size_t>(side)], index,
                                     plural(chunk.size, "chunk"), sideNames[0], of, plural(model.size, "chunk")});
    return false;
  };
  for (std::uint32_t i = 0; i < dsts.size(); ++i) {
    const std::uint32_t of = shape.pairwise ? i : 0;
    if (!compare(srcs[of], of, dsts[i], Side::Destination, i))
      return;
  }
  if (!shape.pairwise)
    for (std::uint32_t i = 1; i < srcs.size(); ++i)
      if (!compare(srcs[0], 0, srcs[i], Side::Source, i))
        return;
}

} // namespace mscclc::ir
