#include "fixture.h"

#include <chrono>
#include <future>
#include <thread>

using namespace testing;

TEST_CASE("A wait that takes too long says who waits for what, and a reset makes the communicator whole again") {
  Communicator communicator(onHost(2, 2000));
  Buffer buffer = communicator.allocate(128);
  Instance instance = communicator.load(stuck2(), 128);
  const auto launch = [&](uint64_t bytes) {
    instance.launch(Call().on(buffer, communicator.allocate(128)).of(bytes, MSCCLC_U8));
    communicator.synchronize();
  };
  launch(128);
  launch(128);
  const Failure stuck = failureOf([&] { launch(64); });
  CHECK(stuck.code == MSCCLC_ERROR_TIMEOUT);
  CHECK(contains(
      stuck.text,
      "kernel 'stuck2': rank 1, block 0, operation 7 (wait, stuck.cpp:12) waits for signal 3 of rank 0 on memory "
      "channel 0; 2 came"));
  CHECK_FALSE(communicator.isHealthy());
  CHECK(failureOf([&] { launch(128); }).code == MSCCLC_ERROR_TIMEOUT);
  communicator.reset();
  CHECK(communicator.isHealthy());
  launch(128);
}

TEST_CASE("Without its texts a time-out is named, and a reset helps", "[.core]") {
  Communicator communicator(onHost(2, 500));
  Buffer input = communicator.allocate(64), output = communicator.allocate(64);
  Instance instance = communicator.load(stuck2(), 64);
  instance.launch(Call().on(input, output).of(64, MSCCLC_U8));
  const Failure stuck = failureOf([&] { communicator.synchronize(); });
  CHECK(stuck.code == MSCCLC_ERROR_TIMEOUT);
  CHECK(stuck.text == std::string("MSCCLC_ERROR_TIMEOUT: ") + mscclc_error_text(MSCCLC_ERROR_TIMEOUT));
  communicator.reset();
  CHECK(communicator.isHealthy());
}

TEST_CASE("An abort ends waits that have no time-out") {
  Communicator communicator(onHost(2, MSCCLC_NO_TIMEOUT));
  Buffer input = communicator.allocate(64), output = communicator.allocate(64);
  Instance instance = communicator.load(stuck2(), 64);
  instance.launch(Call().on(input, output).of(64, MSCCLC_U8));
  communicator.abort("the user has had enough");
  const Failure failure = failureOf([&] { communicator.synchronize(); });
  CHECK(failure.code == MSCCLC_ERROR_ABORTED);
  CHECK(contains(failure.text, "the user has had enough"));
}

TEST_CASE("A communicator that hangs can be taken down, and the next one works") {
  std::promise<void> ended;
  const std::future<void> isDown = ended.get_future();
  std::thread([ended = std::move(ended)]() mutable { // hangs where taking down waits for the launch
    {
      Communicator communicator(onHost(2, MSCCLC_NO_TIMEOUT));
      Buffer input = communicator.allocate(64), output = communicator.allocate(64);
      Instance instance = communicator.load(stuck2(), 64);
      instance.launch(Call().on(input, output).of(64, MSCCLC_U8));
      communicator.abort("going down");
    }
    ended.set_value();
  })
      .detach();
  REQUIRE(isDown.wait_for(std::chrono::seconds(30)) == std::future_status::ready);

  Communicator next(onHost(4));
  Buffer buffer = next.allocate(64);
  Instance gather = next.load(gather4(), 64);
  CHECK(gathers(next, gather, buffer, 64, 0));
}

TEST_CASE("A time-out stays in its communicator") {
  Communicator healthy(onHost(4, 60000)), single(onHost(1, 100));
  Buffer buffer = healthy.allocate(64), input = single.allocate(128), output = single.allocate(128);
  Instance gather = healthy.load(gather4(), 64), starved = single.load(starved1(), 128);
  starved.launch(Call().on(input, output).of(128, MSCCLC_U8));
  CHECK(contains(failureOf([&] { single.synchronize(); }).text,
                 "kernel 'starved1': rank 0, block 0, operation 0 waits for a release of semaphore 0"));
  CHECK(gathers(healthy, gather, buffer, 64, 0));
}
