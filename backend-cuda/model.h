// What an emitted kernel consists of, as plain data between the program and its text.
#pragma once

#include "backend-cuda/formula.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::cuda {

struct Statement {
  enum class Kind : std::uint8_t {
    Call,     ///< function(arguments…);
    Pipeline, ///< the body, for every unit of a pipeline
    Repeat,   ///< the body, `times` times: a sequence of operations that the program repeats
  } kind = Kind::Call;
  bool movesData = false;
  std::string comment; ///< operation and place; empty for block-wide synchronisation
  std::string function;
  std::vector<std::string> arguments;
  std::uint64_t unit = 0;   ///< Pipeline: bytes
  std::uint32_t chunks = 0; ///< Pipeline: chunks it runs over
  int times = 0;            ///< Repeat
  std::vector<Statement> body;
};

/// A distinct block program and who runs it.
struct BlockProgram {
  std::vector<SampleSpace::Instance> instances;
  std::vector<Statement> statements;
};

/// Formulas of the descriptor's functions, in the variables that kernel.cu.in gives them.
struct DescriptorFormulas {
  std::string inputChunks, outputChunks, scratchChunks, blocks, memoryChannels, portChannels, switchChannels,
      remoteBuffers, semaphores, barriers;
  std::string memoryPeer, memoryPeerChannel, portPeer, portPeerChannel;
  std::string switchBuffer, switchSize, switchMember;
  std::string remoteRank, remoteBuffer, remoteViaMemory, remoteViaPort;
  std::string semaphoreValue;
};

struct KernelModel {
  std::uint32_t ranks = 0, threads = 0, maxBlocks = 0, flags = 0;
  std::optional<std::uint32_t> root; ///< of a collective that has one
  std::uint32_t shares = 1, groupChunks = 0, scratchSlots = 0;
  std::uint64_t unit = 16, messageBytes = 0, minMessageBytes = 0, maxMessageBytes = 0, bufferAlignment = 16;
  bool packets = false, doubleScratch = false;
  bool outlined = false;                      ///< loops over rows are functions: the program is long
  std::string dtypes, reduceOps, packetKinds; ///< default lists of template arguments
  std::vector<BlockProgram> programs;
  /// Who runs what, in the order of asking: the first that holds; the last has no condition.
  struct Choice {
    std::string condition;
    std::size_t program;
  };
  std::vector<Choice> choices;
  /// Where conditions do not tell: which program block `k.block` of rank `k.rank` runs, as an index into `programs`.
  std::string programOf;
  DescriptorFormulas descriptor;
  Tables tables;                    ///< that the device reads
  Tables descriptorTables{"facts"}; ///< that the host reads
};

} // namespace mscclc::cuda
