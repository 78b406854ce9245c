#include "calibrate.h"

#include "bench.h"
#include "device.h"
#include "experiment_list.h"
#include "rows.h"

#include "ir/text.h"
#include "passes/time/calibrate.h"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

namespace mscclc::perf {
namespace {

using passes::time::Machine;

[[noreturn]] void fail(const std::string &why) {
  throw std::runtime_error(why);
}

/// Returns the path of the library that the options name. By default, it is the library of experiments that was built
/// or installed with this program.
std::string libraryOf(const Options &options) {
  if (!options.library.empty())
    return options.library;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string name = options.host ? "mscclc-experiments-host.so" : "mscclc-experiments.so";
  for (const char *place : {".", "../" MSCCLC_LIBRARY_FOLDER "/mscclc"})
    if (const std::filesystem::path path = folder / place / name; std::filesystem::exists(path))
      return path.lexically_normal().string();
  fail("there is no " + name +
       " beside this program: `cmake --build BUILD --target mscclc-experiments` makes it, on a "
       "machine with nvcc; or name the library");
}

/// Returns the programs of a library, by name. The library must be loaded already.
std::map<std::string, ir::Program> programsOf(const std::string &library) {
  // dlopen searches other folders for a path without a slash, so the path is made absolute.
  void *const handle = ::dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  const void *const symbol = handle == nullptr ? nullptr : ::dlsym(handle, MSCCLC_EXPERIMENTS_SYMBOL);
  if (symbol == nullptr)
    fail(library + " holds no experiments");
  std::map<std::string, ir::Program> programs;
  for (const auto *text = static_cast<const MscclcExperiment *>(symbol); *text != nullptr; ++text) {
    ir::DiagnosticEngine diagnostics;
    std::optional<ir::Program> program = ir::parse(*text, library, diagnostics);
    if (!program)
      fail("an experiment cannot be read:\n" + diagnostics.render(false));
    std::string name = program->name;
    programs.emplace(std::move(name), std::move(*program));
  }
  return programs;
}

/// Returns the number of ranks that can have their own device.
uint32_t ranksOf(const Options &options) {
  if (options.host)
    return std::numeric_limits<uint32_t>::max();
  const uint32_t devices = deviceCount();
  if (devices == 0)
    fail("there is no CUDA device here");
  if (options.devices.empty())
    return devices;
  if (std::set<int32_t>(options.devices.begin(), options.devices.end()).size() != options.devices.size())
    fail("-D gives a device to two ranks: their times are not those of two GPUs");
  return static_cast<uint32_t>(options.devices.size());
}

/// Returns the machine with which the fit begins.
Machine startOf(const Options &options, uint32_t ranks) {
  Machine machine;
  try {
    machine = passes::time::findMachine(options.like);
  } catch (const passes::time::MachineError &error) {
    fail("--like " + options.like + ": " + error.message);
  }
  machine.nodes = 1;
  machine.name = options.machineName;
  if (machine.name.empty())
    machine.name = std::filesystem::path(options.output).stem().string();
  if (options.host) {
    machine.description = "the CPU stand-in, which is no machine: these times say nothing of GPUs";
    return machine;
  }
  const int first = options.devices.empty() ? 0 : options.devices.front();
  machine.gpusPerNode = ranks;
  machine.description = std::to_string(ranks) + " x " + deviceName(first);
  if (const uint32_t count = multiprocessors(first); count != 0)
    machine.multiprocessors = count;
  return machine;
}

/// Measures all experiments that this machine can run, and returns their kernels and rows. If switch channels do not
/// use a switch, sets the switch's rates in `machine` to 0.
std::vector<Measured> measureAll(Options options, const std::vector<const MscclcKernel *> &kernels, uint32_t ranks,
                                 Machine &machine) {
  std::vector<Measured> all;
  for (const MscclcKernel *kernel : kernels) {
    if (kernel->ranks > ranks) {
      std::printf("# left out: %s needs %u GPUs\n", kernel->name, kernel->ranks);
      continue;
    }
    // The model assumes the kernel's number of threads, so fewer threads would be another experiment.
    Options one = options;
    if (one.threads == 0 && !one.host)
      one.threads = kernel->threads;
    if (rowsOf(one, *kernel).empty())
      continue;
    Measured measured = measure(one, *kernel, 0, "");
    std::printf("\n");
    if (!measured.isRight())
      fail(std::string("kernel ") + kernel->name + " computes wrong results: nothing is written");
    if ((kernel->flags & MSCCLC_USES_MULTICAST) != 0 && !measured.hasMulticast) {
      machine.parameters.multimem = machine.parameters.blockMultimem = 0;
      std::printf("# left out: %s measures multicast, and this machine has none\n", kernel->name);
      continue;
    }
    all.push_back(std::move(measured));
  }
  return all;
}

void printFit(const passes::time::Calibration &calibration, const Machine &like, const std::string &likeName) {
  std::printf("# %-20s %10s %-6s %10s\n", "parameter", "fitted", "", likeName.c_str());
  const passes::time::ParameterField *field = passes::time::parameterFields;
  for (const passes::time::FittedParameter &parameter : calibration.parameters) {
    std::printf("  %-20s %10.4g %-6s %10.4g  ", parameter.key.c_str(), parameter.value, field->unit,
                like.parameters.*field->member);
    switch (parameter.standing) {
    case passes::time::Standing::Kept:
      std::printf("kept\n");
      break;
    case passes::time::Standing::Shared:
      std::printf("within %.1f %%, given what is kept\n", parameter.spread * 100);
      break;
    case passes::time::Standing::Settled:
      std::printf("within %.1f %%\n", parameter.spread * 100);
      break;
    }
    ++field;
  }
  std::printf("# estimates of the %zu times are off by a factor of %.2f in the median, %.2f at most\n",
              calibration.measurements, calibration.medianFactor, calibration.worstFactor);
}

/// Converts the rows to measurements for the fit.
std::vector<passes::time::Measurement> measurementsOf(const std::vector<Measured> &all,
                                                      const std::map<std::string, ir::Program> &programs,
                                                      const Machine &machine) {
  std::vector<passes::time::Measurement> measurements;
  for (const Measured &measured : all) {
    const auto program = programs.find(measured.kernel->name);
    if (program == programs.end())
      fail(std::string("the library holds no program of kernel ") + measured.kernel->name);
    if (const auto why = cannotRun(program->second, machine))
      fail(std::string("kernel ") + measured.kernel->name + ": " + *why);
    for (const Row &row : measured.rows)
      measurements.push_back({&program->second, row.bytes, row.seconds * 1e9});
  }
  return measurements;
}

} // namespace

int calibrate(const Options &given) try {
  Options options = given;
  options.graph = !options.host;
  if (options.packets.empty()) // no packets, or the kind of packets that the model describes
    options.packets = {MSCCLC_NO_PACKET, MSCCLC_LL16};
  const uint32_t ranks = ranksOf(options);
  Machine machine = startOf(options, ranks);
  const Machine like = machine;
  const std::string library = libraryOf(options);
  const std::vector<const MscclcKernel *> kernels = runtime::loadLibrary(library);
  const std::map<std::string, ir::Program> programs = programsOf(library);
  const std::vector<Measured> all = measureAll(options, kernels, ranks, machine);
  const auto measurements = measurementsOf(all, programs, machine);
  if (measurements.empty())
    fail("none of the experiments of " + library + " can run here");
  if (!options.json.empty() && !writeJson(options.json, all))
    fail("cannot write " + options.json);
  const auto calibration = passes::time::calibrate(measurements, machine, passes::time::Runner::Kernel);
  printFit(calibration, like, options.like);
  std::ofstream file(options.output, std::ios::binary);
  file << passes::time::machineFile(calibration, "mscclc-perf --calibrate", options.like);
  if (!file.flush())
    fail("cannot write " + options.output);
  return 0;
} catch (const std::exception &error) {
  std::fflush(stdout);
  std::fprintf(stderr, "mscclc-perf: %s\n", error.what());
  return 1;
}

} // namespace mscclc::perf
