// What a library of kernels calls of the CUDA runtime, with the machine in the place of a GPU. Such a library, made by
// `nvcc -gencode arch=compute_90,code=compute_90 --no-compress -cudart none`, holds its PTX as text. All else of CUDA
// is the fake of tests/runtime/cuda_fake: memory, streams, graphs, multicast objects. Preloaded before it, into a
// client of mscclc's runtime, this takes the client's launches.
//
// Environment: MSCCLC_PTX_SEED, the seed of the schedule [1].
#include "machine.h"
#include "tests/runtime/cuda_fake/fake.h"

#include "mscclc/device.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <driver_types.h>
#include <unistd.h>

extern "C" int cudaGetDevice(int *device);

namespace {

using namespace mscclc::ptx;

struct Dim3 {
  unsigned x, y, z;
};

struct Entry {
  const Module *module = nullptr;
  std::string name;
};

/// The beginning of the parameters of every kernel.
using Parameters = mscclc::device::LaunchParameters;

/// The kernel of the library that `stub` is in; null if the library has none, or several.
const MscclcKernel *kernelOf(const void *stub) {
  Dl_info info{};
  if (::dladdr(stub, &info) == 0)
    return nullptr;
  void *const library = ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  const auto list = reinterpret_cast<const MscclcRegistered *(*)()>(::dlsym(library, "mscclc_library_kernels"));
  const MscclcRegistered *const first = list == nullptr ? nullptr : list();
  return first == nullptr || first->before != nullptr ? nullptr : first->kernel;
}

/// Says which memory a launch of one of mscclc's kernels gets from its user, and where its packets lie.
void describeBuffers(const void *stub, Launch &launch) {
  const MscclcKernel *const kernel = kernelOf(stub);
  MscclcRankArgs args;
  MscclcBuffers own;
  if (kernel == nullptr || launch.parameters.size() < sizeof(Parameters))
    return;
  std::memcpy(&args, launch.parameters.data() + offsetof(Parameters, args), sizeof args);
  std::memcpy(&own, launch.parameters.data() + offsetof(Parameters, own), sizeof own);
  if (args.abi_version != MSCCLC_ABI_VERSION)
    return;
  const auto region = [](const void *memory, std::uint64_t bytes) {
    return Region{reinterpret_cast<std::uint64_t>(memory), bytes};
  };
  const auto withRoomFor = [&](std::uint64_t rows, std::uint64_t whole) { // packed buffers may be shorter
    return rows == 0 ? whole : std::min(whole, rows * args.row_bytes);
  };
  launch.buffers = {region(args.staging.input != nullptr ? args.staging.input : own.input,
                           withRoomFor(args.counts.in_rows, kernel->input_bytes(args.rank, args.message_bytes))),
                    region(args.staging.output != nullptr ? args.staging.output : own.output,
                           withRoomFor(args.counts.out_rows, kernel->output_bytes(args.rank, args.message_bytes)))};
  launch.hosts = {region(args.status, sizeof *args.status),
                  region(args.fifo.slots, args.fifo.capacity * sizeof(MscclcTrigger))};
  launch.kernels = (kernel->flags & MSCCLC_SPLIT) != 0 ? 2 : 1;
  if ((kernel->flags & MSCCLC_USES_PACKETS) != 0)
    launch.packets = {region(own.scratch, kernel->scratch_bytes(args.scratch_stride))};
  if ((kernel->flags & MSCCLC_TAKES_COUNTS) != 0) { // behind what all kernels have: SlotParameters
    void *table = nullptr;
    std::memcpy(&table,
                launch.parameters.data() + sizeof(Parameters) + sizeof(std::uint64_t) + args.rank * sizeof table,
                sizeof table);
    launch.packets.push_back(region(table, MSCCLC_COUNT_TABLE_BYTES(kernel->ranks) +
                                               MSCCLC_EXPERT_TABLE_BYTES(kernel->ranks, kernel->experts)));
  }
}

class Runtime {
public:
  Runtime()
      : machine_(seedFromEnvironment(), {std::chrono::milliseconds(20), std::chrono::seconds(20)},
                 [](std::uint64_t address) {
                   const std::vector<CUdeviceptr> members = cuda_fake::multicastMembers(address);
                   return std::vector<std::uint64_t>(members.begin(), members.end());
                 }) {
    if (std::getenv("MSCCLC_PTX_FIRST") != nullptr)
      machine_.endAtRace();
  }
  /// Prints what was found. Races end the process with exit code 1, as the client has no way to see them.
  ~Runtime() {
    const Counts &counts = machine_.counts();
    if (counts.launches == 0)
      return;
    for (const Race &race : machine_.memory().races())
      std::fprintf(stderr, "ptx: race: %s\n", race.text.c_str());
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::fprintf(stderr,
                 "ptx: seed %llu: %llu launches, %llu instructions, %llu steps, %llu multicast accesses, "
                 "%llu stale reads, %zu races\n",
                 number(machine_.seed()), number(counts.launches), number(counts.instructions), number(counts.steps),
                 number(counts.multicasts), number(machine_.memory().staleReads()), machine_.memory().races().size());
    if (!machine_.memory().races().empty())
      end();
  }

