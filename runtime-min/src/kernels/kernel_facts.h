// What can be said of a kernel from its description alone.
#pragma once

#include "status.h"

#include <vector>

namespace mscclc::rt {

/// Whether this library understands the description.
Status checkDescription(const MscclcKernel *kernel);
/// What ranks must have the same, so that their kernels work with each other: what the kernel was made of and by, and
/// its forms.
std::string identityOf(const MscclcKernel &kernel);
/// Whether the kernel was built for this platform (MscclcPlatform).
Status checkPlatform(const MscclcKernel &kernel, uint32_t platform);
/// Whether the kernel takes messages of this size and type.
Status checkMessage(const MscclcKernel &kernel, uint64_t bytes, uint32_t dtype);
/// Whether no rank reads or writes the buffers of this kind (MscclcBufferKind) that other ranks have.
bool isPrivate(const MscclcKernel &kernel, uint32_t buffer);
/// The variant for a call, or null. `packet` 0: the first kind there is.
const MscclcVariant *findVariant(const MscclcKernel &kernel, uint32_t dtype, uint32_t reduceOp, uint32_t packet);

/// The channels of a rank of one type (MscclcChannelType: memory or port).
std::vector<MscclcChannelInfo> channelsOf(const MscclcKernel &kernel, uint32_t rank, MscclcChannelType type);

uint32_t bytesOfType(uint32_t dtype); ///< 0 for a type that does not exist
const char *nameOfType(uint32_t dtype);
bool isFloat(uint32_t dtype);
const char *nameOfReduceOp(uint32_t reduceOp);

} // namespace mscclc::rt
