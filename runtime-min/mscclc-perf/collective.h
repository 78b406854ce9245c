// What a collective's result is, by the table: who contributes what to each part of a rank's output.
#pragma once

#include "mscclc/collectives.hpp"

#include <vector>

namespace mscclc::perf {

/// Output elements [begin, begin + count) of a rank are input elements from `first` on: of rank `from`, or of all
/// ranks, reduced (collectives::everyRank).
struct Segment {
  uint64_t begin;
  uint64_t count;
  uint64_t first;
  uint32_t from;
};

/// Of whom the result is asked for: output of `rank`, for a message of `count` elements.
struct Question {
  uint32_t ranks;
  uint32_t root;
  uint32_t rank;
  uint64_t count;
};

/// What of the output has a definition.
std::vector<Segment> segmentsOf(const collectives::Row &collective, const Question &question);

} // namespace mscclc::perf
