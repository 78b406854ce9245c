#include "passes/prune/prune_sync.h"

#include "ir/collectives.h"
#include "ir/op_semantics.h"
#include "ir/switch_signals.h"
#include "passes/pass_manager.h"
#include "passes/prune/drop_sync.h"
#include "passes/prune/needed_sync.h"
#include "passes/prune/record_sizes.h"
#include "passes/verify/verify.h"
#include "passes/verify/verify_diagnostics.h"

#include <algorithm>

namespace mscclc::passes {
namespace {

using namespace prune;

constexpr std::uint32_t mostProofs = 24; ///< the maximum number of proofs for one program

/// Returns the names of the proof's findings that `diags` does not treat as errors.
ir::AllowedNames allowedBy(const ir::DiagnosticEngine &diags) {
  ir::AllowedNames names;
  const auto add = [&](const ir::DiagInfo &info) {
    if (diags.severityOf(info) != ir::Severity::Error)
      names.emplace(info.allowName);
  };
#define DIAG(id, level, text)
#define ALLOWABLE(id, name, summary, text) add(proof::diag::id);
#include "passes/verify/verify_diagnostics.def"
#undef ALLOWABLE
#undef DIAG
  return names;
}

/// True if instances of `program` may depend on each other, for two reasons together. At another message size, a chunk
/// of scratch may have the place of another instance's chunk. And the completion of a port's put proves that earlier
/// puts are complete only for the same channel, while each instance has its own channels.
bool instancesMeet(const ir::Program &program) {
  return program.instances > 1 &&
         std::ranges::any_of(program.ranks, [](const ir::Rank &rank) { return rank.scratchChunks != 0; }) &&
         program.hasPorts();
}

/// Returns the program with two instances. More instances would affect each other in the same way. If instances share
/// chunks, returns the program with one instance; replicate-instances refuses such a program later.
ir::Program twoInstances(const ir::Program &program) {
  ir::Program two = program;
  two.instances = 2;
  PassManager manager({}, propertiesOf(two));
  manager.add("replicate-instances");
  ir::DiagnosticEngine silent;
  return manager.run(two, silent).ok ? two : program;
}

/// True for a put or a flush of several ports.
bool putsByPorts(const ir::Op &op) {
  const ir::OpStep step = ir::info(op.kind).step;
  return op.channelType == ir::ChannelType::Port && op.numIds > 1 &&
         (step == ir::OpStep::Data || step == ir::OpStep::Drain);
}

class Pruning {
public:
  Pruning(PassContext &context, Prover prover)
      : program_(context.program), allowed_(allowedBy(context.diags)), stats_(context.stats),
        prover_(std::move(prover)), index_(context.program), points_(index_), classes_(index_, points_),
        dropped_(points_.count()), needed_(points_.count()) {}

  void run() {
    // A test collective does not define which buffers its user accesses.
    if (points_.count() == 0 || !ir::hasUser(program_.collective.kind))
      return;
    everyRank_ = !classes_.allAlike();
    if (!record())
      return;
    keepBeforePortPuts();
    candidates_ = classes_.candidates();
    // If the proof keeps a sync, other sync that seemed needed may be redundant beside it. So another round follows.
    while (mayProve() && round()) {
    }
    apply();
  }

private:
  using Classes = std::vector<const std::vector<SyncPoint> *>;

  /// Records the run. Returns false if it cannot be recorded; then the program must stay unchanged.
  bool record() {
    constexpr std::uint64_t mostTouched = 400'000'000;
    records_ = recordSizes(index_, points_, classes_, mostTouched, !everyRank_);
    return !records_.empty();
  }

  /// Keeps nops before puts and flushes of several ports. Each port has a thread. After a nop, these threads begin
  /// together, and the proxy serves the ports in turn. Without it, the ports of threads that waited less would be
  /// ahead, and a flush of theirs would hold the proxy while puts of the others are queued.
  void keepBeforePortPuts() {
    for (SyncPoint p = 0; p < points_.count(); ++p) {
      if (points_.kind(p) != ir::OpKind::Nop)
        continue;
      const auto &[b, o, i] = points_.place(p);
      const std::span<const ir::Op> later = std::span(index_.ops(b).ops).subspan(o + 1);
      const auto next = std::ranges::find_if(later, [](const ir::Op &op) { return op.kind != ir::OpKind::Pipeline; });
      if (next != later.end() && putsByPorts(*next))
        classes_.keep(p);
    }
  }

  /// Returns the classes that can all be dropped together, as the record shows.
  Classes found() const {
    NeededSync needed(records_, classes_, dropped_, everyRank_);
    Classes found;
    for (const bool excuse : {false, true}) {
      Classes left;
      for (const auto &syncClass : candidates_)
        if (!dropped_[syncClass[0]] && !needed_[syncClass[0]] && (!excuse || needed.mayExcuse(syncClass)))
          left.push_back(&syncClass);
      const Classes more = droppable(left, excuse, needed);
      found.insert(found.end(), more.begin(), more.end());
    }
    return found;
  }

