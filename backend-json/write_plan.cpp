#include "backend-json/write_plan.h"

#include "backend-json/block_tables.h"
#include "backend-json/json_output.h"
#include "backend-json/plan_fields.h"
#include "backend-json/plan_schema.h"
#include "ir/collectives.h"
#include "ir/internal_error.h"
#include "ir/structure.h"

#include <sstream>

namespace mscclc::json {

using namespace ir;

namespace {

constexpr auto onOneLine = JsonOutput::Items::OnOneLine;
constexpr auto onLines = JsonOutput::Items::OnLines;

class PlanWriter {
public:
  PlanWriter(const Program &program, std::ostream &stream, const WriteOptions &options = {})
      : program_(program), out_(stream, options.compact), countedFlushes_(options.countedFlushes) {}

  bool write(std::string_view name);
  /// Writes one operation. Of a pipeline, leaves out the body.
  void writeSingle(const OpRef &at);

private:
  template <typename Field> void key(Field field) { out_.key(nameOf(field)); }
  template <typename Field> void number(Field field, std::uint64_t value) {
    key(field);
    out_.number(value);
  }
  template <typename Field> void boolean(Field field, bool value) {
    key(field);
    out_.boolean(value);
  }
  template <typename Field, typename Text> void word(Field field, Text value) {
    key(field);
    out_.word(value);
  }
  /// Writes a list; f(i) writes element i.
  template <typename F> void list(JsonOutput::Items items, std::size_t count, F f) {
    out_.beginList(items);
    for (std::size_t i = 0; i < count; ++i)
      f(i);
    out_.end();
  }
  void numbers(std::span<const std::uint32_t> values) {
    list(onOneLine, values.size(), [&](std::size_t i) { out_.number(values[i]); });
  }

  void startRank(std::uint32_t index);
  void startBlock(std::uint32_t index);
  void rank();
  void peers(ChannelType type);
  void switchChannel(const SwitchChannel &channel);
  void remoteBuffer(const RemoteBuffer &remote);
  void block();
  template <typename Field> void table(const std::vector<ResourceUse> &entries);
  void ops(std::size_t begin, std::size_t end);
  void op(std::size_t index, std::size_t bodySize);
  void pipeline(std::size_t index, std::size_t bodySize);
  void operandFields(OpFields fields);
  void channelFields(OpFields fields);
  void switchReduceFields();
  void chunks(std::span<const Chunk> operands);
  void chunk(const Chunk &c);

  std::uint32_t localChannel(std::uint32_t id) const {
    return found((*channels_[static_cast<std::size_t>(op_->channelType)])[id], "channel", id);
  }
  std::uint32_t found(std::uint32_t position, const char *what, std::uint32_t id) const {
    if (position == LocalIndex::absent) [[unlikely]]
      throw InternalError(where() + " names " + what + " " + std::to_string(id) + ", which its block's table lacks");
    return position;
  }
  std::string where() const {
    return "rank " + std::to_string(rankIndex_) + ", block " + std::to_string(blockIndex_) + ", operation " +
           std::to_string(op_ - block_->ops.data());
  }

