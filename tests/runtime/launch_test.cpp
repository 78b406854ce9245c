#include "fixture.h"
#include "mscclc/cpu_standin.h"

using namespace testing;

TEST_CASE("A thousand launches of alternating sizes, none waited for") {
  Communicator communicator(onHost(4));
  Buffer buffer = communicator.allocate(4096);
  Instance instance = communicator.load(gather4(), 4096);
  launchThousand(instance, buffer);
  communicator.synchronize();
  CHECK(gathers(communicator, instance, buffer, 4096, 1));
}

TEST_CASE("Packets in double scratch need nothing else between launches") {
  Communicator communicator(onHost(4));
  constexpr uint64_t words = 64;
  Buffer input = communicator.allocate(words * 4), output = communicator.allocate(1000 * words * 4);
  Instance instance = communicator.load(packets4(), words * 4);
  CHECK(instance.scratchBytes() == 4 * words * 4 * 2 * 2);
  for (uint32_t rank = 0; rank < 4; ++rank)
    input.write(rank, std::vector<float>(words, static_cast<float>(rank + 1)));
  // Each launch has its own place for the result; sizes alternate, so slots are taken by different words.
  for (uint64_t round = 0; round < 1000; ++round) {
    Call call;
    call.on(input, output).of((round % 2 == 0 ? words : words / 4) * 4, MSCCLC_F32);
    call.output_offset = round * words * 4;
    instance.launch(call);
  }
  communicator.synchronize();
  uint64_t wrong = 0;
  for (uint32_t rank = 0; rank < 4; ++rank)
    for (uint64_t round = 0; round < 1000; ++round)
      for (const float value : output.read<float>(rank, round % 2 == 0 ? words : words / 4, round * words * 4))
        wrong += value != 10.0f;
  CHECK(wrong == 0);
}

TEST_CASE("A message of 0 bytes is no launch, so the halves of scratch do not turn") {
  static int started = 0;
  MscclcVariant counting = packets4().variants[0];
  counting.launch = [](const MscclcRankArgs *, uint32_t, void *) {
    ++started;
    return int32_t{MSCCLC_OK};
  };
  MscclcKernel kernel = packets4();
  kernel.variants = &counting;
  kernel.num_variants = 1;
  Communicator communicator(onHost(4));
  Buffer input = communicator.allocate(64), output = communicator.allocate(64);
  Instance instance = communicator.load(kernel, 64);
  for (const uint64_t bytes : {64, 0, 0, 64})
    instance.launch(Call().on(input, output).of(bytes, MSCCLC_F32));
  communicator.synchronize();
  CHECK(started == 2 * 4);
}

TEST_CASE("A launch may begin before the earlier kernel has ended, unless ranks share a device") {
  static uint32_t early = 0; // launches
  MscclcVariant counting = packets4().variants[0];
  counting.launch = [](const MscclcRankArgs *args, uint32_t, void *) {
    early += (args->flags & MSCCLC_PDL) != 0 ? 1 : 0;
    return int32_t{MSCCLC_OK};
  };
  MscclcKernel kernel = packets4();
  kernel.variants = &counting;
  kernel.num_variants = 1;
  const auto launch = [&](const std::vector<int32_t> &devices, bool pdl) {
    CommunicatorOptions options = onHost(4);
    options.nccl = nullptr; // the devices of its ranks are its own
    options.devices = devices.data();
    Communicator communicator(options);
    Buffer input = communicator.allocate(64), output = communicator.allocate(64);
    Instance instance = communicator.load(kernel, 64);
    Call call;
    call.on(input, output).of(64, MSCCLC_F32);
    early = 0;
    instance.launch(pdl ? call.withPdl() : call);
    return early;
  };
  CHECK(launch({0, 1, 2, 3}, true) == 4);
  CHECK(launch({0, 1, 2, 3}, false) == 0);
  CHECK(launch({0, 1, 1, 3}, true) == 2);
}

TEST_CASE("Semaphores keep their values from launch to launch") {
  Communicator communicator(onHost(2));
  Buffer output = communicator.allocate(4);
  Instance instance = communicator.load(turns2(), 4);
  uint32_t expected = 0;
  for (int launch = 0; launch < 30; ++launch) {
    instance.launch(Call().on(Buffer(), output).of(4, MSCCLC_U8));
    for (int turn = 0; turn < 10; ++turn)
      expected = (expected * 3) * 3 + 1;
  }
  communicator.synchronize();
  CHECK(output.read<uint32_t>(0, 1) == std::vector<uint32_t>{expected});
  CHECK(output.read<uint32_t>(1, 1) == std::vector<uint32_t>{expected});
}

