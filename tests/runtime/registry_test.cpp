#include "fixture.h"

#include <cstring>

using namespace testing;

TEST_CASE("Kernels of a library register when it is loaded") {
  const std::vector<const MscclcKernel *> loaded = loadLibrary(LOADABLE);
  REQUIRE(loaded.size() == 2);
  CHECK(std::string(loaded[0]->name) == "gather4");
  CHECK(std::string(loaded[1]->name) == "wrong4");
  CHECK(loadLibrary(LOADABLE) == loaded); // once more: the same
  CHECK(mscclc_kernel_count() == 2);
  CHECK(mscclc_kernel_at(0) == loaded[0]);
  CHECK(mscclc_kernel_at(2) == nullptr);
  CHECK(mscclc_find_kernel("wrong4") == loaded[1]);
  CHECK(mscclc_find_kernel("nothing") == nullptr);

  Communicator communicator(onHost(4));
  Buffer buffer = communicator.allocate(256);
  Instance instance = communicator.load(*loaded[0], 256);
  CHECK(gathers(communicator, instance, buffer, 256, 0));
}

TEST_CASE("Registering twice is harmless, and a kernel can be taken out") {
  const uint32_t before = mscclc_kernel_count();
  CHECK(mscclc_register_kernel(&gather8()) == MSCCLC_OK);
  CHECK(mscclc_register_kernel(&gather8()) == MSCCLC_OK);
  CHECK(mscclc_kernel_count() == before + 1);
  // Of two kernels of one name the later one counts; both stay.
  MscclcKernel twin = gather8();
  CHECK(mscclc_register_kernel(&twin) == MSCCLC_OK);
  CHECK(mscclc_find_kernel("gather8") == &twin);
  CHECK(mscclc_unregister_kernel(&twin) == MSCCLC_OK);
  CHECK(mscclc_find_kernel("gather8") == &gather8());
  CHECK(mscclc_unregister_kernel(&gather8()) == MSCCLC_OK);
  CHECK(mscclc_unregister_kernel(&gather8()) == MSCCLC_ERROR_ARGUMENT);
  CHECK(mscclc_kernel_count() == before);
}

TEST_CASE("What is no kernel is refused") {
  MscclcKernel broken = gather8();
  broken.abi_magic = 7;
  CHECK(mscclc_register_kernel(&broken) == MSCCLC_ERROR_KERNEL);
  CHECK(std::strstr(mscclc_last_error(), "not the description of a kernel") != nullptr);
  CHECK(mscclc_register_kernel(nullptr) == MSCCLC_ERROR_ARGUMENT);
  broken = gather8();
  broken.abi_version = MSCCLC_ABI_VERSION + 1;
  broken.name = nullptr; // what a later version says of itself is not read
  CHECK(mscclc_register_kernel(&broken) == MSCCLC_ERROR_KERNEL);
  const std::string version = std::to_string(MSCCLC_ABI_VERSION), next = std::to_string(MSCCLC_ABI_VERSION + 1);
  CHECK(contains(mscclc_last_error(), "a kernel of ABI version " + next + "; this library runs version " + version));
  MscclcKernel nameless = gather8(), mute = gather8(), deaf = gather8();
  nameless.name = nullptr;
  mute.num_variants = 0;
  deaf.channel_info = nullptr;
  for (const MscclcKernel *kernel : {&nameless, &mute, &deaf})
    CHECK(mscclc_register_kernel(kernel) == MSCCLC_ERROR_KERNEL);
  CHECK(std::strstr(mscclc_last_error(), "the description of kernel 'gather8' is not complete") != nullptr);
  uint32_t count = 0;
  CHECK(mscclc_load_library(LOADABLE, nullptr, 1, &count) == MSCCLC_ERROR_ARGUMENT);
  CHECK(failureOf([] { loadLibrary("/nowhere/at/all.so"); }).code == MSCCLC_ERROR_LOAD);
  CHECK(contains(failureOf([] { loadLibrary(NO_KERNEL); }).text, "holds no kernel that registers itself"));
}
