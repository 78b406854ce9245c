#include "backend-json/plan_reader.h"
#include "backend-json/plan_schema.h"

#include <unordered_map>

namespace mscclc::json {

using namespace ir;

namespace {

/// What an operation must have depends on its name: checkFields() knows.
constexpr std::uint32_t allOptional = ~std::uint32_t{0};

enum ChunkField { BufferId, LocalType, ChunkRank, SwitchChannelId, ChunkIndex, ChunkSize };
constexpr std::string_view chunkFields[] = {"buffer_id", "type", "rank", "switch_channel_id", "index", "size"};
constexpr std::uint32_t chunkBit(ChunkField field) {
  return 1u << field;
}
constexpr std::uint32_t chunkPlaces = chunkBit(BufferId) | chunkBit(LocalType) | chunkBit(SwitchChannelId);

constexpr std::string_view groupInfoFields[] = {"tb_id", "tbg_size"};
constexpr std::string_view iterContextFields[] = {"unit_size", "num_chunks"};

const OpShape &shape(OpKind kind) {
  return opShapes[static_cast<std::size_t>(kind)];
}

std::optional<OpKind> kindOf(std::string_view name) {
  static const auto byName = [] {
    std::unordered_map<std::string_view, OpKind> map;
    for (std::size_t i = 0; i < opKindCount; ++i)
      map.emplace(opInfos[i].mnemonic, static_cast<OpKind>(i));
    return map;
  }();
  const auto it = byName.find(name);
  return it == byName.end() ? std::nullopt : std::optional(it->second);
}

} // namespace

void PlanReader::Draft::reset() {
  op = {};
  kindKnown = false;
  srcs.clear();
  dsts.clear();
  ids.clear();
}

/// Reads an operation at the end of block_. One that is in error leaves a nop behind, so that positions stay those of
/// the text.
void PlanReader::readOp(std::size_t depth) {
  cursor_.peek();
  const std::size_t begin = cursor_.offset(), slot = block_.ops.size();
  block_.ops.emplace_back();
  Draft &draft = drafts_[depth];
  draft.reset();
  draft.op.loc = sources_.addElement(depth == 0 ? blockLoc_ : drafts_[0].op.loc, opsLabel_, listed_[depth]++);
  listed_[1] = depth == 0 ? 0 : listed_[1];
  const std::size_t errorsBefore = numErrors();
  const auto fields = object({opFieldNames, allOptional}, [&](std::size_t field) { readOpField(draft, field, depth); });
  if (!fields || cursor_.failed() || !finishOp(draft, *fields, begin, depth) || numErrors() != errorsBefore)
    return;
  Op op = draft.op;
  if (op.kind == OpKind::Pipeline)
    op.bodySize = static_cast<std::uint32_t>(block_.ops.size() - slot - 1);
  block_.append(op, draft.srcs, draft.dsts, draft.ids);
  block_.ops[slot] = block_.ops.back();
  block_.ops.pop_back();
}

void PlanReader::readOpField(Draft &draft, std::size_t field, std::size_t depth) {
  Op &op = draft.op;
  switch (1u << field) {
  case op_field::Name: {
    if (!expect(JsonKind::String))
      break;
    const std::size_t begin = cursor_.offset();
    const std::string_view name = cursor_.string();
    const auto kind = kindOf(name);
    if (!kind && !cursor_.failed())
      error(diag::unknown_operation, begin, {shown(name)});
    draft.kindKnown = kind.has_value();
    op.kind = kind.value_or(OpKind::Nop);
    break;
  }
  case op_field::BarrierId: {
    std::uint32_t id = 0;
    if (number(id))
      op.imm = id;
    break;
  }
  case op_field::NumThreadblocks:
    number(op.count);
    break;
  case op_field::SemaphoreIds:
  case op_field::ChannelIds:
    numberList(draft.ids);
    break;
  case op_field::IterContext:
    readIterContext(op);
    break;
  case op_field::Body:
    if (depth == 0) {
      array([&] { readOp(1); });
    } else {
      error(diag::nested_pipeline, cursor_.offset());
      cursor_.skipValue();
    }
    break;
  case op_field::SwitchBuffer:
    word(std::span(bufferWords), draft.switchBuffer);
    break;
  case op_field::SwitchOffset:
    number(draft.switchRange.index);
    break;
  case op_field::SwitchSize:
    number(draft.switchRange.size);
    break;
  case op_field::DstChunk:
    readChunk(draft.switchTarget);
    break;
  case op_field::SrcBuff:
    readChunks(draft.srcs);
    break;
  case op_field::DstBuff:
    readChunks(draft.dsts);
    break;
  case op_field::ChannelTypeName:
    word(std::span(channelWords), op.channelType, ChannelType::Memory);
    break;
  case op_field::Reduction:
    word(std::span(reduceWords), op.reduceOp);
    break;
  case op_field::TbgInfo:
    readGroupInfo(op);
    break;
  }
}

bool PlanReader::finishOp(Draft &draft, std::uint32_t fields, std::size_t begin, std::size_t depth) {
  Op &op = draft.op;
  if (!draft.kindKnown) {
    if ((fields & op_field::Name) == 0)
      error(diag::missing_field, begin, {opFieldNames[0]});
    return false;
  }
  if (op.kind == OpKind::Pipeline && depth != 0) {
    if ((fields & op_field::Body) == 0)
      error(diag::nested_pipeline, begin);
    return false;
  }
  if (!checkFields(draft, fields, begin))
    return false;
  if (op.kind == OpKind::SwitchReduce)
    return finishSwitchReduce(draft, begin);
  if (op.kind == OpKind::Flush)
    return finishFlush(draft, begin);
  if (shape(op.kind).ids == IdRule::OneSwitch) {
    for (const auto *side : {&draft.srcs, &draft.dsts})
      for (const Chunk &chunk : *side)
        if (chunk.space == ChunkSpace::Switch && draft.ids.empty())
          draft.ids.push_back(chunk.id);
  }
  return true;
}

bool PlanReader::checkFields(const Draft &draft, std::uint32_t fields, std::size_t begin) {
  const Op &op = draft.op;
  const PlanOp &plan = planOp(op.kind);
  const OpFields missing = plan.required & ~fields, foreign = fields & ~(plan.required | plan.optional);
  for (std::size_t i = 0; i < std::size(opFieldNames) && (missing | foreign) != 0; ++i) {
    if ((missing >> i & 1) != 0)
      error(diag::missing_field, begin, {opFieldNames[i]});
    if ((foreign >> i & 1) != 0)
      error(diag::field_of_other_operation, begin, {toString(op.kind), opFieldNames[i]});
  }
  if ((missing | foreign) != 0)
    return false;
  const std::size_t errorsBefore = numErrors();
  if (!shape(op.kind).allows(op.channelType))
    error(diag::wrong_channel_type, begin, {toString(op.kind), toString(op.channelType)});
  else if ((plan.optional & op_field::ChannelIds) != 0 &&
           ((fields & op_field::ChannelIds) != 0) != hasChannelIds(op.kind, op.channelType))
    error(diag::field_of_port_put, begin, {toString(op.kind)});
  return numErrors() == errorsBefore;
}

/// The executor takes the number of the entries for that of the channels, and reads nothing else of them.
bool PlanReader::finishFlush(Draft &draft, std::size_t begin) {
  if (!draft.dsts.empty() && draft.dsts.size() != draft.ids.size()) {
    error(diag::flush_entries, begin, {draft.dsts.size(), plural(draft.ids.size(), "channel")});
    return false;
  }
  if (draft.dsts.empty() && asRun_)
    error(diag::flush_ignored, begin, {plural(draft.ids.size(), "channel")});
  draft.dsts.clear();
  return true;
}

/// Until the gpu's channels are known, the source's space says over which buffer the plan takes the channel to be.
bool PlanReader::finishSwitchReduce(Draft &draft, std::size_t begin) {
  if (draft.ids.size() != 1) {
    error(diag::one_switch_channel, begin, {toString(draft.op.kind), draft.ids.size()});
    return false;
  }
  draft.switchRange.space = spaceOf(draft.switchBuffer);
  draft.switchRange.id = draft.ids[0];
  draft.srcs.push_back(draft.switchRange);
  draft.dsts.push_back(draft.switchTarget);
  return true;
}

void PlanReader::readChunks(std::vector<Chunk> &out) {
  array([&] {
    Chunk chunk;
    if (readChunk(chunk))
      out.push_back(chunk);
  });
}

bool PlanReader::readChunk(Chunk &out) {
  cursor_.peek();
  const std::size_t begin = cursor_.offset();
  const std::size_t errorsBefore = numErrors();
  Chunk chunk;
  BufferKind buffer{};
  std::uint32_t rank = 0;
  const auto fields = object({chunkFields, chunkPlaces | chunkBit(ChunkRank)}, [&](std::size_t field) {
    switch (field) {
    case LocalType:
      if (word(std::span(bufferWords), buffer))
        chunk.space = spaceOf(buffer);
      break;
    case BufferId:
      chunk.space = ChunkSpace::Remote;
      number(chunk.id);
      break;
    case SwitchChannelId:
      chunk.space = ChunkSpace::Switch;
      number(chunk.id);
      break;
    case ChunkRank:
      number(rank);
      break;
    case ChunkIndex:
      number(chunk.index);
      break;
    case ChunkSize:
      number(chunk.size);
      break;
    }
  });
  if (!fields || cursor_.failed() || numErrors() != errorsBefore)
    return false;
  const std::uint32_t places = *fields & chunkPlaces;
  const bool namesRank = (*fields & chunkBit(ChunkRank)) != 0;
  if (places == 0 || (places & (places - 1)) != 0)
    error(diag::chunk_without_place, begin);
  else if (namesRank && !isLocal(chunk.space))
    error(diag::rank_of_remote_chunk, begin);
  else if (namesRank && rank != gpuId_)
    error(diag::chunk_of_other_rank, begin, {rank, gpuId_});
  out = chunk;
  return numErrors() == errorsBefore;
}

void PlanReader::readGroupInfo(Op &op) {
  object({groupInfoFields}, [&](std::size_t field) {
    if (field == 0)
      number(op.groupIndex);
    else
      positive(op.groupSize);
  });
}

void PlanReader::readIterContext(Op &op) {
  object({iterContextFields}, [&](std::size_t field) {
    if (field == 0)
      number(op.imm);
    else
      number(op.count);
  });
}

} // namespace mscclc::json
