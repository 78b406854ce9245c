// Functions that the outputs about time share: they find the machine, the runner and the sizes, and put them into
// words.
#pragma once

#include "compiler/outputs/outputs.h"
#include "passes/time/estimate.h"
#include "passes/time/measured_trace.h"

#include <optional>

namespace mscclc::driver {

/// The machine of --machine, and the runner that follows from --target. If the target is a version of MSCCL++, the
/// runner is its executor. With --target=none, it is an emitted kernel.
struct TimedOn {
  passes::time::Machine machine;
  passes::time::Runner runner = passes::time::Runner::Executor;
};
/// Returns the machine and the runner. If the program cannot run on them, reports why and returns nothing. `usual`: the
/// machine if --machine is not given.
std::optional<TimedOn> timedOn(Job &job, const std::optional<std::string> &usual = {});
/// Returns the machine and the runner without a check that the program can run on them. If --machine does not give the
/// number of nodes, the program's number is used.
std::optional<TimedOn> namedMachine(Job &job, const std::optional<std::string> &usual = {});
/// Returns true if the program can run on the machine. Otherwise reports why not, and which option would help. If
/// `isAsked`, this is an error and the function returns false. Otherwise it is only a warning, because choices were
/// made for the machine.
bool checkRunsOn(Job &job, const TimedOn &on, bool isAsked);

/// The message size for which a program is scheduled if no option gives one, in bytes.
inline constexpr std::uint64_t usuallyScheduledFor = std::uint64_t{1} << 20;

/// Returns the options for scheduling a program for messages of `bytes` bytes. The options refer to `on`, which must
/// outlive them. `keeps`: the caller continues with the scheduled program.
passes::schedule::ChooseOptions chooseOptionsOf(const Job &job, const TimedOn &on, std::uint64_t bytes, bool keeps);

/// Returns the message size nearest to `bytes` that the program takes, in bytes.
std::uint64_t nearestSize(const ir::Program &program, std::uint64_t bytes);

/// Returns the message size for which the program is scheduled, in bytes: the given one, else the nearest to the usual
/// one that the program takes.
std::uint64_t sizeToSchedule(const Job &job);

/// Returns the message sizes to time, in bytes: those of --size, else `usual`. If neither is given, an output with an
/// Output::usualSize gets the size of --message-size or this usual size. Other outputs get a few sizes from 1 KiB to 1
/// GiB. If the program does not take a size, reports this and returns no sizes.
std::vector<std::uint64_t> timedSizes(Job &job, std::optional<std::uint64_t> usual = {});

/// Returns the estimate of a launch. If some block waits forever, reports why and returns nothing.
std::optional<passes::time::Estimate> timeOf(Job &job, const TimedOn &on, std::uint64_t size,
                                             passes::time::Detail detail = passes::time::Detail::Ranks);

/// The one launch that an output shows. oneLaunch() takes the machine and the size from the options. If they do not
/// give one, it takes that of `like`. If there is no such launch, or it never ends, it reports why and returns nothing.
struct TimedLaunch {
  TimedOn on;
  std::uint64_t size = 0;
  passes::time::Estimate estimate;
};
std::optional<TimedLaunch> oneLaunch(Job &job, passes::time::Detail detail,
                                     const passes::time::TracedLaunch &like = {});

/// Returns "`name` on h100x8, run by MSCCL++'s executor". If the compiler chose the thread blocks, the text also has
/// the message size that they were scheduled for.
std::string headOf(const Job &job, const TimedOn &on, const std::string &name);
/// Returns the message size that the program was scheduled for, in bytes; nothing if the program states its own thread
/// blocks.
std::optional<std::uint64_t> scheduledFor(const Job &job);

/// Returns the source place of an operation, "ring.cpp:21:7"; empty if it has none.
std::string sourceOf(const ir::Program &program, const ir::Op &op);

std::string_view toString(passes::time::Runner runner); ///< Returns "MSCCL++'s executor" or "a kernel of its own".
/// Returns a number of bytes in words: "64K", "1000", "1G". Powers of 1024 are used if they divide it.
std::string shownBytes(std::uint64_t bytes);
/// Returns a time in words: "12.3 us", "4.56 ms".
std::string shownTime(passes::time::Time nanoseconds);

} // namespace mscclc::driver
