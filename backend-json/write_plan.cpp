#include "backend-json/write_plan.h"

#include "backend-json/block_tables.h"
#include "backend-json/json_output.h"
#include "backend-json/plan_schema.h"
#include "ir/collectives.h"
#include "ir/internal_error.h"

#include <sstream>

namespace mscclc::json {

using namespace ir;

namespace {

template <bool Compact> class PlanWriter {
public:
  PlanWriter(const Program &program, std::ostream &stream, bool countedFlushes = false)
      : program_(program), out_(stream), countedFlushes_(countedFlushes) {}

  bool write(std::string_view name);
  void writeSingle(const OpRef &at);

private:
  template <FixedText Text> void put() { out_.literal<Text, Compact>(); }
  /// Line break and indentation by `Depth` steps of two.
  template <std::size_t Depth> void line() {
    if constexpr (!Compact) {
      static constexpr char spaces[] = "\n                ";
      static_assert(2 * Depth + 1 < sizeof spaces);
      out_.text({spaces, 2 * Depth + 1});
    }
  }
  /// A line's key, `Depth` steps in, with the comma that ends the field before.
  template <std::size_t Depth, FixedText Key> void field() {
    out_.character(',');
    firstField<Depth, Key>();
  }
  template <std::size_t Depth, FixedText Key> void firstField() {
    line<Depth>();
    put<Key>();
  }
  void boolean(bool value) { value ? put<"true">() : put<"false">(); }

  /// "[", each element on a line of its own `Depth` steps in, "]". f(i) writes element i.
  template <std::size_t Depth, typename F> void lines(std::size_t count, F f) {
    out_.character('[');
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 0)
        out_.character(',');
      line<Depth>();
      f(i);
    }
    if (count != 0)
      line<Depth - 1>();
    out_.character(']');
  }
  /// "[a, b, …]" on one line; f(i) writes element i.
  template <typename F> void list(std::size_t count, F f) {
    out_.character('[');
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 0)
        put<", ">();
      f(i);
    }
    out_.character(']');
  }
  void numbers(const std::vector<std::uint32_t> &values) {
    list(values.size(), [&](std::size_t i) { out_.number(values[i]); });
  }

  void startRank(std::uint32_t index);
  void startBlock(std::uint32_t index);
  void rank();
  void rankChannels();
  void peers(ChannelType type);
  void block();
  void ops();
  void op(std::size_t index);
  void chunks(std::span<const Chunk> operands);
  void chunk(const Chunk &c);
  void flushEntries();
  void channelIds();
  void switchReduceFields();
  void table(const std::vector<ResourceUse> &entries, std::string_view typeKey, std::string_view idsKey);

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

template <bool C> bool PlanWriter<C>::write(std::string_view name) {
  if (program_.instances != 1)
    throw InternalError("a program of " + std::to_string(program_.instances) + " instances is not yet replicated");
  out_.character('{');
  firstField<1, "\"name\": ">();
  out_.string(name);
  field<1, "\"collective\": ">();
  out_.string(program_.collective.name);
  field<1, "\"protocol\": ">();
  out_.string(toString(program_.protocol));
  field<1, "\"inplace\": ">();
  boolean(program_.collective.inplace);
  if (info(program_.collective.kind).hasRoot) {
    field<1, "\"root\": ">();
    out_.number(program_.collective.root);
  }
  field<1, "\"reuse_resources\": ">();
  boolean(program_.reuseResources);
  field<1, "\"gpus\": ">();
  lines<2>(program_.ranks.size(), [&](std::size_t i) {
    if (out_.failed())
      return;
    startRank(static_cast<std::uint32_t>(i));
    rank();
  });
  field<1, "\"num_threads_per_block\": ">();
  out_.number(program_.threadsPerBlock);
  field<1, "\"use_double_scratch_buffer\": ">();
  boolean(program_.doubleScratch);
  field<1, "\"buffer_alignment\": ">();
  out_.number(program_.bufferAlignment);
  field<1, "\"min_message_size\": ">();
  out_.number(program_.minMessageSize);
  field<1, "\"max_message_size\": ">();
  out_.number(program_.maxMessageSize);
  line<0>();
  out_.character('}');
  line<0>();
  out_.flush();
  return !out_.failed();
}

