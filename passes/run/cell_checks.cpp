#include "passes/run/cell_checks.h"

namespace mscclc::passes::proof {

void CellChecks::read(const Operand &operand, const JudgedAccess &access) {
  if (control_.launch() != 0)
    return accessLater(operand, access, false);
  accesses(operand, access, false);
  const bool awaited = operand.packet && data_.step().takesPackets;
  const auto [first, end] = cellsOf(operand);
  for (auto cell = static_cast<CellId>(first); cell < end; ++cell) {
    if (!awaited)
      compareRead(cell, access);
    keepRead(cell, access);
  }
}

void CellChecks::write(const Operand &operand, const JudgedAccess &access) {
  const bool isFirst = control_.launch() == 0;
  if (isFirst)
    accesses(operand, access, true);
  else
    accessLater(operand, access, true);
  if (!isFirst && !operand.packet)
    return;
  const Cells kept = cellsOf(operand), all = CellChecks::cellsOf(operand);
  const auto [first, end] = operand.packet ? all : kept; // blocks wait for every packet, even if it is not kept
  for (auto cell = static_cast<CellId>(first); cell < end; ++cell) {
    const std::uint32_t unit = cell - operand.first;
    if (operand.packet && data_.slots().isThere(cell)) {
      if (isFirst)
        writesAgain(cell, access, unit);
      continue;
    }
    if (isFirst && kept.has(cell)) {
      compareWrite(cell, access, operand.packet);
      memory_.setWrite(memory_[cell], access.by);
      wrote(cell, unit);
    }
    if (operand.packet)
      sendPacket(cell, access);
  }
}

void CellChecks::accessLater(const Operand &operand, const JudgedAccess &access, bool writes) {
  if (index_.program.doubleScratch && operand.scratch != (control_.launch() == 2))
    return;
  accesses(operand, access, writes);
  const auto [first, end] = cellsOf(operand);
  for (auto cell = static_cast<CellId>(first); cell < end; ++cell) {
    if (!writes) {
      if (!operand.packet)
        compareRead(cell, access);
    } else if (memory_[cell].write.exists() || memory_[cell].read.exists()) {
      compareWrite(cell, access, operand.packet);
      memory_.setWrite(memory_[cell], {});
    }
  }
}

void CellChecks::compareRead(CellId cell, const JudgedAccess &access) {
  if (const Epoch &write = memory_[cell].write; write.exists())
    compare(cell, write, true, access, false);
}

void CellChecks::compareWrite(CellId cell, const JudgedAccess &access, bool packet) {
  // If the earlier packet has arrived, the new one needs no order after its write, but only after its readers.
  if (const Epoch &write = memory_[cell].write; write.exists() && !(packet && memory_.packetArrived(cell)))
    compare(cell, write, true, access, true);
  memory_.forReads(memory_[cell], [&](const Epoch &reader) { compare(cell, reader, false, access, true); });
}

void CellChecks::overwriteByUser(std::uint32_t rank, const JudgedAccess &access) {
  const Cells kept = userCellsOf(rank);
  memory_.forUserCells(rank, [&](CellId cell, std::uint32_t input) {
    if (!kept.has(cell))
      return;
    compareWrite(cell, access, false);
    stillRead_.clear();
    memory_.forReads(memory_[cell], [&](const Epoch &reader) {
      if (mayStillRead(reader, access))
        stillRead_.push_back(reader);
    });
    memory_.setWrite(memory_[cell], control_.launch() == 0 ? access.by : Epoch{});
    for (const Epoch &reader : stillRead_)
      memory_.addRead(memory_[cell], reader, true);
    if (control_.launch() == 0)
      userWrote(rank, cell, input);
  });
}

void CellChecks::readByUser(std::uint32_t rank, const JudgedAccess &access) {
  const Cells kept = userCellsOf(rank);
  memory_.forUserCells(rank, [&](CellId cell, std::uint32_t /*input*/) {
    if (!kept.has(cell))
      return;
    compareRead(cell, access);
    keepRead(cell, access);
  });
  if (index_.program.protocol == ir::Protocol::Lamport)
    clearPackets(rank, access);
}

/// Checks that the Lamport packets of the first launch have arrived, as if the rank cleared them at the end of that
/// launch. In fact a rank clears the packets of launch n in launch n + 1, and uses the same part of scratch again in
/// launch n + 3. So the end of launch n + 1 comes before the new packets. In a steady state this is the same as here,
/// where the packets of the third launch are compared with the end of the first one.
void CellChecks::clearPackets(std::uint32_t rank, const JudgedAccess &access) {
  const CellRange packets = memory_.packetsOf(rank);
  const auto [first, end] = cellsOf({.rank = rank,
                                     .first = static_cast<CellId>(packets.first),
                                     .count = static_cast<std::uint32_t>(packets.end - packets.first),
                                     .packet = true,
                                     .scratch = true});
  for (auto cell = static_cast<CellId>(first); cell < end; ++cell) {
    if (!memory_[cell].write.exists())
      continue;
    compareWrite(cell, access, true);
    keepRead(cell, access);
  }
}

} // namespace mscclc::passes::proof
