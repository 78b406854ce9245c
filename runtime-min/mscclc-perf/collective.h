// What a collective's result is, by its definition: who contributes what to each part of a rank's output.
#pragma once

#include "mscclc/runtime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mscclc::perf {

enum class CollectiveKind { AllGather, AllReduce, ReduceScatter, AllToAll, SendRecv, Other };
/// Other: a collective whose definition is not known here; it is timed and not checked.
CollectiveKind kindOf(const MscclcKernel &kernel);

/// Output elements [begin, begin + count) of a rank are input elements from `first` on: of rank `from`, or of all
/// ranks, reduced.
struct Segment {
  uint64_t begin;
  uint64_t count;
  uint64_t first;
  uint32_t from;
};
constexpr uint32_t allRanks = UINT32_MAX;

/// Segments of the output of `rank`, for a message of `count` elements.
std::vector<Segment> definition(CollectiveKind kind, uint32_t ranks, uint32_t rank, uint64_t count);

/// Bus bandwidth over algorithm bandwidth: what a link carries for each byte of the message.
double busFactor(CollectiveKind kind, uint32_t ranks);

} // namespace mscclc::perf
