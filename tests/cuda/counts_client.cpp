// Launches a kernel that takes counts of rows as users do, and compares every byte of outputs, counts and offsets with
// the definition (MscclcCounts):
//
//   counts_client [--threads N] [--capacities LIST] [--row-bytes LIST] LIBRARY
//
// For each capacity, row length and width of counts it launches, in a row, one launch for each kind of counts: none,
// full, one above the capacity, negative ones, one sender, all to one rank, random ones, and if rows are packed, inputs
// and outputs with too little room. Then it does all of it again with other random counts. Prints what was run. Exits
// with 1 where a byte is wrong, or where a call without counts is not refused.
#include "client.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace mscclc;
using Bytes = std::vector<unsigned char>;

constexpr unsigned char poison = 0xa5;

struct Options {
  uint32_t threads = 0;
  std::vector<uint64_t> capacities{0, 1, 5, 64}, rowBytes{16, 6, 40, 1};
};

/// Returns the bytes of an element of a type; 1 if a variant takes any.
uint64_t bytesOf(uint32_t dtype) {
  switch (dtype) {
#define MSCCLC_DTYPE(id, number, bytes, name, type)                                                                    \
  case MSCCLC_##id:                                                                                                    \
    return bytes;
#include "mscclc/dtypes.def"
  default:
    return 1;
  }
}

struct Shape {
  uint64_t capacity, rowBytes;
  uint32_t width; ///< bytes of a count
};

enum class Kind { None, Full, Above, Negative, OneSender, AllToOne, Random, ShortInput, ShortOutput, Huge, End };

/// One launch: its memory on each rank, and what the definition says of it.
class Launch {
public:
  Launch(runtime::Communicator &communicator, const MscclcKernel &kernel, Shape shape, Kind kind)
      : ranks_(kernel.ranks), isPacked_((kernel.flags & MSCCLC_PACKED_ROWS) != 0), shape_(shape), kind_(kind),
        rows_(ranks_ * shape.capacity), inRows_(roomFor(Kind::ShortInput)), outRows_(roomFor(Kind::ShortOutput)),
        input_(communicator.allocate(std::max(inRows_ * shape.rowBytes, uint64_t{1}))),
        output_(communicator.allocate(std::max(outRows_ * shape.rowBytes, uint64_t{1}))),
        numbers_(communicator.allocate(arrays * arrayBytes())) {}

  void fill(std::mt19937 &random) {
    counts_.assign(ranks_, std::vector<int64_t>(ranks_));
    const auto most = static_cast<int64_t>(shape_.capacity);
    for (uint32_t src = 0; src < ranks_; ++src)
      for (uint32_t dst = 0; dst < ranks_; ++dst)
        counts_[src][dst] = countOf(random, src, dst, most);
    inputs_.clear();
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      Bytes input(inRows_ * shape_.rowBytes);
      for (unsigned char &byte : input)
        byte = static_cast<unsigned char>(random() % 251);
      input_.write(rank, input);
      output_.write(rank, Bytes(outRows_ * shape_.rowBytes, poison));
      Bytes numbers(arrays * arrayBytes(), poison);
      for (uint32_t dst = 0; dst < ranks_; ++dst)
        std::memcpy(&numbers[dst * shape_.width], &counts_[rank][dst], shape_.width); // little endian
      numbers_.write(rank, numbers);
      inputs_.push_back(std::move(input));
    }
  }

  runtime::Call call(const MscclcVariant &variant) const {
    std::vector<MscclcCounts> counts;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      char *const at = static_cast<char *>(numbers_.address(rank));
      MscclcCounts one{};
      one.sent = at;
      one.received = at + arrayBytes();
      one.sent_offsets = at + 2 * arrayBytes();
      one.received_offsets = at + 3 * arrayBytes();
      one.status = reinterpret_cast<uint32_t *>(at + 4 * arrayBytes());
      one.in_rows = inRows_ == rows_ ? 0 : inRows_;
      one.out_rows = outRows_ == rows_ ? 0 : outRows_;
      one.width = shape_.width;
      counts.push_back(one);
    }
    runtime::Call call;
    const uint32_t dtype = variant.dtype == MSCCLC_ANY_DTYPE ? uint32_t{MSCCLC_U8} : variant.dtype;
    call.on(input_, output_).of(rows_ * shape_.rowBytes, dtype).rows(shape_.rowBytes).countedBy(counts);
    call.packet = variant.packet;
    call.withPdl();
    return call;
  }

  /// Returns the number of ranks with a wrong byte.
  unsigned countWrong() const {
    unsigned wrong = 0;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      Bytes output(outRows_ * shape_.rowBytes, poison), numbers(arrays * arrayBytes(), poison);
      expect(rank, output, numbers);
      wrong += differs("the output", rank, output_, output) + differs("the numbers", rank, numbers_, numbers) +
               differs("the input", rank, input_, inputs_[rank]);
    }
    return wrong;
  }

