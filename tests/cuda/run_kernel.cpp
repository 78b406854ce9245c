// Runs the kernel that it is linked with on the CPU stand-in, and compares the results with the collective's
// definition.
//   run_kernel [--threads N] [--sizes ELEMENTS,…] [--relaunch N] [--timeout SECONDS] [--rounded 1]
//              [--bits TREE [--positions N]] [--instances 1]
// Sizes are numbers of elements of a share (or of the message, if the collective does not divide it). Every variant
// runs every size several times on the same state; then sizes alternate without a pause. A variant with a size of its
// own runs only that size. With --rounded, sums of floats of less than 32 bits are exact in f32, and not in their type:
// so they are right only if they are rounded once. With --bits, one tensor is summed instead, in every size and in N
// positions, and every element must end with the bits of TREE, as mscclc writes it. With --instances, launches take
// more blocks for longer messages, so a longer one may have work for fewer threads of each. Prints what was run, or the
// first error.
#include "all_ranks.h"
#include "sum_bits.h"

#include "mscclc/collectives.hpp"
#include "mscclc/device.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace {

using namespace mscclc;
using namespace mscclc::device;
using test::AllRanks;
using test::Message;

const MscclcKernel *kernel = nullptr;
std::uint64_t timeoutSeconds = 60; ///< of a wait
bool isRounded = false;            ///< sums of narrow floats are not exact
bool hasInstances = false;         ///< the number of blocks depends on the size

/// The values of a collective: floats as the whole numbers that they represent, integers modulo 2^64.
using Values = std::vector<std::int64_t>;

std::int64_t reduced(const MscclcVariant &v, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  const bool less = v.dtype == MSCCLC_U64 ? x < y : a < b;
  switch (v.reduce_op) {
  case MSCCLC_MIN:
    return less ? a : b;
  case MSCCLC_MAX:
    return less ? b : a;
  case MSCCLC_PROD:
    return static_cast<std::int64_t>(x * y);
  default:
    return static_cast<std::int64_t>(x + y);
  }
}

