// The choices that a movement program leaves open, made by the time model.
#pragma once

#include "passes/pass_manager.h"
#include "passes/target.h"
#include "passes/time/costs.h"
#include "passes/time/machine.h"

#include "ir/program.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mscclc::passes::schedule {

/// What a program is scheduled for.
struct Goal {
  const time::Machine &machine;
  time::Runner runner = time::Runner::Executor;
  std::uint64_t messageBytes = 0; ///< of the input, or an AllGather's output
  const Target &target;
  // What a candidate goes through before it is timed, as lists that PassManager::add takes. Candidates share what the
  // first five make of them.
  std::string_view placing;       ///< place and order
  std::string_view dealing;       ///< cut: it changes blocks alone
  std::string_view scheduling;    ///< share-scratch
  std::string_view synchronising; ///< synchronise, of all ranks where they do not all do the same
  std::string_view tidying;       ///< what follows, as far as it is the same for the program
  std::string_view pruning;       ///< what takes long, and is for the best candidates alone
  std::string_view rest;          ///< what a candidate goes through besides; with nothing before it, from place on
  Pass prune = {};                ///< prune-sync, for programs that are only timed; needed if a list names it
  bool keeps = true;              ///< what is chosen is handed out as the first five leave it
};

/// What is open in a program of statements.
struct Open {
  ir::Protocol protocol = ir::Protocol::Simple;
  std::uint32_t instances = 1;
  bool pull = false;          ///< reductions read other ranks' operands; else these are put into scratch
  bool throughSwitch = false; ///< what the switch of a node can do goes through it
  std::uint32_t blocks = 1;   ///< thread blocks that share a rank's peers, or those of each stage of a pipeline
  std::uint64_t step = 0;     ///< bytes of a pipeline's unit, or 0
  bool relayBlocks = false;   ///< blocks without data have the channels that others have too many of
  friend auto operator<=>(const Open &, const Open &) = default;
};

/// One way to decide what is open.
struct Candidate {
  Open open;
  bool refused = false;           ///< the target does not take it
  double nanoseconds = 0;         ///< that the model gives a launch
  double linkBytes = 0;           ///< of a launch, on the busiest link
  std::uint64_t syncs = 0;        ///< signals, waits, semaphores' and barriers' blocks
  std::uint64_t threadBlocks = 0; ///< of all ranks
};

/// What was chosen, and what it was compared with.
struct Choice {
  Open open;
  std::vector<Candidate> tried; ///< with what was chosen; as they are without Goal::pruning
  /// The best of these, with what was chosen, as they are after all passes; nothing where that was not found out.
  std::vector<Candidate> finished;
  double nanoseconds = 0;       ///< that the model gives a launch
  std::uint32_t candidates = 0; ///< tried
  std::uint32_t refused = 0;    ///< of these, those that the target does not take
  std::vector<PassRecord> done; ///< those that Goal::tidying ends, if the program has been through them
};

/// Why a candidate was not taken.
enum class TakenFor : std::uint8_t {
  Time,         ///< it takes more than 2 % longer than the fastest
  LinkBytes,    ///< what was taken moves fewer bytes over the busiest link
  Syncs,        ///< as many bytes, but what was taken has fewer syncs
  ThreadBlocks, ///< as many syncs, but what was taken has fewer thread blocks
  Order         ///< as good, and tried later
};
/// Compares `other` with `taken`, which is the one that was. Both are of `among`, which is Choice::tried or finished;
/// the other was not refused.
TakenFor takenFor(std::span<const Candidate> among, const Candidate &taken, const Candidate &other);

/// Decides the protocol and the number of instances where `program` leaves them open, and blocks, stages, pipeline
/// steps, how reductions get at their operands and, in programs that may reassociate, what goes through switches:
/// writes them into `program`, where place and the passes after it read them.
///
/// Candidates are scheduled and timed, one choice after the other. Of those within 2 % of the fastest, those count
/// whose bytes on the busiest link are within 2 % of the fewest; of these the one with the fewest syncs is taken, and
/// of those the one with the fewest blocks. So far nothing is pruned, which makes some faster than others: the best one
/// and the fastest others, three in all, go through Goal::pruning, and the best of these is taken by the same rule. Of
/// a large program, that is left out. The more statements and operands a program has, the fewer candidates are tried,
/// so that choosing takes about as long as compiling; where there is only one, it is not timed. Candidates that place
/// makes the same of are placed once, and those that are dealt out the same are scheduled once; of ranks that do the
/// same, one is scheduled and timed, but of what is taken all; of instances that do the same, one is timed. A candidate
/// with more blocks than the program allows, or than a GPU holds at once, is refused; where the statements dealt out to
/// blocks show that, or that they are too many for the target, it is not scheduled; where its blocks have too many
/// channels for the target, it goes no further. Where the target takes none of those that are usual, more blocks are
/// tried, as many as these show to be needed, and the other side of reductions. Where some have too many channels, all
/// is searched once more with relay blocks (relays.h); of large programs, only if none fits. If it takes no candidate,
/// the program stays as it is, but for relay blocks if they were tried, for the passes to say why.
Choice choose(ir::Program &program, const Goal &goal);

} // namespace mscclc::passes::schedule
