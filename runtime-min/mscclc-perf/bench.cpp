#include "bench.h"

#include "collective.h"
#include "device.h"
#include "nccl_ranks.h"
#include "rows.h"
#include "values.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>

namespace mscclc::perf {
namespace {

using runtime::Call;

/// The number of bytes that are filled or checked at once.
constexpr uint64_t pieceBytes = 8 << 20;
/// Messages of up to this size, in bytes, are checked again after they were timed.
constexpr uint64_t checkedTwice = 1 << 20;
/// The number of threads of a block is halved until all blocks fit on the device, but not below this number.
constexpr uint32_t fewestThreads = 32;

runtime::CommunicatorOptions communicatorOptions(const Options &options, const MscclcKernel &kernel, uint32_t process,
                                                 const std::string &rendezvous, std::vector<int32_t> &devices) {
  runtime::CommunicatorOptions communicator(kernel.ranks);
  const uint32_t first = kernel.ranks * process / options.processes;
  communicator.first_local_rank = first;
  communicator.local_ranks = kernel.ranks * (process + 1) / options.processes - first;
  communicator.platform = options.host ? MSCCLC_PLATFORM_HOST : MSCCLC_PLATFORM_CUDA;
  communicator.rendezvous = rendezvous.c_str();
  communicator.wait_timeout_ms = options.timeoutMs == 0 ? MSCCLC_NO_TIMEOUT : options.timeoutMs;
  for (uint32_t i = 0; i < communicator.local_ranks && !options.devices.empty(); ++i)
    devices.push_back(options.devices[(first + i) % options.devices.size()]);
  communicator.devices = devices.empty() ? nullptr : devices.data();
  return communicator;
}

/// Returns the NCCL communicators for --nccl, and makes `communicator` use them. Null without --nccl.
std::unique_ptr<NcclRanks> useNccl(const Options &options, runtime::CommunicatorOptions &communicator) {
  if (options.nccl.empty())
    return nullptr;
  std::vector<int32_t> devices(communicator.local_ranks, noDevice);
  for (uint32_t i = 0; i < communicator.local_ranks && !options.host; ++i)
    devices[i] = communicator.devices != nullptr
                     ? communicator.devices[i]
                     : static_cast<int32_t>((communicator.first_local_rank + i) % std::max(deviceCount(), 1u));
  auto nccl = std::make_unique<NcclRanks>(options.nccl, communicator.ranks, communicator.first_local_rank, devices);
  communicator.nccl = nccl->communicators();
  communicator.nccl_library = nccl->library();
  communicator.rendezvous = nullptr;
  return nccl;
}

class Bench {
public:
  Bench(const Options &options, const MscclcKernel &kernel, runtime::Communicator &communicator, uint64_t largest)
      : options_(options), kernel_(kernel),
        collective_(collectives::find(kernel.collective, (kernel.flags & MSCCLC_ROOTED) != 0)),
        communicator_(communicator), threads_(options.threads) {
    uint64_t input = 0, output = 0;
    for (uint32_t rank = 0; rank < kernel.ranks; ++rank) {
      input = std::max(input, kernel.input_bytes(rank, largest));
      output = std::max(output, kernel.output_bytes(rank, largest));
    }
    inPlace_ = (kernel.flags & MSCCLC_IN_PLACE) != 0;
    // The bandwidth of copies is measured before the buffers are allocated, because they may use all memory.
    if (!communicator.isOnHost())
      copyLimit_ =
          copyBandwidth(mscclc_communicator_device(communicator.get(), 0), std::min<uint64_t>(256 << 20, largest * 4));
    if (inPlace_) {
      output_ = communicator.allocate(std::max(input, output));
    } else {
      input_ = communicator.allocate(input);
      output_ = communicator.allocate(output);
    }
    instance_ = communicator.load(kernel, largest);
    for (uint32_t i = 0; i < communicator.localRanks(); ++i)
      ranksOnDevice_ +=
          mscclc_communicator_device(communicator.get(), i) == mscclc_communicator_device(communicator.get(), 0);
  }