/// Expected outputs of all ranks. `share`: elements of one share of the message. `reducedAt`: the reduction of element
/// i of all inputs.
template <class ReducedAt>
std::vector<Values> expectedOf(const std::vector<Values> &in, std::size_t share, ReducedAt reducedAt) {
  const auto ranks = static_cast<std::uint32_t>(in.size());
  const collectives::Row *row = collectives::find(kernel->collective, (kernel->flags & MSCCLC_ROOTED) != 0);
  if (row == nullptr) // a program's own, that reduces
    row = &collectives::of(collectives::Kind::AllReduce);
  const std::uint64_t message = share * kernel->message_shares;
  const std::uint64_t each = std::max<std::uint64_t>(row->share(ranks, message), 1);
  std::vector<Values> out(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (std::uint64_t i = 0; i < row->output(ranks, message); ++i) {
      const collectives::Source from = row->source(ranks, kernel->root, each, r, i);
      if (from.rank == collectives::nobody)
        break; // any
      out[r].push_back(from.rank == collectives::everyRank ? reducedAt(from.element) : in[from.rank][from.element]);
    }
  return out;
}

std::vector<Values> expected(const std::vector<Values> &in, std::size_t share, const MscclcVariant &v) {
  return expectedOf(in, share, [&](std::uint64_t element) {
    std::int64_t value = in[0][element];
    for (std::size_t p = 1; p < in.size(); ++p)
      value = reduced(v, value, in[p][element]);
    return value;
  });
}

struct TypeInfo {
  const char *name;
  unsigned bytes;
  bool isFloat;
};
constexpr TypeInfo types[] = {
#define MSCCLC_DTYPE(id, number, bytes, name, type) {name, bytes, !std::is_integral_v<type>},
#include "mscclc/dtypes.def"
};
constexpr std::uint32_t numTypes = sizeof types / sizeof *types;

unsigned sizeOf(std::uint32_t dtype) {
  return dtype < numTypes ? types[dtype].bytes : 1;
}

void put(std::uint8_t *at, std::uint32_t dtype, std::int64_t v) {
  const auto store = [&](auto x) { std::memcpy(at, &x, sizeof x); };
  switch (dtype) {
  case MSCCLC_F32:
    return store(static_cast<float>(v));
  case MSCCLC_F16:
    return store(detail::toHalf(static_cast<float>(v)));
  case MSCCLC_BF16:
    return store(detail::toBfloat16(static_cast<float>(v)));
  case MSCCLC_F64:
    return store(static_cast<double>(v));
  case MSCCLC_F8E4M3:
    return store(narrow::encode<narrow::E4m3>(static_cast<float>(v)));
  case MSCCLC_F8E5M2:
    return store(narrow::encode<narrow::E5m2>(static_cast<float>(v)));
  default:
    std::memcpy(at, &v, sizeOf(dtype)); // little endian
  }
}

/// Returns value i of 8 for sums that are rounded. Each has at most as many bits as the mantissa of the type.
std::int64_t roundedValueOf(std::uint32_t dtype, std::int64_t i) {
  const int bits = dtype == MSCCLC_F16 ? 11 : dtype == MSCCLC_BF16 ? 8 : dtype == MSCCLC_F8E4M3 ? 4 : 3;
  const std::int64_t whole = std::int64_t{1} << bits;
  const std::int64_t values[] = {1, -3, 5, 7, whole + 2, -whole - 6, 2 * whole + 4, -2 * whole - 12};
  return values[i];
}

/// Returns value i of a type. Some values are negative, and some are beyond the positive half of an integer type.
/// Integers wrap around; for other types, sums and products of up to 8 ranks are exact.
std::int64_t valueOf(const MscclcVariant &v, std::int64_t i) {
  if (v.dtype < numTypes && types[v.dtype].isFloat) {
    if (isRounded && sizeOf(v.dtype) < 4)
      return roundedValueOf(v.dtype, i);
    if (v.reduce_op == MSCCLC_PROD)
      return i % 3 == 0 ? -1 : kernel->ranks <= 8 ? i % 3 : 1;
    const std::int64_t exact = v.dtype == MSCCLC_F8E4M3 ? 16 : v.dtype == MSCCLC_F8E5M2 ? 8 : 250;
    const std::int64_t most = std::max<std::int64_t>(1, exact / kernel->ranks);
    return std::max(-most, std::min(most, i - 3));
  }
  switch (v.dtype) {
  case MSCCLC_I32:
    return (i - 3) * 0x10000001;
  case MSCCLC_U32:
    return i * 0x22222222;
  case MSCCLC_I64:
    return (i - 3) * 0x1000000000000001;
  case MSCCLC_U64:
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(i) * 0x2222222222222221u);
  case MSCCLC_I8:
    return (i - 3) * 31;
  default:
    return i * 31;
  }
}

/// Fills the inputs and returns their values.
std::vector<Values> fill(Message &m, const MscclcVariant &v, std::mt19937 &random) {
  const unsigned size = sizeOf(v.dtype);
  constexpr unsigned values = 8;
  std::vector<Values> in(kernel->ranks);
  for (std::uint32_t r = 0; r < kernel->ranks; ++r) {
    if ((kernel->flags & MSCCLC_IN_PLACE) == 0)
      std::fill_n(m.output[r], m.outputBytes[r], std::uint8_t{0x77});
    for (std::uint64_t i = 0; i < m.inputBytes[r] / size; ++i) {
      in[r].push_back(valueOf(v, static_cast<std::int64_t>(random() % values)));
      put(m.input[r] + i * size, v.dtype, in[r].back());
    }
  }
  return in;
}

[[noreturn]] void fail(const std::string &what) {
  std::printf("FAIL %s: %s\n", kernel->name, what.c_str());
  std::exit(1);
}

struct Flight {
  std::unique_ptr<Message> message;
  std::vector<Values> want;
  bool isBits = false; ///< `want` has bits
};

/// Returns the first wrong output of a rank as text, or an empty string.
std::string compare(const Flight &flight, std::uint32_t dtype, std::uint32_t rank) {
  const unsigned size = sizeOf(dtype);
  const Values &want = flight.want[rank];
  for (std::uint64_t i = 0; i < want.size(); ++i) {
    std::uint8_t bytes[8];
    if (flight.isBits)
      std::memcpy(bytes, &want[i], sizeof bytes); // little endian
    else
      put(bytes, dtype, want[i]);
    if (std::memcmp(bytes, flight.message->output[rank] + i * size, size) != 0)
      return "output " + std::to_string(i) + " of " + std::to_string(want.size()) + " on rank " + std::to_string(rank) +
             " is wrong";
  }
  return {};
}

