#include "compiler/outputs/dsl/statements.h"

#include "compiler/outputs/dsl/no_source.h"
#include "compiler/outputs/dsl/script.h"
#include "ir/chunk_cells.h"
#include "ir/collectives.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace mscclc::dsl {
namespace {

using ir::Move;
using ir::RankChunk;

/// Writes one statement as a call of one rank.
class CallWriter {
public:
  CallWriter(const ir::Movement &movement, std::uint32_t rank, Templates &templates, std::vector<Node> &lines)
      : movement_(movement), rank_(rank), templates_(templates), lines_(lines) {}

  void write(const Move &statement) {
    const auto srcs = movement_.srcs(statement), dsts = movement_.dsts(statement);
    std::string text;
    switch (statement.kind) {
    case ir::MoveKind::Copy:
      text = "copy(" + (dsts.size() == 1 ? place(dsts[0]) : list(dsts)) + ", ";
      text += place(srcs[0]);
      break;
    case ir::MoveKind::Reduce:
      if (dsts.size() != 1)
        throw NoSource{"a reduction that stores its result at several places"};
      text = "reduce(" + place(dsts[0]) + ", ";
      if (srcs[0] != dsts[0])
        text += place(srcs[0]) + ", ";
      text += list(srcs.subspan(1));
      break;
    case ir::MoveKind::Apply:
      throw NoSource{"it applies a hook, whose declaration is not written"};
    }
    text += options(statement);
    line(text + ");", std::move(values_));
  }

private:
  void line(const std::string &text, std::vector<std::int64_t> values) {
    Node &node = lines_.emplace_back(Node{.text = templates_.idOf(text), .values = std::move(values)});
    node.setShape();
  }

  std::string place(const RankChunk &place) {
    const bool isOwn = place.rank == rank_;
    if (!isOwn)
      values_.push_back(place.rank);
    values_.insert(values_.end(), {place.index, place.size});
    switch (place.buffer) {
    case ir::BufferKind::Input:
      return isOwn ? "input%s" : "Rank(%p).input()%s";
    case ir::BufferKind::Output:
      return isOwn ? "output%s" : "Rank(%p).output()%s";
    case ir::BufferKind::Scratch:
      break;
    }
    return isOwn ? "scratch%s" : "scratches[%p]%s";
  }

  /// Returns the text for a list of chunks. A long list gets the name `others`, and lines before the call fill it.
  std::string list(std::span<const RankChunk> places) {
    std::string text;
    if (places.size() <= othersInCall) {
      for (const RankChunk &one : places)
        text += (text.empty() ? "{" : ", ") + place(one);
      return text + "}";
    }
    std::vector<std::int64_t> outer = std::exchange(values_, {});
    line("others.clear();", {});
    for (const RankChunk &one : places) {
      const std::string pushed = place(one);
      line("others.push_back(" + pushed + ");", std::exchange(values_, {}));
    }
    values_ = std::move(outer);
    return "others";
  }

  std::string options(const Move &statement) const {
    std::string text;
    const auto add = [&](const std::string &option) { text += (text.empty() ? "" : ", ") + option; };
    if (statement.via)
      add(*statement.via == ir::Via::Switch ? ".via = Via::Switch"
          : *statement.via == ir::Via::Port ? ".via = Via::Port"
                                            : ".via = Via::Memory");
    if (statement.by)
      add(".by = " + std::to_string(*statement.by));
    if (statement.block)
      add(".on = tb(" + std::to_string(*statement.block) + ")");
    if (statement.packets)
      add(*statement.packets ? ".packets = true" : ".packets = false");
    if (statement.kind == ir::MoveKind::Reduce && statement.reduceOp != ir::ReduceOp::Sum)
      add(".op = " + std::string(reduceOpText(statement.reduceOp)));
    return text.empty() ? text : ", {" + text + "}";
  }

  const ir::Movement &movement_;
  std::uint32_t rank_;
  Templates &templates_;
  std::vector<Node> &lines_;
  std::vector<std::int64_t> values_;
};

/// A way to choose the rank of a statement.
using RankOf = std::function<std::uint32_t(const Move &)>;

/// The ranks that read and write a chunk by the statements of the current section.
struct Cell {
  static constexpr std::uint32_t nobody = 0xffffffff, several = nobody - 1;
  std::size_t section = 0;
  std::uint32_t reader = nobody, writer = nobody;
};

/// Returns the index of the first statement of each section.
std::vector<std::size_t> sectionsBy(const ir::Program &program, const RankOf &rankOf) {
  const ir::Movement &movement = program.movement;
  const ir::ChunkCells cells(program);
  std::vector<Cell> known(cells.size());
  std::vector<std::size_t> firsts{0};
  for (std::size_t s = 0; s < movement.statements.size(); ++s) {
    const Move &statement = movement.statements[s];
    const std::uint32_t rank = rankOf(statement);
    const auto forCells = [&](std::span<const RankChunk> places, auto &&then) {
      for (const RankChunk &place : places)
        for (std::uint32_t i = 0; i < place.size; ++i) {
          Cell &cell = known[cells.firstOf(place) + i];
          if (cell.section != firsts.size())
            cell = {firsts.size()};
          then(cell);
        }
    };
    const auto isOther = [&](std::uint32_t one) { return one != Cell::nobody && one != rank; };
    bool depends = false;
    forCells(movement.srcs(statement), [&](const Cell &cell) { depends |= isOther(cell.writer); });
    forCells(movement.dsts(statement),
             [&](const Cell &cell) { depends |= isOther(cell.writer) || isOther(cell.reader); });
    if (depends)
      firsts.push_back(s);
    forCells(movement.srcs(statement), [&](Cell &cell) { cell.reader = isOther(cell.reader) ? Cell::several : rank; });
    forCells(movement.dsts(statement), [&](Cell &cell) { cell.writer = rank; });
  }
  return firsts;
}

} // namespace

std::vector<RankLines> statementSections(const ir::Program &program, Templates &templates) {
  const ir::Movement &movement = program.movement;
  const auto ranks = static_cast<std::uint32_t>(program.ranks.size());
  const std::uint32_t share = ir::chunksOfShare(program);
  const RankOf ways[] = {
      [&](const Move &statement) { return movement.dsts(statement)[0].index / share % ranks; },
      [&](const Move &statement) { return movement.dsts(statement)[0].rank; },
  };
  std::vector<std::size_t> firsts = sectionsBy(program, ways[0]);
  const RankOf *way = &ways[0];
  if (std::vector<std::size_t> others = sectionsBy(program, ways[1]); others.size() < firsts.size()) {
    firsts = std::move(others);
    way = &ways[1];
  }
  firsts.push_back(movement.statements.size());
  std::vector<RankLines> sections;
  for (std::size_t i = 0; i + 1 < firsts.size(); ++i) {
    RankLines &lines = sections.emplace_back(ranks);
    for (std::size_t s = firsts[i]; s < firsts[i + 1]; ++s) {
      const std::uint32_t rank = (*way)(movement.statements[s]);
      CallWriter(movement, rank, templates, lines[rank]).write(movement.statements[s]);
    }
  }
  return sections;
}

} // namespace mscclc::dsl