TEST_CASE("Blocks that do not fit on the device at once are refused, and more threads than the kernel takes") {
  MscclcVariant crowded = gather4().variants[0];
  crowded.resident_blocks = [](uint32_t threads, uint32_t *blocks) {
    *blocks = threads == 1 ? MSCCLC_ON_HOST : 3;
    return int32_t{MSCCLC_OK};
  };
  MscclcKernel kernel = gather4();
  kernel.variants = &crowded;
  kernel.num_variants = 1;
  kernel.threads = 2;
  CommunicatorOptions options = onHost(4);
  const int32_t devices[] = {0, 0, 0, 0};
  options.devices = devices;
  Communicator communicator(options);
  Buffer buffer = communicator.allocate(256);
  Instance instance = communicator.load(kernel, 256);
  Call call;
  call.inPlace(buffer).of(256, MSCCLC_U8);
  call.threads = 2;
  const Failure failure = failureOf([&] { instance.launch(call); });
  CHECK(failure.code == MSCCLC_ERROR_NOT_RESIDENT);
  CHECK(contains(failure.text, "of 2 threads of the 4 ranks on device 0 wait for each other, and 3 fit on it at once; "
                               "use fewer blocks, fewer threads a block or more devices"));
  call.threads = kernel.threads + 1;
  CHECK(failureOf([&] { instance.launch(call); }).code == MSCCLC_ERROR_THREADS);
  call.threads = 1;
  instance.launch(call);
  communicator.synchronize();
}

TEST_CASE("Launches on streams of the caller follow each other") {
  Communicator communicator(onHost(4));
  Buffer buffer = communicator.allocate(256);
  Instance instance = communicator.load(gather4(), 256);
  std::vector<mscclc::standin::Stream> first(4), second(4);
  std::vector<void *> streams[2];
  for (int rank = 0; rank < 4; ++rank) {
    streams[0].push_back(&first[static_cast<size_t>(rank)]);
    streams[1].push_back(&second[static_cast<size_t>(rank)]);
  }
  for (uint32_t rank = 0; rank < 4; ++rank)
    buffer.write(rank, dataOf(rank, 64, 0, 0), rank * 64);
  for (int round = 0; round < 20; ++round) {
    Call call;
    call.inPlace(buffer).of(256, MSCCLC_U8);
    call.streams = streams[round % 2].data();
    instance.launch(call);
  }
  communicator.synchronize();
  for (uint32_t rank = 0; rank < 4; ++rank)
    for (uint32_t from = 0; from < 4; ++from)
      CHECK(buffer.read<unsigned char>(rank, 64, from * 64) == dataOf(from, 64, 0, 0));
}

TEST_CASE("Input and output that overlap are refused where the kernel is not made for it") {
  Communicator communicator(onHost(4));
  Buffer buffer = communicator.allocate(256);
  Instance instance = communicator.load(packets4(), 64);
  Call call;
  call.on(buffer, buffer).of(64, MSCCLC_F32);
  call.output_offset = 63;
  CHECK(contains(failureOf([&] { instance.launch(call); }).text, "input and output overlap"));
  call.output_offset = 64;
  instance.launch(call);
  call.dtype = MSCCLC_I32;
  CHECK(contains(failureOf([&] { instance.launch(call); }).text, "not compiled for i32, operation sum"));
  communicator.synchronize();
}

TEST_CASE("Streams on which ranks would wait for each other are refused") {
  Communicator communicator(onHost(4));
  Buffer buffer = communicator.allocate(256);
  Instance instance = communicator.load(gather4(), 256);
  std::vector<mscclc::standin::Stream> own(4);
  std::vector<void *> streams{&own[0], &own[1], &own[0], &own[3]};
  Call call;
  call.inPlace(buffer).of(256, MSCCLC_U8);
  call.streams = streams.data();
  const Failure shared = failureOf([&] { instance.launch(call); });
  CHECK(shared.code == MSCCLC_ERROR_ARGUMENT);
  CHECK(contains(shared.text, "kernel 'gather4': the stream of rank 0 is that of another rank on its device"));
  streams[2] = nullptr;
  CHECK(contains(failureOf([&] { instance.launch(call); }).text, "the stream of rank 2 is none"));
  streams[2] = &own[2];
  instance.launch(call);
  communicator.synchronize();
}

TEST_CASE("A place at no multiple of an element is refused, and any place where elements do not matter") {
  Communicator communicator(onHost(4));
  Buffer buffer = communicator.allocate(512);
  Instance packets = communicator.load(packets4(), 64), bytes = communicator.load(gather4(), 64);
  Call call;
  call.on(buffer, buffer).of(64, MSCCLC_F32);
  call.output_offset = 98;
  const Failure failure = failureOf([&] { packets.launch(call); });
  CHECK(failure.code == MSCCLC_ERROR_ARGUMENT);
  CHECK(contains(failure.text, "kernel 'packets4': a buffer or an offset is no multiple of the 4 bytes of f32"));
  call.output_offset = 100;
  packets.launch(call);
  call = Call().inPlace(buffer).of(64, MSCCLC_F32);
  call.input_offset = call.output_offset = 3;
  bytes.launch(call);
  communicator.synchronize();
}

