// Launches a kernel with a hook of the runtime's (mscclc/hooks), or with a wire format, as users do, and compares the
// bits of the output and of all arrays with the function's definition:
//
//   hooks_client [--threads N] [--shapes ROWSxELEMENTS,…] [--dtypes LIST|all] LIBRARY
//
// Before a hook, sums are exact, so that their bits do not depend on their order. With a wire format, inputs have whole
// mantissas, and results are also compared with f32: the error is at most the bound of the sample. All shapes are
// launched in a row, twice. Prints what was run. Exits with 1 where a result is wrong, or where a message that is no
// whole number of rows is not refused.
#include "client.h"
#include "hook_definitions.h"

#include <cstdio>
#include <cstring>
#include <list>
#include <random>

namespace {

using namespace mscclc;
using test::Arrays;
using test::Bytes;

struct Shape {
  uint64_t rows, elements;
};

struct Options {
  std::string dtypes = "all";
  uint32_t threads = 0;
  std::vector<Shape> shapes{{5, 64}, {3, 37}, {1, 8}, {16, 2500}, {13, 128}};
};

std::vector<Shape> shapesOf(const std::string &list) {
  std::vector<Shape> shapes;
  for (const std::string &part : test::partsOf(list))
    shapes.push_back({std::stoull(part), std::stoull(part.substr(part.find('x') + 1))});
  return shapes;
}

/// Memory of a launch: the data, and the arrays of the hook, of each rank.
class Launch {
public:
  Launch(runtime::Communicator &communicator, const MscclcKernel &kernel, const test::Definition &definition,
         Shape shape)
      : kernel_(kernel), definition_(definition), shape_(shape),
        data_(communicator.allocate(std::max<uint64_t>(64, shape.rows * shape.elements * 8))) {
    if ((kernel.flags & MSCCLC_IN_PLACE) == 0)
      separate_ = communicator.allocate(data_.bytes());
    for (uint32_t i = 0; i < kernel.num_arrays; ++i)
      arrays_.push_back(communicator.allocate(std::max<uint64_t>(64, (shape.rows + 1) * shape.elements * 8)));
  }

  uint64_t bytes(uint32_t dtype) const { return shape_.rows * shape_.elements * test::bytesOf(dtype); }
  /// True if the kernel takes a message of this size.
  bool fits(uint32_t dtype) const {
    return bytes(dtype) >= kernel_.min_message_bytes && bytes(dtype) <= kernel_.max_message_bytes;
  }
  runtime::Call call(uint32_t dtype, uint32_t operation) const {
    runtime::Call call;
    call.on(data_, output()).of(bytes(dtype), dtype, operation);
    if ((kernel_.flags & MSCCLC_TAKES_ROWS) != 0)
      call.rows(shape_.elements * test::bytesOf(dtype));
    for (uint32_t i = 0; i < kernel_.num_arrays; ++i) {
      std::vector<void *> pointers;
      for (uint32_t rank = 0; rank < kernel_.ranks; ++rank)
        pointers.push_back(arrays_[i].address(rank));
      call.array(kernel_.arrays[i].name, pointers);
    }
    return call;
  }

  /// Writes data and arrays, and computes what they become.
  void fill(uint32_t dtype, uint32_t seed) {
    dtype_ = dtype;
    std::mt19937 random(seed);
    const uint64_t count = shape_.rows * shape_.elements;
    std::vector<float> sum(count, 0);
    std::vector<std::vector<float>> parts;
    for (uint32_t rank = 0; rank < kernel_.ranks; ++rank) {
      std::vector<float> &part = parts.emplace_back(count);
      for (uint64_t i = 0; i < count; ++i) {
        part[i] = definition_.sum ? wireInput(random, i / kernel_.block_elements, dtype)
                                  : static_cast<float>(random() % 17) - 8;
        sum[i] += part[i];
      }
      data_.write(rank, test::narrow(part, dtype));
    }
    std::vector<double> allowed(count, 0), exact(count, 0);
    if (definition_.sum) {
      sum = definition_.sum(parts, kernel_.block_elements, allowed);
      for (const std::vector<float> &part : parts)
        for (uint64_t i = 0; i < count; ++i)
          exact[i] += part[i];
      noteErrors(exact, sum, allowed, dtype);
    }
    expected_.assign(kernel_.ranks, {});
    outputs_.clear();
    for (uint32_t rank = 0; rank < kernel_.ranks; ++rank) {
      if (definition_.equalArrays) // of one generator on all ranks
        random.seed(seed + 1);
      std::vector<float> values = sum;
      Arrays arrays = definition_.makeArrays(random, dtype, shape_.rows, shape_.elements);
      for (uint32_t i = 0; i < kernel_.num_arrays; ++i)
        arrays_[i].write(rank, arrays.at(kernel_.arrays[i].name));
      if (definition_.sum) // a hook takes what the message holds
        for (float &value : values)
          value = test::rounded(value, dtype);
      const Arrays before = arrays;
      definition_.apply(values, arrays, dtype, shape_.rows, shape_.elements);
      if (definition_.sum && arrays.count("gamma") != 0)
        largestNormError_ = std::max(largestNormError_,
                                     test::errorOfNorm(exact, allowed, before, arrays, values, dtype, shape_.elements));
      outputs_.push_back(test::narrow(values, dtype));
      expected_[rank] = std::move(arrays);
    }
  }

