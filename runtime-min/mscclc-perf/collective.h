// The result of a collective, as defined in the table of collectives: the sources of each part of a rank's output.
#pragma once

#include "mscclc/collectives.hpp"

#include <vector>

namespace mscclc::perf {

/// Output elements [begin, begin + count) of a rank. They equal the input elements of rank `from`, from element `first`
/// on. If `from` is collectives::everyRank, they equal the reduction of these elements of all ranks.
struct Segment {
  uint64_t begin;
  uint64_t count;
  uint64_t first;
  uint32_t from;
};

/// A question about a result: the output of `rank`, for a message of `count` elements.
struct Question {
  uint32_t ranks;
  uint32_t root;
  uint32_t rank;
  uint64_t count;
};

/// Returns the parts of the output whose values are defined.
std::vector<Segment> segmentsOf(const collectives::Row &collective, const Question &question);

} // namespace mscclc::perf
