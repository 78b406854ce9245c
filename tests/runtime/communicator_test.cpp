#include "fixture.h"

#include <thread>

using namespace testing;

TEST_CASE("All ranks in one process") {
  for (const MscclcKernel *kernel : {&gather4(), &gather8()}) {
    Communicator communicator(onHost(kernel->ranks));
    CHECK(communicator.isOnHost());
    CHECK(communicator.localRanks() == kernel->ranks);
    Buffer buffer = communicator.allocate(1 << 16);
    Instance instance = communicator.load(*kernel, 1 << 16);
    for (const uint64_t bytes : {0, 8, 80, 4096, 65536})
      CHECK(gathers(communicator, instance, buffer, bytes, bytes));
  }
}

TEST_CASE("Buffers of the caller are registered once and used at any offset") {
  Communicator communicator(onHost(4));
  std::vector<void *> pointers;
  for (int rank = 0; rank < 4; ++rank)
    pointers.push_back(static_cast<char *>(callersMemory(4096)) + 3 + rank); // not aligned
  Buffer buffer = communicator.adopt(pointers, 4000);
  Instance instance = communicator.load(gather4(), 4000);
  for (const uint64_t offset : {0, 1, 160}) {
    for (uint32_t rank = 0; rank < 4; ++rank)
      buffer.write(rank, dataOf(rank, 100, 0, offset), offset + rank * 100);
    Call call;
    call.inPlace(buffer).of(400, MSCCLC_U8);
    call.input_offset = call.output_offset = offset;
    instance.launch(call);
    communicator.synchronize();
    for (uint32_t rank = 0; rank < 4; ++rank)
      for (uint32_t from = 0; from < 4; ++from)
        CHECK(buffer.read<unsigned char>(rank, 100, offset + from * 100) == dataOf(from, 100, 0, offset));
  }
}

TEST_CASE("The buffer that memory lies in is found") {
  Communicator communicator(onHost(4));
  const Buffer empty = communicator.allocate(0), one = communicator.allocate(64), two = communicator.allocate(128);
  const auto find = [&](const void *pointer, uint64_t bytes, uint64_t &offset) {
    const MscclcBuffer *found = nullptr;
    check(mscclc_buffer_find(communicator.get(), 2, pointer, bytes, &found, &offset));
    return found;
  };
  uint64_t offset = 0;
  char *const begin = static_cast<char *>(two.address(2));
  CHECK(find(begin + 100, 28, offset) == two.get());
  CHECK(offset == 100);
  CHECK(find(begin + 100, 29, offset) == nullptr);
  CHECK(find(begin + 100, UINT64_MAX, offset) == nullptr);
  CHECK(find(one.address(2), 64, offset) == one.get());
  CHECK(find(one.address(1), 64, offset) == nullptr); // the address is another rank's
  CHECK(find(nullptr, 0, offset) == nullptr);
  const MscclcBuffer *found = nullptr;
  CHECK(mscclc_buffer_find(communicator.get(), 4, begin, 1, &found, &offset) == MSCCLC_ERROR_ARGUMENT);
}

TEST_CASE("A kernel is loaded for messages of any size if it needs no scratch for them") {
  Communicator communicator(onHost(4));
  Buffer buffer = communicator.allocate(4096);
  Instance instance = communicator.load(gather4(), UINT64_MAX);
  CHECK(gathers(communicator, instance, buffer, 4096, 0));
  CHECK(failureOf([&] { instance.launch(Call().inPlace(buffer).of(UINT64_MAX - 3, MSCCLC_U8)); }).code ==
        MSCCLC_ERROR_SIZE);
  CHECK(failureOf([&] { communicator.load(packets4(), UINT64_MAX); }).code == MSCCLC_ERROR_MEMORY);
  CHECK(gathers(communicator, instance, buffer, 4096, 1));
}

TEST_CASE("Two communicators in a process do not disturb each other") {
  bool right[2] = {true, true};
  std::vector<std::thread> users;
  for (int user = 0; user < 2; ++user)
    users.emplace_back([&right, user] {
      Communicator communicator(onHost(4));
      Buffer buffer = communicator.allocate(4096);
      Instance one = communicator.load(gather4(), 4096), two = communicator.load(gather4(), 4096);
      for (uint64_t round = 0; round < 50; ++round)
        right[user] = right[user] && gathers(communicator, round % 3 == 0 ? two : one, buffer, 4096 - round % 5 * 400,
                                             round * 2 + static_cast<uint64_t>(user));
    });
  for (std::thread &user : users)
    user.join();
  CHECK(right[0]);
  CHECK(right[1]);
}