  /// Finds classes that can be dropped, and proves the program without them. Returns true if another round is needed.
  bool round() {
    const Classes found = this->found();
    if (found.empty())
      return false;
    if (prover_) {
      set(found, true);
      records_.clear(); // frees memory, because a proof needs much of it
      if (std::exchange(prover_, {})(pruned()))
        return false;
      set(found, false);
      return record();
    }
    if (everyRank_) {
      bool refused = false;
      tryDrop(found, refused);
      return refused;
    }
    set(found, true);
    if (isProven())
      return false;
    set(found, false);
    everyRank_ = true;
    return mayProve() && asItWas().proven && record();
  }

  /// Drops from `needed` each of `classes` that no pair of accesses needs, and returns these classes. A set of classes
  /// that can be dropped together can also be dropped one by one. So the number of classes in one trial is doubled
  /// after each success.
  static Classes droppable(std::span<const std::vector<SyncPoint> *const> classes, bool excuse, NeededSync &needed) {
    Classes found;
    for (std::size_t size = 1; !classes.empty();) {
      const auto group = classes.first(std::min(size, classes.size()));
      if (needed.drop(group, excuse)) {
        found.insert(found.end(), group.begin(), group.end());
        classes = classes.subspan(group.size());
        size *= 2;
      } else if (group.size() > 1) {
        size = group.size() / 2;
      } else {
        classes = classes.subspan(1);
      }
    }
    return found;
  }

  /// Drops the classes among `classes` that the proof does not need. Finds them by bisection. Sets `refused` if the
  /// proof needs some of the classes.
  void tryDrop(std::span<const std::vector<SyncPoint> *const> classes, bool &refused) {
    set(classes, true);
    if (mayProve() && isProven())
      return;
    set(classes, false);
    refused = true;
    if (classes.size() == 1 || !mayProve() || !asItWas().proven) {
      for (const auto *syncClass : classes)
        needed_[syncClass->front()] = true;
      return;
    }
    tryDrop(classes.first(classes.size() / 2), refused);
    tryDrop(classes.subspan(classes.size() / 2), refused);
  }

  void set(std::span<const std::vector<SyncPoint> *const> classes, bool dropped) {
    for (const auto *syncClass : classes)
      for (const SyncPoint point : *syncClass)
        dropped_[point] = dropped;
  }

  /// True if the program without the dropped points is proven, with no more warnings than the given program has.
  bool isProven() {
    const VerifyResult result = prove(pruned());
    return result.proven && (result.warnings == 0 || result.warnings <= asItWas().warnings);
  }

  VerifyResult prove(const ir::Program &program) {
    ++proofs_;
    ir::DiagnosticEngine findings;
    findings.allow(allowed_);
    const VerifyOptions options{.schedules = false};
    return instancesMeet(program) ? verify(twoInstances(program), findings, options)
                                  : verify(program, findings, options);
  }

  /// False if the maximum number of proofs is reached, or if the given program with all its sync is not proven. In the
  /// second case, no program with less sync is proven.
  bool mayProve() const { return proofs_ < mostProofs && (!asItWas_ || asItWas_->proven); }

  const VerifyResult &asItWas() {
    if (!asItWas_)
      asItWas_ = prove(program_);
    return *asItWas_;
  }

  ir::Program pruned() const { return dropSync(index_, points_, dropped_); }

  void apply() {
    std::uint64_t counts[4] = {}; // counts of nops, barriers, flushes, and signals with releases
    for (SyncPoint p = 0; p < points_.count(); ++p)
      if (dropped_[p]) {
        const ir::OpKind kind = points_.kind(p);
        if (kind == ir::OpKind::Nop)
          ++counts[0];
        else if (kind == ir::OpKind::Barrier)
          ++counts[1];
        else if (kind == ir::OpKind::Flush)
          ++counts[2];
        else
          counts[3] += ir::sends(kind);
      }
    stats_.count("nops dropped", counts[0]);
    stats_.count("parts of barriers dropped", counts[1]);
    stats_.count("flushes dropped", counts[2]);
    stats_.count("signals and releases dropped with what takes them", counts[3]);
    stats_.count("proofs made", proofs_);
    if (std::ranges::find(dropped_, true) != dropped_.end())
      program_ = pruned();
  }

  ir::Program &program_;
  const ir::AllowedNames allowed_;
  PassStats &stats_;
  Prover prover_; ///< empty after it was asked
  const ProgramIndex index_;
  const SyncPoints points_;
  SyncClasses classes_;
  std::vector<RunRecord> records_;
  std::vector<std::vector<SyncPoint>> candidates_;
  std::vector<bool> dropped_, needed_; ///< [point]; in needed_, only the first point of each class is used
  bool everyRank_ = false;             ///< checks the accesses of every rank, even if all ranks have the same shape
  std::uint32_t proofs_ = 0;
  std::optional<VerifyResult> asItWas_; ///< the proof of the given program, with all its sync
};

} // namespace

Pass createPruneSyncPass(Prover prover) {
  return {.needs = DataSyncLowered, .isOptional = true, .run = [prover = std::move(prover)](PassContext &context) {
            // The pass drops single ids of operations, but a signal through the switch has no such parts.
            if (!ir::hasSwitchSignals(context.program))
              Pruning(context, prover).run();
          }};
}

Pass createPruneSyncPass() {
  return createPruneSyncPass(Prover());
}

Pass createUnprovenPruneSyncPass() {
  return createPruneSyncPass([](const ir::Program &) { return true; });
}

} // namespace mscclc::passes
