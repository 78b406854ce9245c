// A call of NCCL's interface, and the part of it that is the same on all ranks.
#pragma once

#include "mscclc/collectives.hpp"
#include "mscclc/runtime.h"

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <optional>
#include <string>

struct ncclComm;

namespace mscclc::nccl {

using Comm = ::ncclComm *;
struct UniqueId {
  char internal[128];
};

/// ncclResult_t.
enum Result : int {
  Success = 0,
  UnhandledCudaError = 1,
  SystemError = 2,
  InternalError = 3,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
  InProgress = 7
};

/// The calls of NCCL: collectives with their numbers in the table, and two calls that are not collectives.
enum class Kind : uint8_t {
#define CALL(name, kind, ...) kind = static_cast<uint8_t>(collectives::Kind::kind),
#include "functions.def"
  Send = 0xfe,
  Recv = 0xff
};

/// ncclRedOp_t. The program's own operations have numbers from PreMulSum on, and all of them are of that kind.
enum Op : int { Sum = 0, Prod = 1, Max = 2, Min = 3, Avg = 4, PreMulSum = 5, UnknownOp = -1 };

/// The factor by which an operation of the program scales the data of a rank.
struct Factor {
  int type = 0;             ///< ncclDataType_t
  uint64_t bits = 0;        ///< the factor, in the first bytes of this word
  const void *at = nullptr; ///< if not null: the address of the factor on the device when the call runs
};

/// ncclCollConfig_t of NCCL 2.32. Its beginning is the ncclCollConfig_t of NCCL 2.31.
struct CollConfig {
  size_t size; ///< size of the structure in the program's version of NCCL
  unsigned magic;
  unsigned version;
  const void *extensions; ///< a list
  int minCtas;
  int maxCtas;
  int nvlsCtas;
  int clusterSize;
  const char *algorithms; ///< the algorithms that NCCL may use
  int forcesAlgorithms;
  int policy;
  uint64_t profilerTag;
  cudaEvent_t event; ///< an event that NCCL records when the launch is complete
};

/// The arguments of a call. Arguments that a collective does not have are 0. `root` is the peer of Send and Recv.
struct Call {
  Kind kind = Kind::AllReduce;
  const void *send = nullptr;
  void *recv = nullptr;
  size_t count = 0; ///< NCCL's count, in elements
  int type = 0;     ///< ncclDataType_t
  int op = 0;       ///< ncclRedOp_t
  int root = 0;
  std::optional<Factor> factor;     ///< the factor, for an operation of the program
  std::optional<CollConfig> config; ///< a configuration that kernels can satisfy (config.h)
  const void *foreignConfig =
      nullptr;            ///< the program's configuration that only NCCL can satisfy; it may be gone after the call
  uint32_t maxBlocks = 0; ///< the most blocks of a kernel; 0: no limit
  Comm comm = nullptr;
  cudaStream_t stream = nullptr;
};

/// The part of a call that is the same on all ranks. Whether a kernel or NCCL runs the call depends on this part alone.
struct Shape {
  Kind kind = Kind::AllReduce;
  size_t count = 0;
  int type = 0;
  /// Op; 0 if nothing is reduced. All operations of the program share one number here, because each rank numbers them
  /// in its own way.
  int op = 0;
  int root = 0;
  uint32_t ranks = 0;
  uint32_t ranksPerNode = 0; ///< 0: not known yet
  uint32_t maxBlocks = 0;    ///< the most blocks on each rank, by the call's configuration; 0: no limit
  /// True if the call works in place. Without a value if this may differ between ranks (see worksInPlace in direct.h).
  std::optional<bool> inPlace = std::nullopt;

  auto operator<=>(const Shape &) const = default;
};

/// The sizes of a call on one rank, in bytes.
struct Extent {
  uint64_t message = 0; ///< size of the message, as in MscclcKernel
  uint64_t input = 0;   ///< input of one rank
  uint64_t output = 0;
};

/// Returns the part of a call that is the same on all ranks.
Shape shapeOf(const Call &call, uint32_t ranks, uint32_t ranksPerNode = 0);
bool reduces(Kind kind);
bool hasRoot(Kind kind);
/// True if every element of the output depends only on the same element of the inputs. Then a message may be made
/// longer at its end.
bool isElementwise(Kind kind);
/// Returns the collective's name in kernels, or "send" or "recv".
const char *nameOf(Kind kind);
/// Returns the sizes on `rank`. Has no value if NCCL does not have the type, if the root is not a rank, or if a size
/// needs more than 64 bits.
std::optional<Extent> extentOf(const Shape &shape, uint32_t rank);

/// True if a rank's input and output overlap. `extent` has the rank's sizes.
bool buffersMeet(const Call &call, const Extent &extent);

uint32_t bytesOfType(int type); ///< bytes of an element; 0 for a type that NCCL does not have
const char *nameOfType(int type);
bool isTypeName(const std::string &name);
/// Returns the MscclcDtype of a type; MSCCLC_ANY_DTYPE for a type that NCCL does not have.
uint32_t dtypeOf(int type);
/// Returns the MscclcReduceOp of an operation; none if kernels do not have it. Averages and sums of scaled data are
/// sums, with a MscclcScaling.
std::optional<uint32_t> reduceOpOf(int op);
/// Describes a call, such as "allreduce of 1024 bytes of f32, max, 8 ranks"; with several nodes "…, 8 ranks, 4 a node".
/// Says whether the call works in place, if that is known.
std::string describe(const Shape &shape);

} // namespace mscclc::nccl