template <bool C> void PlanWriter<C>::writeSingle(const OpRef &at) {
  startRank(at.rank);
  startBlock(at.block);
  op(at.op);
  out_.flush();
}

template <bool C> void PlanWriter<C>::startRank(std::uint32_t index) {
  rankIndex_ = index;
  rank_ = &program_.ranks[index];
  memory_.resize(rank_->memoryPeers.size());
  port_.resize(rank_->portPeers.size());
  switch_.resize(rank_->switchChannels.size());
  viaMemory_.resize(rank_->remoteBuffers.size());
  viaPort_.resize(rank_->remoteBuffers.size());
}

template <bool C> void PlanWriter<C>::startBlock(std::uint32_t index) {
  blockIndex_ = index;
  block_ = &rank_->blocks[index];
  memory_.load(block_->channels, ChannelType::Memory, index);
  port_.load(block_->channels, ChannelType::Port, index);
  switch_.load(block_->channels, ChannelType::Switch, index);
  viaMemory_.load(block_->remoteBuffers, ChannelType::Memory, index);
  viaPort_.load(block_->remoteBuffers, ChannelType::Port, index);
}

template <bool C> void PlanWriter<C>::rank() {
  out_.character('{');
  firstField<3, "\"id\": ">();
  out_.number(rankIndex_);
  field<3, "\"input_chunks\": ">();
  out_.number(rank_->inputChunks);
  field<3, "\"output_chunks\": ">();
  out_.number(rank_->outputChunks);
  field<3, "\"scratch_chunks\": ">();
  out_.number(rank_->scratchChunks);
  field<3, "\"threadblocks\": ">();
  lines<4>(rank_->blocks.size(), [&](std::size_t i) {
    startBlock(static_cast<std::uint32_t>(i));
    block();
  });
  field<3, "\"channels\": ">();
  rankChannels();
  field<3, "\"remote_buffers\": ">();
  lines<4>(rank_->remoteBuffers.size(), [&](std::size_t i) {
    const RemoteBuffer &remote = rank_->remoteBuffers[i];
    put<"{\"rank\": ">();
    out_.number(remote.rank);
    put<", \"type\": \"">();
    out_.character(bufferLetter(remote.buffer));
    put<"\", \"access_channel_types\": [">();
    if (remote.viaMemory)
      put<"\"memory\"">();
    if (remote.viaMemory && remote.viaPort)
      put<", ">();
    if (remote.viaPort)
      put<"\"port\"">();
    put<"]}">();
  });
  field<3, "\"semaphores\": ">();
  lines<4>(rank_->semaphores.size(), [&](std::size_t i) {
    put<"{\"init_value\": ">();
    out_.number(rank_->semaphores[i].initialValue);
    out_.character('}');
  });
  line<2>();
  out_.character('}');
}

template <bool C> void PlanWriter<C>::rankChannels() {
  ChannelType order[] = {ChannelType::Memory, ChannelType::Port};
  if (rank_->portChannelsFirst)
    std::swap(order[0], order[1]);
  ChannelType used[2];
  std::size_t numUsed = 0;
  for (const ChannelType type : order)
    if (!rank_->peers(type).empty())
      used[numUsed++] = type;
  lines<4>(numUsed + rank_->switchChannels.size(), [&](std::size_t i) {
    if (i < numUsed) {
      put<"{\"channel_type\": ">();
      out_.string(toString(used[i]));
      put<", \"connected_to\": ">();
      numbers(rank_->peers(used[i]));
      out_.character('}');
      return;
    }
    const SwitchChannel &channel = rank_->switchChannels[i - numUsed];
    put<"{\"channel_type\": \"switch\", \"buffer_type\": \"">();
    out_.character(bufferLetter(channel.buffer));
    put<"\", \"rank_groups\": [{\"size\": ">();
    out_.number(channel.ranks.size());
    put<", \"ranks\": ">();
    numbers(channel.ranks);
    put<"}]}">();
  });
}

