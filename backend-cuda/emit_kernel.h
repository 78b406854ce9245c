// Writes a program as one specialised CUDA kernel with its descriptor.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::cuda {

/// The types of elements of a kernel that is asked for none.
inline constexpr std::array<std::string_view, 6> usualTypes{"f32", "f16", "bf16", "i32", "u32", "u8"};

struct EmitOptions {
  /// Bytes of the message, compiled in; 0: an argument of each launch.
  std::uint64_t messageSize = 0;
  /// Types of elements, as the runtime's dtypes.def names them; none: usualTypes. A kernel that reduces nothing takes
  /// any.
  std::vector<std::string> types;
  /// Blocks that each multiprocessor has to hold at once: the second launch bound.
  std::uint32_t blocksOnEach = 1;
  std::string toolVersion = "mscclc";
  /// What the program was compiled from, as the emitted file names it.
  std::string sourceName;
  /// Switches of the compilation, as the emitted file names them.
  std::string switches;
};

/// Appends CUDA C++17 text to `out`: functions of the distinct block programs, the kernel, a MscclcKernel descriptor
/// (runtime_abi.h) and its registration. Equal input gives equal text. Nothing is appended, and false returned, if the
/// program cannot be a kernel; `diagnostics` then has an error. Operations that still ask for block-wide
/// synchronisation around themselves get it. Requires thread blocks (ir::requireBlocks).
bool emitKernel(const ir::Program &program, const EmitOptions &options, std::string &out,
                ir::DiagnosticEngine &diagnostics);

/// The program's name as part of a C identifier: mscclc_kernel_NAME, mscclc_register_NAME.
std::string kernelIdentifier(const std::string &name);

} // namespace mscclc::cuda