/// Waits for launches, and checks each rank as soon as it has ended: its outputs must be complete then.
void land(AllRanks &ranks, const std::vector<Flight> &flights, std::uint32_t dtype, const std::string &what) {
  std::string wrong;
  for (std::uint32_t r = 0; r < kernel->ranks; ++r) {
    ranks.synchronize(r);
    for (const Flight &f : flights)
      if (std::string found = compare(f, dtype, r); !found.empty() && wrong.empty())
        wrong = std::to_string(f.message->bytes) + " bytes: " + found;
  }
  if (const std::string error = ranks.synchronize(); !error.empty())
    fail(what + ": " + error);
  if (!wrong.empty())
    fail(what + ": " + wrong);
  for (const Flight &f : flights)
    if (!f.message->intact())
      fail(what + ": wrote past a buffer");
}

std::string nameOf(const MscclcVariant &v) {
  constexpr const char *ops[] = {
#define MSCCLC_REDUCE_OP(id, number, name, type) name,
#include "mscclc/reduce_ops.def"
  };
  std::string name = v.dtype < numTypes ? types[v.dtype].name : "bytes";
  const bool known = v.reduce_op < sizeof ops / sizeof *ops;
  name += std::string(" ") + (known ? ops[v.reduce_op] : v.reduce_op == MSCCLC_MIXED_REDUCE ? "mixed" : "-");
  return name + (v.packet == MSCCLC_LL8       ? " LL8"
                 : v.packet == MSCCLC_LL16    ? " LL16"
                 : v.packet == MSCCLC_LAMPORT ? " Lamport"
                                              : "");
}

std::uint64_t messageBytes(const MscclcVariant &v, std::uint64_t elements) {
  return elements * sizeOf(v.dtype) * kernel->message_shares;
}

/// Sizes in elements; of a kernel with a size of its own, that one.
std::vector<std::uint64_t> sizesFor(const MscclcVariant &v, const std::vector<std::uint64_t> &sizes) {
  if ((kernel->flags & MSCCLC_SPECIALISED_SIZE) == 0)
    return sizes;
  return {kernel->max_message_bytes / sizeOf(v.dtype) / kernel->message_shares};
}

/// Runs every size three times. The host checks each result.
void runSizes(const MscclcVariant &v, const std::vector<std::uint64_t> &asked, unsigned threads, std::mt19937 &random) {
  const std::vector<std::uint64_t> sizes = sizesFor(v, asked);
  AllRanks ranks(*kernel, messageBytes(v, *std::max_element(sizes.begin(), sizes.end())), timeoutSeconds);
  for (int round = 0; round < 3; ++round)
    for (const std::uint64_t elements : sizes) {
      std::vector<Flight> flights;
      flights.push_back({std::make_unique<Message>(*kernel, messageBytes(v, elements)), {}});
      flights.back().want = expected(fill(*flights.back().message, v, random), elements, v);
      ranks.launch(v, *flights.back().message, threads);
      land(ranks, flights, v.dtype, nameOf(v));
    }
}

/// A message of a tensor again and again, from element `position` on.
Flight flightOf(const test::Tensor &tensor, std::size_t position, const MscclcVariant &v, std::uint64_t elements) {
  const std::size_t period = tensor.sum.size();
  Flight flight{std::make_unique<Message>(*kernel, messageBytes(v, elements)), {}, true};
  std::vector<Values> in(kernel->ranks);
  for (std::uint32_t r = 0; r < kernel->ranks; ++r)
    for (std::uint64_t i = 0; i < flight.message->inputBytes[r] / sizeOf(v.dtype); ++i) {
      const std::uint64_t bits = tensor.parts[r][(i + position) % period];
      in[r].push_back(static_cast<std::int64_t>(bits));
      std::memcpy(flight.message->input[r] + i * sizeOf(v.dtype), &bits, sizeOf(v.dtype));
    }
  flight.want = expectedOf(in, elements, [&](std::uint64_t element) {
    return static_cast<std::int64_t>(tensor.sum[(element + position) % period]);
  });
  return flight;
}

