#include "fixture.h"

using namespace testing;

namespace {

bool passesOn(Communicator &communicator, Instance &instance, Buffer &input, Buffer &output, uint64_t bytes,
              uint64_t round) {
  for (uint32_t i = 0; i < communicator.localRanks(); ++i)
    input.write(communicator.firstLocalRank() + i, dataOf(communicator.firstLocalRank() + i, bytes, 0, round));
  instance.launch(Call().on(input, output).of(bytes, MSCCLC_U8));
  communicator.synchronize();
  for (uint32_t i = 0; i < communicator.localRanks(); ++i) {
    const uint32_t rank = communicator.firstLocalRank() + i;
    if (output.read<unsigned char>(rank, bytes) != dataOf((rank + 3) % 4, bytes, 0, round))
      return false;
  }
  return true;
}

} // namespace

TEST_CASE("Port channels: more requests than the queue holds, flushes, several launches") {
  Communicator communicator(onHost(4));
  Buffer input = communicator.allocate(40000), output = communicator.allocate(40000);
  Instance instance = communicator.load(ports4(), 40000);
  uint64_t round = 0;
  for (const uint64_t bytes : {16, 1, 40000, 1023, 33000, 0})
    CHECK(passesOn(communicator, instance, input, output, bytes, round++));
}

TEST_CASE("Requests of launches on different buffers keep their order") {
  Communicator communicator(onHost(4));
  Instance instance = communicator.load(ports4(), 3000);
  std::vector<Buffer> inputs, outputs;
  for (uint64_t k = 0; k < 5; ++k) {
    inputs.push_back(communicator.allocate(3000));
    outputs.push_back(communicator.allocate(3000));
    for (uint32_t rank = 0; rank < 4; ++rank)
      inputs[k].write(rank, dataOf(rank, 3000, 0, k));
  }
  for (uint64_t launch = 0; launch < 40; ++launch)
    instance.launch(Call().on(inputs[launch * 3 % 5], outputs[launch * 3 % 5]).of(3000, MSCCLC_U8));
  communicator.synchronize();
  for (uint64_t k = 0; k < 5; ++k)
    for (uint32_t rank = 0; rank < 4; ++rank)
      CHECK(outputs[k].read<unsigned char>(rank, 3000) == dataOf((rank + 3) % 4, 3000, 0, k));
}

TEST_CASE("A reset takes back what is still in the queues") {
  Communicator communicator(onHost(4));
  Buffer input = communicator.allocate(9000), output = communicator.allocate(9000);
  Instance instance = communicator.load(ports4(), 9000);
  for (uint64_t round = 0; round < 3; ++round) {
    instance.launch(Call().on(input, output).of(9000, MSCCLC_U8));
    communicator.abort("enough");
    CHECK(failureOf([&] { communicator.synchronize(); }).code == MSCCLC_ERROR_ABORTED);
    communicator.reset();
    CHECK(passesOn(communicator, instance, input, output, 5000, round));
  }
}

TEST_CASE("Without their thread kernels with port channels are refused by name", "[.core]") {
  Communicator communicator(CommunicatorOptions(4));
  const Failure failure = failureOf([&] { communicator.load(ports4(), 64); });
  CHECK(failure.code == MSCCLC_ERROR_UNSUPPORTED);
  CHECK(contains(failure.text, "kernel 'ports4' has port channels, and this build of the runtime has no thread to"));
}
