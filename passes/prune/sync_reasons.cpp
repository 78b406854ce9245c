#include "passes/prune/sync_reasons.h"

#include "ir/memory_map.h"
#include "passes/prune/drop_sync.h"
#include "passes/prune/needed_sync.h"
#include "passes/prune/record_sizes.h"
#include "passes/verify/verify.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mscclc::passes::prune {

namespace {
struct Words {
  std::string_view key, text;
};
constexpr Words wordsOfReasons[] = {
#define REASON(kind, key, text) {key, text},
#include "passes/prune/sync_reasons.def"
};
} // namespace

std::string_view keyOf(Reason reason) {
  return wordsOfReasons[static_cast<std::size_t>(reason)].key;
}

std::string_view textOf(Reason reason) {
  return wordsOfReasons[static_cast<std::size_t>(reason)].text;
}

bool isNone(Reason reason) {
  return reason == Reason::OnlyInTheWay || reason == Reason::Shared || reason == Reason::OfPut || isUnknown(reason);
}

bool isUnknown(Reason reason) {
  return reason == Reason::NotAsked || reason == Reason::NotProven;
}

namespace {

/// A piece of memory that both accesses touch.
struct Meet {
  ir::MemoryPiece memory; ///< in terms of the second access, or of the first one if a user makes the second
  bool firstWrites = false, secondWrites = false;
};

class Explainer {
public:
  Explainer(const ir::Program &program, const ir::AllowedNames &allowed)
      : program_(program), allowed_(allowed), index_(program), points_(index_), classes_(index_, points_) {}

  std::optional<std::vector<SyncReason>> run() {
    constexpr std::uint64_t mostTouched = 100'000'000;
    records_ = recordSizes(index_, points_, classes_, mostTouched);
    if (records_.empty())
      return std::nullopt;
    for (const RunRecord &record : records_) {
      auto &ofRecord = represented_.emplace_back(record.accesses.size());
      for (std::uint32_t i = 0; i < record.accesses.size(); ++i)
        if (std::vector<std::uint32_t> &ofAccess = ofRecord[record.accesses[i].like]; ofAccess.size() < mostRepresented)
          ofAccess.push_back(i);
    }
    for (std::vector<SyncPoint> &syncClass : classes_.all())
      if (!isFiller(syncClass.front())) {
        SyncReason &found = reasons_.emplace_back();
        found.edges = edgesOf(syncClass);
        found.reason = noneOf(syncClass);
        asked_.push_back(std::move(syncClass));
      }
    explainAll();
    askProofs();
    return std::move(reasons_);
  }

private:
  using Unordered = NeededSync::Unordered;

  ir::OpRef placeOf(SyncPoint point) const {
    const SyncPoints::Location &place = points_.place(point);
    return index_.place(place.block, place.op);
  }
  /// True if `point` belongs to a nop that is the only operation of its block. The executor needs such a block, because
  /// each block number must exist.
  bool isFiller(SyncPoint point) const {
    const ir::ThreadBlock &block = index_.ops(points_.place(point).block);
    return block.ops.size() == 1 && ir::isBlockSync(block.ops[0].kind);
  }
  std::size_t numPairs() const {
    std::size_t count = 0;
    for (const RunRecord &record : records_) {
      count += record.pairs.size();
      for (const ScratchUse &use : record.scratch)
        count += use.uses.size() + use.writes.size();
    }
    return count;
  }
  Reason noneOf(const std::vector<SyncPoint> &points) const;
  std::vector<SyncEdge> edgesOf(const std::vector<SyncPoint> &syncClass) const;
  void explainAll();
  bool explain(NeededSync &needed, const std::vector<SyncPoint> &points, SyncReason &reason) const;
  std::vector<std::vector<std::size_t>> unexplained() const;
  std::vector<SyncPoint> pointsOf(const std::vector<std::size_t> &numbers) const;
  void setReason(const std::vector<std::size_t> &numbers, const SyncReason &reason);
  void askProofs();
  void askProof(const std::vector<SyncPoint> &points, SyncReason &reason);
  bool isProven(const ir::Program &program, ir::DiagnosticEngine &findings) const;
  bool resolve(const Unordered &pair, SyncReason &reason) const;
  bool touches(const Access &access, std::vector<ir::MemoryPiece> &pieces) const;
  std::optional<Meet> meet(const Access &x, const Access &y, const Unordered &pair) const;
  Accessor accessorOf(const Access &access) const;
  static Reason reasonOf(const Access &x, const Access &y, const Meet &meet);

