#include "passes/schedule/wire_hops.h"

#include "passes/schedule/partial_sums.h"
#include "passes/schedule/placement.h"
#include "passes/schedule/statement_findings.h"
#include "passes/schedule/statement_rewrite.h"

#include <algorithm>
#include <map>
#include <optional>

namespace mscclc::passes::schedule {
namespace {

using ir::BufferKind;
using ir::Move;
using ir::MoveKind;
using ir::RankChunk;
using proof::ValueId;

class WireHops {
public:
  WireHops(ir::Program &program, ir::DiagnosticEngine &diags)
      : program_(program), given_(program.movement), values_(program), findings_(program, diags), result_(program) {}

  bool run() {
    values_.partialSums([this](std::uint32_t maker, std::uint32_t adder) { refusePartial(maker, adder); });
    values_.eachStatement([this](std::uint32_t s, const ChunkMemory &memory) {
      checkWay(s, memory);
      findSent(given_.statements[s], memory);
    });
    if (findings_.errors() != 0)
      return false;
    values_.eachStatement(
        [this](std::uint32_t s, const ChunkMemory &memory) { rewrite(given_.statements[s], memory); });
    result_.moveInto(program_);
    return true;
  }

private:
  /// The places in scratch that hold what a chunk needs. The chunk's number is subtracted from each index, so that
  /// consecutive places have equal indices.
  using Found = std::vector<std::optional<RankChunk>>;

  /// Chunks [begin, end) of a statement, and the places in scratch that hold what these chunks need.
  struct Run {
    std::uint32_t begin, end;
    const Found &found;

    RankChunk of(const RankChunk &place) const { return pieceOf(place, begin, end - begin); }
    std::optional<RankChunk> at(std::size_t i) const { return found[i] ? std::optional(of(*found[i])) : std::nullopt; }
  };

  std::uint32_t sizeOf(const Move &move) const { return given_.places[move.firstPlace].size; }
  /// Returns the rank of a reduction's result, or of a copy's source.
  std::uint32_t homeOf(const Move &move) const {
    return move.kind == MoveKind::Reduce ? given_.dsts(move)[0].rank : given_.srcs(move)[0].rank;
  }

  void refusePartial(std::uint32_t maker, std::uint32_t adder) {
    if (!findings_.isNew(diag::wire_partial_sum, maker))
      return;
    const std::uint32_t from = homeOf(given_.statements[maker]), to = homeOf(given_.statements[adder]);
    const std::string way = from == to ? "into the next one, on rank " + std::to_string(to)
                                       : "from rank " + std::to_string(from) + " to rank " + std::to_string(to);
    findings_.report(diag::wire_partial_sum, maker, {ir::nounOf(given_.statements[maker].reduceOp), way})
        .note(diag::wire_added_here, findings_.where(adder));
  }

  void checkWay(std::uint32_t s, const ChunkMemory &memory) {
    const Move &move = given_.statements[s];
    std::string_view what, why;
    if (std::ranges::all_of(given_.placesOf(move), [&](const RankChunk &p) { return p.rank == homeOf(move); }))
      return;
    else if (move.via == ir::Via::Switch)
      what = "goes through the switch", why = "a switch adds elements of the message";
    else if (move.via == ir::Via::Port || std::ranges::any_of(given_.placesOf(move), [&](const RankChunk &p) {
               return !given_.sameNode(p.rank, homeOf(move));
             }))
      what = "goes through ports", why = "these move whole chunks; name one node";
    else if (takesApplied(move, memory))
      what = "takes what a hook has made to another rank", why = "apply the hook on each rank, after the copy";
    else if (move.kind == MoveKind::Copy && sendsInput(move, memory))
      what = "copies an input to another rank", why = "its owner would have another value; wire formats are for sums";
    if (!what.empty() && findings_.isNew(diag::wire_way, s))
      findings_.report(diag::wire_way, s, {what, why});
  }