  Row measure(uint64_t bytes, uint32_t dtype, uint32_t reduceOp, uint32_t packet) {
    Call call;
    call.of(bytes, dtype, reduceOp);
    call.on(inPlace_ ? output_ : input_, output_);
    call.packet = packet;
    call.pdl = options_.pdl ? 1 : 0;
    fitThreads(call);
    Row row{bytes, bytes / typeBytes(dtype), dtype, reduceOp, packet, 0, 0, 0, 0, -1};
    if (options_.check && collective_ != nullptr)
      row.wrong = check(call);
    std::vector<double> times;
    for (uint32_t i = 0; i < options_.repeats; ++i)
      times.push_back(time(call));
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    row.seconds = times[times.size() / 2];
    // Checks that the kernel still computes right results after many launches. All processes do this, even after wrong
    // results, because all ranks must take part in the launch.
    if (row.wrong >= 0 && bytes <= checkedTwice)
      row.wrong += static_cast<int64_t>(checkOnce(call, [&] { instance_.launch(call); }));
    row.algorithmBandwidth = static_cast<double>(bytes) / row.seconds / 1e9;
    row.busBandwidth = row.algorithmBandwidth * (collective_ == nullptr ? 1 : collective_->busFactor(kernel_.ranks));
    if (copyLimit_ != 0)
      row.ofCopyLimit = row.busBandwidth * 1e9 * ranksOnDevice_ / copyLimit_;
    return row;
  }

  double copyLimit() const { return copyLimit_; }
  uint32_t threads() const { return threads_ != 0 ? threads_ : kernel_.threads; }
  bool hasMulticast() const { return output_.hasMulticast(); }

private:
  /// Launches with fewer and fewer threads in a block, until all ranks of a device fit on it.
  void fitThreads(Call &call) {
    for (;; threads_ = threads() / 2) {
      call.threads = threads_;
      try {
        instance_.launch(call);
        break;
      } catch (const runtime::Error &error) {
        if (error.code() != MSCCLC_ERROR_NOT_RESIDENT || options_.threads != 0 || threads() < 2 * fewestThreads)
          throw;
      }
    }
    communicator_.synchronize();
    communicator_.barrier();
  }

  const Table &input(uint32_t dtype, uint32_t reduceOp, uint32_t rank) {
    Table &table = tables_[{dtype, reduceOp, rank}];
    if (table.empty())
      table = rank == collectives::everyRank ? reducedTable(dtype, reduceOp, kernel_.ranks)
                                             : inputTable(dtype, reduceOp, kernel_.ranks, rank);
    return table;
  }

  /// Writes the inputs of the local ranks, and a different pattern into the outputs.
  void prepare(const Call &call) {
    const size_t element = typeBytes(call.dtype);
    std::vector<unsigned char> piece(pieceBytes);
    for (uint32_t i = 0; i < communicator_.localRanks(); ++i) {
      const uint32_t rank = communicator_.firstLocalRank() + i;
      const uint64_t outputBytes = kernel_.output_bytes(rank, call.message_bytes);
      std::memset(piece.data(), 0xa5, piece.size());
      forPieces(outputBytes, [&](uint64_t at, uint64_t bytes) {
        runtime::check(mscclc_buffer_write(output_.get(), rank, at, piece.data(), bytes));
      });
      const uint64_t inputBytes = kernel_.input_bytes(rank, call.message_bytes);
      const runtime::Buffer &to = inPlace_ ? output_ : input_;
      const uint64_t start = rank * mscclc_input_step(&kernel_, call.message_bytes);
      forPieces(inputBytes, [&](uint64_t at, uint64_t bytes) {
        fill(piece.data(), input(call.dtype, call.reduce_op, rank), element, at / element, bytes / element);
        runtime::check(mscclc_buffer_write(to.get(), rank, start + at, piece.data(), bytes));
      });
    }
    communicator_.barrier();
  }

  /// Returns the number of wrong elements of the local ranks after the launches that `launch` starts.
  template <class Launch> uint64_t checkOnce(const Call &call, Launch launch) {
    prepare(call);
    launch();
    communicator_.synchronize();
    const size_t element = typeBytes(call.dtype);
    std::vector<unsigned char> piece(pieceBytes);
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < communicator_.localRanks(); ++i) {
      const uint32_t rank = communicator_.firstLocalRank() + i;
      const uint64_t start = rank * mscclc_output_step(&kernel_, call.message_bytes);
      const Question question{kernel_.ranks, kernel_.root, rank, call.message_bytes / element};
      for (const Segment &s : segmentsOf(*collective_, question)) {
        const Table &expected = input(call.dtype, call.reduce_op, s.from);
        forPieces(s.count * element, [&](uint64_t at, uint64_t bytes) {
          runtime::check(mscclc_buffer_read(output_.get(), rank, start + s.begin * element + at, piece.data(), bytes));
          wrong += countWrong(piece.data(), expected, element, s.first + at / element, bytes / element);
        });
      }
    }
    // Without this barrier, a rank could overwrite data that another rank still reads.
    communicator_.barrier();
    return wrong;
  }

