// The places of a launch's input and output.
#pragma once

#include "engine/engine.h"
#include "mscclc/runtime.h"

namespace mscclc::rt {

/// The place of a buffer in a memory. On rank r, it begins at byte offset + r * rankStep.
struct BufferOffsets {
  const Memory *region = nullptr;
  uint64_t offset = 0;
  uint64_t rankStep = 0;

  /// Returns the buffer of `rank` as an address on the device of a local rank; null if there is none.
  void *at(uint32_t localIndex, uint32_t rank) const;
};

/// The input and output of a launch.
struct LaunchBuffers {
  BufferOffsets input;
  BufferOffsets output;
};

/// Finds the places of the input and output of a call, also for a kernel that works in place. Checks sizes and
/// overlaps.
Status resolvePlace(const MscclcKernel &kernel, const MscclcCall &call, const Memory *input, const Memory *output,
                    LaunchBuffers &place);

/// Checks whether this variant of the kernel can copy the caller's memory to the input of `rank`, and the output of
/// `rank` to the caller's memory, as `staging` asks.
Status checkStaging(const MscclcKernel &kernel, const MscclcVariant &variant, const MscclcCall &call, uint32_t rank,
                    const MscclcStaging &staging);

/// For each buffer of a rank: true if no other rank accesses it.
struct PrivateBuffers {
  bool input = false;
  bool output = false;
};
/// Removes from `staging` the copies of a buffer to itself. If no other rank can notice the difference, lets `rank`
/// work on the caller's memory, and removes those copies, too. `own`: the buffers of `rank`. Other ranks may decide
/// differently.
void skipCopies(const MscclcKernel &kernel, const MscclcCall &call, uint32_t rank, PrivateBuffers isPrivate,
                MscclcBuffers &own, MscclcStaging &staging);

} // namespace mscclc::rt