/// Sums one tensor in every size, at each of `positions` positions.
void runBits(const MscclcVariant &v, const std::vector<std::uint64_t> &asked, unsigned threads, const std::string &tree,
             std::size_t positions) {
  const std::vector<std::uint64_t> sizes = sizesFor(v, asked);
  const test::Tensor tensor = test::makeTensor(tree, v.dtype, kernel->ranks, positions);
  AllRanks ranks(*kernel, messageBytes(v, *std::max_element(sizes.begin(), sizes.end())), timeoutSeconds);
  for (const std::uint64_t elements : sizes) {
    std::vector<Flight> flights;
    for (std::size_t position = 0; position < positions; ++position) {
      flights.push_back(flightOf(tensor, position, v, elements));
      ranks.launch(v, *flights.back().message, threads);
    }
    land(ranks, flights, v.dtype, nameOf(v) + ", bits");
  }
}

/// Runs on buffers that do not begin at a multiple of 16, but only at a multiple of an element.
void runUnaligned(const MscclcVariant &v, const std::vector<std::uint64_t> &asked, unsigned threads,
                  std::mt19937 &random) {
  const std::vector<std::uint64_t> sizes = sizesFor(v, asked);
  AllRanks ranks(*kernel, messageBytes(v, *std::max_element(sizes.begin(), sizes.end())), timeoutSeconds);
  for (const std::uint64_t elements : sizes) {
    std::vector<Flight> flights;
    flights.push_back({std::make_unique<Message>(*kernel, messageBytes(v, elements), sizeOf(v.dtype)), {}});
    flights.back().want = expected(fill(*flights.back().message, v, random), elements, v);
    ranks.launch(v, *flights.back().message, threads);
    land(ranks, flights, v.dtype, nameOf(v) + ", unaligned");
  }
}

/// Launches back to back with alternating sizes, and checks only at the end. Each launch has buffers of its own.
void runBackToBack(const MscclcVariant &v, const std::vector<std::uint64_t> &asked, unsigned threads, int launches,
                   std::mt19937 &random) {
  const std::vector<std::uint64_t> sizes = sizesFor(v, asked);
  AllRanks ranks(*kernel, messageBytes(v, *std::max_element(sizes.begin(), sizes.end())), timeoutSeconds);
  constexpr int atOnce = 10;
  for (int done = 0; done < launches; done += atOnce) {
    std::vector<Flight> flights;
    for (int i = 0; i < atOnce; ++i) {
      const std::uint64_t elements = sizes[static_cast<std::size_t>(done + i) % sizes.size()];
      flights.push_back({std::make_unique<Message>(*kernel, messageBytes(v, elements)), {}});
      flights.back().want = expected(fill(*flights.back().message, v, random), elements, v);
      ranks.launch(v, *flights.back().message, threads);
      // The proxy of a port reads the buffers of one launch at a time.
      if ((kernel->flags & MSCCLC_NEEDS_PORT) != 0)
        ranks.synchronize();
    }
    land(ranks, flights, v.dtype, nameOf(v) + ", back to back");
  }
}

/// A relaxed signal says that data that a rank has read may be written again. ThreadSanitizer derives no order from it,
/// and therefore reports the next launch's copy as a race with these reads.
#if defined(__SANITIZE_THREAD__)
constexpr bool underThreadSanitizer = true;
#elif defined(__has_feature)
constexpr bool underThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool underThreadSanitizer = false;
#endif

/// Whether every rank has blocks, which copy its data.
bool canStage() {
  for (std::uint32_t r = 0; r < kernel->ranks; ++r) {
    MscclcRankInfo info{};
    kernel->rank_info(r, &info);
    if (info.blocks == 0)
      return false;
  }
  return true;
}

