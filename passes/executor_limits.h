// The fixed sizes of MSCCL++'s executor, by version. No other file has them.
//
// Constants are named as upstream names them; files are those of microsoft/mscclpp at the version given.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mscclc::passes {

/// The sizes and the known faults of one version of the executor.
struct ExecutorLimits {
  std::string_view version;          ///< VERSION of --target=mscclpp-VERSION: a release, or a commit of the main branch
  std::uint32_t opsPerBlock;         ///< MAX_OPERATION, execution_common.hpp; pipeline headers and bodies counted
  std::uint32_t channelsPerBlock;    ///< MAX_CHANNEL, struct Channels: channels of one type
  std::uint32_t remotesPerBlock;     ///< MAX_CHANNEL, struct RemoteBuffers: buffers of one access type
  std::uint32_t channelsPerOp;       ///< MAX_CHANNEL_PER_OPERATION: Operation::channelIndexes
  std::uint32_t chunksPerSide;       ///< MAX_LOCAL_BUFFER_PER_OPERATION + channelsPerOp: Operation::inputOffsets
  std::uint32_t semaphoresPerOp;     ///< MAX_DEVICE_SEMAPHORES: Operation::deviceSemaphoreIds
  std::uint32_t barriersPerRank;     ///< MAX_DEVICE_SYNCERS: deviceSyncers, execution_kernel.hpp
  std::uint32_t memoryIds;           ///< TriggerBitsMemoryId, fifo_device.hpp: a proxy silently truncates longer ids
  std::uint32_t portSemaphores;      ///< TriggerBitsSemaphoreId: a proxy also truncates longer ids of port semaphores
  std::uint32_t threadsPerBlock;     ///< __launch_bounds__ of executionKernel, execution_kernel.hpp
  std::uint32_t registersPerThread;  ///< registers of executionKernel, if nvcc compiles it with these __launch_bounds__
  std::uint32_t sharedBytesPerBlock; ///< sizeof(DeviceExecutionPlan), launchKernel, plus 1,024 that CUDA reserves
  std::uint32_t iterationsPerLoop;   ///< handlePipeline counts in 16 bits
  std::uint32_t byteBits;            ///< width of Operation::inputOffsets and inputBufferSizes
  std::uint64_t reusedScratch;       ///< PREDFINED_SCRATCH_SIZE: bytes of a rank's whole scratch with reuse_resources
  bool switchStores;                 ///< getOpType accepts gstore and gstorepkt, execution_plan.cc
  bool flushingPuts;                 ///< handlePut flushes after pwsf, execution_kernel.hpp
  bool smallSlices;                  ///< calcOffset is right if slices outnumber units, execution_plan.cc
  bool switchSignals;                ///< getOpType accepts gsignal and gwait (pull 843)
  bool switchSlices;                 ///< operations of switch channels respect tbg_info (branch support_tbg_sw_ch)
  bool unitSlices; ///< in a pipeline, groups divide the data of an iteration, not whole chunks (pull 783)
};

/// The first entry is --target=mscclpp: the newest version of the main branch. Releases before 0.9 read another plan
/// format. "next" also has the changes that are still open upstream. It is for users of such a branch, and may change
/// with it.
inline constexpr std::array<ExecutorLimits, 3> executorLimits{{
    {"1f5f065d",     64,    16, 16,      8,    10,   16,   16,    1 << 9, 1 << 10, 1024, 64,
     12'272 + 1'024, 65535, 32, 1 << 26, true, true, true, false, false,  false},
    {"0.9",          64,    16, 16,      8,     10,    16,    16,    1 << 9, 1 << 10, 1024, 64,
     12'272 + 1'024, 65535, 32, 1 << 26, false, false, false, false, false,  false},
    {"next",         64,    16, 16,      8,    10,   16,   16,   1 << 9, 1 << 10, 1024, 64,
     12'272 + 1'024, 65535, 32, 1 << 26, true, true, true, true, true,   true},
}};

} // namespace mscclc::passes
