// Facts about a kernel that follow from its description alone.
#pragma once

#include "status.h"

#include <vector>

namespace mscclc::rt {

/// Checks whether this library supports the description.
Status checkDescription(const MscclcKernel *kernel);
/// Returns the properties of a kernel that must be the same on all ranks: its sources and tools, and its variants.
std::string identityOf(const MscclcKernel &kernel);
/// Checks whether the kernel was built for this platform (MscclcPlatform).
Status checkPlatform(const MscclcKernel &kernel, uint32_t platform);
/// Checks whether the kernel accepts messages of this size and type.
Status checkMessage(const MscclcKernel &kernel, uint64_t bytes, uint32_t dtype);
/// Checks whether the kernel accepts rows of `rowBytes` bytes in a message of `bytes` bytes. If `rowBytes` is 0, the
/// call has no length of rows.
Status checkRows(const MscclcKernel &kernel, uint64_t bytes, uint64_t rowBytes, uint32_t dtype);
/// True if no rank accesses another rank's buffer of this kind (MscclcBufferKind).
bool isPrivate(const MscclcKernel &kernel, uint32_t buffer);
/// Returns the variant for a call; null if there is none. If `packet` is 0, variants with packets of any kind fit.
const MscclcVariant *findVariant(const MscclcKernel &kernel, uint32_t dtype, uint32_t reduceOp, uint32_t packet);

/// Returns a rank's channels of this type (memory or port).
std::vector<MscclcChannelInfo> channelsOf(const MscclcKernel &kernel, uint32_t rank, MscclcChannelType type);

uint32_t bytesOfType(uint32_t dtype); ///< bytes of an element; 0 for an unknown type
const char *nameOfType(uint32_t dtype);
bool isFloat(uint32_t dtype);
const char *nameOfReduceOp(uint32_t reduceOp);

} // namespace mscclc::rt
