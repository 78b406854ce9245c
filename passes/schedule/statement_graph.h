// The memory that movement statements touch, and the dependences between them.
#pragma once

#include "ir/memory_map.h"
#include "ir/program.h"

#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// Memory that a statement touches. Aliasing is resolved. Packets cover two chunks of memory for each chunk of data.
struct Touch {
  std::uint32_t rank = 0;
  std::uint32_t begin = 0, end = 0; ///< in chunks of `buffer`
  ir::BufferKind buffer = ir::BufferKind::Input;
  ir::Access access = ir::Access::Read;
  ir::DataForm form = ir::DataForm::Plain;

  bool inScratch() const { return buffer == ir::BufferKind::Scratch; }
  /// True if both touches have a chunk in common.
  bool meets(const Touch &other) const {
    return rank == other.rank && buffer == other.buffer && begin < other.end && other.begin < end;
  }
  friend bool operator==(const Touch &, const Touch &) = default;
};

/// True if place `index` of a placed statement holds packets. Sources come first.
bool isPacketPlace(const ir::Movement &movement, const ir::Move &statement, std::uint32_t index);

/// True for a copy that makes packets or passes packets on, mostly to another rank.
bool sendsPackets(const ir::Movement &movement, const ir::Move &statement);

/// True for a copy that passes on packets that have arrived in scratch, without unpacking. Its source is also its first
/// destination, but is not written.
bool relaysPackets(const ir::Movement &movement, const ir::Move &statement);

/// True for a put of plain data by a port. Such a put signals its arrival; a put of packets needs no signal.
bool isPortPut(const ir::Move &statement);

/// The reason for a dependence.
enum class Hazard : std::uint8_t {
  Value,   ///< the later statement reads what the earlier one wrote
  Packets, ///< the later statement reads packets of the earlier one; flags show their arrival
  Reuse,   ///< the later statement writes memory that the earlier one read or wrote
};

/// A statement has to come after an earlier one.
struct Dependence {
  std::uint32_t on = 0; ///< the earlier statement
  Hazard hazard = Hazard::Value;
  /// The hazard is about memory that the earlier statement reads (`ofRead`), or that it writes (`ofWrite`), or both.
  bool ofRead = false, ofWrite = false;
  friend bool operator==(const Dependence &, const Dependence &) = default;
};

/// The dependences of a program of placed statements, by memory. It is an analysis (passes/analyses.h). Takes linear
/// time in the memory that statements touch.
class StatementGraph {
public:
  explicit StatementGraph(const ir::Program &program);

  /// Returns the graph of the program after its statements are put into another order. `order`[i]: the present number
  /// of the statement that becomes number i. Each statement must come after everything that it depends on. Conflicting
  /// statements keep their order, so the dependences stay the same.
  StatementGraph inOrder(std::span<const std::uint32_t> order) const;
  /// Updates the touches after places in scratch have changed. Two places must be equal or overlap exactly if they did
  /// before.
  void moveTouches(const ir::Program &program);

  std::uint32_t size() const { return static_cast<std::uint32_t>(firstTouch_.size() - 1); }
  std::span<const Touch> touches(std::uint32_t statement) const {
    return {touches_.data() + firstTouch_[statement], touches_.data() + firstTouch_[statement + 1]};
  }
  /// Returns the dependences on earlier statements, sorted by number. Each appears once with its strongest hazard:
  /// Value before Packets before Reuse.
  std::span<const Dependence> dependences(std::uint32_t statement) const {
    return {dependences_.data() + first_[statement], dependences_.data() + first_[statement + 1]};
  }

  /// Returns the length of the longest chain of dependences to each statement: 0 if it depends on nothing.
  const std::vector<std::uint32_t> &levels() const { return levels_; }

  /// The place of a statement in the order of a schedule.
  struct Phase {
    /// The level of the statement, without copies that bring the first operand to a reduction on the same rank. So a
    /// rank that needs such a copy is not later than other ranks.
    std::uint32_t number = 0;
    std::uint32_t part = 0; ///< number of copies of first operands before it in the phase
    friend auto operator<=>(const Phase &, const Phase &) = default;
  };
  const std::vector<Phase> &phases() const { return phases_; }

  friend bool operator==(const StatementGraph &, const StatementGraph &) = default;

private:
  StatementGraph() = default;
  void findTouches(const ir::Program &program);
  void findLevels(const ir::Movement &movement);

  std::vector<Touch> touches_;
  std::vector<std::size_t> firstTouch_; ///< [statement], and the end
  std::vector<Dependence> dependences_;
  std::vector<std::size_t> first_; ///< [statement], and the end: index into dependences_
  std::vector<std::uint32_t> levels_;
  std::vector<Phase> phases_;
};

} // namespace mscclc::passes::schedule
