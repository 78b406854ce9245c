// A run in which each access is compared with those before it in its cells.
#pragma once

#include "passes/run/data_run.h"

namespace mscclc::passes::proof {

/// Keeps in Memory which access wrote a cell last and which have read it since, and compares later ones with these. In
/// later launches an access is compared with the accesses that the first launch left. This is done in the third launch
/// for scratch, if it is double, and in the second launch for all other memory. The derived class decides how accesses
/// are compared and named.
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

  /// Makes the accesses of an operation.
  void read(const Operand &operand, const JudgedAccess &access);
  void write(const Operand &operand, const JudgedAccess &access);
  /// Makes those of a rank's user, before and after a launch.
  void overwriteByUser(std::uint32_t rank, const JudgedAccess &access);
  void readByUser(std::uint32_t rank, const JudgedAccess &access);

  /// The cells of `operand` whose accesses are kept and compared; the default is all.
  virtual Cells cellsOf(const Operand &operand) const {
    return {operand.first, std::uint64_t{operand.first} + operand.count};
  }
  /// The same of the cells that a rank's user owns.
  virtual Cells userCellsOf(std::uint32_t /*rank*/) const { return {0, memory_.numCells()}; }
  /// An operand is about to be read or written, in the first launch or where a later one is compared with it.
  virtual void accesses(const Operand &operand, const JudgedAccess &access, bool writes) = 0;
  /// `second` reads or writes a cell that `first` has written last, or that `first` has read since.
  virtual void compare(CellId cell, const Epoch &first, bool firstWrites, const JudgedAccess &second,
                       bool secondWrites) = 0;
  /// Keeps a read of the first launch.
  virtual void keepRead(CellId cell, const JudgedAccess &access) = 0;
  /// The first launch has written unit `unit` of the operand; or its user has, from unit `unit` of the input or `none`.
  virtual void wrote(CellId /*cell*/, std::uint32_t /*unit*/) {}
  virtual void userWrote(std::uint32_t /*rank*/, CellId /*cell*/, std::uint32_t /*unit*/) {}
  /// The first launch writes a packet again.
  virtual void writesAgain(CellId cell, const JudgedAccess &access, std::uint32_t unit) = 0;
  virtual void sendPacket(CellId cell, const JudgedAccess &access) = 0;
  /// True if `reader` may still read what the user overwrites: that is the user's risk, but later writes of the program
  /// are its own.
  virtual bool mayStillRead(const Epoch &reader, const JudgedAccess &user) = 0;
  /// Returns the relation that an access of `cell` needs to a later one that conflicts with it.
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
