#include "collective.h"

namespace mscclc::perf {

CollectiveKind kindOf(const MscclcKernel &kernel) {
  const std::string name = kernel.collective;
  return name == "allgather"       ? CollectiveKind::AllGather
         : name == "allreduce"     ? CollectiveKind::AllReduce
         : name == "reducescatter" ? CollectiveKind::ReduceScatter
         : name == "alltoall"      ? CollectiveKind::AllToAll
         : name == "sendrecv"      ? CollectiveKind::SendRecv
                                   : CollectiveKind::Other;
}

std::vector<Segment> definition(CollectiveKind kind, uint32_t ranks, uint32_t rank, uint64_t count) {
  const uint64_t share = count / ranks;
  std::vector<Segment> segments;
  switch (kind) {
  case CollectiveKind::AllGather:
    for (uint32_t from = 0; from < ranks; ++from)
      segments.push_back({from * share, share, 0, from});
    break;
  case CollectiveKind::AllReduce:
    segments.push_back({0, count, 0, allRanks});
    break;
  case CollectiveKind::ReduceScatter:
    segments.push_back({0, share, rank * share, allRanks});
    break;
  case CollectiveKind::AllToAll:
    for (uint32_t from = 0; from < ranks; ++from)
      segments.push_back({from * share, share, rank * share, from});
    break;
  case CollectiveKind::SendRecv:
    segments.push_back({0, count, 0, (rank + ranks - 1) % ranks});
    break;
  case CollectiveKind::Other:
    break;
  }
  return segments;
}

double busFactor(CollectiveKind kind, uint32_t ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (kind) {
  case CollectiveKind::AllReduce:
    return 2 * others;
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllToAll:
    return others;
  default:
    return 1;
  }
}

} // namespace mscclc::perf