template <bool C> void PlanWriter<C>::block() {
  out_.character('{');
  firstField<5, "\"id\": ">();
  out_.number(blockIndex_);
  field<5, "\"ops\": ">();
  ops();
  field<5, "\"channels\": ">();
  table(block_->channels, "channel_type", "channel_ids");
  field<5, "\"remote_buffer_refs\": ">();
  table(block_->remoteBuffers, "access_channel_type", "remote_buffer_ids");
  line<4>();
  out_.character('}');
}

template <bool C>
void PlanWriter<C>::table(const std::vector<ResourceUse> &entries, std::string_view typeKey, std::string_view idsKey) {
  const TableTypes types = typesOf(entries);
  lines<6>(types.count, [&](std::size_t i) {
    out_.character('{');
    out_.string(typeKey);
    put<": ">();
    out_.string(toString(types.types[i]));
    put<", ">();
    out_.string(idsKey);
    put<": [">();
    forEachOfType(entries, types.types[i], [&](std::uint32_t position, std::uint32_t id) {
      if (position != 0)
        put<", ">();
      out_.number(id);
    });
    put<"]}">();
  });
}

template <bool C> void PlanWriter<C>::ops() {
  const std::size_t count = block_->ops.size();
  out_.character('[');
  for (std::size_t i = 0; i < count;) {
    if (i != 0)
      out_.character(',');
    line<6>();
    op(i);
    if (block_->ops[i].kind != OpKind::Pipeline) {
      ++i;
      continue;
    }
    const std::size_t bodySize = block_->ops[i].bodySize;
    if (bodySize > count - i - 1)
      throw InternalError(where() + " is a pipeline whose body ends behind its block");
    lines<7>(bodySize, [&](std::size_t k) {
      op(i + 1 + k);
      if (op_->kind == OpKind::Pipeline)
        throw InternalError(where() + " is a pipeline inside a pipeline");
    });
    out_.character('}');
    i += 1 + bodySize;
  }
  if (count != 0)
    line<5>();
  out_.character(']');
}

/// Writes one operation; of a pipeline everything up to where its body begins.
template <bool C> void PlanWriter<C>::op(std::size_t index) {
  using namespace op_field;
  op_ = &block_->ops[index];
  if (op_->sync != DataSync::None) [[unlikely]]
    throw InternalError(where() + " still asks for a data sync");
  const OpFields fields = planOp(op_->kind).required;
  put<"{\"name\": \"">();
  out_.text(toString(op_->kind));
  out_.character('"');
  if (fields & BarrierId) {
    put<", \"barrier_id\": ">();
    out_.number(op_->imm);
    put<", \"num_threadblocks\": ">();
    out_.number(op_->count);
  }
  if (fields & SemaphoreIds) {
    const auto ids = block_->idsOf(*op_);
    put<", \"semaphore_ids\": ">();
    list(ids.size(), [&](std::size_t i) { out_.number(ids[i]); });
  }
  if (fields & IterContext) {
    put<", \"iter_context\": {\"unit_size\": ">();
    out_.number(op_->imm);
    put<", \"num_chunks\": ">();
    out_.number(op_->count);
    put<"}, \"ops\": ">();
    return;
  }
  if (fields & SwitchBuffer)
    switchReduceFields();
  if (fields & SrcBuff) {
    put<", \"src_buff\": ">();
    chunks(block_->srcs(*op_));
    put<", \"dst_buff\": ">();
    chunks(block_->dsts(*op_));
  }
  if (op_->kind == OpKind::Flush && countedFlushes_)
    flushEntries();
  if (hasChannelIds(op_->kind, op_->channelType))
    channelIds();
  if (fields & ChannelTypeName) {
    put<", \"channel_type\": \"">();
    out_.text(toString(op_->channelType));
    out_.character('"');
  }
  if (fields & Reduction) {
    put<", \"reduce_op\": \"">();
    out_.text(toString(op_->reduceOp));
    out_.character('"');
  }
  if (op_->groupSize != 0) {
    put<", \"tbg_info\": {\"tb_id\": ">();
    out_.number(op_->groupIndex);
    put<", \"tbg_size\": ">();
    out_.number(op_->groupSize);
    out_.character('}');
  }
  out_.character('}');
}

