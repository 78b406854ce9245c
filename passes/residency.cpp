#include "passes/residency.h"

#include "ir/kernel_threads.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes {

namespace {
/// The compiler gives a thread at least this number of registers. With fewer, the data of a loop would not fit.
constexpr std::uint32_t leastRegisters = 32;

BlockNeeds needsOf(const ir::Program &program, const ExecutorLimits *executor) {
  const std::uint32_t threads = threadsOfBlock(program, executor);
  if (executor)
    return {threads, executor->registersPerThread, executor->sharedBytesPerBlock};
  return {threads, leastRegisters, 0};
}
} // namespace

std::uint32_t threadsOfBlock(const ir::Program &program, const ExecutorLimits *executor) {
  return executor ? program.threadsPerBlock : ir::kernelThreads(program);
}

std::uint64_t residentBlocks(const ir::Program &program, const GpuLimits &gpu, const ExecutorLimits *executor) {
  return std::uint64_t{gpu.multiprocessors} * gpu.residentOnEach(needsOf(program, executor));
}

std::uint32_t secondLaunchBound(const ir::Program &program, const GpuLimits &gpu) {
  std::size_t blocks = 1;
  for (const ir::Rank &rank : program.ranks)
    blocks = std::max(blocks, rank.blocks.size());
  const std::uint64_t each = (blocks + gpu.multiprocessors - 1) / gpu.multiprocessors;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(each, gpu.residentOnEach(needsOf(program, nullptr))));
}

bool waitsForOthers(const ir::Rank &rank) {
  return std::ranges::any_of(rank.blocks, [](const ir::ThreadBlock &block) {
    return std::ranges::any_of(block.ops, [](const ir::Op &op) { return ir::awaitsOthers(op.kind); });
  });
}

} // namespace mscclc::passes