  static constexpr std::size_t mostRepresented = 256;
  /// The maximum number of proofs for one program. One proof takes about as long as the proof when the program is
  /// compiled.
  static constexpr std::uint32_t mostProofs = 8;
  /// If there are more pairs than this, pairs that correspond on equivalent ranks are asked about only once. But ranks
  /// of the same shape may name different chunks. So if no pair needs a sync then, the proof is asked about the sync.
  static constexpr std::size_t mostPairs = 10'000;

  const ir::Program &program_;
  const ir::AllowedNames &allowed_;
  const ProgramIndex index_;
  const SyncPoints points_;
  SyncClasses classes_;
  std::vector<RunRecord> records_;
  /// [record][access]: the accesses that this access represents. If there are very many, only the first ones are
  /// listed.
  std::vector<std::vector<std::vector<std::uint32_t>>> represented_;
  std::vector<std::vector<SyncPoint>> asked_; ///< the classes for which a reason is searched
  std::vector<SyncReason> reasons_;           ///< [class]
  std::uint32_t proofs_ = 0;
  std::optional<bool> asItWas_; ///< true if the program with all its sync is proven
};

/// Returns the edges of a class. An edge leads from each sender to the first operation of the class that waits on the
/// same queue.
std::vector<SyncEdge> Explainer::edgesOf(const std::vector<SyncPoint> &syncClass) const {
  std::vector<SyncEdge> edges;
  std::map<std::uint32_t, ir::OpRef> takers;                               // by queue
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> barriers; // [rank, id]: index into `edges`
  const auto opOf = [&](SyncPoint p) -> const ir::Op & {
    return index_.ops(points_.place(p).block).ops[points_.place(p).op];
  };
  const auto queueOf = [&](SyncPoint p) {
    const SyncPoints::Location &place = points_.place(p);
    return index_.queue(index_.rankOf(place.block), opOf(p), index_.ops(place.block).idsOf(opOf(p))[place.id]);
  };
  for (const SyncPoint p : syncClass)
    if (ir::takes(opOf(p).kind))
      takers.try_emplace(queueOf(p), placeOf(p));
  for (const SyncPoint p : syncClass) {
    const ir::OpRef at = placeOf(p);
    if (ir::takes(opOf(p).kind))
      continue;
    if (ir::sends(opOf(p).kind)) {
      const auto taker = takers.find(queueOf(p));
      edges.push_back({at, taker == takers.end() ? at : taker->second});
    } else if (ir::info(opOf(p).kind).step == ir::OpStep::Barrier) {
      const auto [barrier, isNew] = barriers.try_emplace({at.rank, opOf(p).imm}, edges.size());
      if (isNew)
        edges.push_back({at, at});
      edges[barrier->second].to = at;
    } else {
      edges.push_back({at, at});
    }
  }
  if (edges.empty()) // the class only has waits for signals that are there from the start
    for (const auto &[queue, at] : takers)
      edges.push_back({at, at});
  return edges;
}

/// Finds the most informative pair that needs `points`. A pair about a value that the algorithm computes with comes
/// before a pair about a value that the next launch would overwrite. Of the pairs of one rank, the pair with the least
/// distance in the run comes first, because its search is the shortest. Returns false if there is no pair.
bool Explainer::explain(NeededSync &needed, const std::vector<SyncPoint> &points, SyncReason &reason) const {
  const auto order = [&](const Unordered &u) {
    const auto &accesses = records_[u.record].accesses;
    const Access &x = accesses[u.pair.first], &y = accesses[u.pair.second];
    const bool users = x.op == none || y.op == none;
    return std::tuple(u.pair.excusable, u.scratch != none, x.launch != y.launch && !users, users,
                      u.pair.relation != Relation::Visibility, index_.rankOf(x.at.block), u.record,
                      u.pair.second - u.pair.first, u.pair.first);
  };
  // A value that is read too early is more informative than two writes in the wrong order. So after such writes, a few
  // more pairs are tried.
  constexpr int mostTried = 8;
  int tried = 0;
  bool isFound = false;
  needed.visitUnordered(
      points, [&](const Unordered &a, const Unordered &b) { return order(a) < order(b); },
      [&](const Unordered &pair) {
        SyncReason found = reason;
        if (resolve(pair, found) && (!isFound || found.reason == Reason::ReadTooEarly)) {
          reason = found;
          isFound = true;
        }
        return isFound && (reason.reason != Reason::WrittenInTurn || ++tried == mostTried);
      });
  return isFound;
}

/// Returns the reason to report for `points` if no pair needs them.
Reason Explainer::noneOf(const std::vector<SyncPoint> &points) const {
  const bool ofPut = std::ranges::any_of(points, [&](SyncPoint p) { return ir::putsAndSignals(points_.kind(p)); });
  return ofPut ? Reason::OfPut : classes_.isKept(points.front()) ? Reason::Shared : Reason::OnlyInTheWay;
}

/// Finds a reason for each class. Then, for each statement, finds one reason for all of its classes that have none so
/// far.
void Explainer::explainAll() {
  const bool everyRank = numPairs() <= mostPairs;
  NeededSync needed(records_, classes_, std::vector<bool>(points_.count()), everyRank);
  for (std::size_t i = 0; i < asked_.size(); ++i)
    explain(needed, asked_[i], reasons_[i]);
  for (const std::vector<std::size_t> &numbers : unexplained()) {
    SyncReason whole = reasons_[numbers.front()];
    whole.together = true;
    if (numbers.size() > 1 && explain(needed, pointsOf(numbers), whole))
      setReason(numbers, whole);
  }
}

/// Returns groups of classes that have no reason, as indices into asked_. All classes of the same statement and kind
/// form a group. Such classes, for example those of several instances, can replace each other.
std::vector<std::vector<std::size_t>> Explainer::unexplained() const {
  std::map<std::tuple<ir::LocId, std::uint32_t, ir::OpKind>, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < asked_.size(); ++i)
    if (isNone(reasons_[i].reason)) {
      const SyncPoints::Location &place = points_.place(asked_[i].front());
      const ir::Op &op = index_.ops(place.block).ops[place.op];
      const bool hasLine =
          ir::isOfSource(program_, op); // operations without a source form a group by their number in the block
      alike[{hasLine ? op.loc : ir::noLoc, hasLine ? 0 : place.op, op.kind}].push_back(i);
    }
  std::vector<std::vector<std::size_t>> groups;
  for (auto &[statement, numbers] : alike)
    groups.push_back(std::move(numbers));
  return groups;
}

