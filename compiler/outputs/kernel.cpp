// --emit-cuda
#include "backend-cuda/emit_kernel.h"
#include "compiler/diagnostics.h"
#include "compiler/outputs/blocks_by_size.h"
#include "compiler/outputs/outputs.h"
#include "compiler/version.h"
#include "passes/verify/verify.h"

#include <filesystem>

namespace mscclc::driver {
namespace {

/// Returns the options of the command line that shaped the program. The emitted source shows them.
std::string shownSwitches(const Options &options, int optLevel) {
  std::string shown = options.hasPasses ? "--passes=" + options.passes : "-O" + std::to_string(optLevel);
  if (!options.stopAfter.empty())
    shown += " --stop-after=" + options.stopAfter;
  if (options.passLimit)
    shown += " --pass-limit=" + std::to_string(*options.passLimit);
  for (const std::string &name : options.allowed)
    shown += " --allow=" + name;
  if (options.target)
    shown += " --target=" + *options.target;
  if (!options.algorithm.empty())
    shown += " --algorithm " + options.algorithm;
  if (options.hasMachine)
    shown += " --machine " + std::filesystem::path(options.machine).filename().string();
  for (const auto &[name, value] : options.parameters)
    shown += " -P " + name + "=" + value;
  for (const std::string &argument : options.clangArgs)
    if (argument.rfind("-D", 0) == 0)
      shown += " " + argument;
  if (options.messageSize != 0)
    shown += " --message-size " + std::to_string(options.messageSize);
  if (options.blocksBySize)
    shown += " --blocks-by-size";
  for (const std::string &type : options.types)
    shown += " --dtype " + type;
  return shown;
}

/// Returns the table of instances by message size, for a kernel. `messageSize`: the only size of the kernel in bytes;
/// 0: it takes any size. Returns an empty table if every launch has one instance.
std::vector<cuda::InstancesFrom> instancesOf(const std::vector<BlocksFrom> &rows, std::uint64_t messageSize) {
  std::vector<cuda::InstancesFrom> instances{{}};
  for (const BlocksFrom &row : rows)
    if (messageSize == 0)
      instances.push_back({row.bytes, row.instances});
    else if (row.bytes <= messageSize)
      instances = {{0, row.instances}};
  return instances.back().count == 1 && instances.size() == 1 ? std::vector<cuda::InstancesFrom>() : instances;
}

} // namespace

bool writeKernel(Job &job) {
  const Options &given = job.options;
  cuda::EmitOptions options;
  options.messageSize = given.messageSize;
  options.types = given.types;
  options.blocksOnEach = passes::secondLaunchBound(job.program, job.machine.gpu());
  options.toolVersion = std::string("mscclc ") + version();
  options.sourceName = given.input == "-" ? "standard input" : std::filesystem::path(given.input).filename().string();
  options.switches = shownSwitches(given, job.optLevel());
  options.sums = job.sums;
  options.rows = job.proof == nullptr ? nullptr : &job.proof->rows;
  if (given.blocksBySize) {
    if (const std::string why = whyOneInstance(job.program); !why.empty())
      job.diags.report(diag::one_number_of_blocks, ir::Where("program '" + job.program.name + "'"), {why});
    options.instances = instancesOf(blocksBySize(job), given.messageSize);
    job.times.lap("blocks by size");
  }
  std::string text;
  if (!cuda::emitKernel(job.program, options, text, job.diags))
    return false;
  job.times.lap("emit");
  return job.writeFile(given.outputPath, [&](std::ostream &stream) { stream << text; });
}

} // namespace mscclc::driver