/// Launches back to back on one set of buffers. The ranks copy data in and out themselves. The caller's inputs and
/// outputs begin at a multiple of the element, or share memory as the collective defines.
void runStaged(const MscclcVariant &v, const std::vector<std::uint64_t> &asked, unsigned threads,
               std::mt19937 &random) {
  for (const std::uint64_t elements : sizesFor(v, asked)) {
    AllRanks ranks(*kernel, messageBytes(v, elements), timeoutSeconds);
    Message window(*kernel, messageBytes(v, elements));
    std::vector<Flight> flights;
    const std::size_t element = sizeOf(v.dtype);
    for (const std::size_t shift : {std::size_t{0}, element, std::max<std::size_t>(element, 4)})
      for (const bool apart : {false, true}) {
        flights.push_back({std::make_unique<Message>(*kernel, messageBytes(v, elements), shift), {}});
        Message &data = *flights.back().message;
        Message other(*kernel, messageBytes(v, elements), shift);
        flights.back().want = expected(fill(data, v, random), elements, v);
        std::vector<MscclcStaging> staging;
        if (apart)
          data.output = other.output;
        for (std::uint32_t r = 0; r < kernel->ranks; ++r)
          staging.push_back({data.input[r], data.output[r], data.inputBytes[r], data.outputBytes[r], 0, nullptr,
                             MSCCLC_NO_SCALING, 0});
        data.storage.insert(data.storage.end(), std::make_move_iterator(other.storage.begin()),
                            std::make_move_iterator(other.storage.end()));
        ranks.launch(v, window, threads, staging);
        if (underThreadSanitizer || (kernel->flags & MSCCLC_NEEDS_PORT) != 0) // for ports, as above
          ranks.synchronize();
      }
    land(ranks, flights, v.dtype, nameOf(v) + ", copied by the kernel");
    if (!window.intact())
      fail(nameOf(v) + ": a copy runs past its buffer");
  }
}

/// Checks that the kernel's code refuses wrong arguments of a launch before it touches anything.
void runRefusals(const MscclcVariant &v) {
  MscclcRankArgs good{};
  good.abi_version = MSCCLC_ABI_VERSION;
  good.message_bytes = sizesFor(v, {1000})[0] * sizeOf(v.dtype) * kernel->message_shares;
  good.scratch_stride = kernel->scratch_stride(good.message_bytes, 0);
  const auto refuses = [&](std::int32_t code, unsigned threads, auto change) {
    MscclcRankArgs bad = good;
    change(bad);
    if (const std::int32_t answer = v.launch(&bad, threads, nullptr); answer != code)
      fail("a launch that must end with " + std::to_string(code) + " ends with " + std::to_string(answer));
  };
  refuses(MSCCLC_ERROR_ABI, 1, [](MscclcRankArgs &a) { a.abi_version += 1; });
  refuses(MSCCLC_ERROR_RANK, 1, [](MscclcRankArgs &a) { a.rank = kernel->ranks; });
  refuses(MSCCLC_ERROR_THREADS, 0, [](MscclcRankArgs &) {});
  refuses(MSCCLC_ERROR_THREADS, kernel->threads + 1, [](MscclcRankArgs &) {});
  if (kernel->message_shares > 1 || kernel->max_message_bytes != UINT64_MAX)
    refuses(MSCCLC_ERROR_SIZE, 1, [](MscclcRankArgs &a) { a.message_bytes += 1; });
  if ((kernel->flags & MSCCLC_USES_PACKETS) != 0) // rows of more packets than are counted
    refuses(MSCCLC_ERROR_SIZE, 1, [](MscclcRankArgs &a) { a.message_bytes = std::uint64_t{1} << 50; });
  if (kernel->scratch_bytes(16) != 0) {
    refuses(MSCCLC_ERROR_SCRATCH, 1, [](MscclcRankArgs &a) { a.scratch_stride -= 16; });
    refuses(MSCCLC_ERROR_SCRATCH, 1, [](MscclcRankArgs &a) { a.scratch_stride += 1; });
  }
}

/// Checks that longer messages have useful work for more threads, up to the kernel's limit.
void checkUsefulThreads(const MscclcVariant &v) {
  std::uint32_t last = 1;
  for (std::uint64_t bytes = 0; bytes <= std::uint64_t{1} << 30; bytes = bytes * 2 + kernel->message_shares) {
    const std::uint32_t threads = kernel->useful_threads(bytes, v.packet);
    if ((threads < last && !hasInstances) || threads > kernel->threads)
      fail(std::to_string(threads) + " threads for " + std::to_string(bytes) + " bytes, after " + std::to_string(last));
    last = threads;
  }
  if (last != kernel->threads)
    fail("no message has work for all threads");
}