std::vector<SyncPoint> Explainer::pointsOf(const std::vector<std::size_t> &numbers) const {
  std::vector<SyncPoint> points;
  for (const std::size_t i : numbers)
    points.insert(points.end(), asked_[i].begin(), asked_[i].end());
  return points;
}

void Explainer::setReason(const std::vector<std::size_t> &numbers, const SyncReason &reason) {
  for (const std::size_t i : numbers) {
    std::vector<SyncEdge> edges = std::move(reasons_[i].edges);
    reasons_[i] = reason;
    reasons_[i].edges = std::move(edges);
  }
}

/// Asks the proof about each group of classes that has no reason.
void Explainer::askProofs() {
  for (const std::vector<std::size_t> &numbers : unexplained()) {
    const std::vector<SyncPoint> points = pointsOf(numbers);
    SyncReason whole = reasons_[numbers.front()];
    whole.together = numbers.size() > 1;
    whole.reason = noneOf(points);
    if (whole.reason == Reason::OnlyInTheWay)
      askProof(points, whole);
    if (isUnknown(whole.reason)) {
      for (const std::size_t i : numbers)
        if (reasons_[i].reason == Reason::OnlyInTheWay)
          reasons_[i].reason = whole.reason;
    } else if (!isNone(whole.reason)) {
      setReason(numbers, whole);
    }
  }
}

/// Asks the proof whether it needs `points`. The proof is more precise than the recorded run, so it may need sync that
/// no pair of the run needs.
void Explainer::askProof(const std::vector<SyncPoint> &points, SyncReason &reason) {
  if (!asItWas_) {
    ir::DiagnosticEngine silent;
    asItWas_ = isProven(program_, silent);
  }
  if (!*asItWas_) {
    reason.reason = Reason::NotProven;
    return;
  }
  if (proofs_ == mostProofs) {
    reason.reason = Reason::NotAsked;
    return;
  }
  ++proofs_;
  std::vector<bool> dropped(points_.count());
  for (const SyncPoint point : points)
    dropped[point] = true;
  ir::DiagnosticEngine findings;
  if (isProven(dropSync(index_, points_, dropped), findings) || findings.all().empty())
    return;
  reason.reason = Reason::Proof;
  reason.finding = findings.all().front().message;
}

/// Proves `program`. `findings` receives only errors, because the proof is made without warnings. So findings that are
/// allowed are left out, too.
bool Explainer::isProven(const ir::Program &program, ir::DiagnosticEngine &findings) const {
  findings.allow(allowed_);
  return verify(program, findings, {.warnings = false, .schedules = false}).proven;
}

