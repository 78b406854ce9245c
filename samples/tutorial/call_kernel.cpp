// Lesson 8: runs a kernel of scale_hook.cpp on two ranks. usage: call_kernel LIBRARY host|cuda
#include <mscclc/runtime.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

using namespace mscclc::runtime;

int main(int argc, char **argv) try {
  const bool host = argc > 2 && std::strcmp(argv[2], "host") == 0;
  CommunicatorOptions options(2); // two ranks, both in this process
  options.platform = host ? MSCCLC_PLATFORM_HOST : MSCCLC_PLATFORM_CUDA;
  Communicator ranks(options);

  constexpr uint64_t bytes = 1000 * sizeof(float);
  Buffer data = ranks.allocate(bytes), factor = ranks.allocate(sizeof(float)); // on each rank
  for (uint32_t rank = 0; rank < 2; ++rank) {
    data.write(rank, std::vector<float>(1000, float(rank + 1)));
    factor.write(rank, std::vector<float>{0.5f});
  }

  Instance kernel = ranks.load(*loadLibrary(argv[1])[0], bytes);
  kernel.launch(Call().inPlace(data).of(bytes, MSCCLC_F32).array("factor", {factor.address(0), factor.address(1)}));
  ranks.synchronize();
  std::printf("%g on both ranks\n", data.read<float>(1, 1000)[999]); // (1 + 2) * 0.5
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
