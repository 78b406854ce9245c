// Where the input and output of a launch lie.
#pragma once

#include "engine/engine.h"
#include "mscclc/runtime.h"

namespace mscclc::rt {

/// Offset of a buffer of rank r: offset + r * rankStep.
struct BufferOffsets {
  const Memory *region = nullptr;
  uint64_t offset = 0;
  uint64_t rankStep = 0;

  /// That of `rank` as the device of a local rank addresses it; null where there is none.
  void *at(uint32_t localIndex, uint32_t rank) const;
};

/// Input and output of a launch.
struct LaunchBuffers {
  BufferOffsets input;
  BufferOffsets output;
};

/// Where input and output of a call lie, for a kernel that works in place too. Checks sizes and overlaps.
Status resolvePlace(const MscclcKernel &kernel, const MscclcCall &call, const Memory *input, const Memory *output,
                    LaunchBuffers &place);

/// Whether `rank` can copy what a call says to its input and from its output, by a kernel's variant.
Status checkStaging(const MscclcKernel &kernel, const MscclcVariant &variant, const MscclcCall &call, uint32_t rank,
                    const MscclcStaging &staging);

/// Which buffers of a rank no other rank accesses.
struct PrivateBuffers {
  bool input = false;
  bool output = false;
};
/// Takes copies of a buffer to itself out of `staging`. Lets a rank work on the caller's memory where no other rank
/// sees the difference, and takes out those copies too. `own`: the buffers of `rank`. Other ranks need not do the same.
void skipCopies(const MscclcKernel &kernel, const MscclcCall &call, uint32_t rank, PrivateBuffers isPrivate,
                MscclcBuffers &own, MscclcStaging &staging);

} // namespace mscclc::rt