  bool takesApplied(const Move &move, const ChunkMemory &memory) const {
    return std::ranges::any_of(given_.srcs(move), [&](const RankChunk &src) {
      for (std::uint32_t i = 0; i < src.size; ++i)
        if (values_.isApplied(memory[memory.firstOf(src) + i].value))
          return true;
      return false;
    });
  }

  /// True if an input, rather than a sum, becomes the output of another rank.
  bool sendsInput(const Move &move, const ChunkMemory &memory) const {
    const RankChunk &src = given_.srcs(move)[0];
    const auto isOutput = [&](const RankChunk &dst) { return dst.rank != src.rank && !isScratch(dst); };
    if (std::ranges::none_of(given_.dsts(move), isOutput))
      return false;
    for (std::uint32_t i = 0; i < src.size; ++i)
      if (!values_.isSum(memory[memory.firstOf(src) + i].value))
        return true;
    return false;
  }

  /// Notes the values that leave a rank.
  void findSent(const Move &move, const ChunkMemory &memory) {
    const std::uint32_t home = homeOf(move);
    const auto leaves = [&](const RankChunk &place) { return place.rank != home; };
    const bool sendsResult = std::ranges::any_of(given_.dsts(move), leaves);
    for (std::uint32_t i = 0; sendsResult && i < sizeOf(move); ++i)
      sent_.insert(values_.resultOf(move, memory, i));
  }

  /// Cuts a statement into runs of chunks for which scratch holds the same operands, and rewrites each run.
  /// Applications of hooks stay, because they take decoded values.
  void rewrite(const Move &move, const ChunkMemory &memory) {
    if (move.kind == MoveKind::Apply)
      return result_.made.append(move, given_.srcs(move), given_.dsts(move));
    eachRun(
        sizeOf(move), [&](std::uint32_t i) { return foundOf(move, memory, i); },
        [&](std::uint32_t begin, std::uint32_t end, const Found &found) {
          if (move.kind == MoveKind::Reduce)
            reduce(move, {begin, end, found}, memory);
          else
            copy(move, {begin, end, found}, memory);
        });
  }

  /// Returns the places at which chunk `i` of each operand is in the wire format; nothing for an operand that is not.
  /// For a copy, the elements are a place on the source's rank, then a place on each destination's rank. For a
  /// reduction, they are the operands' places on the result's rank, then the operands' places on their own ranks. A
  /// last element has a value if the result is sent.
  Found foundOf(const Move &move, const ChunkMemory &memory, std::uint32_t i) {
    Found found;
    const auto srcs = given_.srcs(move), dsts = given_.dsts(move);
    const auto add = [&](const RankChunk &src, std::uint32_t rank) {
      const auto known = encoded_.find({rank, memory[memory.firstOf(src) + i].value});
      if (src.rank == rank && isScratch(src))
        found.push_back(RankChunk{rank, src.buffer, src.index, 1});
      else if (known == encoded_.end())
        found.push_back(std::nullopt);
      else
        found.push_back(RankChunk{rank, BufferKind::Scratch, known->second - i, 1});
    };
    if (move.kind == MoveKind::Copy) {
      add(srcs[0], srcs[0].rank);
      for (const RankChunk &dst : dsts)
        add(srcs[0], dst.rank);
      return found;
    }
    for (const RankChunk &src : srcs)
      add(src, homeOf(move));
    for (const RankChunk &src : srcs)
      add(src, src.rank);
    const bool isSent = sent_.contains(values_.resultOf(move, memory, i));
    found.push_back(isSent ? std::optional(RankChunk{}) : std::nullopt);
    return found;
  }

