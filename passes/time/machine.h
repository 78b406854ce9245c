// The machine that a time is asked for: GPUs, links and what things take on them.
#pragma once

#include "passes/gpu_limits.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::ir {
struct Program;
}

namespace mscclc::passes::time {

/// The parameters of machine_parameters.def, in its units.
struct MachineParameters {
#define PARAMETER(field, key, unit, summary) double field = 0;
#include "passes/time/machine_parameters.def"
};

/// Nodes of GPUs that reach each other at once, all alike.
struct Machine {
  std::string name; ///< "h100x8", "h100x8*4" for four nodes
  std::string description;
  std::uint32_t gpusPerNode = 1;
  std::uint32_t nodes = 1;
  /// Each pair of a node's GPUs has links of its own, each with its share of the line rate; else a switch is between.
  bool mesh = false;
  std::uint32_t multiprocessors = 1; ///< of a GPU
  /// Of a multiprocessor; where a file does not say them, those of an H100.
  std::uint32_t blocksPerMultiprocessor = GpuLimits().blocksPerMultiprocessor;
  std::uint32_t sharedBytes = GpuLimits().sharedBytes;
  MachineParameters parameters;

  std::uint64_t gpus() const { return std::uint64_t{gpusPerNode} * nodes; }
  GpuLimits gpu() const { return {multiprocessors, blocksPerMultiprocessor, sharedBytes}; }
};

/// On which nodes of a machine the ranks of a program are. A program that names its nodes (ir::Movement::ranksPerNode)
/// has each of them on a node of its own; any other fills node after node.
class RankNodes {
public:
  RankNodes(const ir::Program &program, const Machine &machine);
  std::uint32_t ranksPerNode() const { return ranksPerNode_; }
  std::uint32_t nodes() const { return nodes_; } ///< that the ranks need
  std::uint32_t nodeOf(std::uint32_t rank) const { return rank / ranksPerNode_; }
  std::uint32_t indexInNode(std::uint32_t rank) const { return rank % ranksPerNode_; }
  bool areTogether(std::uint32_t a, std::uint32_t b) const { return nodeOf(a) == nodeOf(b); }

private:
  std::uint32_t ranksPerNode_, nodes_;
};

/// Nodes that a program names; 1 if it names none.
std::uint32_t namedNodes(const ir::Program &program);

/// What is wrong with a machine file or name.
struct MachineError {
  std::string message;
};

/// A machine file's text. Throws MachineError, which names the key at fault.
Machine parseMachine(std::string_view json);

/// Where a parameter's value is from, and how sure it is: as in a machine file.
struct Provenance {
  std::string source, certainty;
};

/// The text of a machine file; values with four digits. `origins` are of the parameters, in the order of
/// machine_parameters.def.
std::string writeMachine(const Machine &machine, std::span<const Provenance> origins);

/// A machine by what --machine says: the name of one that is built in or a file's path, with `*N` after it for N nodes.
/// `nodes`: how many it has where the words do not say. Throws MachineError.
Machine findMachine(const std::string &words, std::uint32_t nodes = 1);

/// Names of the machines that are built in, sorted.
std::vector<std::string> builtInMachines();

} // namespace mscclc::passes::time
