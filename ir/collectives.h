// Functions on the table of collectives (collectives.def). All code that depends on the kind of a collective asks here.
#pragma once

#include "ir/program.h"

#include <algorithm>
#include <unordered_map>

namespace mscclc::ir {

/// The number of chunks of a buffer.
enum class Extent : std::uint8_t {
  Share, ///< the chunk factor
  Whole, ///< ranks × the chunk factor
  Given, ///< the number that the program gives
};

/// The places of input and output relative to each other, if they are in place.
enum class InPlace : std::uint8_t {
  OneBuffer, ///< both begin at one address
  OwnShare,  ///< the smaller buffer of rank r is the r-th share of the rank's larger one
};

/// The source of the promise about outputs.
enum class Promise : std::uint8_t {
  ByRule,  ///< the table
  Stated,  ///< the program: Collective::expectations
  Nothing, ///< nobody
};

/// A row of collectives.def, without its computed columns.
struct CollectiveInfo {
  std::string_view name;
  Promise promise;
  Extent input, output;
  InPlace inPlace;
  BufferKind message; ///< the buffer that is as long as a message
  bool hasRoot = false;
  bool hasRows = false;    ///< shares are slots of rows, of which only some are live (RowLayout)
  bool hasExperts = false; ///< rows go to experts, or come back from them (ExpertLayout)
};

inline constexpr std::array collectiveInfos{
#define ROW(name, input, output, inPlace, message, hasRoot, hasRows, hasExperts)                                       \
  CollectiveInfo{                                                                                                      \
      name,    Promise::ByRule, Extent::input, Extent::output, InPlace::inPlace, BufferKind::message,                  \
      hasRoot, hasRows,         hasExperts,                                                                            \
  },
#define COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                              \
  ROW(name, input, output, inPlace, message, false, false, false)
#define ROOTED_COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                       \
  ROW(name, input, output, inPlace, message, true, false, false)
#define ROW_COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                          \
  ROW(name, input, output, inPlace, message, false, true, false)
#define EXPERT_COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                       \
  ROW(name, input, output, inPlace, message, false, true, true)
#define SIZED_COLLECTIVE(kind, name, promise)                                                                          \
  CollectiveInfo{name, Promise::promise, Extent::Given, Extent::Given, InPlace::OneBuffer, BufferKind::Input},
#include "runtime-min/include/mscclc/collectives.def"
#undef ROW
};

constexpr const CollectiveInfo &info(CollectiveKind kind) {
  return collectiveInfos[static_cast<std::size_t>(kind)];
}

/// Returns the collective that plans call `name`, with a root if `hasRoot`. Returns nothing for a collective of rows or
/// a custom one.
std::optional<CollectiveKind> namedCollective(std::string_view name, bool hasRoot);

/// True if the number of chunks of the buffers follows from a chunk factor.
constexpr bool hasChunkFactor(CollectiveKind kind) {
  return info(kind).promise == Promise::ByRule;
}
/// True if the user reads and overwrites input and output between launches, as with NCCL.
constexpr bool hasUser(CollectiveKind kind) {
  return info(kind).promise != Promise::Nothing;
}
/// Returns the buffer that is a share of the other buffer if the collective is in place.
constexpr BufferKind shareInPlace(CollectiveKind kind) {
  return info(kind).input == Extent::Share ? BufferKind::Input : BufferKind::Output;
}
/// The most experts of all ranks together.
inline constexpr std::uint32_t maxExperts = 4096;
/// True if each of `ranks` ranks may have `experts` experts.
constexpr bool expertsFit(std::uint64_t ranks, std::uint64_t experts) {
  return experts >= 1 && experts <= maxExperts && ranks * experts <= maxExperts;
}
/// Returns the buffer whose rows the index describes, in a collective with experts. The other buffer has the rows of
/// experts.
constexpr BufferKind indexedBuffer(CollectiveKind kind) {
  return kind == CollectiveKind::Dispatch ? BufferKind::Input : BufferKind::Output;
}
constexpr Extent extentOf(CollectiveKind kind, BufferKind buffer) {
  return buffer == BufferKind::Input ? info(kind).input : info(kind).output;
}

/// Returns the number of chunks of a share: the chunk factor that follows from the program's buffers, all instances
/// together. It is at least 1, and 1 if the collective has no chunk factor. In contrast, Collective::chunkFactor is the
/// factor with which the program was written.
std::uint32_t chunksOfShare(const Program &program);
/// Returns the number of chunks of the buffer that sets the length of all chunks of a rank: the input, or the output
/// where there is no input (execution_plan.cc, getSizeAndChunks).
constexpr std::uint32_t chunksOfScale(const Rank &rank) {
  return rank.inputChunks != 0 ? rank.inputChunks : rank.outputChunks;
}
/// Returns the number of chunks of a message on `rank`.
std::uint32_t chunksOfMessage(const Program &program, const Rank &rank);
/// Returns the number of parts of a message that specialised kernels make equally long.
std::uint32_t sharesOfMessage(const Program &program);
/// Returns bus bandwidth divided by algorithm bandwidth, as in nccl-tests. Returns 1 for a collective that nccl-tests
/// lacks.
double busFactor(const Program &program);

/// Values of Contribution::rank in the result of contributionOf().
inline constexpr std::uint32_t everyRank = 0xffffffff, nobody = 0xfffffffe;

/// Returns the final value of output chunk `chunk` of `rank`, according to collectives.def. `share` is the number of
/// chunks of a share. If Contribution::rank is everyRank, the value is the reduction of that input chunk over all
/// ranks. If it is nobody, the value may be anything.
Contribution contributionOf(const Collective &collective, std::uint32_t ranks, std::uint32_t share, std::uint32_t rank,
                            std::uint32_t chunk);

/// The values that the outputs of a program must have at the end.
class WantedOutputs {
public:
  explicit WantedOutputs(const Program &program);

  /// Sets `inputs` to the input chunks whose reduction output chunk `chunk` of `rank` must be. If there are none, the
  /// output chunk may hold anything.
  void of(std::uint32_t rank, std::uint32_t chunk, std::vector<Contribution> &inputs) const;
  /// Returns the number of the input chunk whose reduction over all ranks the output chunk must hold. Returns nothing
  /// if the output chunk must hold something else.
  std::optional<std::uint32_t> reducedOverAll(std::uint32_t rank, std::uint32_t chunk) const;
  /// True if some output chunk must have a value.
  bool any() const;

private:
  const Program &program_;
  std::uint32_t share_;
  std::unordered_map<std::uint64_t, const std::vector<Contribution> *> stated_; ///< (rank, chunk) → inputs
};

} // namespace mscclc::ir
