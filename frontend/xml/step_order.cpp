#include "frontend/xml/step_order.h"

#include <algorithm>
#include <deque>
#include <set>

namespace mscclc::xml {

namespace {

class Ordering {
public:
  Ordering(const StepGraph &graph, const ir::ChunkCells &cells, const StoredSums &stored)
      : graph_(graph), cells_(cells), stored_(stored), missing_(graph.size()), over_(graph.size()),
        blocked_(graph.size()), checked_(graph.size()), firstOfCell_(cells.size(), none) {
    order_.keeps.resize(graph.size());
  }

  StepOrder run() {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      const StepGraph::Node &node = graph_.at(s);
      missing_[s] = static_cast<std::uint8_t>((graph_.before(s) != noStep) + (node.waitsFor != noStep) +
                                              (node.receivesFrom != noStep));
      if (missing_[s] == 0)
        ready_.push_back(s);
    }
    while (!ready_.empty() || !waiting_.empty()) {
      if (ready_.empty())
        keepMessages();
      const std::uint32_t s = ready_.front();
      ready_.pop_front();
      if (!waits(s))
        take(s);
    }
    return std::move(order_);
  }

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// A message that is in a cell. The messages of a cell form a list.
  struct Held {
    std::uint32_t sender = 0, next = none;
  };

  /// Returns the chunks that `s` overwrites, or nothing.
  std::optional<BufferPlace> overwrites(std::uint32_t s) const {
    if (graph_.does(s).writes)
      return graph_.step(s).dst;
    return stored_[s] ? std::optional(graph_.step(s).src) : std::nullopt;
  }

  /// True if `s` would overwrite a message that was not received yet. Then this message blocks `s`.
  bool waits(std::uint32_t s) {
    const auto place = overwrites(s);
    if (!place)
      return false;
    const std::size_t first = cells_.firstOf(graph_.at(s).gpu, place->buffer, place->index);
    for (std::uint32_t &i = checked_[s]; i < graph_.step(s).count; ++i) {
      std::uint32_t &held = firstOfCell_[first + i];
      while (held != none && over_[held_[held].sender])
        held = held_[held].next;
      if (held == none)
        continue;
      blocked_[held_[held].sender].push_back(s);
      waiting_.insert(s);
      return true;
    }
    return false;
  }

  void take(std::uint32_t s) {
    order_.steps.push_back(s);
    const StepGraph::Node &node = graph_.at(s);
    if (const auto place = messagePlace(graph_, s, stored_)) {
      const std::size_t first = cells_.firstOf(node.gpu, place->buffer, place->index);
      for (std::uint32_t i = 0; i < graph_.step(s).count; ++i) {
        held_.push_back({s, firstOfCell_[first + i]});
        firstOfCell_[first + i] = static_cast<std::uint32_t>(held_.size() - 1);
      }
    }
    if (node.receivesFrom != noStep)
      release(node.receivesFrom);
    arrive(graph_.after(s));
    arrive(node.sendsTo);
    for (const std::uint32_t waiter : graph_.waitersOf(s))
      arrive(waiter);
  }

  void arrive(std::uint32_t s) {
    if (s != noStep && --missing_[s] == 0)
      ready_.push_back(s);
  }

  /// Marks that the message of `sender` no longer needs its place.
  void release(std::uint32_t sender) {
    if (over_[sender])
      return;
    over_[sender] = true;
    for (const std::uint32_t s : blocked_[sender]) {
      waiting_.erase(s);
      ready_.push_back(s);
    }
    blocked_[sender].clear();
  }

  /// Called if every remaining step would overwrite a message. Keeps all these messages elsewhere, and not just one, so
  /// that equivalent ranks stay equivalent.
  void keepMessages() {
    const std::vector<std::uint32_t> waiting(waiting_.begin(), waiting_.end());
    for (const std::uint32_t s : waiting) {
      const std::size_t first = cells_.firstOf(graph_.at(s).gpu, overwrites(s)->buffer, overwrites(s)->index);
      for (std::uint32_t i = 0; i < graph_.step(s).count; ++i) {
        for (std::uint32_t held = firstOfCell_[first + i]; held != none; held = held_[held].next)
          if (const std::uint32_t sender = held_[held].sender; !over_[sender]) {
            order_.keeps[sender] = true;
            release(sender);
          }
        firstOfCell_[first + i] = none;
      }
    }
  }

