#include "compiler/outputs/blocks_by_size.h"

#include "backend-cuda/emit_kernel.h"
#include "compiler/outputs/estimates.h"
#include "ir/collectives.h"
#include "ir/internal_error.h"
#include "passes/pass_manager.h"
#include "passes/residency.h"
#include "passes/time/estimate.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace mscclc::driver {
namespace {

namespace time = passes::time;

constexpr std::uint32_t mostInstances = 64;
constexpr double worthIt = 1.02; ///< fewer blocks are preferred if their time is at most this multiple of the best time

std::uint32_t mostBlocksOf(const ir::Program &program) {
  std::size_t most = 0;
  for (const ir::Rank &rank : program.ranks)
    most = std::max(most, rank.blocks.size());
  return static_cast<std::uint32_t>(most);
}

/// Returns the program with `instances` instances, for the time model; nothing if this is not possible. In a kernel,
/// each instance moves a part of every chunk. The returned program represents these parts by whole chunks. This is
/// refused if operations divide a buffer in different ways. Then all instances name the same chunks instead: the chunks
/// are wrong, but their number of bytes is right for the time model.
std::optional<ir::Program> several(const ir::Program &one, std::uint32_t instances, ir::Replication replication) {
  ir::Program program = one;
  program.instances = instances;
  program.replication = replication;
  passes::PassManager manager({}, passes::propertiesOf(program));
  if (const std::string error = manager.add("replicate-instances"); !error.empty())
    throw ir::InternalError(error);
  ir::DiagnosticEngine findings;
  if (manager.run(program, findings).ok)
    return program;
  return replication == ir::Replication::None ? std::nullopt : several(one, instances, ir::Replication::None);
}

/// The program replicated into a number of instances.
struct TimedInstances {
  std::uint32_t instances;
  ir::Program program;
};

} // namespace

std::string whyOneInstance(const ir::Program &program) {
  if (cuda::mayHaveInstances(program))
    return "";
  if (ir::wireOf(program))
    return "a wire format";
  if (!program.hooks.empty())
    return "functions of hooks";
  if (ir::info(program.collective.kind).hasRows)
    return "counts of rows";
  return program.protocol == ir::Protocol::Lamport ? "Lamport packets" : "port channels";
}

std::vector<BlocksFrom> blocksBySize(const Job &job) {
  const ir::Program &program = job.program;
  const std::uint32_t blocks = mostBlocksOf(program);
  if (!cuda::mayHaveInstances(program) || blocks == 0 || time::cannotRun(program, job.machine))
    return {};
  std::uint64_t most =
      std::min<std::uint64_t>(passes::residentBlocks(program, job.machine.gpu(), nullptr), job.machine.multiprocessors);
  if (job.mostBlocks != 0)
    most = std::min<std::uint64_t>(most, job.mostBlocks);
  std::vector<TimedInstances> timed{{1, program}};
  for (std::uint32_t n = 2; n <= mostInstances && std::uint64_t{n} * blocks <= most; n *= 2)
    if (std::optional<ir::Program> one = several(program, n, ir::Replication::Interleaved))
      timed.push_back({n, std::move(*one)});
  std::vector<BlocksFrom> rows;
  std::uint32_t before = 1;
  for (std::uint64_t bytes = std::uint64_t{1} << 10; bytes <= std::uint64_t{1} << 30; bytes *= 2) {
    if (bytes < program.minMessageSize || bytes > program.maxMessageSize)
      continue;
    std::vector<time::Time> times;
    for (const TimedInstances &one : timed)
      if (bytes / one.instances >= std::max<std::uint64_t>(program.minMessageSize, 1))
        times.push_back(time::launchFigures(one.program, job.machine, time::Runner::Kernel, bytes,
                                            {.instances = one.instances, .ranks = true})
                            .total);
    if (times.empty())
      continue;
    const time::Time fastest = *std::ranges::min_element(times);
    const auto fewest = std::ranges::find_if(times, [&](time::Time one) { return one <= worthIt * fastest; });
    const std::uint32_t instances = timed[static_cast<std::size_t>(fewest - times.begin())].instances;
    if (instances != before)
      rows.push_back({bytes, instances, instances * blocks, times[0], *fewest});
    before = instances;
  }
  return rows;
}

std::string shownBlocks(const std::vector<BlocksFrom> &rows) {
  if (rows.empty())
    return "thread blocks of a launch by the size of its message: one number is enough for all sizes\n\n";
  std::string text = "thread blocks of a launch by the size of its message (--blocks-by-size)\n";
  char line[128];
  for (const BlocksFrom &row : rows) {
    std::snprintf(line, sizeof line, "%8s and more %6u blocks, %s; with one instance %s\n",
                  shownBytes(row.bytes).c_str(), row.blocks, shownTime(row.together).c_str(),
                  shownTime(row.one).c_str());
    text += line;
  }
  return text + "\n";
}

} // namespace mscclc::driver