private:
  static constexpr uint64_t arrays = 5;
  uint64_t roomFor(Kind shortOf) const { return isPacked_ && kind_ == shortOf ? (rows_ + 2) / 3 : rows_; }
  uint64_t arrayBytes() const { return uint64_t{8} * ranks_; }

  int64_t countOf(std::mt19937 &random, uint32_t src, uint32_t dst, int64_t most) const {
    const auto any = static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
    switch (kind_) {
    case Kind::None:
      return 0;
    case Kind::Full:
      return most;
    case Kind::Above:
      return src % 2 == 0 && dst == (src + 1) % ranks_ ? most + 1 : any;
    case Kind::Negative:
      return random() % 3 == 0 ? -1 - any : any;
    case Kind::OneSender:
      return src == 1 % ranks_ ? most : 0;
    case Kind::AllToOne:
      return dst == ranks_ - 1 ? any : 0;
    case Kind::Huge: {
      const int64_t largest = shape_.width == 4 ? INT32_MAX : INT64_MAX;
      return random() % 4 == 0 ? largest : random() % 4 == 0 ? -largest - 1 : any;
    }
    case Kind::Random:
    case Kind::ShortInput:
    case Kind::ShortOutput:
    case Kind::End:
      break;
    }
    return any;
  }

  struct Sent {
    uint64_t begin, rows;
    bool isCut;
  };
  Sent sent(uint32_t src, uint32_t dst) const {
    uint64_t begin = dst * shape_.capacity;
    if (isPacked_) {
      begin = 0;
      for (uint32_t d = 0; d < dst; ++d)
        begin = std::min(inRows_, begin + static_cast<uint64_t>(
                                              std::clamp<int64_t>(counts_[src][d], 0, static_cast<int64_t>(rows_))));
    }
    const int64_t given = counts_[src][dst], most = static_cast<int64_t>(std::min(shape_.capacity, inRows_ - begin)),
                  rows = std::clamp<int64_t>(given, 0, most);
    return {begin, static_cast<uint64_t>(rows), rows != given};
  }

  void put(Bytes &numbers, uint64_t array, uint32_t i, uint64_t value) const {
    std::memcpy(&numbers[array * arrayBytes() + i * shape_.width], &value, shape_.width);
  }
  void expect(uint32_t rank, Bytes &output, Bytes &numbers) const {
    uint64_t arrived = 0;
    bool isFull = false;
    std::vector<uint32_t> status(ranks_);
    for (uint32_t other = 0; other < ranks_; ++other) {
      const Sent from = sent(other, rank);
      const uint64_t begin = isPacked_ ? std::min(arrived, outRows_) : other * shape_.capacity,
                     rows = std::min(from.rows, outRows_ - begin);
      arrived += from.rows;
      isFull = isFull || arrived > outRows_;
      std::memcpy(&output[begin * shape_.rowBytes], &inputs_[other][from.begin * shape_.rowBytes],
                  rows * shape_.rowBytes);
      put(numbers, 0, other, static_cast<uint64_t>(counts_[rank][other]));
      put(numbers, 1, other, rows);
      put(numbers, 2, other, sent(rank, other).begin);
      put(numbers, 3, other, begin);
      for (uint32_t to = 0; to < ranks_; ++to)
        status[other] |= sent(other, to).isCut ? MSCCLC_COUNTS_CUT : 0;
    }
    status[rank] |= isPacked_ && isFull ? MSCCLC_RECEIVED_CUT : 0;
    std::memcpy(&numbers[4 * arrayBytes()], status.data(), ranks_ * sizeof(uint32_t));
  }

  unsigned differs(const char *what, uint32_t rank, const runtime::Buffer &buffer, const Bytes &expected) const {
    const std::string launch = "kind " + std::to_string(static_cast<int>(kind_)) + ", capacity " +
                               std::to_string(shape_.capacity) + ", rows of " + std::to_string(shape_.rowBytes) +
                               " bytes, counts of " + std::to_string(shape_.width);
    return test::differs(launch, what, rank, buffer, expected);
  }

  const uint32_t ranks_;
  const bool isPacked_;
  const Shape shape_;
  const Kind kind_;
  const uint64_t rows_;             ///< of all slots
  const uint64_t inRows_, outRows_; ///< that the buffers have room for
  runtime::Buffer input_, output_, numbers_;
  std::vector<std::vector<int64_t>> counts_; ///< [source][destination]
  std::vector<Bytes> inputs_;
};