  int64_t check(const Call &call) {
    uint64_t wrong = checkOnce(call, [&] { instance_.launch(call); });
    if (options_.graph) {
      const auto graph = capture(communicator_, [&] { instance_.launch(call); });
      for (int replay = 0; replay < 3; ++replay)
        wrong += checkOnce(call, [&] { graph->replay(); });
    }
    return static_cast<int64_t>(wrong);
  }

  /// Returns the average time of a launch, in seconds.
  double time(const Call &call) {
    const auto launches = [&](uint32_t count) {
      for (uint32_t i = 0; i < count; ++i)
        instance_.launch(call);
    };
    launches(options_.warmUp);
    communicator_.synchronize();
    std::unique_ptr<Graphs> graph;
    if (options_.graph) {
      graph = capture(communicator_, [&] { launches(options_.iterations); });
      graph->replay();
    }
    communicator_.barrier();
    const auto begin = std::chrono::steady_clock::now();
    if (graph)
      graph->replay();
    else
      launches(options_.iterations);
    communicator_.synchronize();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    communicator_.barrier();
    return passed.count() / options_.iterations;
  }

  template <class Body> static void forPieces(uint64_t bytes, Body body) {
    for (uint64_t at = 0; at < bytes; at += pieceBytes)
      body(at, std::min(pieceBytes, bytes - at));
  }

  const Options &options_;
  const MscclcKernel &kernel_;
  const collectives::Row *const collective_; ///< null: the collective has no definition to check
  runtime::Communicator &communicator_;
  runtime::Buffer input_, output_;
  runtime::Instance instance_;
  bool inPlace_ = false;
  uint32_t threads_;     ///< threads of a block; 0: the runtime's choice
  double copyLimit_ = 0; ///< bandwidth of copies, in bytes a second; 0: not known
  uint32_t ranksOnDevice_ = 0;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Table> tables_;
};

void printHead(const Options &options, const MscclcKernel &kernel, const runtime::Communicator &communicator,
               const Bench &bench) {
  std::printf("# kernel %s: %s, %u ranks in %u process%s%s, %s, by %s\n", kernel.name, kernel.collective, kernel.ranks,
              options.processes, options.processes == 1 ? "" : "es", options.nccl.empty() ? "" : " on NCCL",
              (kernel.flags & MSCCLC_IN_PLACE) != 0 ? "in place" : "out of place", kernel.tool);
  const std::string device =
      communicator.isOnHost() ? "host" : deviceName(mscclc_communicator_device(communicator.get(), 0));
  const uint32_t threads = options.threads != 0 ? options.threads : kernel.threads;
  std::printf("# on %s; at most %u blocks of %u threads a rank%s%s%s\n", device.c_str(), kernel.max_blocks,
              communicator.isOnHost() && options.threads == 0 ? std::min(threads, 4u) : threads,
              (kernel.flags & MSCCLC_USES_MULTICAST) == 0 ? ""
              : bench.hasMulticast()                      ? "; switch channels through multicast"
                                                          : "; switch channels by loops over the peers",
              options.graph ? "; replayed from graphs" : "", options.pdl ? "; begun early" : "");
  if (bench.copyLimit() != 0)
    std::printf("# the device copies %.1f GB/s; of copy: all its ranks' bus bandwidth together, over that\n",
                bench.copyLimit() / 1e9);
  std::printf("#\n#%13s %12s %5s %6s %6s %10s %8s %8s %8s %8s\n", "size", "count", "type", "redop", "packet", "time",
              "algbw", "busbw", "of copy", "#wrong");
  std::printf("#%13s %12s %5s %6s %6s %10s %8s %8s %8s %8s\n", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)",
              "(GB/s)", "(%)", "");
}

void printRow(const Row &row, bool reduces) {
  std::printf(" %13llu %12llu %5s %6s %6s %10.2f %8.2f %8.2f", static_cast<unsigned long long>(row.bytes),
              static_cast<unsigned long long>(row.count), typeName(row.dtype),
              reduces ? reduceName(row.reduceOp) : "none", packetName(row.packet), row.seconds * 1e6,
              row.algorithmBandwidth, row.busBandwidth);
  if (row.ofCopyLimit != 0)
    std::printf(" %8.1f", row.ofCopyLimit * 100);
  else
    std::printf(" %8s", "-");
  if (row.wrong >= 0)
    std::printf(" %8lld\n", static_cast<long long>(row.wrong));
  else
    std::printf(" %8s\n", "n/a");
  std::fflush(stdout);
}

