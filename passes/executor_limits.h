// The fixed sizes of MSCCL++'s executor, by version: the one place that mirrors them.
//
// Constants are named as upstream names them; files are those of microsoft/mscclpp at the version given.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mscclc::passes {

struct ExecutorLimits {
  std::string_view version;       ///< as in --target=mscclpp-VERSION: a release, or a commit of the main branch
  std::uint32_t opsPerBlock;      ///< MAX_OPERATION, execution_common.hpp; pipeline headers and bodies counted
  std::uint32_t channelsPerBlock; ///< MAX_CHANNEL: of one type, struct Channels
  std::uint32_t remotesPerBlock;  ///< MAX_CHANNEL: of one access type, struct RemoteBuffers
  std::uint32_t channelsPerOp;    ///< MAX_CHANNEL_PER_OPERATION: Operation::channelIndexes
  std::uint32_t chunksPerSide;    ///< MAX_LOCAL_BUFFER_PER_OPERATION + the above: Operation::inputOffsets
  std::uint32_t semaphoresPerOp;  ///< MAX_DEVICE_SEMAPHORES: Operation::deviceSemaphoreIds
  std::uint32_t barriersPerRank;  ///< MAX_DEVICE_SYNCERS: deviceSyncers, execution_kernel.hpp
  std::uint32_t memoryIds; ///< TriggerBitsMemoryId, fifo_device.hpp: a proxy's requests mask ids of memories, silently
  std::uint32_t portSemaphores;      ///< TriggerBitsSemaphoreId, the same of the semaphores of port channels
  std::uint32_t threadsPerBlock;     ///< __launch_bounds__ of executionKernel, execution_kernel.hpp
  std::uint32_t registersPerThread;  ///< of executionKernel as nvcc compiles it under that bound
  std::uint32_t sharedBytesPerBlock; ///< sizeof(DeviceExecutionPlan), launchKernel, and 1,024 that CUDA keeps
  std::uint32_t iterationsPerLoop;   ///< handlePipeline counts in 16 bits
  std::uint32_t byteBits;            ///< width of Operation::inputOffsets and inputBufferSizes
  std::uint64_t reusedScratch;       ///< PREDFINED_SCRATCH_SIZE: bytes shared by a rank's scratch with reuse_resources
  bool switchStores;                 ///< getOpType knows gstore and gstorepkt, execution_plan.cc
  bool flushingPuts;                 ///< handlePut flushes after pwsf, execution_kernel.hpp
  bool smallSlices;                  ///< calcOffset cuts chunks of fewer units than slices right, execution_plan.cc
  bool switchSignals;                ///< getOpType knows gsignal and gwait (pull 843)
  bool switchSlices;                 ///< tbg_info is heeded by operations of switch channels (branch support_tbg_sw_ch)
  bool unitSlices;                   ///< in a pipeline, groups cut what an iteration moves, not whole chunks (pull 783)
};

/// The first is what --target=mscclpp means, the newest that is merged. Releases before 0.9 read another plan format.
/// "next" has besides what is open upstream: it is for who runs such a branch, and may change with it.
inline constexpr std::array<ExecutorLimits, 3> executorLimits{{
    {"1f5f065d",     64,    16, 16,      8,    10,   16,   16,    1 << 9, 1 << 10, 1024, 64,
     12'272 + 1'024, 65535, 32, 1 << 26, true, true, true, false, false,  false},
    {"0.9",          64,    16, 16,      8,     10,    16,    16,    1 << 9, 1 << 10, 1024, 64,
     12'272 + 1'024, 65535, 32, 1 << 26, false, false, false, false, false,  false},
    {"next",         64,    16, 16,      8,    10,   16,   16,   1 << 9, 1 << 10, 1024, 64,
     12'272 + 1'024, 65535, 32, 1 << 26, true, true, true, true, true,   true},
}};

} // namespace mscclc::passes