TEST_CASE("A released buffer is forgotten by the kernels") {
  Communicator communicator(onHost(4));
  Instance instance = communicator.load(gather4(), 4096);
  for (uint64_t round = 0; round < 20; ++round) {
    Buffer buffer = communicator.allocate(4096);
    CHECK(gathers(communicator, instance, buffer, 4096, round));
  }
}

TEST_CASE("Wrong arguments are refused by name") {
  CHECK(failureOf([] { Communicator communicator(onHost(0)); }).code == MSCCLC_ERROR_ARGUMENT);
  CommunicatorOptions apart = onHost(4);
  apart.local_ranks = 2;
  apart.nccl = nullptr;
  Failure failure = failureOf([&] { Communicator communicator(apart); });
  CHECK(contains(failure.text, "2 of 4 ranks are here, and there is no rendezvous"));

  Communicator communicator(onHost(4));
  failure = failureOf([&] { communicator.load(gather8(), 64); });
  CHECK(failure.code == MSCCLC_ERROR_KERNEL);
  CHECK(contains(failure.text, "kernel 'gather8' is for 8 ranks, the communicator has 4"));
  MscclcKernel old = gather4();
  old.abi_version = 0;
  CHECK(contains(failureOf([&] { communicator.load(old, 64); }).text, "the kernel has ABI version 0"));
  Buffer buffer = communicator.allocate(64);
  CHECK(contains(failureOf([&] { buffer.read<char>(4, 1); }).text, "rank 4 is not in this process"));
  CHECK(contains(failureOf([&] { buffer.read<char>(0, 65); }).text, "65 bytes at offset 0 of a buffer of 64"));

  Instance instance = communicator.load(gather4(), 64);
  const auto launchFailure = [&](uint64_t bytes, const Buffer &in, const Buffer &out) {
    return failureOf([&] { instance.launch(Call().on(in, out).of(bytes, MSCCLC_U8)); });
  };
  CHECK(contains(launchFailure(128, buffer, buffer).text, "loaded for messages of up to 64 bytes, not of 128"));
  CHECK(launchFailure(62, buffer, buffer).code == MSCCLC_ERROR_SIZE);
  CHECK(contains(launchFailure(64, buffer, communicator.allocate(64)).text, "works in place"));
  CHECK(contains(launchFailure(64, Buffer(), Buffer()).text, "needs an input and output buffer"));
  Communicator second(onHost(4));
  const Buffer foreign = second.allocate(64);
  CHECK(contains(launchFailure(64, foreign, foreign).text, "the buffer is of another communicator"));
}

TEST_CASE("A build without a device says so") {
  CommunicatorOptions options = onHost(2);
  options.platform = MSCCLC_PLATFORM_CUDA;
  MscclcCommunicator *communicator = nullptr;
  const int32_t code = mscclc_communicator_create(&options, &communicator);
  if (code == MSCCLC_OK)
    mscclc_communicator_destroy(communicator);
  else
    CHECK(code == MSCCLC_ERROR_UNSUPPORTED);
  options.platform = 9;
  CHECK(mscclc_communicator_create(&options, &communicator) == MSCCLC_ERROR_ARGUMENT);
}

TEST_CASE("A build without the rendezvous has all ranks in one process", "[.core]") {
  CommunicatorOptions options = onHost(2);
  options.local_ranks = 1;
  options.rendezvous = "@nobody";
  const Failure failure = failureOf([&] { Communicator communicator(options); });
  CHECK(failure.code == MSCCLC_ERROR_UNSUPPORTED);
  CHECK(contains(failure.text, "1 of 2 ranks are in this process, and this build of the runtime cannot meet other"));
}

TEST_CASE("Every code has a name and a text") {
  for (const int32_t code : {0, 1, 2, 3, 4, 5, 6, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 1700}) {
    CHECK(std::string(mscclc_error_name(code)) != "unknown");
    CHECK(std::string(mscclc_error_text(code)) != "no such code");
  }
  CHECK(std::string(mscclc_error_name(99)) == "unknown");
}
