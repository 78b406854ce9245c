#include "frontend/xml/races.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace mscclc::xml {

namespace {

/// The number of completed steps of each thread block of a gpu; 0 for missing entries.
using Clock = std::vector<std::uint16_t>;

void advance(Clock &clock, const Clock &other) {
  if (clock.size() < other.size())
    clock.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

/// Two steps that touch the same cell.
struct Conflict {
  std::uint32_t earlier = 0, later = 0; ///< numbers of the steps; `earlier` comes first in the order
  bool earlierWrites = false, laterWrites = false;
  BufferPlace place;
};

/// Visits steps in an order. For each step it computes which steps of one gpu are complete when the step begins.
class GpuClocks {
public:
  /// `messages`: visit the steps of all gpus, so that messages also count as dependences.
  GpuClocks(const StepGraph &graph, std::uint32_t gpu, bool messages) : graph_(graph), gpu_(gpu), messages_(messages) {}

  /// Returns the clock at the beginning of `s`. All steps for which `s` waits must already be visited. If messages
  /// count, the sender of the message to `s` must be visited, too.
  const Clock &begin(std::uint32_t s) {
    const StepGraph::Node &node = graph_.at(s);
    Clock &clock = running_[{node.gpu, node.block}];
    for (const std::uint32_t other : {node.waitsFor, node.receivesFrom})
      if (const auto kept = kept_.find(other); kept != kept_.end()) {
        advance(clock, kept->second.clock);
        if (--kept->second.toCome == 0)
          kept_.erase(kept);
      }
    return clock;
  }
  void end(std::uint32_t s) {
    const StepGraph::Node &node = graph_.at(s);
    Clock &clock = running_[{node.gpu, node.block}];
    if (node.gpu == gpu_) {
      clock.resize(std::max(clock.size(), std::size_t{node.block} + 1));
      clock[node.block] = static_cast<std::uint16_t>(node.number + 1);
    }
    const std::size_t toCome = graph_.waitersOf(s).size() + (messages_ && node.sendsTo != noStep ? 1 : 0);
    if (toCome != 0 && !clock.empty())
      kept_.emplace(s, Kept{clock, toCome});
  }

private:
  /// The clock of a step, kept for the steps that wait for it.
  struct Kept {
    Clock clock;
    std::size_t toCome = 0; ///< number of steps that still wait for the step
  };

  const StepGraph &graph_;
  const std::uint32_t gpu_;
  const bool messages_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Clock> running_; ///< clock of each (gpu, block)
  std::unordered_map<std::uint32_t, Kept> kept_;
};

class RaceCheck {
public:
  RaceCheck(const StepGraph &graph, const ir::ChunkCells &cells, const StepOrder &order, Findings &findings)
      : graph_(graph), cells_(cells), order_(order), findings_(findings), lastWrite_(cells.size(), noStep),
        firstRead_(cells.size(), none) {
    stepsOf_.resize(graph.schedule().gpus.size());
    for (const std::uint32_t s : order.steps)
      stepsOf_[graph.at(s).gpu].push_back(s);
  }

  void run() {
    for (std::uint32_t gpu = 0; gpu < stepsOf_.size() && !findings_.full(); ++gpu)
      if (graph_.schedule().gpus[gpu].blocks.size() > 1 && !stepsOf_[gpu].empty())
        check(gpu);
  }

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::size_t mostOpen = std::size_t{1} << 20;
  static constexpr std::uint64_t mostWork = std::uint64_t{1} << 33; ///< so much work takes a few seconds

  struct Read {
    std::uint32_t step = 0, next = none;
  };

  /// Checks a gpu. First uses only the dependences inside the gpu, which are mostly enough.
  void check(std::uint32_t gpu) {
    findConflicts(gpu);
    if (open_.empty())
      return;
    work_ += std::uint64_t{graph_.size()} * graph_.schedule().gpus[gpu].blocks.size();
    if (work_ > mostWork || open_.size() == mostOpen) {
      if (!tooMuch_)
        findings_.report(diag::too_many_races, graph_.schedule().gpus[gpu].loc, {gpu});
      tooMuch_ = true;
      return;
    }
    std::ranges::sort(open_, {}, [this](const Conflict &c) { return position(c.later); });
    auto next = open_.begin();
    GpuClocks clocks(graph_, gpu, true);
    for (const std::uint32_t s : order_.steps) {
      const Clock &clock = clocks.begin(s);
      for (; next != open_.end() && next->later == s && !findings_.full(); ++next)
        if (!isOver(next->earlier, clock))
          report(*next);
      clocks.end(s);
    }
  }

  std::uint32_t position(std::uint32_t s) {
    if (positions_.empty()) {
      positions_.resize(graph_.size());
      for (std::uint32_t i = 0; i < order_.steps.size(); ++i)
        positions_[order_.steps[i]] = i;
    }
    return positions_[s];
  }

  bool isOver(std::uint32_t s, const Clock &clock) const {
    const StepGraph::Node &node = graph_.at(s);
    return node.block < clock.size() && clock[node.block] > node.number;
  }

  /// Stores in open_ the conflicts that the gpu's own dependences do not order.
  void findConflicts(std::uint32_t gpu) {
    open_.clear();
    seen_.clear();
    reads_.clear();
    GpuClocks clocks(graph_, gpu, false);
    for (const std::uint32_t s : stepsOf_[gpu]) {
      const Clock &clock = clocks.begin(s);
      const StepInfo &does = graph_.does(s);
      if (does.reads)
        read(s, graph_.step(s).src, clock);
      if (does.reduces && !does.receives)
        read(s, graph_.step(s).dst, clock);
      if (does.writes)
        write(s, graph_.step(s).dst, clock);
      clocks.end(s);
    }
  }

  void read(std::uint32_t s, const BufferPlace &place, const Clock &clock) {
    const std::size_t first = cells_.firstOf(graph_.at(s).gpu, place.buffer, place.index);
    for (std::uint32_t i = 0; i < graph_.step(s).count; ++i) {
      meet(lastWrite_[first + i], s, true, false, {place.buffer, place.index + i}, clock);
      reads_.push_back({s, firstRead_[first + i]});
      firstRead_[first + i] = static_cast<std::uint32_t>(reads_.size() - 1);
    }
  }

  void write(std::uint32_t s, const BufferPlace &place, const Clock &clock) {
    const std::size_t first = cells_.firstOf(graph_.at(s).gpu, place.buffer, place.index);
    for (std::uint32_t i = 0; i < graph_.step(s).count; ++i) {
      const BufferPlace chunk{place.buffer, place.index + i};
      meet(lastWrite_[first + i], s, true, true, chunk, clock);
      for (std::uint32_t r = firstRead_[first + i]; r != none; r = reads_[r].next)
        meet(reads_[r].step, s, false, true, chunk, clock);
      lastWrite_[first + i] = s;
      firstRead_[first + i] = none;
    }
  }

  void meet(std::uint32_t earlier, std::uint32_t later, bool earlierWrites, bool laterWrites, const BufferPlace &place,
            const Clock &clock) {
    if (earlier == noStep || earlier == later || isOver(earlier, clock) || open_.size() == mostOpen)
      return;
    if (seen_.emplace(earlier, later).second)
      open_.push_back({earlier, later, earlierWrites, laterWrites, place});
  }

  void report(const Conflict &conflict) {
    const ir::RankChunk chunk{graph_.at(conflict.later).gpu, conflict.place.buffer, conflict.place.index, 1};
    const auto verb = [](bool writes) { return writes ? "writes" : "reads"; };
    const std::string earlier = graph_.describe(conflict.earlier);
    findings_
        .report(diag::schedule_race, graph_.step(conflict.later).loc,
                {ir::describe(chunk), graph_.describe(conflict.later), verb(conflict.laterWrites), earlier,
                 verb(conflict.earlierWrites)})
        .note(diag::race_other, graph_.step(conflict.earlier).loc, {earlier});
  }

  const StepGraph &graph_;
  const ir::ChunkCells &cells_;
  const StepOrder &order_;
  Findings &findings_;
  std::vector<std::vector<std::uint32_t>> stepsOf_; ///< [gpu]: its steps, in the order of execution
  std::vector<std::uint32_t> lastWrite_;            ///< [cell]
  std::vector<std::uint32_t> firstRead_;            ///< [cell]: index into reads_ of the reads since the last write
  std::vector<Read> reads_;
  std::vector<std::uint32_t> positions_; ///< [step]: position in the order
  std::vector<Conflict> open_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
  std::uint64_t work_ = 0;
  bool tooMuch_ = false;
};

/// Checks the <copy> elements of gpus, which have no order. A copy of a chunk onto itself moves nothing.
class CopyCheck {
public:
  CopyCheck(const Schedule &schedule, const ir::ChunkCells &cells, Findings &findings)
      : schedule_(schedule), cells_(cells), findings_(findings), writer_(cells.size()) {}

  void run() {
    for (std::uint32_t gpu = 0; gpu < schedule_.gpus.size(); ++gpu) {
      for (const Copy &copy : schedule_.gpus[gpu].copies)
        write(gpu, copy);
      for (const Copy &copy : schedule_.gpus[gpu].copies)
        read(gpu, copy);
    }
  }

private:
  std::size_t from(std::uint32_t gpu, const Copy &copy) const {
    return cells_.firstOf(gpu, ir::BufferKind::Input, copy.input);
  }
  std::size_t to(std::uint32_t gpu, const Copy &copy) const {
    return cells_.firstOf(gpu, ir::BufferKind::Output, copy.output);
  }

  void write(std::uint32_t gpu, const Copy &copy) {
    const Copy *&other = writer_[to(gpu, copy)];
    if (other && from(gpu, *other) != from(gpu, copy))
      report({gpu, ir::BufferKind::Output, copy.output, 1}, copy, "writes", *other);
    other = &copy;
  }

  void read(std::uint32_t gpu, const Copy &copy) {
    const Copy *writer = writer_[from(gpu, copy)];
    if (writer && from(gpu, *writer) != from(gpu, copy) && from(gpu, copy) != to(gpu, copy))
      report({gpu, ir::BufferKind::Input, copy.input, 1}, copy, "reads", *writer);
  }

  void report(const ir::RankChunk &chunk, const Copy &copy, std::string_view verb, const Copy &writer) {
    if (!findings_.full())
      findings_.report(diag::copies_meet, copy.loc, {ir::describe(chunk), verb})
          .note(diag::race_other, writer.loc, {"the other <copy>"});
  }

  const Schedule &schedule_;
  const ir::ChunkCells &cells_;
  Findings &findings_;
  std::vector<const Copy *> writer_; ///< [cell]
};

} // namespace

void checkRaces(const StepGraph &graph, const ir::ChunkCells &cells, const StepOrder &order, Findings &findings) {
  CopyCheck(graph.schedule(), cells, findings).run();
  RaceCheck(graph, cells, order, findings).run();
}

} // namespace mscclc::xml