std::vector<std::uint64_t> numbers(const char *list) {
  std::vector<std::uint64_t> out;
  for (char *end = const_cast<char *>(list); *end != 0; end += *end == ',')
    out.push_back(std::strtoull(end, &end, 10));
  return out;
}

/// Returns each number once; numbers above `most` are replaced by `most`.
std::vector<std::uint64_t> upTo(std::uint64_t most, std::vector<std::uint64_t> sorted) {
  for (std::uint64_t &number : sorted)
    number = std::min(number, most);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

} // namespace

/// The registry of this program: one kernel.
extern "C" int32_t mscclc_register_kernel(const MscclcKernel *k) {
  kernel = k;
  return MSCCLC_OK;
}

int main(int argc, char **argv) {
  unsigned threads = 4;
  int relaunch = 20;
  std::string tree;
  std::size_t positions = 50;
  std::vector<std::uint64_t> sizes{16, 1, 1000, 4096, 37, 0};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--threads") == 0)
      threads = static_cast<unsigned>(std::atoi(argv[i + 1]));
    else if (std::strcmp(argv[i], "--sizes") == 0)
      sizes = numbers(argv[i + 1]);
    else if (std::strcmp(argv[i], "--relaunch") == 0)
      relaunch = std::atoi(argv[i + 1]);
    else if (std::strcmp(argv[i], "--bits") == 0)
      tree = argv[i + 1];
    else if (std::strcmp(argv[i], "--positions") == 0)
      positions = std::strtoull(argv[i + 1], nullptr, 10);
    else if (std::strcmp(argv[i], "--instances") == 0)
      hasInstances = std::atoi(argv[i + 1]) != 0;
    else if (std::strcmp(argv[i], "--rounded") == 0)
      isRounded = std::atoi(argv[i + 1]) != 0;
    else if (std::strcmp(argv[i], "--timeout") == 0)
      timeoutSeconds = static_cast<std::uint64_t>(std::atoi(argv[i + 1]));
  }
  if (kernel == nullptr || kernel->abi_magic != MSCCLC_ABI_MAGIC || sizes.empty())
    return 2;
  if (!tree.empty()) {
    unsigned ran = 0;
    for (const MscclcVariant &v : std::vector(kernel->variants, kernel->variants + kernel->num_variants))
      if (test::isFloat(v.dtype) && v.reduce_op == MSCCLC_SUM) {
        runBits(v, sizes, threads, tree, positions);
        ++ran;
      }
    std::printf("ok %s: bits of %s, %u variants, %zu sizes, %zu positions, %u ranks\n", kernel->name, tree.c_str(), ran,
                sizes.size(), positions, kernel->ranks);
    return ran == 0 ? 2 : 0;
  }
  const std::uint64_t most = *std::max_element(sizes.begin(), sizes.end());
  constexpr unsigned seed = 12345;
  std::mt19937 random(seed);
  for (std::uint32_t v = 0; v < kernel->num_variants; ++v)
    runRefusals(kernel->variants[v]);
  for (std::uint32_t v = 0; v < kernel->num_variants; ++v)
    checkUsefulThreads(kernel->variants[v]);
  for (std::uint32_t v = 0; v < kernel->num_variants; ++v)
    runSizes(kernel->variants[v], sizes, threads, random);
  for (std::uint32_t v = 0; v < kernel->num_variants; ++v)
    runUnaligned(kernel->variants[v], upTo(most, {37, 400}), threads, random);
  for (std::uint32_t v = 0; v < kernel->num_variants && canStage(); ++v)
    runStaged(kernel->variants[v], upTo(most, {37, 1000}), threads, random);
  if (relaunch > 0)
    runBackToBack(kernel->variants[kernel->num_variants - 1], sizes, threads, relaunch, random);
  std::printf("ok %s: %u variants, %zu sizes, %u ranks, %d launches back to back, seed %u\n", kernel->name,
              kernel->num_variants, sizes.size(), kernel->ranks, relaunch, seed);
  return 0;
}
