// A call of a collective, as NCCL's interface has it, and what all ranks know of it.
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

/// The calls of NCCL: collectives, by their numbers in the table, and what is none.
enum class Kind : uint8_t {
#define CALL(name, kind, ...) kind = static_cast<uint8_t>(collectives::Kind::kind),
#include "functions.def"
  Send = 0xfe,
  Recv = 0xff
};

/// ncclRedOp_t; of the program's own operations, which are numbered from PreMulSum on, there is one kind.
enum Op : int { Sum = 0, Prod = 1, Max = 2, Min = 3, Avg = 4, PreMulSum = 5, UnknownOp = -1 };

/// What a program's operation multiplies each rank's data by.
struct Factor {
  int type = 0;             ///< ncclDataType_t
  uint64_t bits = 0;        ///< its first bytes are the factor
  const void *at = nullptr; ///< or the factor lies here on the device, when the call runs
};

/// ncclCollConfig_t of NCCL 2.32; of 2.31 the beginning.
struct CollConfig {
  size_t size; ///< of the version that the program has
  unsigned magic;
  unsigned version;
  const void *extensions; ///< a list
  int minCtas;
  int maxCtas;
  int nvlsCtas;
  int clusterSize;
  const char *algorithms; ///< those that NCCL may take
  int forcesAlgorithms;
  int policy;
  uint64_t profilerTag;
  cudaEvent_t event; ///< recorded when the launch is complete
};

/// Arguments of a call. Those that a collective has not are 0; `root` is the peer of Send and Recv.
struct Call {
  Kind kind = Kind::AllReduce;
  const void *send = nullptr;
  void *recv = nullptr;
  size_t count = 0; ///< as NCCL counts, in elements
  int type = 0;     ///< ncclDataType_t
  int op = 0;       ///< ncclRedOp_t
  int root = 0;
  std::optional<Factor> factor;        ///< of an operation of the program's own
  std::optional<CollConfig> config;    ///< that a kernel heeds (config.h)
  const void *foreignConfig = nullptr; ///< of the program's, that only NCCL heeds; it may be gone after the call
  uint32_t maxBlocks = 0;              ///< of a kernel; 0: any number
  Comm comm = nullptr;
  cudaStream_t stream = nullptr;
};

/// What all ranks know of a call alike. Whatever decides who runs it looks at nothing else.
struct Shape {
  Kind kind = Kind::AllReduce;
  size_t count = 0;
  int type = 0;
  int op = 0; ///< Op; ranks number operations of the program's own each in its way. 0 where nothing is reduced
  int root = 0;
  uint32_t ranks = 0;
  uint32_t ranksPerNode = 0; ///< 0: not known yet
  uint32_t maxBlocks = 0;    ///< of a rank, as the call's configuration says; 0: any number

  auto operator<=>(const Shape &) const = default;
};

/// Bytes of a call.
struct Extent {
  uint64_t message = 0; ///< as MscclcKernel means it
  uint64_t input = 0;   ///< of one rank
  uint64_t output = 0;
};

Shape shapeOf(const Call &call, uint32_t ranks, uint32_t ranksPerNode = 0);
bool reduces(Kind kind);
bool hasRoot(Kind kind);
/// Every element of the output comes from the same element of the inputs, so a message may be made longer at its end.
bool isElementwise(Kind kind);
/// The collective as kernels name it; "send" and "recv" for these.
const char *nameOf(Kind kind);
/// None for types that NCCL does not have, roots that are no ranks, and sizes beyond 64 bits.
std::optional<Extent> extentOf(const Shape &shape, uint32_t rank);

uint32_t bytesOfType(int type); ///< 0 for a type that NCCL does not have
const char *nameOfType(int type);
bool isTypeName(const std::string &name);
/// The MscclcDtype of a type, MSCCLC_ANY_DTYPE for one that NCCL does not have.
uint32_t dtypeOf(int type);
/// The MscclcReduceOp of a shape's operation; none for those that kernels do not have. Kernels that add make averages,
/// and sums of scaled data, by MscclcScaling.
std::optional<uint32_t> reduceOpOf(int op);
/// "allreduce of 1024 bytes of f32, max, 8 ranks"; "…, 8 ranks, 4 a node" where there are several nodes.
std::string describe(const Shape &shape);

} // namespace mscclc::nccl
