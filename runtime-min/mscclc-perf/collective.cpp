#include "collective.h"

#include <cstring>
#include <utility>

namespace mscclc::perf {
namespace {

/// `count` elements of each rank, from its element `first` on, one after the other.
std::vector<Segment> ofEach(const Question &q, uint64_t count, uint64_t first) {
  std::vector<Segment> segments;
  for (uint32_t from = 0; from < q.ranks; ++from)
    segments.push_back({from * count, count, first, from});
  return segments;
}

/// The root's segments; other outputs have no definition.
std::vector<Segment> atRoot(const Question &q, std::vector<Segment> segments) {
  return q.rank == q.root ? std::move(segments) : std::vector<Segment>();
}

double once(double) {
  return 1;
}
double fromOthers(double ranks) {
  return (ranks - 1) / ranks;
}

constexpr Collective collectives[] = {
    {"allgather", false, [](const Question &q) { return ofEach(q, q.share(), 0); }, fromOthers},
    {"allreduce", false, [](const Question &q) { return std::vector<Segment>{{0, q.count, 0, allRanks}}; },
     [](double ranks) { return 2 * fromOthers(ranks); }},
    {"reducescatter", false,
     [](const Question &q) { return std::vector<Segment>{{0, q.share(), q.rank * q.share(), allRanks}}; }, fromOthers},
    {"alltoall", false, [](const Question &q) { return ofEach(q, q.share(), q.rank * q.share()); }, fromOthers},
    {"sendrecv", false,
     [](const Question &q) { return std::vector<Segment>{{0, q.count, 0, (q.rank + q.ranks - 1) % q.ranks}}; }, once},
    {"broadcast", true, [](const Question &q) { return std::vector<Segment>{{0, q.count, 0, q.root}}; }, once},
    {"reduce", true, [](const Question &q) { return atRoot(q, {{0, q.count, 0, allRanks}}); }, once},
    {"gather", true, [](const Question &q) { return atRoot(q, ofEach(q, q.count, 0)); },
     [](double ranks) { return ranks - 1; }},
    {"scatter", true,
     [](const Question &q) { return std::vector<Segment>{{0, q.share(), q.rank * q.share(), q.root}}; }, fromOthers},
};

} // namespace

const Collective *findCollective(const char *name, bool rooted) {
  for (const Collective &collective : collectives)
    if (collective.rooted == rooted && std::strcmp(collective.name, name) == 0)
      return &collective;
  return nullptr;
}

} // namespace mscclc::perf