  const StepGraph &graph_;
  const ir::ChunkCells &cells_;
  const StoredSums &stored_;
  StepOrder order_;
  std::vector<std::uint8_t> missing_;               ///< [step]: number of steps for which it still waits
  std::vector<bool> over_;                          ///< [sender]: true if its message was received or is kept elsewhere
  std::vector<std::vector<std::uint32_t>> blocked_; ///< [sender]: steps that would overwrite its message
  std::vector<std::uint32_t> checked_;              ///< [step]: number of its cells that are known to hold no message
  std::vector<std::uint32_t> firstOfCell_;          ///< into held_
  std::vector<Held> held_;
  std::deque<std::uint32_t> ready_;
  std::set<std::uint32_t> waiting_;
};

/// Reports steps that wait for one another in a circle. `taken` holds the steps that can be executed.
void reportCircle(const StepGraph &graph, const std::vector<std::uint32_t> &taken, Findings &findings) {
  std::vector<bool> over(graph.size());
  for (const std::uint32_t s : taken)
    over[s] = true;
  // Each remaining step waits for another remaining step. Following these dependences leads into a circle.
  std::vector<std::uint32_t> way, placeOnWay(graph.size(), noStep);
  std::vector<std::string_view> reasons;
  auto s = static_cast<std::uint32_t>(std::ranges::find(over, false) - over.begin());
  while (placeOnWay[s] == noStep) {
    placeOnWay[s] = static_cast<std::uint32_t>(way.size());
    way.push_back(s);
    const StepGraph::Node &node = graph.at(s);
    const auto left = [&](std::uint32_t other) { return other != noStep && !over[other]; };
    const std::uint32_t before = graph.before(s);
    reasons.push_back(left(node.waitsFor)       ? "on which it depends"
                      : left(node.receivesFrom) ? "which sends what it receives"
                                                : "which is before it in its thread block");
    s = left(node.waitsFor) ? node.waitsFor : left(node.receivesFrom) ? node.receivesFrom : before;
  }
  const std::uint32_t begin = placeOnWay[s];
  ir::DiagBuilder finding =
      findings.report(diag::schedule_deadlock, graph.step(s).loc, {ir::plural(way.size() - begin, "step")});
  constexpr std::size_t mostShown = 32;
  for (std::size_t i = begin; i < way.size() && i - begin < mostShown; ++i)
    finding.note(diag::circle_step, graph.step(way[i]).loc,
                 {graph.describe(way[i]), graph.describe(i + 1 == way.size() ? s : way[i + 1]), reasons[i]});
}

} // namespace

std::optional<BufferPlace> messagePlace(const StepGraph &graph, std::uint32_t step, const StoredSums &stored) {
  const StepInfo &does = graph.does(step);
  if (!does.sends)
    return std::nullopt;
  if (does.writes)
    return graph.step(step).dst;
  return !does.receives || stored[step] ? std::optional(graph.step(step).src) : std::nullopt;
}

std::optional<StepOrder> orderSteps(const StepGraph &graph, const ir::ChunkCells &cells, const StoredSums &stored,
                                    Findings &findings) {
  StepOrder order = Ordering(graph, cells, stored).run();
  if (order.steps.size() == graph.size())
    return order;
  reportCircle(graph, order.steps, findings);
  return std::nullopt;
}

StoredSums sumsInPlace(const StepGraph &graph, const ir::ChunkCells &cells, const StepOrder &order) {
  // The number of readers of a cell since it was written.
  enum class Readers : std::uint8_t { None, One, Several };
  std::vector<Readers> readers(cells.size(), Readers::None);
  std::vector<std::uint32_t> reader(cells.size(), noStep), overwritten(graph.size());
  const auto forEach = [&](std::uint32_t s, const BufferPlace &place, const auto &visit) {
    const std::size_t first = cells.firstOf(graph.at(s).gpu, place.buffer, place.index);
    for (std::uint32_t i = 0; i < graph.step(s).count; ++i)
      visit(first + i);
  };
  for (const std::uint32_t s : order.steps) {
    const StepInfo &does = graph.does(s);
    const auto read = [&](std::size_t cell) {
      readers[cell] = readers[cell] == Readers::None ? Readers::One : Readers::Several;
      reader[cell] = s;
    };
    if (does.reads)
      forEach(s, graph.step(s).src, read);
    if (does.reduces && !does.receives)
      forEach(s, graph.step(s).dst, read);
    if (does.writes)
      forEach(s, graph.step(s).dst, [&](std::size_t cell) {
        if (readers[cell] == Readers::One && reader[cell] != s)
          ++overwritten[reader[cell]];
        readers[cell] = Readers::None;
      });
  }
  StoredSums stored(graph.size());
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const StepInfo &does = graph.does(s);
    stored[s] = does.receives && does.sends && !does.writes && overwritten[s] == graph.step(s).count;
  }
  return stored;
}

} // namespace mscclc::xml