/// Finds two accesses that `pair` represents and that touch the same memory. Sets the reason by them.
bool Explainer::resolve(const Unordered &pair, SyncReason &reason) const {
  const auto &accesses = records_[pair.record].accesses;
  for (const std::uint32_t first : represented_[pair.record][pair.pair.first])
    for (const std::uint32_t second : represented_[pair.record][pair.pair.second]) {
      const Access &x = accesses[first], &y = accesses[second];
      const std::optional<Meet> found = meet(x, y, pair);
      if (!found)
        continue;
      reason.first = accessorOf(x);
      reason.second = accessorOf(y);
      reason.memory = found->memory;
      reason.reason = pair.scratch != none      ? Reason::OtherSize
                      : found->memory.size == 0 ? Reason::WaitInTurn
                                                : reasonOf(x, y, *found);
      return true;
    }
  return false;
}

/// Finds the memory that an access touches. The user of a rank touches both buffers of the rank. Returns false for an
/// operation that moves no data.
bool Explainer::touches(const Access &access, std::vector<ir::MemoryPiece> &pieces) const {
  pieces.clear();
  const std::uint32_t rank = index_.rankOf(access.at.block);
  if (access.op == none) {
    for (const ir::BufferKind kind : {ir::BufferKind::Input, ir::BufferKind::Output})
      pieces.push_back({rank, kind, 0, program_.ranks[rank].chunksOf(kind), 0, ir::Access::Write});
    return true;
  }
  const ir::ThreadBlock &block = index_.ops(access.at.block);
  const ir::Op &op = block.ops[access.op];
  if (ir::info(op.kind).step != ir::OpStep::Data)
    return false;
  ir::forEachMemory(program_, rank, block, op, [&](const ir::MemoryPiece &piece) { pieces.push_back(piece); });
  return true;
}

std::optional<Meet> Explainer::meet(const Access &x, const Access &y, const Unordered &pair) const {
  std::vector<ir::MemoryPiece> xs, ys;
  const bool data = touches(x, xs) && touches(y, ys);
  if (!data)
    return x.op != none && y.op != none ? std::optional<Meet>(Meet{}) : std::nullopt;
  // For a pair about visibility, memory that the first access writes is tried first. For other pairs, memory that it
  // reads is tried first, because a write that is ordered only by control is treated like a read.
  const bool isVisible = pair.pair.relation == Relation::Visibility;
  for (const bool firstWrites : {isVisible, !isVisible})
    for (const ir::MemoryPiece &a : xs)
      for (const ir::MemoryPiece &b : ys) {
        const bool aWrites = a.access == ir::Access::Write, bWrites = b.access == ir::Access::Write;
        if (a.rank != b.rank || (x.op != none && aWrites != firstWrites) || (!aWrites && !bWrites))
          continue;
        if (pair.scratch != none) { // any piece of scratch may have the same place at another size
          if (a.rank == pair.scratch && a.inScratch() && b.inScratch() && bWrites)
            return Meet{a, aWrites, bWrites};
          continue;
        }
        const ir::MemoryRange mine = ir::memoryOf(program_, a), theirs = ir::memoryOf(program_, b);
        if (!mine.overlaps(theirs))
          continue;
        ir::MemoryPiece memory = y.op != none ? b : a;
        const ir::MemoryRange &whole = y.op != none ? theirs : mine;
        const std::uint64_t scale = memory.isPacket() ? 2 : 1;
        const std::uint64_t begin = std::max(mine.begin, theirs.begin), end = std::min(mine.end, theirs.end);
        memory.index += static_cast<std::uint32_t>((begin - whole.begin) / scale);
        memory.size = static_cast<std::uint32_t>((end - begin + scale - 1) / scale);
        return Meet{memory, aWrites, bWrites};
      }
  return std::nullopt;
}

Accessor Explainer::accessorOf(const Access &access) const {
  return {index_.place(access.at.block, access.op), access.op == none, access.port != none};
}

Reason Explainer::reasonOf(const Access &x, const Access &y, const Meet &meet) {
  if (x.op == none)
    return meet.secondWrites ? Reason::WrittenBeforeLaunch : Reason::ReadBeforeLaunch;
  if (y.op == none)
    return meet.firstWrites ? Reason::WrittenAfterLaunch : Reason::ReadAfterLaunch;
  const bool next = x.launch != y.launch;
  if (!meet.firstWrites)
    return next ? Reason::OverwrittenByNextLaunch : Reason::Overwritten;
  if (!meet.secondWrites)
    return next ? Reason::ReadOfNextLaunch : Reason::ReadTooEarly;
  return next ? Reason::WrittenByNextLaunch : Reason::WrittenInTurn;
}

} // namespace

std::optional<std::vector<SyncReason>> reasonsOfSync(const ir::Program &program, const ir::AllowedNames &allowed) {
  return Explainer(program, allowed).run();
}

} // namespace mscclc::passes::prune
