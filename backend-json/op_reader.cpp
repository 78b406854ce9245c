#include "backend-json/op_reader.h"

#include "backend-json/plan_fields.h"

#include <unordered_map>

namespace mscclc::json {

using namespace ir;

namespace {

/// All fields are optional here. checkFields() checks the fields that an operation of this name must have.
constexpr std::uint32_t allOptional = ~std::uint32_t{0};

constexpr std::uint32_t chunkPlaces =
    bitOf(ChunkField::BufferId) | bitOf(ChunkField::Buffer) | bitOf(ChunkField::SwitchChannelId);

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

Expected numbers(std::vector<std::uint32_t> &out) {
  return list([&out] { return number(out.emplace_back()); });
}

// ---- chunks ----

ChunkReader::ChunkReader(PlanContext &plan)
    : ObjectReader({chunkFields, chunkPlaces | bitOf(ChunkField::Rank)}), plan_(plan) {}

Expected ChunkReader::one(std::vector<Chunk> &out) {
  out_ = &out;
  return this;
}

Expected ChunkReader::several(std::vector<Chunk> &out) {
  out_ = &out;
  return list(*this);
}

void ChunkReader::begin(std::size_t) {
  chunk_ = {};
}

Expected ChunkReader::field(std::size_t k) {
  switch (static_cast<ChunkField>(k)) {
  case ChunkField::Buffer:
    return word(std::span(bufferWords), buffer_);
  case ChunkField::BufferId:
  case ChunkField::SwitchChannelId:
    return number(chunk_.id);
  case ChunkField::Rank:
    return number(rank_);
  case ChunkField::Index:
    return number(chunk_.index);
  case ChunkField::Size:
    return number(chunk_.size);
  }
  return Ignored{};
}

void ChunkReader::end(const ReadObject &object) {
  if (!object.clean)
    return;
  const std::uint32_t places = object.fields & chunkPlaces;
  const bool namesRank = (object.fields & bitOf(ChunkField::Rank)) != 0;
  chunk_.space = places == bitOf(ChunkField::BufferId)          ? ChunkSpace::Remote
                 : places == bitOf(ChunkField::SwitchChannelId) ? ChunkSpace::Switch
                                                                : spaceOf(buffer_);
  if (places == 0 || (places & (places - 1)) != 0)
    plan_.in.error(diag::chunk_without_place, object.begin);
  else if (namesRank && !isLocal(chunk_.space))
    plan_.in.error(diag::rank_of_remote_chunk, object.begin);
  else if (const auto id = namesRank ? plan_.idOfGpu() : std::nullopt; id && *id != rank_)
    plan_.in.error(diag::chunk_of_other_rank, object.begin, {rank_, *id});
  out_->push_back(chunk_);
}

// ---- operations ----

OpReader::OpReader(PlanContext &plan, ThreadBlock &block, OpReader *body)
    : ObjectReader({opFieldNames, allOptional}), plan_(plan), block_(block), body_(body), chunks_(plan),
      groupInfo_({groupInfoFields},
                 [this](std::size_t k) { return k == 0 ? number(op_.groupIndex) : positive(op_.groupSize); }),
      iterContext_({iterContextFields},
                   [this](std::size_t k) { return k == 0 ? number(op_.imm) : number(op_.count); }) {}

Expected OpReader::several(LocId around) {
  around_ = around;
  listed_ = 0;
  return list(*this);
}

void OpReader::begin(std::size_t) {
  slot_ = block_.ops.size();
  block_.ops.emplace_back();
  op_ = {};
  op_.loc = plan_.sources.addElement(around_, plan_.opsLabel, listed_++);
  kindKnown_ = false;
  for (auto *operands : {&srcs_, &dsts_, &switchTarget_})
    operands->clear();
  ids_.clear();
}

Expected OpReader::field(std::size_t k) {
  switch (static_cast<OpField>(k)) {
  case OpField::Name:
    return name();
  case OpField::BarrierId:
    return WholeNumber{0, std::numeric_limits<std::uint32_t>::max(), [this](std::uint64_t id) { op_.imm = id; }};
  case OpField::NumThreadblocks:
    return number(op_.count);
  case OpField::SemaphoreIds:
  case OpField::ChannelIds:
    return numbers(ids_);
  case OpField::SwitchChannelId:
    return number(ids_.emplace_back());
  case OpField::IterContext:
    return &iterContext_;
  case OpField::Body:
    return bodyOps();
  case OpField::SwitchBuffer:
    return word(std::span(bufferWords), switchBuffer_);
  case OpField::SwitchOffset:
    return number(switchRange_.index);
  case OpField::SwitchSize:
    return number(switchRange_.size);
  case OpField::DstChunk:
    return chunks_.one(switchTarget_);
  case OpField::SrcBuff:
    return chunks_.several(srcs_);
  case OpField::DstBuff:
    return chunks_.several(dsts_);
  case OpField::ChannelTypeName:
    return word<ChannelType::Memory>(std::span(channelWords), op_.channelType);
  case OpField::Reduction:
    return word(std::span(ir::reduceOpNames), op_.reduceOp);
  case OpField::TbgInfo:
    return &groupInfo_;
  }
  return Ignored{};
}

Expected OpReader::name() {
  return Text{[this](std::string_view name) {
    const auto kind = kindOf(name);
    if (!kind)
      plan_.in.error(diag::unknown_operation, {shown(name)});
    kindKnown_ = kind.has_value();
    op_.kind = kind.value_or(OpKind::Nop);
  }};
}

Expected OpReader::bodyOps() {
  if (body_ != nullptr)
    return body_->several(op_.loc);
  plan_.in.error(diag::nested_pipeline);
  return Ignored{};
}

void OpReader::end(const ReadObject &object) {
  if (!finish(object) || !object.clean)
    return;
  if (op_.kind == OpKind::Pipeline)
    op_.bodySize = static_cast<std::uint32_t>(block_.ops.size() - slot_ - 1);
  block_.append(op_, srcs_, dsts_, ids_);
  block_.ops[slot_] = block_.ops.back();
  block_.ops.pop_back();
}

/// Checks the properties that depend on the operation's kind. Returns false after errors.
bool OpReader::finish(const ReadObject &object) {
  if (!kindKnown_) {
    if ((object.fields & op_field::Name) == 0)
      plan_.in.error(diag::missing_field, object.begin, {opFieldNames[0]});
    return false;
  }
  if (op_.kind == OpKind::Pipeline && body_ == nullptr) {
    if ((object.fields & op_field::Body) == 0)
      plan_.in.error(diag::nested_pipeline, object.begin);
    return false;
  }
  if (signalsThroughSwitch(op_.kind))
    op_.channelType = ChannelType::Switch;
  if (!checkFields(object))
    return false;
  if (op_.kind == OpKind::SwitchReduce)
    return finishSwitchReduce(object);
  if (op_.kind == OpKind::Flush)
    return finishFlush(object);
  if (shape(op_.kind).ids == IdRule::PerSwitch)
    for (const auto *side : {&srcs_, &dsts_})
      addSwitchChannels(*side, ids_);
  return true;
}

bool OpReader::checkFields(const ReadObject &object) {
  const PlanOp &plan = planOp(op_.kind);
  const OpFields missing = plan.required & ~object.fields, foreign = object.fields & ~(plan.required | plan.optional);
  for (std::size_t i = 0; i < std::size(opFieldNames) && (missing | foreign) != 0; ++i) {
    if ((missing >> i & 1) != 0)
      plan_.in.error(diag::missing_field, object.begin, {opFieldNames[i]});
    if ((foreign >> i & 1) != 0)
      plan_.in.error(diag::field_of_other_operation, object.begin, {toString(op_.kind), opFieldNames[i]});
  }
  if ((missing | foreign) != 0)
    return false;
  if (!shape(op_.kind).allows(op_.channelType)) {
    plan_.in.error(diag::wrong_channel_type, object.begin, {toString(op_.kind), toString(op_.channelType)});
    return false;
  }
  if ((plan.optional & op_field::ChannelIds) != 0 &&
      ((object.fields & op_field::ChannelIds) != 0) != hasChannelIds(op_.kind, op_.channelType)) {
    plan_.in.error(diag::field_of_port_put, object.begin, {toString(op_.kind)});
    return false;
  }
  return true;
}

/// Checks the entries of a flush. The executor takes only their number, as the number of channels, and reads nothing
/// else of them.
bool OpReader::finishFlush(const ReadObject &object) {
  if (!dsts_.empty() && dsts_.size() != ids_.size()) {
    plan_.in.error(diag::flush_entries, object.begin, {dsts_.size(), plural(ids_.size(), "channel")});
    return false;
  }
  if (dsts_.empty() && plan_.asRun)
    plan_.in.error(diag::flush_ignored, object.begin, {plural(ids_.size(), "channel")});
  dsts_.clear();
  return true;
}

/// Makes the operands of a switch reduce. Until the gpu's channels are known, the source's space stands for the buffer
/// that the plan gives for the channel.
bool OpReader::finishSwitchReduce(const ReadObject &object) {
  if (ids_.size() != 1) {
    plan_.in.error(diag::one_switch_channel, object.begin, {toString(op_.kind), ids_.size()});
    return false;
  }
  switchRange_.space = spaceOf(switchBuffer_);
  switchRange_.id = ids_[0];
  srcs_.push_back(switchRange_);
  dsts_.insert(dsts_.end(), switchTarget_.begin(), switchTarget_.end());
  return true;
}

} // namespace mscclc::json
