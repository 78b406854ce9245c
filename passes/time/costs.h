// The cost of an operation on a machine: the resources that its data uses, the rate at which a block issues it, and its
// latencies.
#pragma once

#include "passes/representative_rank.h"
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
  const ir::RowSlots &slots; ///< the slots whose rows operands hold
  const RowCounts &counts;
  /// Bytes of a row, without the list of its places; 0 if not known. If it is 0, a row is as long as the program's unit
  /// of alignment. Then lists have no bytes, and counting an index takes no time.
  std::uint64_t rowBytes = 0;
  std::uint32_t choices = usualChoices; ///< number of different experts that a row goes to

  static constexpr std::uint32_t usualChoices = 8;
};

/// Computes the bytes of chunks, operands and slots for a message. The message is the input, or an AllGather's output.
class MessageBytes {
public:
  /// If `rows` is not null, operations move live rows only. `rows` must outlive this object.
  MessageBytes(const ir::Program &program, std::uint64_t messageBytes, const LiveRows *rows = nullptr);
  /// Returns the bytes of the longest chunk. If a message does not divide evenly, other chunks are one unit shorter.
  std::uint64_t chunk() const { return chunk_; }
  std::uint64_t iterations(const ir::Op &header) const;
  /// Returns the bytes that `op` of `block` moves of its operand `operand`. If `header` is not null, only iteration
  /// `iteration` of that pipeline counts. The bytes of packets are those of their payload.
  std::uint64_t of(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint32_t operand,
                   const ir::Op *header, std::uint64_t iteration) const;
  /// Returns the bytes of the live rows in all slots of a rank's input or output. If `copied`, a row counts once for
  /// each expert that gets it: with oncePerRank, several experts may get the same row of a slot.
  std::uint64_t ofSlots(std::uint32_t rank, ir::BufferKind buffer, bool copied = false) const;
  /// Returns the number of live entries of a rank's index; 0 if the length of rows is not known.
  std::uint64_t entries(std::uint32_t rank) const;

private:
  std::uint64_t ofRows(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint32_t operand) const;
  std::uint64_t capacity() const;

  const ir::Program &program_;
  const LiveRows *rows_;
  std::uint64_t unit_ = 16, chunk_ = 0;
  std::uint64_t row_ = 16, inSlot_ = 16; ///< bytes of a live row: alone, and in a slot with the list of its places
  std::uint32_t once_ = 0;               ///< number of choices of a row if it goes once to each rank; else 0
};

/// The stores of a block to peers since its last fence.
struct UnfencedStores {
  std::set<std::uint32_t> peers; ///< peers that were stored to
  bool multicast = false;        ///< true if some stores went through the switch
};

/// A data operation as the machine sees it.
struct DataCost {
  std::uint64_t bytes = 0; ///< payload of the operation's largest operand, which is the length of its flow
  double cap = 0;          ///< rate at which the block can issue data, in bytes a nanosecond
  Time latency = 0;        ///< time until the first data flows
  std::vector<FluidNetwork::Use> uses;
};

class Costs {
public:
  /// `folding`: the parts of the program that are walked. Each of them represents several parts, so its data counts
  /// several times. `otherEnds`: the other ends of rank 0's channels, if ranks are folded.
  Costs(const ir::Program &program, const Machine &machine, Runner runner, FluidNetwork &network, Folding folding = {},
        const OtherEnds *otherEnds = nullptr);

  /// Returns the cost of a data operation that a block does itself.
  DataCost data(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, const ir::Op *header,
                std::uint64_t iteration, const MessageBytes &bytes) const;
  /// Returns the cost of a port's put to one of its destinations: that of the flow, without the work of the proxy.
  DataCost put(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint32_t pair,
               const ir::Op *header, std::uint64_t iteration, const MessageBytes &bytes) const;
  /// Adds to `stores` what a data operation stores to peers.
  void addStores(UnfencedStores &stores, std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op) const;
  /// Returns the time from the last of `stores` until a system-wide fence completes.
  Time fence(const UnfencedStores &stores) const;
  /// Returns the time in which the blocks of a rank pack the rows of its input (`before`), or unpack those of its
  /// output, by an index of experts (device/experts.cuh). A combine uses the cells of its dispatch, so it waits for no
  /// other rank. If `bytes` is null, only latencies take time.
  Time packing(std::uint32_t rank, bool before, const MessageBytes *bytes) const;
  /// Returns the time from the start of a signal through a proxy until a waiting thread has seen it.
  Time portLatency(std::uint32_t rank, std::uint32_t peer) const;
  /// Returns the time that a flush takes if all puts have arrived. Inside a node, the proxy waits for the stream of its
  /// copies. Over the network, it only checks that the puts are complete.
  Time flushLatency(std::uint32_t rank, std::uint32_t peer) const;

  /// The part of the machine that a resource of the network represents.
  struct Meaning {
    Cause kind = Cause::LinkOut;
    std::uint32_t rank = 0, peer = Span::none;
  };
  const Meaning &meaning(FluidNetwork::Resource resource) const { return meanings_[resource]; }
  const MachineParameters &parameters() const { return machine_.parameters; }
  Runner runner() const { return runner_; }
  /// Converts microseconds, as in machine files, to Time (nanoseconds).
  static Time us(double microseconds) { return microseconds * 1000; }

private:
  struct Operand;
  class Uses;
  FluidNetwork::Resource add(FluidNetwork &network, Cause kind, std::uint32_t rank, double capacity,
                             std::uint32_t peer = Span::none);
  void addLinks(FluidNetwork &network, const OtherEnds *otherEnds);
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
  // These four are for a machine that has links (Machine::hasLinks).
  LinkPaths paths_;                           ///< paths between the GPUs of a node
  FluidNetwork::Resource nowhere_ = 0;        ///< for data between GPUs without a path; has almost no bandwidth
  std::vector<FluidNetwork::Resource> links_; ///< [node of the program · links of a node + link]
  /// If only rank 0 is walked: [peer of rank 0]. While that peer sends data to rank 0, rank 0 sends data to this rank.
  std::vector<std::uint32_t> sendsTo_;
};

/// Returns why a program cannot run on a machine; nothing if it can run. It cannot run if it has more ranks or nodes
/// than the machine, or a memory channel between GPUs that are on different nodes or that no link joins. It cannot run
/// either if it has a switch channel, and the machine has no switch that reduces.
std::optional<std::string> cannotRun(const ir::Program &program, const Machine &machine);

} // namespace mscclc::passes::time
