#include "passes/schedule/statement_graph.h"

#include "ir/program_index.h"

#include <algorithm>
#include <array>

namespace mscclc::passes::schedule {
namespace {

/// Who wrote and read each chunk of memory last, while statements are gone through in their order.
class AccessHistory {
public:
  explicit AccessHistory(std::size_t ranks) : cells_(ranks) {}

  /// `statement` makes this access. Appends the earlier statements that it depends on to `found`.
  void access(std::uint32_t statement, const Touch &touch, std::vector<Dependence> &found) {
    const bool reads = touch.access == ir::Access::Read;
    for (Cell &cell : cellsOf(touch)) {
      if (cell.writer != ir::none && cell.writer != statement)
        found.push_back({cell.writer, !reads ? Hazard::Reuse : cell.packets ? Hazard::Packets : Hazard::Value});
      if (reads) {
        readers_.push_back({statement, cell.lastReader});
        cell.lastReader = static_cast<std::uint32_t>(readers_.size() - 1);
        continue;
      }
      for (std::uint32_t r = cell.lastReader; r != ir::none; r = readers_[r].previous)
        if (readers_[r].statement != statement)
          found.push_back({readers_[r].statement, Hazard::Reuse});
      cell = {statement, touch.form == ir::DataForm::Packet, ir::none};
    }
  }

private:
  /// A chunk of memory: who wrote it last, and who has read it since.
  struct Cell {
    std::uint32_t writer = ir::none;
    bool packets = false;                ///< what lies there
    std::uint32_t lastReader = ir::none; ///< into readers_
  };
  struct Reader {
    std::uint32_t statement, previous;
  };

  /// Cells grow as they are touched.
  std::span<Cell> cellsOf(const Touch &touch) {
    std::vector<Cell> &cells = cells_[touch.rank][static_cast<std::size_t>(touch.memory.buffer)];
    if (cells.size() < touch.memory.end)
      cells.resize(std::max<std::size_t>(touch.memory.end, 2 * cells.size()));
    return std::span(cells).subspan(touch.memory.begin, touch.memory.end - touch.memory.begin);
  }

  std::vector<std::array<std::vector<Cell>, 3>> cells_; ///< [rank][buffer]
  std::vector<Reader> readers_;                         ///< of all cells
};

} // namespace

bool sendsPackets(const ir::Movement &movement, const ir::Move &statement) {
  return statement.packets.value_or(false) && statement.kind == ir::MoveKind::Copy &&
         movement.dsts(statement).back().rank != *statement.by;
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
  return statement.kind == ir::MoveKind::Copy ? index == 0 : index != 0 && index < statement.numSrcs;
}

StatementGraph::StatementGraph(const ir::Program &program) {
  const ir::Movement &movement = program.movement;
  AccessHistory history(program.ranks.size());
  std::vector<Dependence> found;
  touches_.reserve(movement.places.size());
  firstTouch_.reserve(movement.statements.size() + 1);
  first_.reserve(movement.statements.size() + 1);
  firstTouch_.push_back(0);
  first_.push_back(0);
  for (std::uint32_t s = 0; s < movement.statements.size(); ++s) {
    addTouches(program, movement.statements[s]);
    found.clear();
    for (const Touch &touch : touches(s))
      history.access(s, touch, found);
    std::ranges::sort(found, [](const Dependence &a, const Dependence &b) {
      return a.on != b.on ? a.on < b.on : a.hazard < b.hazard;
    });
    const auto repeated = std::ranges::unique(found, {}, &Dependence::on);
    dependences_.insert(dependences_.end(), found.begin(), repeated.begin());
    first_.push_back(dependences_.size());
  }
}

/// Adds those of the next statement.
void StatementGraph::addTouches(const ir::Program &program, const ir::Move &statement) {
  const ir::Movement &movement = program.movement;
  const bool relays = relaysPackets(movement, statement);
  for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i) {
    if (relays && i == statement.numSrcs)
      continue; // its source, which it does not write
    const ir::RankChunk &place = movement.places[statement.firstPlace + i];
    const ir::DataForm form = isPacketPlace(movement, statement, i) ? ir::DataForm::Packet : ir::DataForm::Plain;
    touches_.push_back({place.rank, ir::memoryOf(program, place.rank, place.buffer, place.index, place.size, form),
                        i < statement.numSrcs ? ir::Access::Read : ir::Access::Write, form});
  }
  firstTouch_.push_back(touches_.size());
}

std::vector<std::uint32_t> levelsOf(const StatementGraph &graph) {
  std::vector<std::uint32_t> levels(graph.size(), 0);
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    for (const Dependence &dependence : graph.dependences(s))
      levels[s] = std::max(levels[s], levels[dependence.on] + 1);
  return levels;
}

} // namespace mscclc::passes::schedule
