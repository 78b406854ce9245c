// What the outputs that tell of time share: machine, runner, sizes, and the words for them.
#pragma once

#include "compiler/outputs/outputs.h"
#include "passes/time/estimate.h"
#include "passes/time/measured_trace.h"

#include <optional>

namespace mscclc::driver {

/// What --machine and --target ask for, checked against the program. The executor of MSCCL++ runs it for a target that
/// is one of its versions, a kernel of its own for --target=none.
struct TimedOn {
  passes::time::Machine machine;
  passes::time::Runner runner = passes::time::Runner::Executor;
};
/// Nothing, and why in the job's diagnostics, if the program cannot run there. `usual`: in place of --machine where
/// that is not given.
std::optional<TimedOn> timedOn(Job &job, const std::optional<std::string> &usual = {});
/// The same for a program of which it is not known yet what it needs. Where --machine does not say how many nodes there
/// are, there are as many as the program names.
std::optional<TimedOn> namedMachine(Job &job, const std::optional<std::string> &usual = {});
/// Reports why the program cannot run there, and what to write instead: an error, and false, if `isAsked`; else
/// a warning that what was chosen is for that machine.
bool checkRunsOn(Job &job, const TimedOn &on, bool isAsked);

/// `bytes`, or the message nearest to it that the program takes.
std::uint64_t nearestSize(const ir::Program &program, std::uint64_t bytes);

/// The sizes of --size, or `usual`, or else a few from 1 KiB to 1 GiB that the program takes. Empty, and why in the
/// job's diagnostics, if the program does not take one.
std::vector<std::uint64_t> timedSizes(Job &job, std::optional<std::uint64_t> usual = {});

/// An estimate of a program that ends; nothing, and why in the job's diagnostics, if some block waits for ever.
/// `record`: with what pictures need.
std::optional<passes::time::Estimate> timeOf(Job &job, const TimedOn &on, std::uint64_t size, bool record = false);

/// What an output of one launch shows: where it runs, and with how many bytes. They are those of --size; without it
/// 4 MiB, or the nearest size that the program takes. What `like` says of machine and size counts where the options do
/// not say it. Nothing, and why in the job's diagnostics, if there is no such launch.
struct TimedLaunch {
  TimedOn on;
  std::uint64_t size = 0;
};
std::optional<TimedLaunch> oneLaunch(Job &job, const passes::time::TracedLaunch &like = {});

/// "ring on h100x8, run by MSCCL++'s executor", and for which size it was scheduled where that was chosen.
std::string headOf(const Job &job, const TimedOn &on);
/// The size that the program was scheduled for, in bytes; nothing if it says itself what each thread block does.
std::optional<std::uint64_t> scheduledFor(const Job &job);

/// "ring.cpp:21:7", or "" for an operation without source.
std::string sourceOf(const ir::Program &program, const ir::Op &op);

std::string_view toString(passes::time::Runner runner); ///< "MSCCL++'s executor", "a kernel of its own"
/// "64K", "1000", "1G": powers of 1024 where they fit.
std::string shownBytes(std::uint64_t bytes);
/// "12.3 us", "4.56 ms".
std::string shownTime(passes::time::Time nanoseconds);

} // namespace mscclc::driver
