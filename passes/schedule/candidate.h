// A set of choices for a movement program, and the comparison of several sets.
#pragma once

#include "ir/program.h"
#include "passes/schedule/excess.h"
#include "passes/time/machine.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <span>

namespace mscclc::passes::schedule {

/// The choices that a program of statements leaves open.
struct ScheduleChoices {
  ir::Protocol protocol = ir::Protocol::Simple;
  std::uint32_t instances = 1;
  bool pull = false;          ///< reductions read operands of other ranks; otherwise those ranks put them into scratch
  bool throughSwitch = false; ///< statements go through the switch of a node where possible
  std::uint32_t blocks = 1;   ///< thread blocks that share a rank's peers; in a pipeline, blocks of each stage
  std::uint64_t step = 0;     ///< bytes of a pipeline's unit; 0: no pipeline
  bool relayBlocks = false;   ///< blocks without data take channels from blocks that have too many
  friend auto operator<=>(const ScheduleChoices &, const ScheduleChoices &) = default;
};

/// A set of choices, and the figures of the program that they make.
struct Candidate {
  ScheduleChoices choices = {};
  bool refused = false;           ///< the target, the machine or the limit on blocks does not allow the candidate
  double nanoseconds = 0;         ///< time of a launch, by the time model
  double linkBytes = 0;           ///< bytes of a launch on the busiest link
  std::uint64_t syncs = 0;        ///< number of signals, waits, uses of semaphores, and blocks in barriers
  std::uint64_t threadBlocks = 0; ///< number of thread blocks on all ranks
  Excess excess = {};             ///< by how much a refused candidate exceeds the executor's limits
  bool lacksChannels = false;     ///< the candidate is refused because blocks have too many channels
  /// The unmeasured parameters of the machine on which the candidate's time rests (time/unmeasured.h). Empty if they
  /// were not computed, because no other candidate is near.
  std::optional<time::ParameterSet> restsOn = {};
};

/// Two times, or two numbers of bytes, count as equal if they differ by at most this factor, because the time model is
/// not more precise.
inline constexpr double closeFigures = 1.02;

/// Returns the best candidate; null if all are refused. Its time is at most `close` times the shortest time. Among such
/// candidates, its bytes on the busiest link are at most `close` times the fewest. Among the remaining candidates, it
/// has the fewest syncs, then the fewest blocks.
///
/// If its time rests on unmeasured parameters, another candidate is preferred. Such a candidate takes at most
/// time::hedge times the shortest time, and rests on a proper subset of these parameters. If there are several such
/// candidates, the best of them is found in the same way.
const Candidate *bestOf(std::span<const Candidate> among, double close = closeFigures);

/// Returns a limit in nanoseconds: a slower candidate is not the best, even if all its parameters are measured. Returns
/// infinity if all candidates are refused.
double mostTime(std::span<const Candidate> among, double close = closeFigures);

/// The reason why another candidate was chosen.
enum class TakenFor : std::uint8_t {
  Time,         ///< the candidate takes more than 2 % longer than the fastest one
  Measurements, ///< the candidate rests on unmeasured parameters, and the chosen one rests on fewer
  LinkBytes,    ///< the chosen one moves fewer bytes over the busiest link
  Syncs,        ///< bytes are equal, but the chosen one has fewer syncs
  ThreadBlocks, ///< syncs are equal, but the chosen one has fewer thread blocks
  Order         ///< all figures are equal, but it was tried later
};
/// Returns why `taken`, the best of `among`, was chosen instead of `other`. `other` must not be refused.
TakenFor takenFor(std::span<const Candidate> among, const Candidate &taken, const Candidate &other);

/// True if a search continues from `other` instead of `mine`: `other` is more than 2 % faster, or it is simpler and not
/// slower. If both are refused, the candidate nearer to the limits is better.
bool isBetter(const Candidate &other, const Candidate &mine);

} // namespace mscclc::passes::schedule
