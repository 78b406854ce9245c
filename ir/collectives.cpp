#include "ir/collectives.h"

namespace mscclc::ir {

namespace {

std::uint64_t placeOf(std::uint32_t rank, std::uint32_t chunk) {
  return std::uint64_t{rank} << 32 | chunk;
}

} // namespace

std::string_view toString(CollectiveKind kind) {
  return info(kind).name;
}

std::optional<CollectiveKind> namedCollective(std::string_view name, bool hasRoot) {
  for (std::size_t i = 0; i < collectiveInfos.size(); ++i)
    if (const CollectiveInfo &info = collectiveInfos[i];
        info.name == name && info.hasRoot == hasRoot && !info.hasRows && info.promise != Promise::Stated)
      return static_cast<CollectiveKind>(i);
  return std::nullopt;
}

std::uint32_t chunksOfShare(const Program &program) {
  const CollectiveKind kind = program.collective.kind;
  if (!hasChunkFactor(kind) || program.ranks.empty())
    return 1;
  const Rank &rank = program.ranks.front();
  std::uint32_t chunks = rank.inputChunks / static_cast<std::uint32_t>(program.ranks.size());
  for (const BufferKind buffer : {BufferKind::Input, BufferKind::Output})
    if (extentOf(kind, buffer) == Extent::Share)
      chunks = rank.chunksOf(buffer);
  return std::max(chunks, 1u);
}

std::uint32_t chunksOfMessage(const Program &program, const Rank &rank) {
  const std::uint32_t chunks = rank.chunksOf(info(program.collective.kind).message);
  return chunks != 0 ? chunks : chunksOfScale(rank);
}

std::uint32_t sharesOfMessage(const Program &program) {
  [[maybe_unused]] const auto ranks = static_cast<std::uint32_t>(program.ranks.size());
  switch (program.collective.kind) {
#define COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                              \
  case CollectiveKind::kind:                                                                                           \
    return shares;
#define SIZED_COLLECTIVE(kind, name, promise)                                                                          \
  case CollectiveKind::kind:                                                                                           \
    return 1;
#include "runtime-min/include/mscclc/collectives.def"
  }
  return 1;
}

double busFactor(const Program &program) {
  [[maybe_unused]] const auto ranks = static_cast<double>(program.ranks.size());
  switch (program.collective.kind) {
#define COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                              \
  case CollectiveKind::kind:                                                                                           \
    return bus;
#define SIZED_COLLECTIVE(kind, name, promise)                                                                          \
  case CollectiveKind::kind:                                                                                           \
    return 1;
#include "runtime-min/include/mscclc/collectives.def"
  }
  return 1;
}

Contribution contributionOf(const Collective &collective, [[maybe_unused]] std::uint32_t ranks,
                            [[maybe_unused]] std::uint32_t share, [[maybe_unused]] std::uint32_t rank,
                            [[maybe_unused]] std::uint32_t chunk) {
  [[maybe_unused]] const std::uint32_t root = collective.root;
  switch (collective.kind) {
#define COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                              \
  case CollectiveKind::kind:                                                                                           \
    return {from, taken};
#define SIZED_COLLECTIVE(kind, name, promise)                                                                          \
  case CollectiveKind::kind:                                                                                           \
    break;
#include "runtime-min/include/mscclc/collectives.def"
  }
  return {nobody, 0};
}

WantedOutputs::WantedOutputs(const Program &program) : program_(program), share_(chunksOfShare(program)) {
  for (const Expectation &e : program.collective.expectations)
    if (!e.contributions.empty())
      stated_[placeOf(e.rank, e.outputChunk)] = &e.contributions;
}

void WantedOutputs::of(std::uint32_t rank, std::uint32_t chunk, std::vector<Contribution> &inputs) const {
  inputs.clear();
  if (const auto it = stated_.find(placeOf(rank, chunk)); it != stated_.end()) {
    inputs = *it->second;
    return;
  }
  const auto ranks = static_cast<std::uint32_t>(program_.ranks.size());
  const Contribution wanted = contributionOf(program_.collective, ranks, share_, rank, chunk);
  if (wanted.rank == everyRank)
    for (std::uint32_t from = 0; from < ranks; ++from)
      inputs.push_back({from, wanted.chunk});
  else if (wanted.rank != nobody)
    inputs.push_back(wanted);
}

std::optional<std::uint32_t> WantedOutputs::reducedOverAll(std::uint32_t rank, std::uint32_t chunk) const {
  const auto ranks = static_cast<std::uint32_t>(program_.ranks.size());
  const Contribution wanted = contributionOf(program_.collective, ranks, share_, rank, chunk);
  return wanted.rank == everyRank ? std::optional(wanted.chunk) : std::nullopt;
}

bool WantedOutputs::any() const {
  if (!stated_.empty())
    return true;
  std::vector<Contribution> inputs;
  for (std::uint32_t rank = 0; rank < program_.ranks.size(); ++rank)
    for (std::uint32_t chunk = 0; chunk < program_.ranks[rank].outputChunks; ++chunk) {
      of(rank, chunk, inputs);
      if (!inputs.empty())
        return true;
    }
  return false;
}

} // namespace mscclc::ir
