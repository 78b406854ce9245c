// Internal to the text form: words that the printer, the parser and the structural checker share.
#pragma once

#include "ir/text.h"

namespace mscclc::ir::words {

inline constexpr std::string_view header = textHeader;
inline constexpr std::uint64_t formatVersion = 1;

/// The largest number of versions that are shown for a read. If there are more, ".." follows.
inline constexpr std::size_t maxVersionsShown = 8;

inline constexpr std::string_view spaces[] = {"input", "output", "scratch", "remote", "switch"}; // by ChunkSpace
inline constexpr std::string_view syncs[] = {"none", "before", "after", "both"};                 // by DataSync
// By CollectiveKind.
inline constexpr std::string_view collectives[] = {
#define COLLECTIVE(kind, name, ...) name,
#define SIZED_COLLECTIVE(kind, name, ...) name,
#include "runtime-min/include/mscclc/collectives.def"
};
inline constexpr std::string_view replications[] = {"interleaved", "none"}; // by Replication

/// A program's plain options: F(word, field, kind of value), in the order in which they are printed.
#define MSCCLC_IR_OPTIONS(F)                                                                                           \
  F("protocol", protocol, protocols)                                                                                   \
  F("fuse", fuse, switches)                                                                                            \
  F("auto_sync", autoSync, switches)                                                                                   \
  F("instances", instances, numbers)                                                                                   \
  F("replication", replication, replications)                                                                          \
  F("reuse_resources", reuseResources, switches)                                                                       \
  F("double_scratch", doubleScratch, switches)                                                                         \
  F("late_packets_apart", latePacketsApart, switches)                                                                  \
  F("split", split, switches)                                                                                          \
  F("ready_rows", readyRows, numbers)                                                                                  \
  F("once_per_rank", oncePerRank, decisions)                                                                           \
  F("threads_per_block", threadsPerBlock, numbers)                                                                     \
  F("buffer_alignment", bufferAlignment, numbers)                                                                      \
  F("min_message_size", minMessageSize, numbers)                                                                       \
  F("max_message_size", maxMessageSize, numbers)                                                                       \
  F("schedule", schedule, schedules)                                                                                   \
  F("ranks_per_node", movement.ranksPerNode, numbers)                                                                  \
  F("most_blocks", movement.mostBlocks, numbers)                                                                       \
  F("order", movement.order, orders)                                                                                   \
  F("accumulate", movement.accumulate, accumulations)                                                                  \
  F("choose_protocol", movement.chooseProtocol, switches)                                                              \
  F("choose_instances", movement.chooseInstances, switches)                                                            \
  F("pull", movement.pull, switches)                                                                                   \
  F("through_switch", movement.throughSwitch, switches)                                                                \
  F("blocks", movement.blocks, numbers)                                                                                \
  F("stages", movement.stages, switches)                                                                               \
  F("step", movement.step, numbers)                                                                                    \
  F("relay_blocks", movement.relayBlocks, switches)                                                                    \
  F("eager", movement.eager, switches)

inline constexpr std::string_view protocols[] = {"Simple", "LL", "Lamport"};      // by Protocol
inline constexpr std::string_view switches[] = {"off", "on"};                     // by bool
inline constexpr std::string_view decisions[] = {"off", "on", "automatic"};       // by OncePerRank
inline constexpr std::string_view accumulations[] = {"narrow", "once", "wide"};   // by Accumulate
inline constexpr std::string_view orders[] = {"written", "any", "ranks", "tree"}; // by Order
inline constexpr std::string_view schedules[] = {"manual", "auto"};               // by Schedule

} // namespace mscclc::ir::words
