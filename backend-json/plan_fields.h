// The names of a plan's fields, level by level, in the order of writing. Reader and writer use them. plan_schema.h has
// the fields of operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mscclc::json {

enum class PlanField : std::uint8_t {
  Name,
  Collective,
  Protocol,
  Inplace,
  Root,
  ReuseResources,
  Gpus,
  Threads,
  DoubleScratch,
  Alignment,
  MinSize,
  MaxSize,
  Tags
};
inline constexpr std::string_view planFields[] = {"name",
                                                  "collective",
                                                  "protocol",
                                                  "inplace",
                                                  "root",
                                                  "reuse_resources",
                                                  "gpus",
                                                  "num_threads_per_block",
                                                  "use_double_scratch_buffer",
                                                  "buffer_alignment",
                                                  "min_message_size",
                                                  "max_message_size",
                                                  "tags"};

enum class GpuField : std::uint8_t {
  Id,
  InputChunks,
  OutputChunks,
  ScratchChunks,
  Blocks,
  Channels,
  RemoteBuffers,
  Semaphores
};
inline constexpr std::string_view gpuFields[] = {"id",           "input_chunks", "output_chunks",  "scratch_chunks",
                                                 "threadblocks", "channels",     "remote_buffers", "semaphores"};

/// Fields of a gpu's channels: all of one type, or one switch channel.
enum class ChannelField : std::uint8_t { Type, ConnectedTo, Buffer, RankGroups };
inline constexpr std::string_view channelFields[] = {"channel_type", "connected_to", "buffer_type", "rank_groups"};

enum class RankGroupField : std::uint8_t { Size, Ranks };
inline constexpr std::string_view rankGroupFields[] = {"size", "ranks"};

enum class RemoteBufferField : std::uint8_t { Rank, Buffer, AccessTypes };
inline constexpr std::string_view remoteBufferFields[] = {"rank", "type", "access_channel_types"};

enum class SemaphoreField : std::uint8_t { InitialValue };
inline constexpr std::string_view semaphoreFields[] = {"init_value"};

enum class BlockField : std::uint8_t { Id, Ops, Channels, RemoteBuffers };
inline constexpr std::string_view blockFields[] = {"id", "ops", "channels", "remote_buffer_refs"};

/// Fields of a block's tables.
enum class ChannelRefField : std::uint8_t { Type, Ids };
inline constexpr std::string_view channelRefFields[] = {"channel_type", "channel_ids"};
enum class RemoteRefField : std::uint8_t { Type, Ids };
inline constexpr std::string_view remoteRefFields[] = {"access_channel_type", "remote_buffer_ids"};

enum class ChunkField : std::uint8_t { BufferId, SwitchChannelId, Rank, Buffer, Index, Size };
inline constexpr std::string_view chunkFields[] = {"buffer_id", "switch_channel_id", "rank", "type", "index", "size"};

/// Fields of `iter_context` and `tbg_info`.
enum class IterContextField : std::uint8_t { UnitSize, NumChunks };
inline constexpr std::string_view iterContextFields[] = {"unit_size", "num_chunks"};
enum class GroupInfoField : std::uint8_t { Index, Size };
inline constexpr std::string_view groupInfoFields[] = {"tb_id", "tbg_size"};

/// The names of the fields of a level, given the level's enumeration.
template <typename Field> inline constexpr auto namesOf = nullptr;
template <> inline constexpr auto &namesOf<PlanField> = planFields;
template <> inline constexpr auto &namesOf<GpuField> = gpuFields;
template <> inline constexpr auto &namesOf<ChannelField> = channelFields;
template <> inline constexpr auto &namesOf<RankGroupField> = rankGroupFields;
template <> inline constexpr auto &namesOf<RemoteBufferField> = remoteBufferFields;
template <> inline constexpr auto &namesOf<SemaphoreField> = semaphoreFields;
template <> inline constexpr auto &namesOf<BlockField> = blockFields;
template <> inline constexpr auto &namesOf<ChannelRefField> = channelRefFields;
template <> inline constexpr auto &namesOf<RemoteRefField> = remoteRefFields;
template <> inline constexpr auto &namesOf<ChunkField> = chunkFields;
template <> inline constexpr auto &namesOf<IterContextField> = iterContextFields;
template <> inline constexpr auto &namesOf<GroupInfoField> = groupInfoFields;
template <typename Field> constexpr std::string_view nameOf(Field field) {
  return namesOf<Field>[static_cast<std::size_t>(field)];
}

/// Returns the field's bit in a set of fields of its level.
template <typename Field> constexpr std::uint32_t bitOf(Field field) {
  return 1u << static_cast<unsigned>(field);
}

} // namespace mscclc::json
