// A run that compares each access with earlier accesses to the same cells.
#pragma once

#include "passes/run/data_run.h"

namespace mscclc::passes::proof {

/// Keeps in Memory the last write of each cell and the reads since then, and compares later accesses with these. In
/// later launches, an access is compared with the accesses that the first launch has left. For double scratch this is
/// done in the third launch, for all other memory in the second. The derived class decides how accesses are compared
/// and named.
class CellChecks : protected ControlEvents, protected DataEvents {
public:
  CellChecks(const ProgramIndex &index, const Geometry &geometry, Memory &memory)
      : index_(index), geometry_(geometry), memory_(memory), control_(index, geometry, *this),
        data_(index, geometry, memory, control_, *this) {}

protected:
  using Cells = CellRange;
  /// An access of an operand, or of a rank's user, and the point from which it is judged.
  struct JudgedAccess {
    Epoch by;
    View view = {};
  };

  /// Makes an access to an operand of an operation.
  void read(const Operand &operand, const JudgedAccess &access);
  void write(const Operand &operand, const JudgedAccess &access);
  /// Makes the accesses of a rank's user, before and after a launch.
  void overwriteByUser(std::uint32_t rank, const JudgedAccess &access);
  void readByUser(std::uint32_t rank, const JudgedAccess &access);

  /// Returns the cells of `operand` whose accesses are kept and compared; by default all.
  virtual Cells cellsOf(const Operand &operand) const {
    return {operand.first, std::uint64_t{operand.first} + operand.count};
  }
  /// Returns the cells whose accesses by the rank's user are kept and compared; by default all.
  virtual Cells userCellsOf(std::uint32_t /*rank*/) const { return {0, memory_.numCells()}; }
  /// Called before an operand is read or written, in the first launch and in the later launch that is compared with it.
  virtual void accesses(const Operand &operand, const JudgedAccess &access, bool writes) = 0;
  /// Called if `second` accesses a cell, and `first` is the last write to the cell or a read since then.
  virtual void compare(CellId cell, const Epoch &first, bool firstWrites, const JudgedAccess &second,
                       bool secondWrites) = 0;
  /// Keeps a read of the first launch.
  virtual void keepRead(CellId cell, const JudgedAccess &access) = 0;
  /// Called after a write of the first launch, or of its user. `unit`: the unit of the operand, or of the user's input;
  /// `none` for the user's output.
  virtual void wrote(CellId /*cell*/, std::uint32_t /*unit*/) {}
  virtual void userWrote(std::uint32_t /*rank*/, CellId /*cell*/, std::uint32_t /*unit*/) {}
  /// Called if the first launch writes a packet that is already there.
  virtual void writesAgain(CellId cell, const JudgedAccess &access, std::uint32_t unit) = 0;
  virtual void sendPacket(CellId cell, const JudgedAccess &access) = 0;
  /// True if `reader` may still be reading when the user overwrites the data. The user is responsible for this
  /// overwriting, but the program is responsible for its own later writes.
  virtual bool mayStillRead(const Epoch &reader, const JudgedAccess &user) = 0;
  /// Returns the relation that an access of `cell` must have to a later access that conflicts with it.
  Relation needed(CellId cell, bool firstWrites) const {
    if (firstWrites)
      return Relation::Visibility;
    return cell >= memory_.firstSlot() ? Relation::HappensBefore : Relation::Released;
  }

  const ProgramIndex &index_;
  const Geometry &geometry_;
  Memory &memory_;
  Control control_;
  DataRun data_;

private:
  void accessLater(const Operand &operand, const JudgedAccess &access, bool writes);
  void compareRead(CellId cell, const JudgedAccess &access);
  void compareWrite(CellId cell, const JudgedAccess &access, bool packet);
  void clearPackets(std::uint32_t rank, const JudgedAccess &access);

  std::vector<Epoch> stillRead_;
};

} // namespace mscclc::passes::proof
