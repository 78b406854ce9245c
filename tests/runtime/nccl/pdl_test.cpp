// Tests MSCCLC_PDL: the library's launches may begin before the program's earlier kernel has ended.
#include "catch.h"
#include "world.h"

#include <cstdint>
#include <dlfcn.h>

using namespace testing;

TEST_CASE("Each launch is a programmatic dependent one", "[pdl]") {
  const auto calls = reinterpret_cast<uint64_t (*)(const char *)>(::dlsym(RTLD_DEFAULT, "cudaFakeCalls"));
  REQUIRE(calls != nullptr);
  World world(4);
  const uint64_t plain = calls("cudaLaunchKernel");
  CHECK(reachedBy("AllReduce", [&] { CHECK(reducesRight<float>(world, 256, ncclFloat, ncclSum)); }) == 0);
  CHECK(calls("cudaLaunchKernelExC") == 4);
  CHECK(calls("cudaLaunchKernel") == plain);
}
