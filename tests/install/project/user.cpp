// Runs an installed kernel through the installed runtime: user [KERNEL.so PLAN.json].
#include <mscclc/runtime.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>

using namespace mscclc::runtime;

int main(int argc, char **argv) try {
  CommunicatorOptions options(4);
  options.platform = MSCCLC_PLATFORM_HOST;
  Communicator communicator(options);
  if (argc < 3)
    return communicator.isOnHost() ? 0 : 1;

  std::ifstream plan(argv[2]);
  const std::string text{std::istreambuf_iterator<char>(plan), {}};
  if (text.find("\"sendrecv\"") == std::string::npos)
    return 2;

  const auto kernels = loadLibrary(argv[1]);
  const MscclcKernel *kernel = nullptr;
  const MscclcQuery query = {"sendrecv", 4, MSCCLC_I32, MSCCLC_SUM, 0, 4000, nullptr};
  check(mscclc_select(nullptr, &query, &kernel));
  if (kernel != kernels.at(0) || std::string(kernel->name) != "passing")
    return 3;

  Buffer input = communicator.allocate(4000), output = communicator.allocate(4000);
  for (uint32_t rank = 0; rank < 4; ++rank)
    input.write(rank, std::vector<int>(1000, static_cast<int>(rank) + 1));
  Instance instance = communicator.load(*kernel, 4000);
  instance.launch(Call().on(input, output).of(4000, MSCCLC_I32));
  communicator.synchronize();
  for (uint32_t rank = 0; rank < 4; ++rank)
    if (output.read<int>(rank, 1000) != std::vector<int>(1000, static_cast<int>((rank + 3) % 4) + 1))
      return 4;
  return 0;
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 5;
}