  /// The largest error of a result, as a part of the one that is allowed.
  double largestError() const { return largestError_; }

  /// The same of what a hook has made of the results; 0: there is none.
  double largestNormError() const { return largestNormError_; }

  /// The number of outputs and arrays that are wrong, of all ranks.
  unsigned countWrong() const {
    unsigned wrong = 0;
    for (uint32_t rank = 0; rank < kernel_.ranks; ++rank) {
      wrong += isWrong("the output", rank, output(), outputs_[rank]);
      for (uint32_t i = 0; i < kernel_.num_arrays; ++i)
        wrong += isWrong(kernel_.arrays[i].name, rank, arrays_[i], expected_[rank].at(kernel_.arrays[i].name));
    }
    return wrong;
  }

private:
  const runtime::Buffer &output() const { return (kernel_.flags & MSCCLC_IN_PLACE) != 0 ? data_ : separate_; }
  /// Returns a number of a whole mantissa. Every seventh block is zero on all ranks, some are small, and each ninth one
  /// may have a NaN.
  static float wireInput(std::mt19937 &random, uint64_t block, uint32_t dtype) {
    const uint32_t drawn = random();
    const float value = std::ldexp(1 + static_cast<float>(drawn & 0xffffff) / 0x1p24f,
                                   static_cast<int>(drawn >> 24 & 7) - (block % 5 == 1 ? 12 : 0));
    if (block % 7 == 3)
      return 0;
    if (block % 9 == 4 && drawn % 200 == 7)
      return std::nanf("");
    return test::rounded(drawn >> 31 != 0 ? -value : value, dtype);
  }
  void noteErrors(const std::vector<double> &exact, const std::vector<float> &results,
                  const std::vector<double> &allowed, uint32_t dtype) {
    const double toType = dtype == MSCCLC_F32 ? 0 : dtype == MSCCLC_F16 ? 0x1p-11 : 0x1p-8;
    for (size_t i = 0; i < results.size(); ++i) {
      const double result = test::rounded(results[i], dtype);
      const double most = allowed[i] * (1 + 0x1p-10) + std::fabs(result) * toType;
      if (!std::isnan(result) && most != 0)
        largestError_ = std::max(largestError_, std::fabs(result - exact[i]) / most);
    }
  }

  bool isNaNAt(const Bytes &bytes, size_t at) const {
    const size_t first = at - at % test::bytesOf(dtype_);
    return std::isnan(test::widen({&bytes[first], &bytes[first] + test::bytesOf(dtype_)}, dtype_)[0]);
  }
  unsigned isWrong(const char *what, uint32_t rank, const runtime::Buffer &buffer, const Bytes &expected) const {
    const Bytes found = buffer.read<unsigned char>(rank, expected.size());
    const bool hasNaNs = definition_.sum != nullptr; // of which no bits are defined
    for (size_t i = 0; i < expected.size(); ++i)
      if (found[i] != expected[i] && !(hasNaNs && isNaNAt(found, i) && isNaNAt(expected, i))) {
        std::printf("%llux%llu: byte %zu of %s of rank %u is %u, not %u\n",
                    static_cast<unsigned long long>(shape_.rows), static_cast<unsigned long long>(shape_.elements), i,
                    what, rank, found[i], expected[i]);
        return 1;
      }
    return 0;
  }

