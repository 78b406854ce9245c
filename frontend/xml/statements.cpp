#include "frontend/xml/statements.h"

#include "ir/memory_map.h"

#include <algorithm>
#include <utility>

namespace mscclc::xml {

namespace {

using ir::RankChunk;

class Writer {
public:
  Writer(const StepGraph &graph, const StepOrder &order, const StoredSums &stored, bool keepBlocks,
         ir::Program &program)
      : graph_(graph), order_(order), stored_(stored), keepBlocks_(keepBlocks), program_(program),
        messages_(graph.size()) {}

  void run() {
    for (std::uint32_t gpu = 0; gpu < graph_.schedule().gpus.size(); ++gpu)
      for (const Copy &copy : graph_.schedule().gpus[gpu].copies)
        write(gpu, copy);
    for (const std::uint32_t s : order_.steps)
      write(s);
  }

private:
  /// Appends a copy, unless its source and its destination are the same memory, which is possible in place.
  void write(std::uint32_t gpu, const Copy &copy) {
    const RankChunk src{gpu, ir::BufferKind::Input, copy.input, 1}, dst{gpu, ir::BufferKind::Output, copy.output, 1};
    const auto placeOf = [&](const RankChunk &chunk) {
      const ir::CanonicalPlace place = ir::canonicalPlace(program_, gpu, chunk.buffer, chunk.index);
      return std::pair(place.buffer, place.index);
    };
    if (placeOf(src) == placeOf(dst))
      return;
    ir::Move move;
    move.kind = ir::MoveKind::Copy;
    move.loc = copy.loc;
    if (keepBlocks_)
      move.by = gpu;
    program_.movement.append(move, {&src, 1}, {&dst, 1});
  }

  RankChunk at(std::uint32_t s, const BufferPlace &place) const {
    return {graph_.at(s).gpu, place.buffer, place.index, graph_.step(s).count};
  }
  /// Returns new scratch on the gpu of `s`, as long as the places of `s`.
  RankChunk scratch(std::uint32_t s) {
    std::uint32_t &used = program_.ranks[graph_.at(s).gpu].scratchChunks;
    const RankChunk made = at(s, {ir::BufferKind::Scratch, used});
    used += made.size;
    return made;
  }

  void append(ir::MoveKind kind, std::uint32_t s, std::uint32_t by, std::initializer_list<RankChunk> srcs,
              const RankChunk &dst) {
    append(kind, s, by, std::span(srcs.begin(), srcs.size()), dst);
  }
  /// Appends a statement for step `s`. `by`: the step whose thread block executes the statement.
  void append(ir::MoveKind kind, std::uint32_t s, std::uint32_t by, std::span<const RankChunk> srcs,
              const RankChunk &dst) {
    ir::Move move;
    move.kind = kind;
    move.loc = graph_.step(s).loc;
    if (keepBlocks_) {
      move.by = graph_.at(by).gpu;
      move.block = graph_.at(by).block;
    }
    program_.movement.append(move, srcs, {&dst, 1});
  }

  void write(std::uint32_t s) {
    const StepInfo &does = graph_.does(s);
    if (does.receives)
      receive(s, graph_.at(s).receivesFrom);
    else if (does.reduces)
      reduce(s);
    else if (does.writes)
      append(ir::MoveKind::Copy, s, s, {at(s, graph_.step(s).src)}, at(s, graph_.step(s).dst));
    if (!does.sends)
      return;
    if (const auto place = messagePlace(graph_, s, stored_))
      messages_[s] = at(s, *place);
    const bool taken = keepBlocks_ && graph_.does(graph_.at(s).sendsTo).reduces; // the receiver keeps the message
    if (order_.keeps[s] || taken) {
      const RankChunk kept = scratch(taken ? graph_.at(s).sendsTo : s);
      append(ir::MoveKind::Copy, s, s, {messages_[s]}, kept);
      messages_[s] = kept;
    }
  }

  void receive(std::uint32_t s, std::uint32_t sender) {
    const StepInfo &does = graph_.does(s);
    const Step &step = graph_.step(s);
    const RankChunk message = messages_[sender];
    if (!does.reduces)
      return append(ir::MoveKind::Copy, s, sender, {message}, at(s, step.dst));
    const RankChunk own = at(s, step.src);
    const RankChunk sum = does.writes ? at(s, step.dst) : stored_[s] ? own : scratch(s);
    messages_[s] = sum;
    append(ir::MoveKind::Reduce, s, s, {own, message}, sum);
  }

  /// Appends one statement for consecutive steps that reduce into one place, because MSCCL's interpreter has one
  /// operation for them. Only the first step may wait, and others can wait only for the last step.
  void reduce(std::uint32_t s) {
    const Step &step = graph_.step(s);
    if (const std::uint32_t next = graph_.after(s); next != noStep && goesOn(step, graph_.step(next)))
      return;
    std::vector<RankChunk> chain{at(s, step.src)};
    for (std::uint32_t k = s; graph_.before(k) != noStep && goesOn(graph_.step(k - 1), graph_.step(k)); --k)
      chain.push_back(at(k - 1, graph_.step(k - 1).src));
    chain.push_back(at(s, step.dst));
    std::ranges::reverse(chain);
    append(ir::MoveKind::Reduce, s, s, chain, at(s, step.dst));
  }

  /// True if one statement can do both steps. The operands must be equal or disjoint. Two places of equal length in one
  /// buffer are equal or disjoint if their beginnings have the same remainder modulo the length.
  bool goesOn(const Step &step, const Step &next) const {
    return step.kind == StepKind::Reduce && next.kind == StepKind::Reduce && !step.hasWaiters && !next.dependence &&
           next.dst == step.dst && next.count == step.count && next.src.buffer == step.src.buffer &&
           next.src.index % next.count == step.src.index % step.count && !mayOverlap(next);
  }
  /// True if the source of `step` may overlap its destination.
  bool mayOverlap(const Step &step) const {
    const std::uint64_t src = step.src.index, dst = step.dst.index;
    if (step.src.buffer == step.dst.buffer)
      return src < dst + step.count && dst < src + step.count;
    return graph_.schedule().inplace && step.src.buffer != ir::BufferKind::Scratch &&
           step.dst.buffer != ir::BufferKind::Scratch;
  }

  const StepGraph &graph_;
  const StepOrder &order_;
  const StoredSums &stored_;
  const bool keepBlocks_;
  ir::Program &program_;
  std::vector<RankChunk> messages_; ///< [sender]: the place of its message
};

} // namespace

void appendStatements(const StepGraph &graph, const StepOrder &order, const StoredSums &stored, bool keepBlocks,
                      ir::Program &program) {
  Writer(graph, order, stored, keepBlocks, program).run();
}

} // namespace mscclc::xml
