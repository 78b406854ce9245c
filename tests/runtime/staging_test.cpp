// Tests launches on the caller's memory. The kernels here copy nothing; they use the memory that the runtime gives
// them.
#include "fixture.h"

#include <algorithm>

using namespace testing;

namespace {

/// A launch of packets4, of which no rank sees the input or output of another, with `staging` for each rank.
Failure launchStaged(Instance &instance, Buffer &input, Buffer &output, uint64_t bytes,
                     const std::vector<MscclcStaging> &staging) {
  Call call;
  call.on(input, output).of(bytes, MSCCLC_F32);
  call.staging = staging.data();
  return failureOf([&] { instance.launch(call); });
}

struct alignas(16) Words {
  float at[68];
};

} // namespace

TEST_CASE("Where no rank sees another's input or output, a launch works on the caller's memory itself") {
  Communicator communicator(onHost(4));
  constexpr uint64_t words = 64;
  Buffer input = communicator.allocate(words * 4), output = communicator.allocate(words * 4);
  Instance instance = communicator.load(packets4(), words * 4);
  std::vector<Words> given(4), made(4);
  std::vector<MscclcStaging> staging(4);
  const auto run = [&](size_t shift) {
    for (uint32_t rank = 0; rank < 4; ++rank) {
      std::fill_n(given[rank].at, 68, static_cast<float>(rank + 1));
      std::fill_n(made[rank].at, 68, 0.0f);
      input.write(rank, std::vector<float>(words, 100));
      // One rank alone may have memory that begins elsewhere; it then works on its buffers.
      const size_t at = rank == 2 ? shift : 0;
      staging[rank].input = given[rank].at + at;
      staging[rank].output = made[rank].at + at;
      staging[rank].input_bytes = staging[rank].output_bytes = words * 4;
    }
    CHECK(launchStaged(instance, input, output, words * 4, staging).text == "");
    communicator.synchronize();
  };
  run(0);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(std::count(made[rank].at, made[rank].at + words, 10.0f) == words);
    CHECK(std::count(made[rank].at + words, made[rank].at + 68, 0.0f) == 4);
  }
  run(1);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    const std::vector<float> result =
        rank == 2 ? output.read<float>(2, words) : std::vector<float>(made[rank].at, made[rank].at + words);
    CHECK(result == std::vector<float>(words, 1 + 2 + 4 + 100.0f));
  }
}

TEST_CASE("A kernel whose buffers are apart does not get one memory for both") {
  Communicator communicator(onHost(4));
  constexpr uint64_t words = 64;
  Buffer input = communicator.allocate(words * 4), output = communicator.allocate(words * 4);
  Instance instance = communicator.load(packets4(), words * 4);
  std::vector<Words> data(4);
  std::vector<MscclcStaging> staging(4);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    std::fill_n(data[rank].at, 68, static_cast<float>(rank + 1));
    staging[rank].input = data[rank].at;
    staging[rank].output = data[rank].at + (rank == 0 ? 0 : 4); // one memory, or memory that overlaps
    staging[rank].input_bytes = staging[rank].output_bytes = words * 4;
  }
  CHECK(launchStaged(instance, input, output, words * 4, staging).text == "");
  communicator.synchronize();
  for (uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(output.read<float>(rank, words) == std::vector<float>(words, 10.0f));
    CHECK(std::count(data[rank].at, data[rank].at + 68, static_cast<float>(rank + 1)) == 68);
  }
}

TEST_CASE("A kernel that writes its input does not get the caller's") {
  Communicator communicator(onHost(4));
  constexpr uint64_t words = 64;
  Buffer input = communicator.allocate(words * 4), output = communicator.allocate(words * 4);
  MscclcKernel writes = packets4();
  writes.flags |= MSCCLC_WRITES_INPUT;
  Instance instance = communicator.load(writes, words * 4);
  std::vector<Words> given(4);
  std::vector<MscclcStaging> staging(4);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    std::fill_n(given[rank].at, 68, 1.0f);
    input.write(rank, std::vector<float>(words, 100));
    staging[rank].input = given[rank].at;
    staging[rank].input_bytes = words * 4;
  }
  CHECK(launchStaged(instance, input, output, words * 4, staging).text == "");
  communicator.synchronize();
  CHECK(output.read<float>(3, words) == std::vector<float>(words, 400.0f)); // these kernels copy nothing
}

TEST_CASE("What a launch cannot copy is refused") {
  Communicator communicator(onHost(4));
  Buffer input = communicator.allocate(256), output = communicator.allocate(256);
  Instance instance = communicator.load(packets4(), 256);
  Words words{};
  const auto refused = [&](auto change) {
    std::vector<MscclcStaging> staging(4);
    for (MscclcStaging &one : staging) {
      one.input = one.output = words.at;
      one.input_bytes = one.output_bytes = 256;
    }
    change(staging[1]);
    const Failure failure = launchStaged(instance, input, output, 256, staging);
    CHECK(failure.code == MSCCLC_ERROR_ARGUMENT);
    return failure.text;
  };
  CHECK_THAT(refused([](MscclcStaging &one) { one.input_bytes = 260; }),
             containsText("rank 1 copies itself is longer"));
  CHECK_THAT(refused([](MscclcStaging &one) { one.output_bytes = 260; }),
             containsText("longer than its input or output"));
  CHECK_THAT(refused([&](MscclcStaging &one) { one.output = reinterpret_cast<char *>(words.at) + 2; }),
             containsText("does not lie at multiples of the element"));
  CHECK_THAT(refused([](MscclcStaging &one) { one.scaling = 3; }), containsText("in a way that does not exist"));
}

TEST_CASE("Only kernels that add scale") {
  Communicator communicator(onHost(4));
  Buffer buffer = communicator.allocate(256);
  Instance instance = communicator.load(gather4(), 256);
  Words words{};
  std::vector<MscclcStaging> staging(4);
  for (MscclcStaging &one : staging) {
    one.output = words.at;
    one.output_bytes = 256;
    one.scaling = MSCCLC_AVERAGE;
  }
  Call call;
  call.inPlace(buffer).of(256, MSCCLC_U8);
  call.staging = staging.data();
  CHECK_THAT(failureOf([&] { instance.launch(call); }).text, containsText("and this kernel does not add it"));
}
