// The cost of an operation on a machine: the resources that its data uses, the rate at which a block issues it, and its
// latencies.
#pragma once

#include "passes/time/fluid.h"
#include "passes/time/folding.h"
#include "passes/time/machine.h"
#include "passes/time/timeline.h"

#include "ir/program.h"
#include "ir/rows.h"
#include "passes/residency.h"
#include "passes/row_counts.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mscclc::passes::time {

/// The runner of the program.
enum class Runner : std::uint8_t {
  Executor, ///< MSCCL++'s executor: an interpreter, which loads its plan at each launch
  Kernel,   ///< an emitted kernel
};

/// Returns the executor's limits; null for a kernel.
const ExecutorLimits *limitsOf(Runner runner);

/// The live rows of a launch of a program of rows.
struct LiveRows {
  const ir::RowSlots &slots; ///< what operands hold
  const RowCounts &counts;
  /// Bytes of a row, without a list of its places. 0: not known. Then a row is as long as the program's unit of
  /// alignment, and what depends on the number of rows takes no time: lists, and counting an index.
  std::uint64_t rowBytes = 0;
  std::uint32_t choices = usualChoices; ///< different experts that a row goes to

  static constexpr std::uint32_t usualChoices = 8;
};

/// Bytes of chunks of a message: of the input, or an AllGather's output.
class MessageBytes {
public:
  /// `rows`: if it is not null, operations move live rows only. It must outlive this.
  MessageBytes(const ir::Program &program, std::uint64_t messageBytes, const LiveRows *rows = nullptr);
  /// Returns the bytes of the longest chunk. If a message does not divide evenly, other chunks are one unit shorter.
  std::uint64_t chunk() const { return chunk_; }
  std::uint64_t iterations(const ir::Op &header) const;
  /// Returns the bytes that `op` of `block` moves of its operand `operand`, in iteration `iteration` of `header` if
  /// that is given. For packets: payload.
  std::uint64_t of(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint32_t operand,
                   const ir::Op *header, std::uint64_t iteration) const;
  /// Returns the bytes of the live rows in all slots of a rank's input or output. `copied`: counts instead the rows
  /// that experts get from the slots. With oncePerRank, several experts may get the same row.
  std::uint64_t ofSlots(std::uint32_t rank, ir::BufferKind buffer, bool copied = false) const;
  /// Returns the live entries of a rank's index; 0 if the length of rows is not known.
  std::uint64_t entries(std::uint32_t rank) const;

private:
  std::uint64_t ofRows(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint32_t operand) const;
  std::uint64_t capacity() const;

  const ir::Program &program_;
  const LiveRows *rows_;
  std::uint64_t unit_ = 16, chunk_ = 0;
  std::uint64_t row_ = 16, inSlot_ = 16; ///< bytes of a live row; of one in a slot, with a list of its places
  std::uint32_t once_ = 0;               ///< choices of a row that goes once to each rank; else 0
};

/// The stores of a block to peers since its last fence.
struct UnfencedStores {
  std::set<std::uint32_t> peers; ///< peers that were stored to
  bool multicast = false;        ///< some went through the switch
};

/// A data operation from the machine's view.
struct DataCost {
  std::uint64_t bytes = 0; ///< payload of the operation's largest operand, which is the length of its flow
  double cap = 0;          ///< bytes a nanosecond that the block can issue
  Time latency = 0;        ///< until the first data flows
  std::vector<FluidNetwork::Use> uses;
};

class Costs {
public:
  /// `folding`: the walked parts represent others, so their data counts several times.
  Costs(const ir::Program &program, const Machine &machine, Runner runner, FluidNetwork &network, Folding folding = {});

  /// Returns the cost of a data operation that a block does itself.
  DataCost data(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, const ir::Op *header,
                std::uint64_t iteration, const MessageBytes &bytes) const;
  /// Returns the cost of one destination of a port's put: the flow, without the proxy's part.
  DataCost put(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint32_t pair,
               const ir::Op *header, std::uint64_t iteration, const MessageBytes &bytes) const;
  /// Adds the stores of a data operation to peers.
  void addStores(UnfencedStores &stores, std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op) const;
  /// Returns the time from the last of these stores until a system-wide fence completes.
  Time fence(const UnfencedStores &stores) const;
  /// Returns the time in which the blocks of a rank pack the rows of its input, or unpack those of its output, by an
  /// index of experts (device/experts.cuh). A combine has the cells of its dispatch, so it waits for no other rank.
  /// `bytes`: null if nothing but latencies takes time.
  Time packing(std::uint32_t rank, bool before, const MessageBytes *bytes) const;
  /// Returns the time from the start of a signal through a proxy until a waiting thread has seen it.
  Time portLatency(std::uint32_t rank, std::uint32_t peer) const;
  /// Returns the time that a flush takes if all puts have arrived. In a node, the proxy waits for a stream of copies.
  /// Over the network, it only looks whether they are complete.
  Time flushLatency(std::uint32_t rank, std::uint32_t peer) const;

  /// The meaning of a resource of the network.
  struct Meaning {
    Cause kind = Cause::LinkOut;
    std::uint32_t rank = 0, peer = Span::none;
  };
  const Meaning &meaning(FluidNetwork::Resource resource) const { return meanings_[resource]; }
  const MachineParameters &parameters() const { return machine_.parameters; }
  Runner runner() const { return runner_; }
  /// Converts microseconds of a machine to Time.
  static Time us(double microseconds) { return microseconds * 1000; }

private:
  struct Operand;
  class Uses;
  FluidNetwork::Resource add(FluidNetwork &network, Cause kind, std::uint32_t rank, double capacity,
                             std::uint32_t peer = Span::none);
  void addLinks(FluidNetwork &network, std::uint32_t ranks);
  void addLink(Uses &uses, std::uint32_t from, std::uint32_t to, double lineBytes) const;
  void addSwitchLink(Uses &uses, std::uint32_t rank, bool leaves, double lineBytes) const;
  double spreadOf(ir::BufferKind buffer) const;
  Time counting(double entries, double lanes) const;
  double blockCap(const ir::Op &op, double payload, const std::vector<Operand> &operands) const;
  Time readLatency(const Operand &operand) const;
  std::size_t sourcesAtOnce(const ir::Op &op) const;
  bool isLamport() const;
  double packetRate() const;
  Time dataLatency(const ir::Op &op, const std::vector<Operand> &operands) const;

  const ir::Program &program_;
  const Machine &machine_;
  RankNodes nodes_;
  Runner runner_;
  std::uint32_t threads_; ///< number of threads of a block
  Folding folding_;
  std::vector<Meaning> meanings_;
  mutable std::vector<std::uint32_t> slots_;                                            ///< see Uses
  std::vector<FluidNetwork::Resource> out_, in_, memory_, copyEngine_, nicOut_, nicIn_; ///< [rank]
  LinkPaths paths_;                    ///< the paths of an uneven machine
  FluidNetwork::Resource nowhere_ = 0; ///< of an uneven machine: between GPUs without a path; almost no bandwidth
  std::vector<FluidNetwork::Resource> links_; ///< of an uneven machine: [node of the program · links of a node + link]
};

/// Returns why a program cannot run on a machine: it has more ranks than GPUs, more nodes than the machine, a memory
/// channel between nodes or where no link is in either direction, or a switch operation without a switch. Returns
/// nothing if it can run.
std::optional<std::string> cannotRun(const ir::Program &program, const Machine &machine);

} // namespace mscclc::passes::time
