// Launches a library of one kernel as users do, and checks the results: three launches in a row, of different sizes,
// between which nobody waits, for each element type, operation and packet. All but the first may begin before the
// earlier one has ended (MscclcCall::pdl).
//
//   mscclc-ptx-client [--threads N] [--sizes BYTES,BYTES,BYTES] [--dtypes LIST|all] [--staging] [--graph]
//                     [--bits TREE] LIBRARY
//
// --staging: on memory of the caller's, which the kernel copies. --graph: captured, and replayed twice. --bits: one
// tensor of floats is summed again and again, and ends everywhere with the bits of TREE, as mscclc writes it. Exits
// with 1 where a result is wrong.
#include "tests/cuda/client.h"
#include "collective.h"
#include "device.h"
#include "tests/cuda/sum_bits.h"
#include "values.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

using namespace mscclc;
using runtime::Buffer;

struct Options {
  std::string dtypes = "all", tree;
  std::vector<uint64_t> sizes{1024, 260, 5120};
  uint32_t threads = 32;
  bool stages = false, captures = false;
};

class Client {
public:
  Client(const Options &options, const MscclcKernel &kernel)
      : options_(options), kernel_(kernel),
        collective_(collectives::find(kernel.collective, (kernel.flags & MSCCLC_ROOTED) != 0)),
        communicator_(runtime::CommunicatorOptions(kernel.ranks)), isInPlace_((kernel.flags & MSCCLC_IN_PLACE) != 0) {
    uint64_t largest = 0;
    for (const uint64_t size : options.sizes)
      largest = std::max(largest, legal(size, 8));
    for (uint32_t rank = 0; rank < kernel.ranks; ++rank)
      room_ = std::max({room_, kernel.input_bytes(rank, largest), kernel.output_bytes(rank, largest)});
    room_ = (room_ + 255) / 128 * 128; // with room to begin at an element that is not the first
    output_ = communicator_.allocate(room_ * options.sizes.size());
    input_ = isInPlace_ ? Buffer() : communicator_.allocate(room_ * options.sizes.size());
    if (options.stages) {
      given_ = communicator_.allocate(room_ * options.sizes.size());
      made_ = communicator_.allocate(room_ * options.sizes.size());
    }
    instance_ = communicator_.load(kernel, largest);
  }

  /// How many of the results are wrong.
  uint64_t run() {
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < kernel_.num_variants; ++i) {
      const MscclcVariant &variant = kernel_.variants[i];
      for (uint32_t type = 0; type < perf::typeCount; ++type) {
        if (!isWanted(type) || (variant.dtype != type && variant.dtype != MSCCLC_ANY_DTYPE))
          continue;
        const uint32_t operation = variant.reduce_op < perf::operationCount ? variant.reduce_op : MSCCLC_SUM;
        if (!options_.tree.empty() && (!test::isFloat(type) || operation != MSCCLC_SUM))
          continue;
        const uint64_t bad = runVariant(type, operation, variant.packet);
        std::printf("%s %s packet %u: %llu wrong\n", perf::typeName(type), perf::reduceName(operation), variant.packet,
                    static_cast<unsigned long long>(bad));
        wrong += bad;
      }
    }
    return wrong;
  }