  RankChunk slot(std::uint32_t rank, std::uint32_t size) {
    const RankChunk made{rank, BufferKind::Scratch, result_.scratch[rank], size};
    result_.scratch[rank] += size;
    return made;
  }
  /// Appends a copy for `statement`. The rank of `src` executes it.
  void copyTo(const Move &statement, const RankChunk &dst, const RankChunk &src) {
    Move copy;
    copy.loc = statement.loc;
    copy.by = src.rank;
    if (dst.rank != src.rank)
      copy.packets = statement.packets;
    result_.made.append(copy, {&src, 1}, {&dst, 1});
  }
  /// Copies the run's chunks of `src` to scratch of `rank`. If `from` already has these chunks in the wire format,
  /// copies them from there.
  RankChunk bring(const Move &move, const Run &run, const ChunkMemory &memory, const RankChunk &src,
                  const std::optional<RankChunk> &from, std::uint32_t rank) {
    const RankChunk to = slot(rank, run.end - run.begin);
    copyTo(move, to, from ? *from : run.of(src));
    for (std::uint32_t i = run.begin; i < run.end; ++i)
      encoded_.try_emplace({rank, memory[memory.firstOf(src) + i].value}, to.index + i - run.begin);
    return to;
  }

  void copy(const Move &move, const Run &run, const ChunkMemory &memory) {
    const RankChunk &src = given_.srcs(move)[0];
    const auto dsts = given_.dsts(move);
    const auto isLocal = [&](const RankChunk &dst) { return dst.rank == src.rank; };
    std::optional<RankChunk> from = run.at(0);
    if (!from && std::ranges::count_if(dsts, isLocal) + 1 < std::ssize(dsts)) // values are encoded only once
      from = bring(move, run, memory, src, from, src.rank);
    for (std::size_t d = 0; d < dsts.size(); ++d) {
      const RankChunk dst = run.of(dsts[d]);
      if (isLocal(dst) || isScratch(dst))
        copyTo(move, dst, from ? *from : run.of(src));
      else if (const auto there = run.at(1 + d))
        copyTo(move, dst, *there);
      else
        copyTo(move, dst, bring(move, run, memory, src, from, dst.rank));
    }
  }

  void reduce(const Move &move, const Run &run, const ChunkMemory &memory) {
    const std::uint32_t home = homeOf(move);
    const auto srcs = given_.srcs(move), dsts = given_.dsts(move);
    // Values in scratch came from other ranks, or go to other ranks.
    const bool takesOthers =
        std::ranges::any_of(srcs, [&](const RankChunk &src) { return src.rank != home || isScratch(src); });
    std::vector<RankChunk> operands;
    for (std::size_t i = 0; i < srcs.size(); ++i) {
      if (const auto here = run.at(i))
        operands.push_back(*here);
      else
        operands.push_back(takesOthers ? bring(move, run, memory, srcs[i], run.at(srcs.size() + i), home)
                                       : run.of(srcs[i]));
    }
    Move sum = move;
    sum.by = home;
    std::vector<RankChunk> results;
    if (!run.found.back()) {
      for (const RankChunk &dst : dsts)
        results.push_back(run.of(dst));
      result_.made.append(sum, operands, results);
      return;
    }
    const RankChunk kept = slot(home, run.end - run.begin);
    result_.made.append(sum, operands, {&kept, 1});
    for (std::uint32_t i = run.begin; i < run.end; ++i)
      encoded_.try_emplace({home, values_.resultOf(move, memory, i)}, kept.index + i - run.begin);
    for (const RankChunk &whole : dsts) {
      const RankChunk dst = run.of(whole);
      if (dst.rank == home || isScratch(dst)) {
        copyTo(move, dst, kept);
        continue;
      }
      const RankChunk there = slot(dst.rank, dst.size);
      copyTo(move, there, kept);
      copyTo(move, dst, there);
    }
  }

  ir::Program &program_;
  const ir::Movement &given_;
  StatementValues values_;
  StatementFindings findings_;
  StatementRewrite result_;
  std::unordered_set<ValueId> sent_;
  std::map<std::pair<std::uint32_t, ValueId>, std::uint32_t> encoded_; ///< [rank, value]: chunk with the encoded value
};

} // namespace

bool placeWire(ir::Program &program, ir::DiagnosticEngine &diags) {
  return !ir::wireOf(program) || WireHops(program, diags).run();
}

} // namespace mscclc::passes::schedule
