// Turns a block program, shared by many blocks, into statements.
#pragma once

#include "backend-cuda/model.h"
#include "ir/program.h"

#include <unordered_map>

namespace mscclc::cuda {

/// What all block programs of a kernel have in common.
struct KernelFacts {
  const ir::Program &program;
  /// Template argument of a reduction, by its operation: "Op" where the plan has one operation throughout.
  std::array<std::string, 3> reduceOp;
  /// First scratch slot in which a packet put through a port gathers its packets, by operation.
  struct PlaceHash {
    std::size_t operator()(const ir::OpRef &r) const { return (std::size_t{r.rank} * 8191 + r.block) * 131071 + r.op; }
  };
  std::unordered_map<ir::OpRef, std::uint32_t, PlaceHash> staging;
};

/// Statements of the program that `instances` run; they have one shape. Tables it needs are added to `tables`.
std::vector<Statement> writeBlock(const KernelFacts &facts, const std::vector<SampleSpace::Instance> &instances,
                                  Tables &tables);

} // namespace mscclc::cuda