private:
  bool isWanted(uint32_t type) const {
    const std::vector<std::string> names = test::partsOf(options_.dtypes);
    return options_.dtypes == "all" || std::find(names.begin(), names.end(), perf::typeName(type)) != names.end();
  }

  /// The next size that the kernel takes.
  uint64_t legal(uint64_t bytes, uint64_t element) const {
    const uint64_t step = std::max<uint64_t>(kernel_.message_shares, 1) * element;
    return std::clamp((bytes + step - 1) / step * step, kernel_.min_message_bytes, kernel_.max_message_bytes);
  }

  uint64_t runVariant(uint32_t type, uint32_t operation, uint32_t packet) {
    std::vector<runtime::Call> calls(options_.sizes.size());
    std::vector<std::vector<MscclcStaging>> staging(calls.size(), std::vector<MscclcStaging>(kernel_.ranks));
    for (size_t i = 0; i < calls.size(); ++i) {
      runtime::Call &call = calls[i];
      call.of(legal(options_.sizes[i], perf::typeBytes(type)), type, operation);
      call.on(isInPlace_ ? output_ : input_, output_);
      call.packet = packet;
      call.threads = options_.threads;
      call.pdl = i == 0 ? 0 : 1;
      call.input_offset = call.output_offset = i * room_;
      if (options_.stages)
        call.staging = stage(call, i, staging[i]);
    }
    const auto launch = [&] {
      for (const runtime::Call &call : calls)
        instance_.launch(call);
    };
    const std::unique_ptr<perf::Graphs> graph = options_.captures ? perf::capture(communicator_, launch) : nullptr;
    uint64_t wrong = 0;
    for (int round = 0; round < 2; ++round) {
      for (size_t i = 0; i < calls.size(); ++i)
        fill(calls[i], i);
      if (graph)
        graph->replay();
      else
        launch();
      communicator_.synchronize();
      for (size_t i = 0; i < calls.size(); ++i)
        wrong += countWrong(calls[i], i);
    }
    return wrong;
  }

  /// Returns elements of `bits`, again and again, for a whole table.
  static perf::Table tableOf(const std::vector<uint64_t> &bits, size_t element) {
    perf::Table table(perf::period * element);
    for (size_t i = 0; i < perf::period; ++i)
      std::memcpy(&table[i * element], &bits[i % bits.size()], element); // little endian
    return table;
  }
  /// The tensor that is summed with --bits. It is as long as no table is divided by, so it comes at every position.
  test::Tensor tensor(const runtime::Call &call) const {
    return test::makeTensor(options_.tree, call.dtype, kernel_.ranks, 47);
  }
  perf::Table inputOf(const runtime::Call &call, uint32_t rank) const {
    return options_.tree.empty() ? perf::inputTable(call.dtype, call.reduce_op, kernel_.ranks, rank)
                                 : tableOf(tensor(call).parts[rank], perf::typeBytes(call.dtype));
  }
  perf::Table reducedOf(const runtime::Call &call) const {
    return options_.tree.empty() ? perf::reducedTable(call.dtype, call.reduce_op, kernel_.ranks)
                                 : tableOf(tensor(call).sum, perf::typeBytes(call.dtype));
  }

  /// The caller's memory of launch `i`; that of the last begins at its second element.
  uint64_t placeOf(const runtime::Call &call, size_t i) const {
    return i * room_ + (i + 1 == options_.sizes.size() ? perf::typeBytes(call.dtype) : 0);
  }
  const MscclcStaging *stage(const runtime::Call &call, size_t i, std::vector<MscclcStaging> &staging) const {
    for (uint32_t rank = 0; rank < kernel_.ranks; ++rank) {
      MscclcRankInfo info{};
      kernel_.rank_info(rank, &info);
      if (info.blocks == 0)
        continue;
      staging[rank].input = static_cast<char *>(given_.address(rank)) + placeOf(call, i);
      staging[rank].output = static_cast<char *>(made_.address(rank)) + placeOf(call, i);
      staging[rank].input_bytes = kernel_.input_bytes(rank, call.message_bytes);
      staging[rank].output_bytes = kernel_.output_bytes(rank, call.message_bytes);
    }
    return staging.data();
  }
  bool isStaged(const runtime::Call &call, uint32_t rank) const {
    return call.staging != nullptr && call.staging[rank].input != nullptr;
  }

  /// Writes the inputs, and something else into the outputs.
  void fill(const runtime::Call &call, size_t i) {
    const size_t element = perf::typeBytes(call.dtype);
    for (uint32_t rank = 0; rank < kernel_.ranks; ++rank) {
      output_.write(rank, std::vector<unsigned char>(room_, 0xa5), i * room_);
      const perf::Table table = inputOf(call, rank);
      std::vector<unsigned char> data(kernel_.input_bytes(rank, call.message_bytes));
      perf::fill(data.data(), table, element, 0, data.size() / element);
      if (isStaged(call, rank)) {
        made_.write(rank, std::vector<unsigned char>(room_, 0x5a), i * room_);
        given_.write(rank, data, placeOf(call, i));
      } else {
        const uint64_t at = rank * mscclc_input_step(&kernel_, call.message_bytes);
        (isInPlace_ ? output_ : input_).write(rank, data, i * room_ + at);
      }
    }
  }

  uint64_t countWrong(const runtime::Call &call, size_t i) {
    const size_t element = perf::typeBytes(call.dtype);
    uint64_t wrong = 0;
    for (uint32_t rank = 0; rank < kernel_.ranks && collective_ != nullptr; ++rank) {
      const bool staged = isStaged(call, rank);
      const uint64_t at =
          staged ? placeOf(call, i) : i * room_ + rank * mscclc_output_step(&kernel_, call.message_bytes);
      const perf::Question question{kernel_.ranks, kernel_.root, rank, call.message_bytes / element};
      for (const perf::Segment &s : perf::segmentsOf(*collective_, question)) {
        const perf::Table expected = s.from == collectives::everyRank ? reducedOf(call) : inputOf(call, s.from);
        const auto data =
            (staged ? made_ : output_).read<unsigned char>(rank, s.count * element, at + s.begin * element);
        wrong += perf::countWrong(data.data(), expected, element, s.first, s.count);
      }
    }
    return wrong;
  }

  const Options &options_;
  const MscclcKernel &kernel_;
  const collectives::Row *const collective_; ///< null: one without a definition
  runtime::Communicator communicator_;
  const bool isInPlace_;
  uint64_t room_ = 0;     ///< of a launch in each buffer
  Buffer input_, output_; ///< of launches
  Buffer given_, made_;   ///< the caller's, with --staging
  runtime::Instance instance_;
};

} // namespace

int main(int argc, char **argv) {
  Options options;
  const test::Arguments arguments{{{"--threads", test::takeNumber(options.threads)},
                                   {"--sizes", test::takeNumbers(options.sizes)},
                                   {"--dtypes", test::takeText(options.dtypes)},
                                   {"--bits", test::takeText(options.tree)}},
                                  {{"--staging", &options.stages}, {"--graph", &options.captures}}};
  return test::runClient("mscclc-ptx-client", argc, argv, arguments,
                         [&](const MscclcKernel &kernel) { return Client(options, kernel).run(); });
}
