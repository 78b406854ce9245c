// What a collective's result is, by its definition: who contributes what to each part of a rank's output.
#pragma once

#include "mscclc/runtime.h"

#include <cstdint>
#include <vector>

namespace mscclc::perf {

/// Output elements [begin, begin + count) of a rank are input elements from `first` on: of rank `from`, or of all
/// ranks, reduced.
struct Segment {
  uint64_t begin;
  uint64_t count;
  uint64_t first;
  uint32_t from;
};
constexpr uint32_t allRanks = UINT32_MAX;

/// Of whom the result is asked for: output of `rank`, for a message of `count` elements.
struct Question {
  uint32_t ranks;
  uint32_t root;
  uint32_t rank;
  uint64_t count;
  uint64_t share() const { return count / ranks; }
};

struct Collective {
  const char *name;
  bool rooted;
  /// What of the output has a definition.
  std::vector<Segment> (*segments)(const Question &question);
  /// Bus bandwidth over algorithm bandwidth: what a link carries for each byte of the message.
  double (*busFactor)(double ranks);
};

/// The collective of that name, with a root or without; null if its definition is not known here: it is then timed and
/// not checked.
const Collective *findCollective(const char *name, bool rooted);

} // namespace mscclc::perf
