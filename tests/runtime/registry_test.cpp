#include "fixture.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

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
  CHECK(contains(mscclc_last_error(), "the kernel has ABI version " + next + "; this library runs version " + version));
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

TEST_CASE("A library that is not whole is refused before it is mapped") {
  std::ifstream file(LOADABLE, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(content.size() > 4096);
  const std::string copy =
      std::filesystem::temp_directory_path() / ("mscclc-cut-" + std::to_string(::getpid()) + ".so");
  for (const size_t bytes : {content.size() - 1, content.size() / 2, size_t{4096}, size_t{64}, size_t{10}, size_t{0}}) {
    std::ofstream(copy, std::ios::binary) << content.substr(0, bytes);
    const Failure refused = failureOf([&] { loadLibrary(copy); });
    CHECK(refused.code == MSCCLC_ERROR_LOAD);
    CHECK(contains(refused.text, bytes >= 64 ? "the file is not whole" : "file too short"));
  }
  std::ofstream(copy, std::ios::binary) << content;
  CHECK(loadLibrary(copy).size() == 2);
  std::filesystem::remove(copy);
}

TEST_CASE("Kernels that differ in what ranks must share have other identities") {
  const auto identity = [](const MscclcKernel &kernel) { return std::string(mscclc_kernel_identity(&kernel)); };
  MscclcVariant variants[2] = {gather8().variants[0], gather8().variants[0]};
  MscclcKernel kernel = gather8();
  const std::string own = identity(gather8());
  CHECK(!own.empty());
  kernel.variants = variants;
  CHECK(identity(kernel) == own);
  variants[0].dtype = MSCCLC_F64;
  CHECK(identity(kernel) != own);
  variants[0] = gather8().variants[0];
  kernel.num_variants = 2;
  CHECK(identity(kernel) != own);
  kernel.num_variants = 1;
  kernel.digest = "0123456789abcdef";
  CHECK(identity(kernel) != own);
  kernel.abi_version = 0;
  CHECK(identity(kernel).empty());
}
