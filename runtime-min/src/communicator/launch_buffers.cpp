#include "communicator/launch_buffers.h"

#include "kernels/kernel_facts.h"

#include <algorithm>

namespace mscclc::rt {
namespace {

uint64_t largest(const MscclcKernel &kernel, uint64_t (*bytes)(uint32_t, uint64_t), uint64_t message) {
  uint64_t most = 0;
  for (uint32_t rank = 0; rank < kernel.ranks; ++rank)
    most = std::max(most, bytes(rank, message));
  return most;
}

Status checkFits(const MscclcKernel &kernel, const char *what, const Memory *region, uint64_t offset, uint64_t bytes) {
  if (bytes == 0)
    return {};
  if (region == nullptr)
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s' needs an %s buffer", kernel.name, what);
  if (offset > region->bytes() || bytes > region->bytes() - offset)
    return failure(MSCCLC_ERROR_ARGUMENT,
                   "kernel '%s': %s of %llu bytes at offset %llu runs past its buffer of %llu bytes", kernel.name, what,
                   wide(bytes), wide(offset), wide(region->bytes()));
  return {};
}

/// Returns the size in bytes of a buffer of packed rows: room for `rows` rows, but at most `whole` bytes. If `rows` is
/// 0, it is not given, and the size is `whole`.
uint64_t withRoomFor(uint64_t rows, uint64_t rowBytes, uint64_t whole) {
  return rows == 0 || rows >= whole / rowBytes ? whole : rows * rowBytes;
}

} // namespace

Status resolvePlace(const MscclcKernel &kernel, const MscclcCall &call, const Memory *input, const Memory *output,
                    LaunchBuffers &place) {
  uint64_t inputBytes = largest(kernel, kernel.input_bytes, call.message_bytes);
  uint64_t outputBytes = largest(kernel, kernel.output_bytes, call.message_bytes);
  if ((kernel.flags & MSCCLC_PACKED_ROWS) != 0) {
    inputBytes = withRoomFor(call.counts[0].in_rows, call.row_bytes, inputBytes);
    outputBytes = withRoomFor(call.counts[0].out_rows, call.row_bytes, outputBytes);
  }
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

Status checkStaging(const MscclcKernel &kernel, const MscclcVariant &variant, const MscclcCall &call, uint32_t rank,
                    const MscclcStaging &staging) {
  const auto refused = [&](const char *why) {
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s': what rank %u copies itself %s", kernel.name, rank, why);
  };
  if (staging.input == nullptr && staging.output == nullptr)
    return {};
  MscclcRankInfo info{};
  kernel.rank_info(rank, &info);
  if (info.blocks == 0)
    return refused("has no block to do it");
  if ((staging.input != nullptr && staging.input_bytes > kernel.input_bytes(rank, call.message_bytes)) ||
      (staging.output != nullptr && staging.output_bytes > kernel.output_bytes(rank, call.message_bytes)))
    return refused("is longer than its input or output");
  const bool isTyped = variant.dtype != MSCCLC_ANY_DTYPE;
  const uint32_t element = isTyped ? bytesOfType(variant.dtype) : 1;
  if ((reinterpret_cast<uintptr_t>(staging.input) | reinterpret_cast<uintptr_t>(staging.output) | staging.input_bytes |
       staging.output_bytes) %
          element !=
      0)
    return refused("does not lie at multiples of the element");
  switch (static_cast<MscclcScaling>(staging.scaling)) {
  case MSCCLC_NO_SCALING:
    return {};
  case MSCCLC_SCALE_INPUT:
  case MSCCLC_AVERAGE:
    return variant.reduce_op == MSCCLC_SUM && isTyped ? Status{}
                                                      : refused("is to be scaled, and this kernel does not add it");
  }
  return refused("is to be scaled in a way that does not exist");
}

void skipCopies(const MscclcKernel &kernel, const MscclcCall &call, uint32_t rank, PrivateBuffers isPrivate,
                MscclcBuffers &own, MscclcStaging &staging) {
  const bool inPlace = (kernel.flags & MSCCLC_IN_PLACE) != 0;
  const bool divides = staging.scaling == MSCCLC_AVERAGE && !isFloat(call.dtype);
  if (staging.input == own.input && (staging.scaling == MSCCLC_NO_SCALING || divides))
    staging.input = nullptr;
  if (staging.output == own.output && !divides)
    staging.output = nullptr;
  const uint64_t input = kernel.input_bytes(rank, call.message_bytes),
                 output = kernel.output_bytes(rank, call.message_bytes);
  // The caller's memory must be as long as the buffer that it replaces, because a message may be longer than the
  // caller's data.
  const auto standsFor = [](const void *pointer, uint64_t bytes, uint64_t wanted) {
    return pointer != nullptr && reinterpret_cast<uintptr_t>(pointer) % 16 == 0 && bytes == wanted;
  };
  const bool givesOutput = staging.scaling != MSCCLC_AVERAGE && standsFor(staging.output, staging.output_bytes, output);
  if (!inPlace) {
    // The kernel assumes that its buffers do not overlap, and the caller may want to keep the input.
    const auto in = reinterpret_cast<uintptr_t>(staging.input), out = reinterpret_cast<uintptr_t>(staging.output);
    const bool overlap = in != 0 && out != 0 && in < out + staging.output_bytes && out < in + staging.input_bytes;
    if (isPrivate.input && (kernel.flags & MSCCLC_WRITES_INPUT) == 0 && staging.scaling == MSCCLC_NO_SCALING &&
        standsFor(staging.input, staging.input_bytes, input)) {
      own.input = const_cast<void *>(staging.input);
      staging.input = nullptr;
    }
    if (isPrivate.output && givesOutput && !overlap) {
      own.output = staging.output;
      staging.output = nullptr;
    }
    return;
  }
  // In place, input and output are parts of one buffer. The caller may want to keep its input, so only its output can
  // be used as that buffer.
  if (!isPrivate.input || !isPrivate.output || !givesOutput || output < input ||
      mscclc_output_step(&kernel, call.message_bytes) != 0)
    return;
  char *const begin = static_cast<char *>(staging.output) + rank * mscclc_input_step(&kernel, call.message_bytes);
  if (staging.keeps_input != 0 && staging.input == begin)
    return;
  own.output = staging.output;
  own.input = begin;
  staging.output = nullptr;
  if (staging.input == own.input && staging.scaling == MSCCLC_NO_SCALING)
    staging.input = nullptr;
}

void *BufferOffsets::at(uint32_t localIndex, uint32_t rank) const {
  char *const begin = region == nullptr ? nullptr : region->at(localIndex, rank);
  return begin == nullptr ? nullptr : begin + offset + rank * rankStep;
}

} // namespace mscclc::rt
