// Writes a program as one specialised CUDA kernel with its descriptor.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "ir/rows.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::cuda {

/// The element types of a kernel if the options name none.
inline constexpr std::array<std::string_view, 6> usualTypes{"f32", "f16", "bf16", "i32", "u32", "u8"};

/// For messages of at least `fromBytes` bytes, a launch takes `count` instances of the program's blocks. `count` is a
/// power of two.
struct InstancesFrom {
  std::uint64_t fromBytes = 0;
  std::uint32_t count = 1;
};

/// True if a launch may take several instances of the program (EmitOptions::instances). Each instance moves a part of
/// each chunk. Hooks do not allow this, because their functions take whole chunks. Counts of rows, ports and Lamport
/// packets do not allow it either.
bool mayHaveInstances(const ir::Program &program);

struct EmitOptions {
  /// Size of the message in bytes, compiled in. 0: each launch gives it as an argument.
  std::uint64_t messageSize = 0;
  /// Element types by their names in the runtime's dtypes.def. Empty: usualTypes. A kernel that reduces nothing takes
  /// any type.
  std::vector<std::string> types;
  /// The number of blocks that each multiprocessor must hold at once (the second launch bound).
  std::uint32_t blocksOnEach = 1;
  std::string toolVersion = "mscclc";
  /// The name of the input, for the emitted file.
  std::string sourceName;
  /// The switches of the compilation, for the emitted file.
  std::string switches;
  /// The slots of the operands in a program of rows, as found by the proof. Null if there was no proof. Then an
  /// operation between two chunks of scratch moves all their rows, not only the live ones.
  const ir::RowSlots *rows = nullptr;
  /// The numbers of instances for the sizes of messages, by ascending sizes. The first size is 0 bytes. Empty: one
  /// instance for all sizes. For n instances, the program must be proven for messages that are n times shorter.
  /// Requires mayHaveInstances().
  std::vector<InstancesFrom> instances;
  /// The order in which sums are taken, for the emitted file. Empty if there are no sums, or there was no proof.
  std::string sums;
};

/// Appends CUDA C++17 text to `out`: functions of the distinct block programs, the kernel, a MscclcKernel descriptor
/// (runtime_abi.h) and its registration. Equal input gives equal text. If the program cannot be a kernel, reports an
/// error, appends nothing and returns false. Block-wide synchronisation that operations still need is added. Requires
/// thread blocks (ir::requireBlocks).
bool emitKernel(const ir::Program &program, const EmitOptions &options, std::string &out,
                ir::DiagnosticEngine &diagnostics);

/// Returns the program's name as part of C identifiers: mscclc_kernel_NAME, mscclc_register_NAME.
std::string kernelIdentifier(const std::string &name);

} // namespace mscclc::cuda
