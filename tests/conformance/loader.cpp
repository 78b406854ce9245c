// The loader of MSCCL++'s executor, alone: no GPU is needed, as it reads plans in host memory. It is compiled with
// execution_plan.cc and errors.cc of a checkout (loader.py).
// usage: loader PLAN RANKS INPUT_BYTES OUTPUT_BYTES
// Prints the collective, and a line for each rank: thread blocks, operations, channels, bytes of scratch.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
// What the executor asks of a plan is private.
#define private public
#include <mscclpp/executor.hpp>
#undef private
#include <execution_plan.hpp>

int main(int, char **arguments) {
  const std::string path = arguments[1];
  const std::size_t inputBytes = std::strtoull(arguments[3], nullptr, 10),
                    outputBytes = std::strtoull(arguments[4], nullptr, 10);
  try {
    for (int rank = 0; rank < std::atoi(arguments[2]); ++rank) {
      const mscclpp::ExecutionPlan named(path, rank);
      mscclpp::ExecutionPlan::Impl plan(path, rank);
      plan.loadExecutionPlan(inputBytes, outputBytes, 0, 0);
      std::size_t operations = 0, channels = 0;
      for (int block = 0; block < plan.getThreadblockCount(); ++block)
        operations += plan.getOperations(block).size();
      for (const auto type : {mscclpp::ChannelType::MEMORY, mscclpp::ChannelType::PORT})
        for (const mscclpp::ChannelInfo &info : plan.getChannelInfos(type))
          channels += info.connectedPeers.size();
      std::printf("%s %s %d %zu %zu %zu\n", named.name().c_str(), named.collective().c_str(),
                  plan.getThreadblockCount(), operations, channels, plan.calScratchBufferSize(inputBytes, outputBytes));
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "refused: %s\n", error.what());
    return 1;
  }
}