  /// The text of a fat binary's PTX, which lies in it as it is.
  const Module *load(const char *image) {
    std::uint64_t size = 0;
    std::memcpy(&size, image + 8, sizeof size); // behind the magic number, the version and the header's size
    const std::string_view all(image, size + 16);
    const std::size_t first = all.find(".version ");
    if (first == std::string_view::npos)
      fail("a library without PTX as text; compile with --no-compress");
    modules_.push_back(std::make_unique<Module>(readModule(all.substr(first, all.find('\0', first) - first))));
    return modules_.back().get();
  }

  void synchronized(int device) { machine_.synchronized(device); }

  void add(const void *stub, const Module *module, const char *name) { entries_[stub] = {module, name}; }

  /// The architecture that a kernel's PTX is for: 90.
  int architectureOf(const void *stub) const {
    const std::string &target = entries_.at(stub).module->target;
    return std::stoi(target.substr(target.find('_') + 1));
  }

  int launch(const void *stub, Dim3 grid, Dim3 block, void **arguments, void *stream, bool isDependent = false) {
    const Entry &entry = entries_.at(stub);
    Launch launch;
    launch.module = entry.module;
    launch.entry = entry.module->functionOf.at(entry.name);
    launch.blocks = grid.x;
    launch.threads = block.x;
    launch.stream = stream;
    launch.isDependent = isDependent;
    if (::cudaGetDevice(&launch.device) != cudaSuccess)
      fail("a launch without a device");
    const Function &function = launch.module->functions[launch.entry];
    launch.parameters.resize(function.parameterBytes);
    for (std::size_t i = 0; i < function.parameters.size(); ++i)
      std::memcpy(launch.parameters.data() + function.parameters[i].offset, arguments[i], function.parameters[i].bytes);
    describeBuffers(stub, launch);
    cudaFakeLaunch(stream, [this, launch] { run(launch); });
    return 0;
  }

  template <class Action> static auto guarded(const Action &action) {
    try {
      return action();
    } catch (const std::exception &error) {
      fail(error.what());
    }
  }

private:
  static std::uint64_t seedFromEnvironment() {
    const char *text = std::getenv("MSCCLC_PTX_SEED");
    return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
  }
  [[noreturn]] static void end() {
    std::fflush(nullptr);
    ::_exit(1);
  }
  [[noreturn]] static void fail(const std::string &why) {
    std::fprintf(stderr, "ptx: seed %llu: %s\n", static_cast<unsigned long long>(seedFromEnvironment()), why.c_str());
    end();
  }
  void run(const Launch &launch) {
    guarded([&] { machine_.run({launch}); });
  }

  Machine machine_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<const void *, Entry> entries_;
};

Runtime &runtime() {
  static Runtime one;
  return one;
}

} // namespace

// The names and signatures are CUDA's: its public API, and what nvcc's host code calls.
extern "C" {

void **__cudaRegisterFatBinary(void *wrapper) {
  const void *image = nullptr;
  std::memcpy(&image, static_cast<const char *>(wrapper) + 8, sizeof image); // behind a magic number and a version
  const Module *module = Runtime::guarded([&] { return runtime().load(static_cast<const char *>(image)); });
  return const_cast<void **>(reinterpret_cast<void *const *>(module));
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) {
  return 1;
}
void __cudaRegisterFunction(void **module, const char *stub, char *, const char *name, int, void *, void *, void *,
                            void *, int *) {
  runtime().add(stub, reinterpret_cast<const Module *>(module), name);
}
void __cudaRegisterVar(void **, char *, char *, const char *, int, std::size_t, int, int) {}
unsigned __cudaPopCallConfiguration(Dim3 *, Dim3 *, std::size_t *, void *) {
  return 1;
}
int __cudaGetKernel(const void **kernel, const void *stub) {
  *kernel = stub;
  return 0;
}
int cudaLaunchKernel(const void *stub, Dim3 grid, Dim3 block, void **arguments, std::size_t, void *stream) {
  return runtime().launch(stub, grid, block, arguments, stream);
}
int __cudaLaunchKernel(const void *stub, Dim3 grid, Dim3 block, void **arguments, std::size_t, void *stream) {
  return runtime().launch(stub, grid, block, arguments, stream);
}

int cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *stub, void **arguments) {
  const auto isDependent = [](const cudaLaunchAttribute &attribute) {
    return attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization &&
           attribute.val.programmaticStreamSerializationAllowed != 0;
  };
  return runtime().launch(stub, {config->gridDim.x, config->gridDim.y, config->gridDim.z},
                          {config->blockDim.x, config->blockDim.y, config->blockDim.z}, arguments, config->stream,
                          std::any_of(config->attrs, config->attrs + config->numAttrs, isDependent));
}
int cudaDeviceSynchronize() {
  static auto *const next = reinterpret_cast<int (*)()>(::dlsym(RTLD_NEXT, "cudaDeviceSynchronize"));
  const int result = next();
  int device = 0;
  if (result == cudaSuccess && ::cudaGetDevice(&device) == cudaSuccess)
    runtime().synchronized(device);
  return result;
}
int cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *stub) {
  *attributes = {};
  attributes->ptxVersion = runtime().architectureOf(stub);
  return 0;
}

// How many blocks a device holds.
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, std::size_t) {
  *blocks = 1;
  return 0;
}
}
