// The machine for an estimate: GPUs, links, and the times of their operations.
#pragma once

#include "passes/gpu_limits.h"
#include "passes/time/links.h"

#include <bitset>
#include <cstdint>
#include <iterator>
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

/// A parameter of machine_parameters.def.
struct ParameterField {
  const char *key, *unit;
  double MachineParameters::*member;
};
inline constexpr ParameterField parameterFields[] = {
#define PARAMETER(field, key, unit, summary) {key, unit, &MachineParameters::field},
#include "passes/time/machine_parameters.def"
};

/// A set of parameters, by their places in `parameterFields`.
using ParameterSet = std::bitset<std::size(parameterFields)>;

/// Returns the keys of parameters, in the order of `parameterFields`.
std::vector<std::string> keysOf(const ParameterSet &parameters);

/// A machine of equal nodes. Each node has some GPUs.
struct Machine {
  std::string name; ///< "h100x8", or "h100x8*4" for four nodes
  std::string description;
  std::uint32_t gpusPerNode = 1;
  std::uint32_t nodes = 1;
  /// True if each pair of GPUs in a node has its own links, with an equal share of the line rate. Otherwise a switch
  /// connects the GPUs.
  bool mesh = false;
  /// The links that a machine file states. If it states none, this is empty, and the links follow from the topology
  /// (see fabricOf).
  Fabric fabric;
  std::uint32_t multiprocessors = 1; ///< number of multiprocessors of a GPU
  /// Limits of a multiprocessor. If a machine file does not state them, they are those of an H100.
  std::uint32_t blocksPerMultiprocessor = GpuLimits().blocksPerMultiprocessor;
  std::uint32_t sharedBytes = GpuLimits().sharedBytes;
  MachineParameters parameters;
  ParameterSet unmeasured; ///< parameters without a measurement: borrowed from another machine, or assumed

  std::uint64_t gpus() const { return std::uint64_t{gpusPerNode} * nodes; }
  /// True if pairs of a node's GPUs may have different links between them.
  bool isUneven() const { return !fabric.node.links.empty(); }
  /// True if data between GPUs of a node takes links of its own. Otherwise it only shares the rates of the two GPUs.
  bool hasLinks() const { return mesh || isUneven(); }
  GpuLimits gpu() const { return {multiprocessors, blocksPerMultiprocessor, sharedBytes}; }
};

/// Assigns the ranks of a program to nodes. A program may state how many ranks a node has (ir::Movement::ranksPerNode).
/// Then each of its nodes is one node of the machine. The ranks of other programs fill one node after the other.
class RankNodes {
public:
  RankNodes(const ir::Program &program, const Machine &machine);
  std::uint32_t ranksPerNode() const { return ranksPerNode_; }
  std::uint32_t nodes() const { return nodes_; } ///< number of nodes that the ranks need
  std::uint32_t nodeOf(std::uint32_t rank) const { return rank / ranksPerNode_; }
  std::uint32_t indexInNode(std::uint32_t rank) const { return rank % ranksPerNode_; }
  bool areTogether(std::uint32_t a, std::uint32_t b) const { return nodeOf(a) == nodeOf(b); }

private:
  std::uint32_t ranksPerNode_, nodes_;
};

/// Returns the number of nodes of a program that states how many ranks a node has; 1 for another program.
std::uint32_t namedNodes(const ir::Program &program);

/// A fault in a machine file or name.
struct MachineError {
  std::string message;
};

/// Returns the machine that the text of a machine file describes. Throws MachineError, which names the wrong key.
Machine parseMachine(std::string_view json);

/// The origin of a parameter's value, and its certainty, as in a machine file.
struct Provenance {
  std::string source, certainty;
};

/// Returns the text of a machine file. Values are rounded to four digits. `origins` has one entry for each parameter,
/// in the order of machine_parameters.def.
std::string writeMachine(const Machine &machine, std::span<const Provenance> origins);

/// Returns the machine for the words of --machine: a built-in name or a file's path, and optionally `*N` for N nodes.
/// BASE@FILE is machine BASE with the GPUs, switches and links of FILE. FILE has these fields of a machine file, or is
/// the output of nvidia-smi or NCCL about a node (topology.h). `nodes` is the number of nodes if the words give none.
/// Throws MachineError.
Machine findMachine(const std::string &words, std::uint32_t nodes = 1);

/// Returns the names of the built-in machines, sorted.
std::vector<std::string> builtInMachines();

} // namespace mscclc::passes::time