TEST_CASE("Ranks with port channels that share a device leave it room to copy for them") {
  MscclcVariant crowded = ports4().variants[0];
  crowded.resident_blocks = [](uint32_t threads, uint32_t *blocks) {
    *blocks = threads == 1 ? MSCCLC_ON_HOST : 4;
    return int32_t{MSCCLC_OK};
  };
  MscclcKernel kernel = ports4();
  kernel.variants = &crowded;
  kernel.num_variants = 1;
  kernel.threads = 2;
  Communicator communicator(onHost(4));
  Buffer buffer = communicator.allocate(1024);
  Instance instance = communicator.load(kernel, 256);
  Call call;
  call.on(buffer, buffer).of(256, MSCCLC_U8);
  call.output_offset = 512;
  call.threads = 2;
  CHECK(failureOf([&] { instance.launch(call); }).code == MSCCLC_ERROR_NOT_RESIDENT);
}

TEST_CASE("A launch that fails half way ends the ranks that run") {
  MscclcVariant failing = gather4().variants[0];
  failing.launch = [](const MscclcRankArgs *args, uint32_t threads, void *stream) {
    return args->rank == 2 && args->message_bytes == 64 ? int32_t{MSCCLC_ERROR_DEVICE + 700}
                                                        : gather4().variants[0].launch(args, threads, stream);
  };
  MscclcKernel kernel = gather4();
  kernel.variants = &failing;
  Communicator communicator(onHost(4));
  Buffer buffer = communicator.allocate(256);
  Instance instance = communicator.load(kernel, 256);
  const Failure failure = failureOf([&] { instance.launch(Call().inPlace(buffer).of(64, MSCCLC_U8)); });
  CHECK(failure.code == MSCCLC_ERROR_DEVICE + 700);
  CHECK(contains(failure.text, "kernel 'gather4', rank 2: CUDA error 700"));
  CHECK(contains(failureOf([&] { communicator.synchronize(); }).text, failure.text));
  communicator.reset();
  CHECK(gathers(communicator, instance, buffer, 256, 1));
}

TEST_CASE("The kernels of a split launch take turns") {
  Communicator communicator(onHost(2));
  Buffer buffer = communicator.allocate(512);
  Instance instance = communicator.load(halves2(), 128);
  Call call;
  call.on(buffer, buffer).of(64, MSCCLC_U8).output_offset = 256;
  const auto refusal = [&](MscclcPart part, uint64_t bytes = 64) {
    return failureOf([&] { instance.launch(Call(call).of(bytes, MSCCLC_U8).only(part)); });
  };
  CHECK(refusal(MSCCLC_RECEIVE).code == MSCCLC_ERROR_PART);
  CHECK(contains(refusal(MSCCLC_RECEIVE).text, "kernel 'halves2' has not sent, so there is nothing to receive"));
  for (int round = 0; round < 3; ++round) {
    instance.launch(Call(call).only(MSCCLC_SEND));
    communicator.synchronize(); // it waits for no other rank
    for (const MscclcPart part : {MSCCLC_SEND, MSCCLC_WHOLE})
      CHECK(contains(refusal(part).text, "kernel 'halves2' has sent, and the kernel that receives comes next"));
    CHECK(contains(refusal(MSCCLC_RECEIVE, 32).text, "has sent a message of another size than it is to receive"));
    instance.launch(Call(call).only(MSCCLC_RECEIVE));
    instance.launch(call);
  }
  communicator.synchronize();
  CHECK(refusal(static_cast<MscclcPart>(3)).code == MSCCLC_ERROR_ARGUMENT);

  instance.launch(Call(call).only(MSCCLC_SEND));
  communicator.reset();
  CHECK(refusal(MSCCLC_RECEIVE).code == MSCCLC_ERROR_PART);
  instance.launch(call);
  communicator.synchronize();

  Communicator others(onHost(4));
  Buffer shared = others.allocate(64);
  Instance whole = others.load(gather4(), 64);
  const Failure none = failureOf([&] { whole.launch(Call().inPlace(shared).of(64, MSCCLC_U8).only(MSCCLC_SEND)); });
  CHECK(none.code == MSCCLC_ERROR_PART);
  CHECK(contains(none.text, "kernel 'gather4' is one kernel: compile its program with .split"));
}

TEST_CASE("The device notices kernels of a split launch that come out of turn", "[texts]") {
  Communicator communicator(onHost(2));
  Buffer buffer = communicator.allocate(512);
  Instance instance = communicator.load(halves2(), 128);
  Call call;
  call.on(buffer, buffer).of(64, MSCCLC_U8).output_offset = 256;
  instance.launch(call);
  communicator.synchronize();
  instance.launch(call.of(128, MSCCLC_U8));
  const Failure failure = failureOf([&] { communicator.synchronize(); });
  CHECK(failure.code == MSCCLC_ERROR_OVERLAP);
  CHECK(contains(failure.text, "began to receive in launch 1, and had not sent; the kernels that send and receive take "
                               "turns, in graphs too"));
}