/// What must be refused. Returns the number of calls that were not.
unsigned countAccepted(runtime::Instance &instance, const MscclcVariant &variant, uint32_t ranks,
                       const Launch &launch) {
  unsigned wrong = 0;
  const auto refuses = [&](const char *what, auto change) {
    runtime::Call call = launch.call(variant);
    change(call);
    wrong += test::isRefused(instance, call, MSCCLC_ERROR_COUNTS, what) ? 0 : 1;
  };
  const std::vector<MscclcCounts> none(ranks);
  refuses("a call without counts", [](runtime::Call &call) { call.countedBy({}); });
  refuses("a rank without counts", [&](runtime::Call &call) { call.countedBy(none); });
  std::vector<MscclcCounts> odd(ranks);
  for (MscclcCounts &one : odd) {
    one.sent = &odd;
    one.width = 3;
  }
  refuses("a width of 3", [&](runtime::Call &call) { call.countedBy(odd); });
  for (MscclcCounts &one : odd)
    one.width = 4;
  odd.back().out_rows = 1;
  refuses("unequal or useless room", [&](runtime::Call &call) { call.countedBy(odd); });
  return wrong;
}

unsigned run(const Options &options, const MscclcKernel &kernel) {
  if ((kernel.flags & MSCCLC_TAKES_COUNTS) == 0)
    throw std::runtime_error(std::string("no counts in ") + kernel.name);
  runtime::Communicator communicator{runtime::CommunicatorOptions(kernel.ranks)};
  // Memory is kept until the end. The machine that runs PTX has no end of memory, so it would find races between its
  // users and those that get it afterwards.
  std::list<runtime::Instance> instances;
  std::list<std::vector<std::unique_ptr<Launch>>> kept;
  unsigned wrong = 0;
  for (uint32_t v = 0; v < kernel.num_variants; ++v) {
    unsigned bad = 0, ran = 0;
    for (const uint64_t rowBytes : options.rowBytes) {
      if (rowBytes % bytesOf(kernel.variants[v].dtype) != 0)
        continue;
      const uint64_t largest = *std::max_element(options.capacities.begin(), options.capacities.end());
      runtime::Instance &instance =
          instances.emplace_back(communicator.load(kernel, largest * kernel.ranks * rowBytes, rowBytes));
      std::vector<std::unique_ptr<Launch>> &launches = kept.emplace_back();
      for (const uint64_t capacity : options.capacities)
        for (const uint32_t width : {4u, 8u})
          for (int kind = 0; kind < static_cast<int>(Kind::End); ++kind)
            if (const uint64_t bytes = capacity * kernel.ranks * rowBytes;
                bytes >= kernel.min_message_bytes && bytes <= kernel.max_message_bytes)
              launches.push_back(std::make_unique<Launch>(communicator, kernel, Shape{capacity, rowBytes, width},
                                                          static_cast<Kind>(kind)));
      if (launches.empty())
        continue;
      std::mt19937 random(static_cast<uint32_t>(rowBytes));
      for (int round = 0; round < 2; ++round) {
        std::shuffle(launches.begin(), launches.end(), random);
        for (const std::unique_ptr<Launch> &launch : launches)
          launch->fill(random);
        for (const std::unique_ptr<Launch> &launch : launches) {
          runtime::Call call = launch->call(kernel.variants[v]);
          call.threads = options.threads;
          instance.launch(call);
        }
        communicator.synchronize();
        for (const std::unique_ptr<Launch> &launch : launches)
          bad += launch->countWrong();
        ran += static_cast<unsigned>(launches.size());
      }
      bad += countAccepted(instance, kernel.variants[v], kernel.ranks, *launches[0]);
    }
    std::printf("packet %u: %u launches, %u wrong\n", kernel.variants[v].packet, ran, bad);
    wrong += ran == 0 ? 1 : bad;
  }
  return wrong;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  const test::Arguments arguments{{{"--threads", test::takeNumber(options.threads)},
                                   {"--capacities", test::takeNumbers(options.capacities)},
                                   {"--row-bytes", test::takeNumbers(options.rowBytes)}},
                                  {}};
  return test::runClient("counts_client", argc, argv, arguments,
                         [&](const MscclcKernel &kernel) { return run(options, kernel); });
}
