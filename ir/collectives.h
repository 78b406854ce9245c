// What the table of collectives (collectives.def) says, as functions. Whoever wants to know something of a collective
// asks here; nobody else tells kinds apart.
#pragma once

#include "ir/program.h"

#include <algorithm>
#include <unordered_map>

namespace mscclc::ir {

/// How many chunks a buffer has.
enum class Extent : std::uint8_t {
  Share, ///< the chunk factor
  Whole, ///< ranks × the chunk factor
  Given, ///< what the program says
};

/// How input and output lie to each other in place.
enum class InPlace : std::uint8_t {
  OneBuffer, ///< both begin at one address
  OwnShare,  ///< the smaller buffer of rank r is the r-th share of its larger one
};

/// Who says what outputs end as.
enum class Promise : std::uint8_t {
  ByRule,  ///< the table
  Stated,  ///< the program: Collective::expectations
  Nothing, ///< nobody
};

/// A row of collectives.def, but for what it computes.
struct CollectiveInfo {
  std::string_view name;
  Promise promise;
  Extent input, output;
  InPlace inPlace;
  BufferKind message; ///< the buffer that is as long as a message
  bool hasRoot;
};

inline constexpr std::array collectiveInfos{
#define ROW(name, input, output, inPlace, message, hasRoot)                                                            \
  CollectiveInfo{                                                                                                      \
      name, Promise::ByRule, Extent::input, Extent::output, InPlace::inPlace, BufferKind::message, hasRoot,            \
  },
#define COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                              \
  ROW(name, input, output, inPlace, message, false)
#define ROOTED_COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                       \
  ROW(name, input, output, inPlace, message, true)
#define SIZED_COLLECTIVE(kind, name, promise)                                                                          \
  CollectiveInfo{                                                                                                      \
      name, Promise::promise, Extent::Given, Extent::Given, InPlace::OneBuffer, BufferKind::Input, false,              \
  },
#include "runtime-min/include/mscclc/collectives.def"
#undef ROW
};

constexpr const CollectiveInfo &info(CollectiveKind kind) {
  return collectiveInfos[static_cast<std::size_t>(kind)];
}

/// The collective of that name that has a root, or none, as `hasRoot` says; nothing for a custom one's name.
std::optional<CollectiveKind> namedCollective(std::string_view name, bool hasRoot);

/// True if the number of chunks of its buffers follows from a chunk factor.
constexpr bool hasChunkFactor(CollectiveKind kind) {
  return info(kind).promise == Promise::ByRule;
}
/// True if input and output are their user's between launches, as with NCCL: it reads and overwrites them.
constexpr bool hasUser(CollectiveKind kind) {
  return info(kind).promise != Promise::Nothing;
}
/// The smaller of the two buffers, where one is a share of the other in place.
constexpr BufferKind shareInPlace(CollectiveKind kind) {
  return info(kind).input == Extent::Share ? BufferKind::Input : BufferKind::Output;
}
constexpr Extent extentOf(CollectiveKind kind, BufferKind buffer) {
  return buffer == BufferKind::Input ? info(kind).input : info(kind).output;
}

/// The chunk factor that the buffers of the program tell, all instances together; at least 1, and 1 for a collective
/// without one. (Collective::chunkFactor is what the program was written with.)
std::uint32_t chunksOfShare(const Program &program);
/// Chunks of the buffer that gives the length of all chunks of a rank: the input, or the output where there is no input
/// (execution_plan.cc, getSizeAndChunks).
constexpr std::uint32_t chunksOfScale(const Rank &rank) {
  return rank.inputChunks != 0 ? rank.inputChunks : rank.outputChunks;
}
/// Chunks that a message is cut into on `rank`.
std::uint32_t chunksOfMessage(const Program &program, const Rank &rank);
/// Parts of a message that specialised kernels make equally long.
std::uint32_t sharesOfMessage(const Program &program);
/// Bus bandwidth over algorithm bandwidth, as nccl-tests have it; 1 for a collective that they do not know.
double busFactor(const Program &program);

/// Stand for ranks in what contributionOf() gives.
inline constexpr std::uint32_t everyRank = 0xffffffff, nobody = 0xfffffffe;

/// What the table says that output chunk `chunk` of `rank` ends as. `share`: chunks of a share. Contribution::rank may
/// be everyRank (that input chunk of all ranks, reduced) or nobody (anything).
Contribution contributionOf(const Collective &collective, std::uint32_t ranks, std::uint32_t share, std::uint32_t rank,
                            std::uint32_t chunk);

/// What the outputs of a program must hold at the end.
class WantedOutputs {
public:
  explicit WantedOutputs(const Program &program);

  /// Sets `inputs` to the input chunks that output chunk `chunk` of `rank` is the reduction of. None: the chunk may
  /// hold anything.
  void of(std::uint32_t rank, std::uint32_t chunk, std::vector<Contribution> &inputs) const;
  /// The input chunk whose reduction over all ranks the table wants there. Nothing if it wants something else.
  std::optional<std::uint32_t> reducedOverAll(std::uint32_t rank, std::uint32_t chunk) const;
  /// True if some output chunk is asked for something.
  bool any() const;

private:
  const Program &program_;
  std::uint32_t share_;
  std::unordered_map<std::uint64_t, const std::vector<Contribution> *> stated_; ///< (rank, chunk) → inputs
};

} // namespace mscclc::ir
