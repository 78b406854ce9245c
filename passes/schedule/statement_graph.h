// What movement statements touch, and which of them must come before which.
#pragma once

#include "ir/memory_map.h"
#include "ir/program.h"

#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// Memory that a statement touches, aliasing resolved; packets cover two chunks for each of their own.
struct Touch {
  std::uint32_t rank = 0;
  std::uint32_t begin = 0, end = 0; ///< chunks of `buffer`
  ir::BufferKind buffer = ir::BufferKind::Input;
  ir::Access access = ir::Access::Read;
  ir::DataForm form = ir::DataForm::Plain;

  bool inScratch() const { return buffer == ir::BufferKind::Scratch; }
  /// True if both touch some chunk.
  bool meets(const Touch &other) const {
    return rank == other.rank && buffer == other.buffer && begin < other.end && other.begin < end;
  }
  friend bool operator==(const Touch &, const Touch &) = default;
};

/// Whether the place `index` of a placed statement, sources first, holds packets.
bool isPacketPlace(const ir::Movement &movement, const ir::Move &statement, std::uint32_t index);

/// A copy that makes packets or passes them on, mostly to another rank.
bool sendsPackets(const ir::Movement &movement, const ir::Move &statement);

/// One of these that passes on packets that have come, as they lie in scratch: its source is its first destination,
/// which it does not write.
bool relaysPackets(const ir::Movement &movement, const ir::Move &statement);

/// A put that a port does by itself, and tells of with its signal. Packets that a port puts tell themselves.
bool isPortPut(const ir::Move &statement);

/// What a dependence is for.
enum class Hazard : std::uint8_t {
  Value,   ///< the later statement reads what the earlier one wrote
  Packets, ///< the same, and the data itself tells when it is there
  Reuse,   ///< the later one writes what the earlier one read or wrote
};

/// That a statement has to come after an earlier one.
struct Dependence {
  std::uint32_t on = 0; ///< the earlier statement
  Hazard hazard = Hazard::Value;
  bool ofRead = false, ofWrite = false; ///< of what the earlier one reads, and of what it writes
  friend bool operator==(const Dependence &, const Dependence &) = default;
};

/// The dependences of a program of placed statements, by memory: an analysis (passes/analyses.h). Linear in what they
/// touch.
class StatementGraph {
public:
  explicit StatementGraph(const ir::Program &program);

  /// That of the program once its statements are in this order, in which each comes after all that it depends on:
  /// `order` [statement]: its number here. What conflicts stays in its order, so that the same depend on each other.
  StatementGraph inOrder(std::span<const std::uint32_t> order) const;
  /// Of `program`, once places in scratch have changed so that two are the same, or overlap, just as before.
  void moveTouches(const ir::Program &program);

  std::uint32_t size() const { return static_cast<std::uint32_t>(firstTouch_.size() - 1); }
  std::span<const Touch> touches(std::uint32_t statement) const {
    return {touches_.data() + firstTouch_[statement], touches_.data() + firstTouch_[statement + 1]};
  }
  /// On earlier statements, by their number, each once with its strongest hazard: Value before Packets before Reuse.
  std::span<const Dependence> dependences(std::uint32_t statement) const {
    return {dependences_.data() + first_[statement], dependences_.data() + first_[statement + 1]};
  }

  /// The longest chain of dependences that leads to each statement: 0 for one that depends on nothing.
  const std::vector<std::uint32_t> &levels() const { return levels_; }

  friend bool operator==(const StatementGraph &, const StatementGraph &) = default;

private:
  StatementGraph() = default;
  void findTouches(const ir::Program &program);
  void findLevels();

  std::vector<Touch> touches_;
  std::vector<std::size_t> firstTouch_; ///< [statement], and the end
  std::vector<Dependence> dependences_;
  std::vector<std::size_t> first_; ///< [statement], and the end: into dependences_
  std::vector<std::uint32_t> levels_;
};

} // namespace mscclc::passes::schedule
