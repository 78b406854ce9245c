// The data operations of a run: the cells that they access, in their order, and the packets that they wait for.
#pragma once

#include "passes/run/control.h"
#include "passes/run/memory.h"

namespace mscclc::passes::proof {

/// The packets of the current launch. For each packet cell: the message that wrote it, and the blocks that wait for it.
class PacketSlots {
public:
  /// Forgets all packets.
  void layOut(const Memory &memory) {
    first_ = memory.firstSlot();
    slots_.assign(memory.numCells() - first_, {});
  }
  bool isThere(CellId cell) const { return slots_[cell - first_].message != none; }
  std::uint32_t message(CellId cell) const { return slots_[cell - first_].message; }

private:
  friend class DataRun;
  struct Slot {
    std::uint32_t message = none, waiter = none;
  };
  CellId first_ = 0;
  std::vector<Slot> slots_;
};

/// An operand as a range of cells of `rank`.
struct Operand {
  std::uint32_t rank = 0;
  CellId first = 0;
  std::uint32_t count = 0;
  std::uint32_t ref = 0; ///< index into the block's `chunks`
  bool packet = false;
  bool scratch = false;
};

/// The current data operation.
struct DataStep {
  std::uint32_t block = none;
  const ir::Op *op = nullptr;
  std::vector<Operand> sources, destinations;
  bool takesPackets = false;
  std::vector<std::uint32_t> taken; ///< messages of the packets that it takes; equal neighbours count once
  bool isMixed = false;             ///< packets of one source come from several messages
};

/// Receives the accesses of data operations.
class DataEvents {
public:
  virtual ~DataEvents() = default;
  /// An operation begins, and its packets have arrived. Returns false if its accesses are not needed.
  virtual bool begins(const DataStep &step) = 0;
  virtual void reads(const DataStep &step, const Operand &source) = 0;
  /// All sources of a reduction, or of a hook's function, were read.
  virtual void computes(const DataStep & /*step*/) {}
  /// A part of a destination is written. The part begins at the destination's unit `unit`. `taken`: the messages of the
  /// packets from which the part is computed. These are the messages of the whole step, unless the step is mixed.
  virtual void writes(const DataStep &step, const Operand &part, std::uint32_t unit,
                      std::span<const std::uint32_t> taken) = 0;
  /// Thread `thread` puts through port channel `channel`.
  virtual void puts(const DataStep &step, std::uint32_t thread, std::uint32_t channel, const Operand &source,
                    const Operand &destination) = 0;
  /// The operation sends a packet through a port before the packet was written.
  virtual void packetNotThere(std::uint32_t /*block*/, CellId /*cell*/) {}
};

/// Runs data operations.
class DataRun {
public:
  DataRun(const ProgramIndex &index, const Geometry &geometry, const Memory &memory, Control &control,
          DataEvents &events)
      : index_(index), geometry_(geometry), memory_(memory), control_(control), events_(events) {}

  void beginLaunch() { slots_.layOut(memory_); }
  /// Does the operation of `block`. Returns false if it has to wait for a packet.
  bool run(std::uint32_t block, const ir::Op &op);
  /// Notes that `message` brings the packet in `cell`, and lets its waiters continue.
  void send(CellId cell, std::uint32_t message) {
    slots_.slots_[cell - slots_.first_].message = message;
    control_.wake(slots_.slots_[cell - slots_.first_].waiter);
  }
  const PacketSlots &slots() const { return slots_; }
  const DataStep &step() const { return step_; }

private:
  bool packetsArrived(std::uint32_t block, const ir::Op &op);
  void addOperand(std::uint32_t block, const ir::Op &op, std::uint32_t operand, std::vector<Operand> &list) const;
  void takePackets();
  void putAll();
  void writeComputed(const Operand &destination);

  const ProgramIndex &index_;
  const Geometry &geometry_;
  const Memory &memory_;
  Control &control_;
  DataEvents &events_;
  PacketSlots slots_;
  DataStep step_;
  std::vector<std::uint32_t> takenHere_; ///< messages for the elements that are being written
};

} // namespace mscclc::passes::proof
