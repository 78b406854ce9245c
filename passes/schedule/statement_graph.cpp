#include "passes/schedule/statement_graph.h"

#include "ir/internal_error.h"
#include "ir/program_index.h"

#include <algorithm>
#include <numeric>

namespace mscclc::passes::schedule {
namespace {

/// The last writer and the readers of each chunk of memory, while statements are visited in their order.
class AccessHistory {
public:
  AccessHistory(std::size_t ranks, std::span<const Touch> touches) : first_(3 * ranks + 1, 0) {
    for (const Touch &touch : touches) {
      std::size_t &end = first_[bufferOf(touch) + 1];
      end = std::max<std::size_t>(end, touch.end);
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    cells_.resize(first_.back());
  }

  /// Notes the access `touch` of `statement`. Appends the earlier statements on which it depends to `found`.
  void access(std::uint32_t statement, const Touch &touch, std::vector<Dependence> &found) {
    const bool reads = touch.access == ir::Access::Read;
    Cell *const cells = cells_.data() + first_[bufferOf(touch)];
    for (Cell &cell : std::span(cells + touch.begin, cells + touch.end)) {
      if (cell.writer != ir::none && cell.writer != statement)
        found.push_back({.on = cell.writer,
                         .hazard = !reads         ? Hazard::Reuse
                                   : cell.packets ? Hazard::Packets
                                                  : Hazard::Value,
                         .ofWrite = true});
      if (reads) {
        readers_.push_back({statement, cell.lastReader});
        cell.lastReader = static_cast<std::uint32_t>(readers_.size() - 1);
        continue;
      }
      for (std::uint32_t r = cell.lastReader; r != ir::none; r = readers_[r].previous)
        if (readers_[r].statement != statement)
          found.push_back({.on = readers_[r].statement, .hazard = Hazard::Reuse, .ofRead = true});
      cell = {statement, touch.form == ir::DataForm::Packet, ir::none};
    }
  }

private:
  /// A chunk of memory: its last writer, and its readers since then.
  struct Cell {
    std::uint32_t writer = ir::none;
    bool packets = false;                ///< the chunk holds packets
    std::uint32_t lastReader = ir::none; ///< index into readers_
  };
  struct Reader {
    std::uint32_t statement, previous;
  };
  static std::size_t bufferOf(const Touch &touch) {
    return 3 * std::size_t{touch.rank} + static_cast<std::size_t>(touch.buffer);
  }

  std::vector<std::size_t> first_; ///< [rank][buffer]: index into cells_; then the size of cells_
  std::vector<Cell> cells_;
  std::vector<Reader> readers_; ///< the readers of all cells
};

/// Sorts the dependences by statement. Keeps one dependence on each statement, with the strongest hazard.
void tidy(std::vector<Dependence> &found) {
  if (found.size() < 2)
    return;
  std::ranges::sort(
      found, [](const Dependence &a, const Dependence &b) { return a.on != b.on ? a.on < b.on : a.hazard < b.hazard; });
  auto last = found.begin();
  for (auto next = last + 1; next != found.end(); ++next)
    if (next->on == last->on) {
      last->ofRead |= next->ofRead;
      last->ofWrite |= next->ofWrite;
    } else {
      *++last = *next;
    }
  found.erase(last + 1, found.end());
}

} // namespace

bool sendsPackets(const ir::Movement &movement, const ir::Move &statement) {
  return statement.packets.value_or(false) && statement.kind == ir::MoveKind::Copy &&
         (statement.via || movement.dsts(statement).back().rank != *statement.by);
}

bool relaysPackets(const ir::Movement &movement, const ir::Move &statement) {
  return sendsPackets(movement, statement) && statement.via == ir::Via::Memory && statement.numDsts == 2 &&
         movement.srcs(statement)[0] == movement.dsts(statement)[0];
}

bool isPortPut(const ir::Move &statement) {
  return statement.via == ir::Via::Port && !statement.packets.value_or(false);
}

bool isPacketPlace(const ir::Movement &movement, const ir::Move &statement, std::uint32_t index) {
  if (!statement.packets.value_or(false))
    return false;
  if (sendsPackets(movement, statement))
    return index >= statement.numSrcs || relaysPackets(movement, statement);
  return statement.kind == ir::MoveKind::Copy ? index == 0 : index != 0 && index != statement.numSrcs;
}

StatementGraph::StatementGraph(const ir::Program &program) {
  findTouches(program);
  AccessHistory history(program.ranks.size(), touches_);
  std::vector<Dependence> found;
  first_.reserve(firstTouch_.size());
  first_.push_back(0);
  for (std::uint32_t s = 0; s < size(); ++s) {
    found.clear();
    for (const Touch &touch : touches(s))
      history.access(s, touch, found);
    tidy(found);
    dependences_.insert(dependences_.end(), found.begin(), found.end());
    first_.push_back(dependences_.size());
  }
  findLevels(program.movement);
}

void StatementGraph::findTouches(const ir::Program &program) {
  const ir::Movement &movement = program.movement;
  touches_.reserve(movement.places.size());
  firstTouch_.reserve(movement.statements.size() + 1);
  firstTouch_.push_back(0);
  for (const ir::Move &statement : movement.statements) {
    const bool relays = relaysPackets(movement, statement), packets = statement.packets.value_or(false);
    for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i) {
      if (relays && i == statement.numSrcs)
        continue; // this destination is also the source, and is not written
      const ir::RankChunk &place = movement.places[statement.firstPlace + i];
      const ir::DataForm form =
          packets && isPacketPlace(movement, statement, i) ? ir::DataForm::Packet : ir::DataForm::Plain;
      const ir::MemoryRange memory = ir::memoryOf(program, place.rank, place.buffer, place.index, place.size, form);
      if (memory.end > ~std::uint32_t{0})
        throw ir::InternalError("a statement touches chunk 2^32 - 1 or later");
      touches_.push_back({place.rank, static_cast<std::uint32_t>(memory.begin), static_cast<std::uint32_t>(memory.end),
                          memory.buffer, i < statement.numSrcs ? ir::Access::Read : ir::Access::Write, form});
    }
    firstTouch_.push_back(touches_.size());
  }
}

namespace {

/// True if `copy` stays within a rank, and brings the first operand of `sum` to the place of the result.
bool bringsFirst(const ir::Movement &movement, const ir::Move &copy, const ir::Move &sum) {
  return copy.kind == ir::MoveKind::Copy && sum.kind == ir::MoveKind::Reduce && !copy.via && copy.by == sum.by &&
         movement.dsts(copy)[0] == movement.srcs(sum)[0] && movement.dsts(copy)[0] == movement.dsts(sum)[0];
}

} // namespace

void StatementGraph::findLevels(const ir::Movement &movement) {
  levels_.assign(size(), 0);
  phases_.assign(size(), {});
  for (std::uint32_t s = 0; s < size(); ++s)
    for (const Dependence &dependence : dependences(s)) {
      levels_[s] = std::max(levels_[s], levels_[dependence.on] + 1);
      const Phase &before = phases_[dependence.on];
      const bool isHere = bringsFirst(movement, movement.statements[dependence.on], movement.statements[s]);
      const Phase after = isHere ? Phase{before.number, before.part + 1} : Phase{before.number + 1, 0};
      phases_[s] = std::max(phases_[s], after);
    }
}

StatementGraph StatementGraph::inOrder(std::span<const std::uint32_t> order) const {
  StatementGraph ordered;
  std::vector<std::uint32_t> now(order.size()); // [statement]: its number in `order`
  for (std::uint32_t i = 0; i < order.size(); ++i)
    now[order[i]] = i;
  ordered.touches_.reserve(touches_.size());
  ordered.dependences_.reserve(dependences_.size());
  ordered.firstTouch_.reserve(firstTouch_.size());
  ordered.first_.reserve(first_.size());
  ordered.levels_.reserve(levels_.size());
  ordered.phases_.reserve(phases_.size());
  ordered.firstTouch_.push_back(0);
  ordered.first_.push_back(0);
  for (const std::uint32_t s : order) {
    const auto its = touches(s);
    ordered.touches_.insert(ordered.touches_.end(), its.begin(), its.end());
    ordered.firstTouch_.push_back(ordered.touches_.size());
    for (const Dependence &d : dependences(s)) {
      ordered.dependences_.push_back(d);
      ordered.dependences_.back().on = now[d.on];
    }
    const auto first = ordered.dependences_.begin() + static_cast<std::ptrdiff_t>(ordered.first_.back());
    if (ordered.dependences_.end() - first > 1)
      std::sort(first, ordered.dependences_.end(), [](const auto &a, const auto &b) { return a.on < b.on; });
    ordered.first_.push_back(ordered.dependences_.size());
    ordered.levels_.push_back(levels_[s]);
    ordered.phases_.push_back(phases_[s]);
  }
  return ordered;
}

void StatementGraph::moveTouches(const ir::Program &program) {
  touches_.clear();
  firstTouch_.clear();
  findTouches(program);
}

} // namespace mscclc::passes::schedule