/// Makes a bench for the rows that fit into memory. Drops the rows of the largest messages until the others fit.
std::unique_ptr<Bench> makeBench(const Options &options, const MscclcKernel &kernel,
                                 runtime::Communicator &communicator, std::vector<Row> &rows, bool prints) {
  for (;;) {
    uint64_t largest = 0;
    for (const Row &row : rows)
      largest = std::max(largest, row.bytes);
    try {
      return std::make_unique<Bench>(options, kernel, communicator, largest);
    } catch (const runtime::Error &error) {
      const auto smaller =
          std::stable_partition(rows.begin(), rows.end(), [&](const Row &r) { return r.bytes < largest; });
      if (error.code() != MSCCLC_ERROR_MEMORY || smaller == rows.begin())
        throw;
      rows.erase(smaller, rows.end());
    }
    if (prints)
      std::printf("# no memory for messages of %llu bytes\n", static_cast<unsigned long long>(largest));
  }
}

} // namespace

const MscclcKernel &findKernel(const Options &options) {
  const auto kernels = runtime::loadLibrary(options.library);
  std::string names;
  for (const MscclcKernel *kernel : kernels) {
    if (kernel->name == options.kernel || (options.kernel.empty() && kernels.size() == 1))
      return *kernel;
    names += std::string(" ") + kernel->name;
  }
  throw runtime::Error(MSCCLC_ERROR_ARGUMENT, options.library + " holds these kernels, choose with --kernel:" + names);
}

Measured measure(const Options &options, const MscclcKernel &kernel, uint32_t process, const std::string &rendezvous) {
  const bool prints = process == 0;
  Measured result{&kernel, rowsOf(options, kernel)};
  std::vector<int32_t> devices;
  runtime::CommunicatorOptions with = communicatorOptions(options, kernel, process, rendezvous, devices);
  const std::unique_ptr<NcclRanks> nccl = useNccl(options, with);
  runtime::Communicator communicator(with);
  const std::unique_ptr<Bench> bench = makeBench(options, kernel, communicator, result.rows, prints);
  result.hasMulticast = bench->hasMulticast();
  if (prints)
    printHead(options, kernel, communicator, *bench);
  for (Row &row : result.rows) {
    const uint32_t threads = bench->threads();
    row = bench->measure(row.bytes, row.dtype, row.reduceOp, row.packet);
    if (prints && bench->threads() != threads)
      std::printf("# from here on %u threads a block: the blocks of more do not fit on the device at once\n",
                  bench->threads());
    if (prints)
      printRow(row,
               kernel.variants[0].reduce_op < operationCount || kernel.variants[0].reduce_op == MSCCLC_MIXED_REDUCE);
    else if (row.wrong > 0)
      std::fprintf(stderr, "mscclc-perf: process %u: %lld wrong elements\n", process,
                   static_cast<long long>(row.wrong));
  }
  return result;
}

int run(const Options &options, uint32_t process, const std::string &rendezvous) try {
  const bool prints = process == 0;
  const MscclcKernel &kernel = findKernel(options);
  const bool nothing = rowsOf(options, kernel).empty();
  if (nothing || options.processes > kernel.ranks) {
    // Every process gets the same result, so only the first one prints it.
    if (prints && nothing)
      std::fprintf(stderr, "mscclc-perf: nothing to run: %s\n", offerOf(kernel).c_str());
    else if (prints)
      std::fprintf(stderr, "mscclc-perf: %u processes for the %u ranks of kernel '%s'\n", options.processes,
                   kernel.ranks, kernel.name);
    return 2;
  }
  const auto write = [&](const std::vector<Measured> &measured) {
    if (prints && !options.json.empty() && !writeJson(options.json, measured))
      throw runtime::Error(MSCCLC_ERROR_SYSTEM, "cannot write " + options.json);
  };
  write({});
  const Measured measured = measure(options, kernel, process, rendezvous);
  write({measured});
  return measured.isRight() ? 0 : 1;
} catch (const runtime::Error &error) {
  std::fflush(stdout);
  std::fprintf(stderr, "mscclc-perf: %s\n", error.what());
  return 1;
}

} // namespace mscclc::perf
