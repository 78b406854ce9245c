// What a call that a kernel runs makes besides.
#include "catch.h"
#include "world.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace {

thread_local long texts = 0; ///< freed so far, that say what a call is

} // namespace

void *operator new(std::size_t bytes) {
  if (void *memory = std::malloc(std::max<std::size_t>(bytes, 1)))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept {
  std::free(memory);
}
void operator delete(void *memory, std::size_t bytes) noexcept {
  constexpr std::string_view start = "allreduce of ";
  if (bytes > start.size() && std::memcmp(memory, start.data(), start.size()) == 0)
    ++texts;
  std::free(memory);
}

using namespace testing;

TEST_CASE("A call makes no text where nobody reads one", "[quiet]") {
  World world(2);
  CHECK(reducesRight<float>(world, 1000, ncclFloat32, ncclSum)); // so that everything is set up
  for (int i = 0; i < 5; ++i) {
    ncclGroupStart();
    for (int r = 0; r < 2; ++r)
      ncclAllReduce(world.inputs[r], world.outputs[r], 1000, ncclFloat, ncclSum, world.comms[r], world.streams[r]);
    const long before = texts;
    REQUIRE(ncclGroupEnd() == ncclSuccess);
    CHECK(texts == before);
    world.synchronize();
  }
}
