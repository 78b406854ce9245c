#include "communicator/launch_buffers.h"

#include <algorithm>

namespace mscclc::rt {
namespace {

uint64_t largest(const MscclcKernel &kernel, uint64_t (*bytes)(uint32_t, uint64_t), uint64_t message) {
  uint64_t most = 0;
  for (uint32_t rank = 0; rank < kernel.ranks; ++rank)
    most = std::max(most, bytes(rank, message));
  return most;
}

Status checkFits(const MscclcKernel &kernel, const char *what, const Region *region, uint64_t offset, uint64_t bytes) {
  if (bytes == 0)
    return {};
  if (region == nullptr)
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s' needs an %s buffer", kernel.name, what);
  if (offset > region->bytes() || bytes > region->bytes() - offset)
    return failure(MSCCLC_ERROR_ARGUMENT,
                   "kernel '%s': %s of %llu bytes at offset %llu runs past its buffer of %llu bytes", kernel.name, what,
                   static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
                   static_cast<unsigned long long>(region->bytes()));
  return {};
}

} // namespace

Status resolvePlace(const MscclcKernel &kernel, const MscclcCall &call, const Region *input, const Region *output,
                    LaunchBuffers &place) {
  const uint64_t inputBytes = largest(kernel, kernel.input_bytes, call.message_bytes);
  const uint64_t outputBytes = largest(kernel, kernel.output_bytes, call.message_bytes);
  if ((kernel.flags & MSCCLC_IN_PLACE) == 0) {
    MSCCLC_TRY(checkFits(kernel, "input", input, call.input_offset, inputBytes));
    MSCCLC_TRY(checkFits(kernel, "output", output, call.output_offset, outputBytes));
    if (input == output && call.input_offset < call.output_offset + outputBytes &&
        call.output_offset < call.input_offset + inputBytes)
      return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s' does not work in place, and input and output overlap",
                     kernel.name);
    place = {{input, call.input_offset, 0}, {output, call.output_offset, 0}};
    return {};
  }
  if (input != nullptr && output != nullptr && (input != output || call.input_offset != call.output_offset))
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s' works in place: give one buffer, or the same twice",
                   kernel.name);
  const bool fromOutput = input == nullptr;
  const BufferOffsets whole{fromOutput ? output : input, fromOutput ? call.output_offset : call.input_offset, 0};
  MSCCLC_TRY(checkFits(kernel, "input and output", whole.region, whole.offset, std::max(inputBytes, outputBytes)));
  place = {whole, whole};
  place.input.rankStep = mscclc_input_step(&kernel, call.message_bytes);
  place.output.rankStep = mscclc_output_step(&kernel, call.message_bytes);
  return {};
}

void *BufferOffsets::at(uint32_t localIndex, uint32_t rank) const {
  auto *begin = region == nullptr ? nullptr : static_cast<char *>(region->at(localIndex, rank));
  return begin == nullptr ? nullptr : begin + offset + rank * rankStep;
}

} // namespace mscclc::rt
