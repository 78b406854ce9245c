// What an operation costs on a machine: what its data passes through, how fast a block can issue it, and its latencies.
#pragma once

#include "passes/time/fluid.h"
#include "passes/time/folding.h"
#include "passes/time/machine.h"
#include "passes/time/timeline.h"

#include "ir/program.h"
#include "passes/residency.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::passes::time {

/// Who runs the program.
enum class Runner : std::uint8_t {
  Executor, ///< MSCCL++'s executor: an interpreter, which loads its plan at each launch
  Kernel,   ///< a kernel made for the program
};

/// What the executor has room for; null of a kernel.
const ExecutorLimits *limitsOf(Runner runner);

/// Bytes of a message cut into chunks: of the input, or an AllGather's output.
class MessageBytes {
public:
  MessageBytes(const ir::Program &program, std::uint64_t messageBytes);
  /// Of the longest chunk: a message that does not divide evenly has chunks that are a unit shorter.
  std::uint64_t chunk() const { return chunk_; }
  std::uint64_t iterations(const ir::Op &header) const;
  /// Bytes that `op` moves of `chunk`, in iteration `iteration` of `header`, if that is given. Of packets: payload.
  std::uint64_t of(const ir::Chunk &chunk, const ir::Op &op, const ir::Op *header, std::uint64_t iteration) const;

private:
  std::uint64_t unit_ = 16, chunk_ = 0;
};

/// A data operation as the machine sees it.
struct DataCost {
  std::uint64_t bytes = 0; ///< payload of the operation's largest operand; a flow of that many
  double cap = 0;          ///< bytes a nanosecond that the block can issue of them
  Time latency = 0;        ///< until the first data flows
  std::vector<FluidNetwork::Use> uses;
};

class Costs {
public:
  /// `folding`: what is walked moves what it moves for all that it is walked for.
  Costs(const ir::Program &program, const Machine &machine, Runner runner, FluidNetwork &network, Folding folding = {});

  /// A data operation that a block does itself.
  DataCost data(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, const ir::Op *header,
                std::uint64_t iteration, const MessageBytes &bytes) const;
  /// One destination of a put that a port does: the flow alone, without the proxy's part.
  DataCost put(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint32_t pair,
               const ir::Op *header, std::uint64_t iteration, const MessageBytes &bytes) const;
  /// From the start of a signal that a proxy sends to when a waiting thread has seen it.
  Time portLatency(std::uint32_t rank, std::uint32_t peer) const;

  /// What a resource of the network stands for.
  struct Meaning {
    Cause kind = Cause::LinkOut;
    std::uint32_t rank = 0, peer = Span::none;
  };
  const Meaning &meaning(FluidNetwork::Resource resource) const { return meanings_[resource]; }
  const MachineParameters &parameters() const { return machine_.parameters; }
  Runner runner() const { return runner_; }
  /// Microseconds of a machine as Time.
  static Time us(double microseconds) { return microseconds * 1000; }

private:
  struct Operand;
  class Uses;
  FluidNetwork::Resource add(FluidNetwork &network, Cause kind, std::uint32_t rank, double capacity,
                             std::uint32_t peer = Span::none);
  void addLink(Uses &uses, std::uint32_t from, std::uint32_t to, double lineBytes) const;
  double blockCap(const ir::Op &op, double payload, const std::vector<Operand> &operands) const;
  Time readLatency(const Operand &operand) const;
  std::size_t sourcesAtOnce(const ir::Op &op) const;
  Time dataLatency(const ir::Op &op, const std::vector<Operand> &operands) const;

  const ir::Program &program_;
  const Machine &machine_;
  RankNodes nodes_;
  Runner runner_;
  std::uint32_t threads_; ///< of a block
  Folding folding_;
  std::vector<Meaning> meanings_;
  mutable std::vector<std::uint32_t> slots_;                                            ///< see Uses
  std::vector<FluidNetwork::Resource> out_, in_, memory_, copyEngine_, nicOut_, nicIn_; ///< [rank]
  std::vector<FluidNetwork::Resource> pair_; ///< [rank · ranks a node + peer in the node], of a mesh
};

/// Why a program cannot run on a machine: more ranks than it has GPUs, or nodes than it has, a memory channel between
/// nodes, a switch operation where there is no switch. Nothing if it can.
std::optional<std::string> cannotRun(const ir::Program &program, const Machine &machine);

} // namespace mscclc::passes::time