  const Program &program_;
  JsonOutput out_;
  const bool countedFlushes_;
  std::uint32_t rankIndex_ = 0, blockIndex_ = 0;
  const Rank *rank_ = nullptr;
  const ThreadBlock *block_ = nullptr;
  const Op *op_ = nullptr;
  LocalIndex memory_, port_, switch_, viaMemory_, viaPort_, none_;
  const LocalIndex *channels_[4] = {&none_, &memory_, &port_, &switch_};
};

bool PlanWriter::write(std::string_view name) {
  if (program_.instances != 1)
    throw InternalError("a program of " + std::to_string(program_.instances) + " instances is not yet replicated");
  out_.beginObject(onLines);
  key(PlanField::Name);
  out_.string(name);
  key(PlanField::Collective);
  out_.string(program_.collective.name);
  word(PlanField::Protocol, toString(program_.protocol));
  boolean(PlanField::Inplace, program_.collective.inplace);
  if (info(program_.collective.kind).hasRoot)
    number(PlanField::Root, program_.collective.root);
  boolean(PlanField::ReuseResources, program_.reuseResources);
  key(PlanField::Gpus);
  list(onLines, program_.ranks.size(), [&](std::size_t i) {
    if (out_.failed())
      return;
    startRank(static_cast<std::uint32_t>(i));
    rank();
  });
  number(PlanField::Threads, program_.threadsPerBlock);
  boolean(PlanField::DoubleScratch, program_.doubleScratch);
  number(PlanField::Alignment, program_.bufferAlignment);
  number(PlanField::MinSize, program_.minMessageSize);
  number(PlanField::MaxSize, program_.maxMessageSize);
  if (!program_.tags.empty()) {
    key(PlanField::Tags);
    list(onOneLine, program_.tags.size(), [&](std::size_t i) { out_.string(program_.tags[i]); });
  }
  out_.end();
  out_.finish();
  return !out_.failed();
}

void PlanWriter::writeSingle(const OpRef &at) {
  startRank(at.rank);
  startBlock(at.block);
  op(at.op, 0);
  out_.flush();
}

void PlanWriter::startRank(std::uint32_t index) {
  rankIndex_ = index;
  rank_ = &program_.ranks[index];
  memory_.resize(rank_->memoryPeers.size());
  port_.resize(rank_->portPeers.size());
  switch_.resize(rank_->switchChannels.size());
  viaMemory_.resize(rank_->remoteBuffers.size());
  viaPort_.resize(rank_->remoteBuffers.size());
}

void PlanWriter::startBlock(std::uint32_t index) {
  blockIndex_ = index;
  block_ = &rank_->blocks[index];
  memory_.load(block_->channels, ChannelType::Memory, index);
  port_.load(block_->channels, ChannelType::Port, index);
  switch_.load(block_->channels, ChannelType::Switch, index);
  viaMemory_.load(block_->remoteBuffers, ChannelType::Memory, index);
  viaPort_.load(block_->remoteBuffers, ChannelType::Port, index);
}

void PlanWriter::rank() {
  out_.beginObject(onLines);
  number(GpuField::Id, rankIndex_);
  number(GpuField::InputChunks, rank_->inputChunks);
  number(GpuField::OutputChunks, rank_->outputChunks);
  number(GpuField::ScratchChunks, rank_->scratchChunks);
  key(GpuField::Blocks);
  list(onLines, rank_->blocks.size(), [&](std::size_t i) {
    startBlock(static_cast<std::uint32_t>(i));
    block();
  });
  key(GpuField::Channels);
  out_.beginList(onLines);
  peers(rank_->portChannelsFirst ? ChannelType::Port : ChannelType::Memory);
  peers(rank_->portChannelsFirst ? ChannelType::Memory : ChannelType::Port);
  for (const SwitchChannel &channel : rank_->switchChannels)
    switchChannel(channel);
  out_.end();
  key(GpuField::RemoteBuffers);
  list(onLines, rank_->remoteBuffers.size(), [&](std::size_t i) { remoteBuffer(rank_->remoteBuffers[i]); });
  key(GpuField::Semaphores);
  list(onLines, rank_->semaphores.size(), [&](std::size_t i) {
    out_.beginObject(onOneLine);
    number(SemaphoreField::InitialValue, rank_->semaphores[i].initialValue);
    out_.end();
  });
  out_.end();
}

void PlanWriter::peers(ChannelType type) {
  if (rank_->peers(type).empty())
    return;
  out_.beginObject(onOneLine);
  word(ChannelField::Type, toString(type));
  key(ChannelField::ConnectedTo);
  numbers(rank_->peers(type));
  out_.end();
}

void PlanWriter::switchChannel(const SwitchChannel &channel) {
  out_.beginObject(onOneLine);
  word(ChannelField::Type, toString(ChannelType::Switch));
  word(ChannelField::Buffer, bufferLetter(channel.buffer));
  key(ChannelField::RankGroups);
  list(onOneLine, 1, [&](std::size_t) {
    out_.beginObject(onOneLine);
    number(RankGroupField::Size, channel.ranks.size());
    key(RankGroupField::Ranks);
    numbers(channel.ranks);
    out_.end();
  });
  out_.end();
}

void PlanWriter::remoteBuffer(const RemoteBuffer &remote) {
  out_.beginObject(onOneLine);
  number(RemoteBufferField::Rank, remote.rank);
  word(RemoteBufferField::Buffer, bufferLetter(remote.buffer));
  key(RemoteBufferField::AccessTypes);
  out_.beginList(onOneLine);
  if (remote.viaMemory)
    out_.word(toString(ChannelType::Memory));
  if (remote.viaPort)
    out_.word(toString(ChannelType::Port));
  out_.end();
  out_.end();
}

void PlanWriter::block() {
  out_.beginObject(onLines);
  number(BlockField::Id, blockIndex_);
  key(BlockField::Ops);
  ops(0, block_->ops.size());
  key(BlockField::Channels);
  table<ChannelRefField>(block_->channels);
  key(BlockField::RemoteBuffers);
  table<RemoteRefField>(block_->remoteBuffers);
  out_.end();
}

template <typename Field> void PlanWriter::table(const std::vector<ResourceUse> &entries) {
  const TableTypes types = typesOf(entries);
  list(onLines, types.count, [&](std::size_t i) {
    out_.beginObject(onOneLine);
    word(Field::Type, toString(types.types[i]));
    key(Field::Ids);
    out_.beginList(onOneLine);
    forEachOfType(entries, types.types[i], [&](std::uint32_t, std::uint32_t id) { out_.number(id); });
    out_.end();
    out_.end();
  });
}

/// Writes the block's operations in [begin, end) as a list. Operations in the body of a pipeline are part of the
/// pipeline.
void PlanWriter::ops(std::size_t begin, std::size_t end) {
  out_.beginList(onLines);
  for (std::size_t i = begin; i < end;) {
    const std::size_t bodySize = block_->ops[i].kind == OpKind::Pipeline ? block_->ops[i].bodySize : 0;
    op(i, bodySize);
    i += 1 + bodySize;
  }
  out_.end();
}

void PlanWriter::op(std::size_t index, std::size_t bodySize) {
  using namespace op_field;
  op_ = &block_->ops[index];
  if (op_->sync != DataSync::None) [[unlikely]]
    throw InternalError(where() + " still asks for a data sync");
  const OpFields fields = planOp(op_->kind).required;
  out_.beginObject(onOneLine);
  word(Name, toString(op_->kind));
  if (fields & BarrierId) {
    number(BarrierId, op_->imm);
    number(NumThreadblocks, op_->count);
  }
  if (fields & SwitchChannelId)
    number(SwitchChannelId, localChannel(block_->idsOf(*op_)[0]));
  if (fields & SemaphoreIds) {
    key(SemaphoreIds);
    numbers(block_->idsOf(*op_));
  }
  if (fields & IterContext) {
    pipeline(index, bodySize);
  } else {
    operandFields(fields);
    channelFields(fields);
  }
  out_.end();
}

void PlanWriter::pipeline(std::size_t index, std::size_t bodySize) {
  key(op_field::IterContext);
  out_.beginObject(onOneLine);
  number(IterContextField::UnitSize, op_->imm);
  number(IterContextField::NumChunks, op_->count);
  out_.end();
  if (bodySize > block_->ops.size() - index - 1)
    throw InternalError(where() + " is a pipeline whose body ends after its block");
  key(op_field::Body);
  list(onLines, bodySize, [&](std::size_t i) {
    op(index + 1 + i, 0);
    if (op_->kind == OpKind::Pipeline)
      throw InternalError(where() + " is a pipeline inside a pipeline");
  });
}

void PlanWriter::operandFields(OpFields fields) {
  if (fields & op_field::SwitchBuffer)
    switchReduceFields();
  if (fields & op_field::SrcBuff) {
    key(op_field::SrcBuff);
    chunks(block_->srcs(*op_));
    key(op_field::DstBuff);
    chunks(block_->dsts(*op_));
  }
  if (op_->kind == OpKind::Flush && countedFlushes_) {
    const Chunk any{ChunkSpace::Input, 0, 1, 0};
    key(op_field::DstBuff);
    list(onOneLine, op_->numIds, [&](std::size_t) { chunk(any); });
  }
}

/// Writes the fields that follow the operands.
void PlanWriter::channelFields(OpFields fields) {
  if (hasChannelIds(op_->kind, op_->channelType)) {
    const auto ids = block_->idsOf(*op_);
    key(op_field::ChannelIds);
    list(onOneLine, ids.size(), [&](std::size_t i) { out_.number(localChannel(ids[i])); });
  }
  if (fields & op_field::ChannelTypeName)
    word(op_field::ChannelTypeName, toString(op_->channelType));
  if (fields & op_field::Reduction)
    word(op_field::Reduction, toString(op_->reduceOp));
  if (op_->groupSize != 0) {
    key(op_field::TbgInfo);
    out_.beginObject(onOneLine);
    number(GroupInfoField::Index, op_->groupIndex);
    number(GroupInfoField::Size, op_->groupSize);
    out_.end();
  }
}

void PlanWriter::switchReduceFields() {
  if (op_->numSrcs != 1 || op_->numDsts != 1)
    throw InternalError(where() + " is a switch reduce without exactly one source and one destination");
  const Chunk source = block_->srcs(*op_)[0];
  if (source.space != ChunkSpace::Switch || source.id >= rank_->switchChannels.size())
    throw InternalError(where() + " is a switch reduce of something else than a switch channel");
  word(op_field::SwitchBuffer, bufferLetter(rank_->switchChannels[source.id].buffer));
  number(op_field::SwitchOffset, source.index);
  number(op_field::SwitchSize, source.size);
  key(op_field::DstChunk);
  chunk(block_->dsts(*op_)[0]);
}

void PlanWriter::chunks(std::span<const Chunk> operands) {
  list(onOneLine, operands.size(), [&](std::size_t i) { chunk(operands[i]); });
}

void PlanWriter::chunk(const Chunk &c) {
  out_.beginObject(onOneLine);
  switch (c.space) {
  case ChunkSpace::Remote: {
    const LocalIndex &table = op_->channelType == ChannelType::Port ? viaPort_ : viaMemory_;
    number(ChunkField::BufferId, found(table[c.id], "remote buffer", c.id));
    break;
  }
  case ChunkSpace::Switch:
    number(ChunkField::SwitchChannelId, found(switch_[c.id], "switch channel", c.id));
    break;
  case ChunkSpace::Input:
  case ChunkSpace::Output:
  case ChunkSpace::Scratch:
    if (op_->channelType == ChannelType::Switch)
      number(ChunkField::Rank, rankIndex_);
    word(ChunkField::Buffer, bufferLetter(static_cast<BufferKind>(c.space)));
    break;
  }
  number(ChunkField::Index, c.index);
  number(ChunkField::Size, c.size);
  out_.end();
}

} // namespace

bool writePlan(const Program &program, std::ostream &stream, const WriteOptions &options) {
  requireBlocks(program);
  return PlanWriter(program, stream, options).write(options.nameOverride.empty() ? program.name : options.nameOverride);
}

std::string planTextOf(const Program &program, const OpRef &op) {
  std::ostringstream out;
  PlanWriter(program, out).writeSingle(op);
  return std::move(out).str();
}

} // namespace mscclc::json