  const MscclcKernel &kernel_;
  const test::Definition &definition_;
  const Shape shape_;
  runtime::Buffer data_, separate_; ///< an output of its own, if the kernel does not work in place
  std::vector<runtime::Buffer> arrays_;
  std::vector<Arrays> expected_; ///< [rank]
  std::vector<Bytes> outputs_;   ///< [rank]
  double largestError_ = 0, largestNormError_ = 0;
  uint32_t dtype_ = 0;
};

/// What must be refused: a message cut in a row, no length of rows, and a launch without an array.
unsigned countAccepted(runtime::Instance &instance, const MscclcKernel &kernel, const Launch &launch, uint32_t dtype,
                       uint32_t operation) {
  unsigned wrong = 0;
  const auto refuses = [&](int32_t code, const char *what, auto change) {
    runtime::Call call = launch.call(dtype, operation);
    change(call);
    wrong += test::isRefused(instance, call, code, what) ? 0 : 1;
  };
  if ((kernel.flags & MSCCLC_TAKES_ROWS) != 0) {
    const bool isOneSize = kernel.min_message_bytes == kernel.max_message_bytes;
    refuses(isOneSize || kernel.block_elements > 1 ? MSCCLC_ERROR_SIZE : MSCCLC_ERROR_ROWS, "a message cut in a row",
            [&](runtime::Call &call) { call.message_bytes -= test::bytesOf(dtype); });
    refuses(MSCCLC_ERROR_ROWS, "a launch without rows", [](runtime::Call &call) { call.rows(0); });
  } else {
    if (kernel.block_elements > 1)
      refuses(MSCCLC_ERROR_SIZE, "a message cut in a block",
              [&](runtime::Call &call) { call.message_bytes -= test::bytesOf(dtype); });
    refuses(MSCCLC_ERROR_ROWS, "a length of rows that nobody takes", [](runtime::Call &call) { call.rows(64); });
  }
  if (kernel.num_arrays != 0)
    refuses(MSCCLC_ERROR_ARGUMENT, "a launch without an array", [&](runtime::Call &call) {
      call.array(kernel.arrays[0].name, std::vector<void *>(kernel.ranks, nullptr));
    });
  refuses(MSCCLC_ERROR_ARGUMENT, "an array of another name",
          [&](runtime::Call &call) { call.array("no such", std::vector<void *>(kernel.ranks, nullptr)); });
  return wrong;
}

unsigned run(const Options &options, const MscclcKernel &kernel) {
  const test::Definition &definition = test::definitionOf(kernel);
  runtime::Communicator communicator{runtime::CommunicatorOptions(kernel.ranks)};
  // Memory is kept until the end. The machine that runs PTX has no end of memory, so it would find races between its
  // users and those that get it afterwards.
  std::list<runtime::Instance> instances;
  uint64_t largest = 0, longest = 0;
  std::vector<std::unique_ptr<Launch>> launches;
  for (const Shape &shape : options.shapes) {
    if (shape.rows * shape.elements % std::max(kernel.block_elements, 1u) != 0)
      continue;
    launches.push_back(std::make_unique<Launch>(communicator, kernel, definition, shape));
    largest = std::max(largest, shape.rows * shape.elements * 8);
    longest = std::max(longest, shape.elements * 8);
  }
  unsigned wrong = 0, ran = 0;
  for (uint32_t v = 0; v < kernel.num_variants; ++v) {
    const MscclcVariant &variant = kernel.variants[v];
    if (options.dtypes != "all" &&
        ("," + options.dtypes + ",").find("," + test::nameOf(variant.dtype) + ",") == std::string::npos)
      continue;
    runtime::Instance &instance = instances.emplace_back(communicator.load(kernel, largest, longest));
    std::vector<Launch *> some;
    for (const std::unique_ptr<Launch> &launch : launches)
      if (launch->fits(variant.dtype))
        some.push_back(launch.get());
    unsigned bad = 0;
    for (uint32_t round = 0; round < 2; ++round) {
      for (size_t i = 0; i < some.size(); ++i)
        some[i]->fill(variant.dtype, static_cast<uint32_t>(1 + i + 100 * round));
      for (const Launch *launch : some) {
        runtime::Call call = launch->call(variant.dtype, variant.reduce_op);
        call.packet = variant.packet;
        call.threads = options.threads;
        instance.launch(call);
      }
      communicator.synchronize();
      for (const Launch *launch : some)
        bad += launch->countWrong();
    }
    if (!some.empty())
      bad += countAccepted(instance, kernel, *some[0], variant.dtype, variant.reduce_op);
    std::printf("%s packet %u: %zu shapes, %u wrong\n", test::nameOf(variant.dtype).c_str(), variant.packet,
                some.size(), bad);
    double error = 0, normError = 0;
    for (const Launch *launch : some) {
      error = std::max(error, launch->largestError());
      normError = std::max(normError, launch->largestNormError());
    }
    if (definition.sum)
      std::printf("  the largest error is %.3f of the bound\n", error);
    if (normError != 0)
      std::printf("  that of normalised rows is %.3f of theirs\n", normError);
    bad += definition.sum && !(error > 0.1 && error <= 1 && normError <= 1);
    wrong += bad;
    ran += static_cast<unsigned>(some.size());
  }
  if (ran == 0)
    std::printf("nothing was run\n");
  return ran == 0 ? 1 : wrong;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  const test::Arguments arguments{{{"--threads", test::takeNumber(options.threads)},
                                   {"--dtypes", test::takeText(options.dtypes)},
                                   {"--shapes", [&](const std::string &list) { options.shapes = shapesOf(list); }}},
                                  {}};
  return test::runClient("hooks_client", argc, argv, arguments,
                         [&](const MscclcKernel &kernel) { return run(options, kernel); });
}