template <bool C> void PlanWriter<C>::flushEntries() {
  put<", \"dst_buff\": ">();
  list(op_->numIds, [&](std::size_t) { put<"{\"type\": \"i\", \"index\": 0, \"size\": 1}">(); });
}

template <bool C> void PlanWriter<C>::channelIds() {
  const auto ids = block_->idsOf(*op_);
  put<", \"channel_ids\": ">();
  list(ids.size(), [&](std::size_t i) { out_.number(localChannel(ids[i])); });
}

template <bool C> void PlanWriter<C>::switchReduceFields() {
  if (op_->numSrcs != 1 || op_->numDsts != 1)
    throw InternalError(where() + " is a switch reduce without exactly one source and one destination");
  const Chunk source = block_->srcs(*op_)[0];
  if (source.space != ChunkSpace::Switch || source.id >= rank_->switchChannels.size())
    throw InternalError(where() + " is a switch reduce of something else than a switch channel");
  put<", \"buffer_type\": \"">();
  out_.character(bufferLetter(rank_->switchChannels[source.id].buffer));
  put<"\", \"buffer_offset\": ">();
  out_.number(source.index);
  put<", \"size\": ">();
  out_.number(source.size);
  put<", \"dst_chunk\": ">();
  chunk(block_->dsts(*op_)[0]);
}

template <bool C> void PlanWriter<C>::chunks(std::span<const Chunk> operands) {
  list(operands.size(), [&](std::size_t i) { chunk(operands[i]); });
}

template <bool C> void PlanWriter<C>::chunk(const Chunk &c) {
  switch (c.space) {
  case ChunkSpace::Remote: {
    const LocalIndex &table = op_->channelType == ChannelType::Port ? viaPort_ : viaMemory_;
    put<"{\"buffer_id\": ">();
    out_.number(found(table[c.id], "remote buffer", c.id));
    break;
  }
  case ChunkSpace::Switch:
    put<"{\"switch_channel_id\": ">();
    out_.number(found(switch_[c.id], "switch channel", c.id));
    break;
  default:
    if (op_->channelType == ChannelType::Switch) {
      put<"{\"rank\": ">();
      out_.number(rankIndex_);
      put<", \"type\": \"">();
    } else {
      put<"{\"type\": \"">();
    }
    out_.character(bufferLetter(static_cast<BufferKind>(c.space)));
    out_.character('"');
  }
  put<", \"index\": ">();
  out_.number(c.index);
  put<", \"size\": ">();
  out_.number(c.size);
  out_.character('}');
}

} // namespace

bool writePlan(const Program &program, std::ostream &stream, const WriteOptions &options) {
  const std::string_view name = options.nameOverride.empty() ? program.name : options.nameOverride;
  return options.compact ? PlanWriter<true>(program, stream, options.countedFlushes).write(name)
                         : PlanWriter<false>(program, stream, options.countedFlushes).write(name);
}

std::string planTextOf(const Program &program, const OpRef &op) {
  std::ostringstream out;
  PlanWriter<false>(program, out).writeSingle(op);
  std::string text = std::move(out).str();
  if (program.ranks[op.rank].blocks[op.block].ops[op.op].kind == OpKind::Pipeline)
    text += "[]}";
  return text;
}

} // namespace mscclc::json
