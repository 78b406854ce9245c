// Functions that the outputs about time share: machine, runner, sizes, and their words.
#pragma once

#include "compiler/outputs/outputs.h"
#include "passes/time/estimate.h"
#include "passes/time/measured_trace.h"

#include <optional>

namespace mscclc::driver {

/// The machine and the runner that --machine and --target ask for, checked against the program. For a target that is a
/// version of MSCCL++, its executor runs the program; for --target=none, an emitted kernel does.
struct TimedOn {
  passes::time::Machine machine;
  passes::time::Runner runner = passes::time::Runner::Executor;
};
/// Returns nothing, and reports why in the job's diagnostics, if the program cannot run there. `usual`: the machine if
/// --machine is not given.
std::optional<TimedOn> timedOn(Job &job, const std::optional<std::string> &usual = {});
/// Does the same for a program whose requirements are not yet known. If --machine does not give the number of nodes, it
/// is the program's number.
std::optional<TimedOn> namedMachine(Job &job, const std::optional<std::string> &usual = {});
/// Reports why the program cannot run there, and what to write instead. If `isAsked`, this is an error, and it returns
/// false. Else it is a warning that the choices were made for that machine.
bool checkRunsOn(Job &job, const TimedOn &on, bool isAsked);

/// The bytes of the messages for which a program is scheduled if no option says it.
inline constexpr std::uint64_t usuallyScheduledFor = std::uint64_t{1} << 20;

/// Returns the options to schedule a program for messages of `bytes` bytes on `on`, which must live as long as they do.
/// `keeps`: the caller goes on with the scheduled program.
passes::schedule::ChooseOptions chooseOptionsOf(const Job &job, const TimedOn &on, std::uint64_t bytes, bool keeps);

/// Returns `bytes`, or the nearest message size that the program takes.
std::uint64_t nearestSize(const ir::Program &program, std::uint64_t bytes);

/// Returns the sizes (bytes) of --size. Without it returns `usual`. Without that, an output with a usual size gets that
/// of --message-size, else Output::usualSize; other outputs get a few sizes from 1 KiB to 1 GiB. If the program does
/// not take a size, returns none and reports why in the job's diagnostics.
std::vector<std::uint64_t> timedSizes(Job &job, std::optional<std::uint64_t> usual = {});

/// Returns an estimate of a program that ends. If some block waits forever, returns nothing and reports why in the
/// job's diagnostics.
std::optional<passes::time::Estimate> timeOf(Job &job, const TimedOn &on, std::uint64_t size,
                                             passes::time::Detail detail = passes::time::Detail::Ranks);

/// The launch that an output shows: the machine, the runner and the bytes, as timedSizes says. If the options do not
/// give machine or size, those of `like` count. If there is no such launch, or it never ends, nothing is returned, and
/// the job's diagnostics say why.
struct TimedLaunch {
  TimedOn on;
  std::uint64_t size = 0;
  passes::time::Estimate estimate;
};
std::optional<TimedLaunch> oneLaunch(Job &job, passes::time::Detail detail,
                                     const passes::time::TracedLaunch &like = {});

/// Returns "ring on h100x8, run by MSCCL++'s executor". If blocks were chosen, adds the size that they were scheduled
/// for.
std::string headOf(const Job &job, const TimedOn &on);
/// Returns the size that the program was scheduled for, in bytes; nothing if the program defines its own thread blocks.
std::optional<std::uint64_t> scheduledFor(const Job &job);

/// Returns "ring.cpp:21:7", or "" for an operation without source.
std::string sourceOf(const ir::Program &program, const ir::Op &op);

std::string_view toString(passes::time::Runner runner); ///< "MSCCL++'s executor", "a kernel of its own"
/// "64K", "1000", "1G": powers of 1024 if they fit
std::string shownBytes(std::uint64_t bytes);
/// "12.3 us", "4.56 ms".
std::string shownTime(passes::time::Time nanoseconds);

} // namespace mscclc::driver
