#include "passes/prune/prune_sync.h"

#include "ir/collectives.h"
#include "ir/op_semantics.h"
#include "ir/switch_signals.h"
#include "passes/pass_manager.h"
#include "passes/prune/drop_pieces.h"
#include "passes/prune/needed_sync.h"
#include "passes/prune/record_sizes.h"
#include "passes/verify/verify.h"
#include "passes/verify/verify_diagnostics.h"

#include <algorithm>

namespace mscclc::passes {
namespace {

using namespace prune;

constexpr std::uint32_t mostProofs = 24; ///< of one program

/// The names of the proof's findings that are warnings for `diags`.
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

/// True if instances of `program` depend on each other. At another message size a chunk of scratch lies where one of
/// another instance was; and what a port has put last is over when its next put is, which holds of one channel alone,
/// and instances have channels of their own.
bool instancesMeet(const ir::Program &program) {
  return program.instances > 1 &&
         std::ranges::any_of(program.ranks, [](const ir::Rank &rank) { return rank.scratchChunks != 0; }) &&
         std::ranges::any_of(program.ranks, [](const ir::Rank &rank) { return !rank.portPeers.empty(); });
}

/// Two of the program's instances, as more do the same to each other; one, if they share chunks and are refused later.
ir::Program twoInstances(const ir::Program &program) {
  ir::Program two = program;
  two.instances = 2;
  PassManager manager({}, propertiesOf(two));
  manager.add("replicate-instances");
  ir::DiagnosticEngine silent;
  return manager.run(two, silent).ok ? two : program;
}

class Pruning {
public:
  Pruning(PassContext &context, Prover prover)
      : program_(context.program), allowed_(allowedBy(context.diags)), stats_(context.stats),
        prover_(std::move(prover)), index_(context.program), pieces_(index_), orbits_(index_, pieces_),
        dropped_(pieces_.count()), needed_(pieces_.count()) {}

  void run() {
    // Of a test's buffers nobody says who uses them.
    if (pieces_.count() == 0 || !ir::hasUser(program_.collective.kind))
      return;
    everyRank_ = !orbits_.allAlike();
    if (!record())
      return;
    candidates_ = orbits_.candidates();
    // What the proof refuses to let go may have made other sync seem needed.
    while (mayProve() && round()) {
    }
    apply();
  }

private:
  using Orbits = std::vector<const std::vector<Piece> *>;

  /// False if the program is left as it is.
  bool record() {
    constexpr std::uint64_t mostTouched = 400'000'000;
    records_ = recordSizes(index_, pieces_, orbits_, mostTouched, !everyRank_);
    return !records_.empty();
  }

  /// Orbits that can be dropped together, by the record.
  Orbits found() const {
    NeededSync needed(records_, orbits_, dropped_, everyRank_);
    Orbits found;
    for (const bool excuse : {false, true}) {
      Orbits left;
      for (const auto &orbit : candidates_)
        if (!dropped_[orbit[0]] && !needed_[orbit[0]] && (!excuse || needed.mayExcuse(orbit)))
          left.push_back(&orbit);
      const Orbits more = droppable(left, excuse, needed);
      found.insert(found.end(), more.begin(), more.end());
    }
    return found;
  }

  /// Looks for orbits to drop, and has the result proven. False if all is done.
  bool round() {
    const Orbits found = this->found();
    if (found.empty())
      return false;
    if (prover_) {
      set(found, true);
      records_.clear(); // a proof takes much memory as well
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

  /// Drops from `needed` what nothing needs of `orbits`, one after the other. What can go together can go one by one,
  /// so as long as all goes well ever more are tried at once.
  static Orbits droppable(std::span<const std::vector<Piece> *const> orbits, bool excuse, NeededSync &needed) {
    Orbits found;
    for (std::size_t size = 1; !orbits.empty();) {
      const auto group = orbits.first(std::min(size, orbits.size()));
      if (needed.drop(group, excuse)) {
        found.insert(found.end(), group.begin(), group.end());
        orbits = orbits.subspan(group.size());
        size *= 2;
      } else if (group.size() > 1) {
        size = group.size() / 2;
      } else {
        orbits = orbits.subspan(1);
      }
    }
    return found;
  }

  /// Drops those of `orbits` that the proof does not need.
  void tryDrop(std::span<const std::vector<Piece> *const> orbits, bool &refused) {
    set(orbits, true);
    if (mayProve() && isProven())
      return;
    set(orbits, false);
    refused = true;
    if (orbits.size() == 1 || !mayProve() || !asItWas().proven) {
      for (const auto *orbit : orbits)
        needed_[orbit->front()] = true;
      return;
    }
    tryDrop(orbits.first(orbits.size() / 2), refused);
    tryDrop(orbits.subspan(orbits.size() / 2), refused);
  }

  void set(std::span<const std::vector<Piece> *const> orbits, bool dropped) {
    for (const auto *orbit : orbits)
      for (const Piece piece : *orbit)
        dropped_[piece] = dropped;
  }

  /// True if the program without what is dropped is proven, with no warning more than before.
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

  /// No program with less sync than one that is not proven is.
  bool mayProve() const { return proofs_ < mostProofs && (!asItWas_ || asItWas_->proven); }

  const VerifyResult &asItWas() {
    if (!asItWas_)
      asItWas_ = prove(program_);
    return *asItWas_;
  }

  ir::Program pruned() const { return dropPieces(index_, pieces_, dropped_); }

  void apply() {
    std::uint64_t counts[4] = {}; // nops, barriers, flushes, what sends
    for (Piece p = 0; p < pieces_.count(); ++p)
      if (dropped_[p]) {
        const ir::OpKind kind = pieces_.kind(p);
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
  Prover prover_; ///< once it is asked, none
  const ProgramIndex index_;
  const SyncPieces pieces_;
  SyncOrbits orbits_;
  std::vector<RunRecord> records_;
  std::vector<std::vector<Piece>> candidates_;
  std::vector<bool> dropped_, needed_; ///< [piece]; needed_: by the first of an orbit
  bool everyRank_ = false;             ///< ranks that look alike are looked at one by one
  std::uint32_t proofs_ = 0;
  std::optional<VerifyResult> asItWas_; ///< the proof of the program with all its sync
};

} // namespace

Pass createPruneSyncPass(Prover prover) {
  return {.needs = DataSyncLowered, .isOptional = true, .run = [prover = std::move(prover)](PassContext &context) {
            // What it drops are parts of operations, and a signal through the switch has none by itself.
            if (!ir::hasSwitchSignals(context.program))
              Pruning(context, prover).run();
          }};
}

Pass createPruneSyncPass() {
  return createPruneSyncPass(Prover());
}

} // namespace mscclc::passes
