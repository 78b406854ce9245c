// Movement programs built by hand.
#pragma once

#include "catch.h"
#include "ir/program.h"
#include "passes/schedule/meaning.h"

#include <string>
#include <vector>

namespace mscclc::passes::schedule {

inline ir::RankChunk in(std::uint32_t rank, std::uint32_t index, std::uint32_t size = 1) {
  return {rank, ir::BufferKind::Input, index, size};
}
inline ir::RankChunk out(std::uint32_t rank, std::uint32_t index, std::uint32_t size = 1) {
  return {rank, ir::BufferKind::Output, index, size};
}
inline ir::RankChunk scratch(std::uint32_t rank, std::uint32_t index, std::uint32_t size = 1) {
  return {rank, ir::BufferKind::Scratch, index, size};
}

using RankChunks = std::vector<ir::RankChunk>;

/// Output chunk `share` of all `ranks`, from the rank of that number on and around.
inline RankChunks outOfAll(std::uint32_t share, std::uint32_t ranks) {
  RankChunks all;
  for (std::uint32_t step = 0; step < ranks; ++step)
    all.push_back(out((share + step) % ranks, share));
  return all;
}

/// A program of statements without locations: findings are at "statement 0", "statement 1", …
class Statements {
public:
  ir::Program program;

  Statements(ir::CollectiveKind kind, std::uint32_t ranks, std::uint32_t inputs, std::uint32_t outputs,
             bool inplace = false, std::uint32_t scratchChunks = 0) {
    program.name = "by hand";
    program.schedule = ir::Schedule::Auto;
    program.collective.kind = kind;
    program.collective.name = toString(kind);
    program.collective.inplace = inplace;
    program.ranks.resize(ranks);
    for (ir::Rank &rank : program.ranks) {
      rank.inputChunks = inputs;
      rank.outputChunks = outputs;
      rank.scratchChunks = scratchChunks;
    }
  }
  Statements &copy(const RankChunks &dsts, ir::RankChunk src) {
    program.movement.append({.kind = ir::MoveKind::Copy}, {{src}}, dsts);
    return *this;
  }
  Statements &apply(const ir::RankChunk &place, std::uint32_t hook = 0) {
    program.movement.append({.kind = ir::MoveKind::Apply, .hook = hook}, {{place}}, {{place}});
    return *this;
  }
  Statements &reduce(const RankChunks &dsts, const RankChunks &srcs, ir::ReduceOp op = ir::ReduceOp::Sum) {
    program.movement.append({.kind = ir::MoveKind::Reduce, .reduceOp = op}, srcs, dsts);
    return *this;
  }
};

using Lines = std::vector<std::string>;

/// Returns the statements as "0.o0 <- 1.i0 2.i0:2": output 0 of rank 0, of input 0 of rank 1 and inputs 0 and 1 of
/// rank 2.
inline Lines linesOf(const ir::Movement &movement) {
  const auto show = [](const ir::RankChunk &place) {
    return std::to_string(place.rank) + "." + toString(place.buffer)[0] + std::to_string(place.index) +
           (place.size == 1 ? "" : ":" + std::to_string(place.index + place.size));
  };
  Lines lines;
  for (const ir::Move &move : movement.statements) {
    std::string line;
    for (const ir::RankChunk &dst : movement.dsts(move))
      line += show(dst) + " ";
    line += "<-";
    for (const ir::RankChunk &src : movement.srcs(move))
      line += " " + show(src);
    lines.push_back(line);
  }
  return lines;
}

struct Asked {
  std::optional<Meaning> meaning;
  std::string text; ///< all findings, as they are shown
  std::uint64_t errors = 0, warnings = 0;
};

inline Asked ask(const ir::Program &program) {
  ir::DiagnosticEngine diags;
  Asked asked{meaningOf(program, diags), {}, 0, 0};
  asked.text = diags.render(false);
  asked.errors = diags.numErrors();
  asked.warnings = diags.numWarnings();
  CHECK(asked.meaning.has_value() == (asked.errors == 0));
  return asked;
}
inline Asked ask(const Statements &statements) {
  return ask(statements.program);
}

} // namespace mscclc::passes::schedule
