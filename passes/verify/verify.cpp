#include "passes/verify/verify.h"

#include "passes/verify/final_buffers.h"
#include "passes/verify/report.h"
#include "passes/verify/resident_blocks.h"
#include "passes/verify/rows.h"
#include "passes/verify/sizes.h"
#include "passes/verify/slicing.h"
#include "passes/verify/sum_trees.h"
#include "passes/verify/switch_signals.h"

#include "ir/collectives.h"
#include "ir/op_memory.h"
#include "ir/structure.h"
#include "ir/switch_signals.h"

#include <algorithm>

namespace mscclc::passes {

namespace proof {
std::uint64_t checkStated(const ProgramIndex &index, Findings &findings);
bool checkWideScratch(const ProgramIndex &index, Findings &findings);
bool checkLamport(const ProgramIndex &index, Findings &findings);
void checkRanges(const ProgramIndex &index, bool sizesChange, Findings &findings);
bool checkShared(const ProgramIndex &index, const Geometry &geometry, const Premises &premises, const Memory &memory,
                 Findings &findings);

namespace {

bool reportFault(const GeometryFault &fault, const ProgramIndex &index, Findings &findings) {
  const bool hasPlace = !index.program.ranks[fault.place.rank].blocks.empty() &&
                        !index.program.ranks[fault.place.rank].blocks[fault.place.block].ops.empty();
  const ir::DiagInfo &info = fault.kind == GeometryFault::TooFine        ? diag::too_fine
                             : fault.kind == GeometryFault::UnevenWrap   ? diag::uneven_wrap
                             : fault.kind == GeometryFault::TooManySlots ? diag::too_many_slots
                                                                         : diag::too_many_iterations;
  auto *f = hasPlace ? findings.add(info, fault.place) : findings.addOnRank(info, 0);
  if (!f)
    return false;
  f->args = {fault.number};
  if (fault.kind == GeometryFault::UnevenWrap) {
    const ir::Rank &rank = index.program.ranks[fault.place.rank];
    const std::uint64_t chunks = ir::chunksOfScale(rank);
    f->args = {ir::opAt(index.program, fault.place).imm, fault.number, fault.number * chunks};
  }
  return false;
}

/// The most units that a launch may access. So many units take a few minutes.
constexpr std::uint64_t mostTouched = 4'000'000'000;

bool reportTooMuchMemory(Findings &findings) {
  findings.addOnRank(diag::too_much_memory, 0);
  return false;
}

/// True if launches of different sizes may follow each other, and their chunks of scratch have different places.
bool sizesChange(const ir::Program &program, const VerifyOptions &options) {
  if (ir::info(program.collective.kind).hasRows) // a kernel is loaded for one capacity
    return false;
  return chunksMove(program) && !options.oneSize && (!options.fixedScratch || cutsChunks(program, true));
}

/// Proves a program at one size of chunks (see run/geometry.h).
class SizeProof {
public:
  SizeProof(const ProgramIndex &index, const Geometry &geometry, const ThreadRoles &roles, Findings &findings,
            const VerifyOptions &options)
      : index_(index), geometry_(geometry), roles_(roles), findings_(findings), options_(options) {}

  /// Declares that later launches have other sizes. The last launch has the geometry `last`. If there is a launch in
  /// between, it has the geometry `between`.
  void change(const Geometry &between, const Geometry &last) {
    between_ = &between;
    last_ = &last;
  }

  /// Proves the launches. Returns false if it reports an error. Sets the counts of `result`, unless an earlier proof
  /// has set them.
  bool run(VerifyResult &result) {
    const Premises premises(index_, geometry_, findings_);
    if (!premises.hold() || findings_.errors() != 0)
      return false;
    return launches(premises, result);
  }

private:
  /// Proves the launches. At first, it assumes that blocks signal each counter in turn. If they do not, it proves
  /// everything again without this assumption for these counters.
  bool launches(const Premises &premises, VerifyResult &result) {
    constexpr int mostRuns = 4; // after so many runs, no counter is assumed to be signalled in turn
    const Findings::State before = findings_.state();
    std::set<std::uint32_t> noTurns;
    for (int run = 1;; ++run) {
      std::set<std::uint32_t> more;
      const bool good = launchesInTurns(premises, noTurns, more, result);
      if (more.empty())
        return good;
      noTurns.merge(more);
      if (run == mostRuns)
        for (const auto &[queue, parties] : premises.allShared())
          noTurns.insert(queue);
      findings_.restore(before);
    }
  }

  bool launchesInTurns(const Premises &premises, const std::set<std::uint32_t> &noTurns, std::set<std::uint32_t> &more,
                       VerifyResult &result) {
    if (const std::uint64_t touched = geometry_.unitsTouched(index_); touched > mostTouched) {
      if (auto *f = findings_.addOnProgram(diag::too_many_accesses))
        f->args = {touched};
      return false;
    }
    Geometry geometry = geometry_; // the geometry of the current launch
    Memory memory(index_, geometry);
    if (!memory.fits())
      return reportTooMuchMemory(findings_);
    if (!checkShared(index_, geometry, premises, memory, findings_))
      return false;
    std::uint32_t launches = index_.program.doubleScratch ? 3 : 2;
    Order order(index_, options_.watcher);
    Values values(index_, geometry_.unitsPerChunk());
    Reporter reporter(index_, geometry, memory, order, findings_);
    CheckedRun run(index_, geometry, premises, roles_, memory, order, values, reporter);
    reporter.setRun(run);
    run.expectNoTurns(noTurns);
    if (result.ofRows)
      run.keepRows(result.rows);
    if (last_ || (result.launches == 0 && sizesChange(index_.program, options_)))
      run.changeSizes();
    std::uint64_t results = 0;
    std::optional<FinalBuffers> end;
    SumOrder sums;
    for (std::uint32_t launch = 0; launch < launches; ++launch) {
      if (last_ && launch != 0) {
        geometry = launch + 1 == launches ? *last_ : *between_;
        memory.layOut(geometry);
      }
      run.control().beginLaunch();
      const bool ended = runResident(residency(), run.control(), reporter);
      if (more = run.outOfTurn(); !more.empty())
        return false;
      if (!ended) {
        reporter.deadlock();
        return false;
      }
      if (launch == 1 && !options_.exhaustive && order.allToldAll())
        launches = 2;
      if (launch + 1 == launches)
        break;
      run.control().endLaunch();
      if (launch == 0)
        results = reporter.checkResults(values, geometry_.unitsPerChunk());
      if (launch == 0 && !last_ && findings_.errors() == 0)
        sums = sumOrderOf(index_, memory, values, geometry_.unitsPerChunk(),
                          [&](const Cell &cell) { return reporter.writerOf(cell); });
      if (launch == 0 && !last_ && options_.atEnd) // only the first launch computes values
        end.emplace(index_.program, memory, values, geometry_.unitsPerChunk());
    }
    if (end && findings_.errors() == 0)
      options_.atEnd(*end);
    result.sums.add(std::move(sums));
    warnOfTurns(residency(), index_, findings_);
    if (options_.schedules)
      reporter.addSchedules(launches);
    if (result.launches == 0) {
      result.launches = launches;
      result.iterations = geometry_.mostIterations();
      result.results = results;
      result.operations = run.counts().operations;
      result.accesses = run.counts().accesses;
      result.phases = order.numPhases();
      result.edges = order.numEdges();
    }
    return findings_.errors() == 0;
  }

  const Residency *residency() const { return options_.residency ? &*options_.residency : nullptr; }

  const ProgramIndex &index_;
  const Geometry &geometry_;
  const Geometry *between_ = nullptr, *last_ = nullptr;
  const ThreadRoles &roles_;
  Findings &findings_;
  const VerifyOptions &options_;
};

/// The most runs of launches of different sizes. So many runs take a few minutes.
constexpr std::size_t mostChanges = 1100;

/// Proves everything that must be proven about one program, one size after the other.
class Prover {
public:
  Prover(const ProgramIndex &index, Findings &findings, const VerifyOptions &options, VerifyResult &result)
      : index_(index), findings_(findings), options_(options), result_(result), rates_(index),
        roles_(index, options.threadsInTurns, findings) {}

  bool run() {
    if (!Memory::chunksFit(index_.program))
      return reportTooMuchMemory(findings_);
    return proveIterations() && proveSlices();
  }

private:
  bool proveSize(const Geometry &geometry) {
    if (geometry.fault())
      return reportFault(*geometry.fault(), index_, findings_);
    return SizeProof(index_, geometry, roles_, findings_, options_).run(result_);
  }

  bool proveIterations() {
    if (rates_.fault())
      return reportFault(*rates_.fault(), index_, findings_);
    checkRanges(index_, sizesChange(index_.program, options_), findings_);
    const IterationSizes sizes = iterationSizes(index_, rates_, options_.exhaustive);
    result_.anyIterations = sizes.isAnyNumber;
    return std::ranges::all_of(sizes.all, [&](const Geometry &size) { return proveSize(size); }) &&
           (!sizes.unpaired || reportUnpaired(*sizes.unpaired));
  }

  /// Returns true if no message is longer than what has been proven. Otherwise reports that, and returns false.
  bool reportUnpaired(const UnpairedLoop &loop) {
    const ir::Program &program = index_.program;
    const ir::Op &header = ir::opAt(program, loop.header);
    const std::uint64_t longest = rates_.longestMessage(program, header, unpairedIterations);
    if (program.maxMessageSize <= longest)
      return true;
    findings_.report(diag::more_iterations, loop.place, {unpairedIterations, longest, loop.words});
    return false;
  }

  bool proveSlices() {
    const SliceSizes sizes = sliceSizes(index_);
    if (sizes.packetsInLoop || sizes.inLoop || sizes.tooMany) {
      findings_.add(sizes.packetsInLoop ? diag::packets_in_loop
                    : sizes.inLoop      ? diag::slices_in_loop
                                        : diag::slices_too_many,
                    sizes.packetsInLoop ? *sizes.packetsInLoop
                    : sizes.inLoop      ? *sizes.inLoop
                                        : *sizes.tooMany);
      return false;
    }
    std::vector<Sliced> sliced{{Geometry(rates_), true, SliceSize::again}}; // one for each set of empty packet slices
    for (const SliceSize &size : sizes.sizes) {
      const std::size_t before = findings_.all().size();
      const Geometry geometry = Geometry::ofUnits(rates_, size.units);
      const bool good = proveSize(geometry);
      note(before, diag::at_chunk_size, {ir::plural(bytesOf(geometry), "byte")});
      if (!good)
        return size.emptyPackets && noteProven(before, size.last);
      ++result_.unevenSizes;
      if (size.emptyPackets)
        sliced.push_back({geometry, size.number > 1, size.last});
    }
    return sliced.size() == 1 || !sizesChange(index_.program, options_) || proveChanges(sliced, sizes);
  }

  struct Sliced {
    Geometry geometry;
    bool several;       ///< true if several message sizes have this pattern
    std::uint64_t last; ///< see SliceSize
  };

  /// Proves launches of different sizes that follow each other.
  bool proveChanges(const std::vector<Sliced> &sizes, const SliceSizes &slices) {
    const std::size_t number = sizes.size();
    const std::size_t runs = number * number * (slices.nested || !index_.program.doubleScratch ? 1 : number);
    if (runs > mostChanges) {
      findings_.add(diag::slices_too_many, *slices.packets);
      return false;
    }
    const Findings::State before = findings_.state();
    if (proveChangesOf(sizes, slices.nested))
      return true;
    findings_.restore(before);
    for (std::size_t i = 1; i <= number; ++i) // smaller sizes are added one by one, to find out how far the proof goes
      if (const auto larger = std::span(sizes).first(i); !proveChangesOf(larger, slices.nested))
        return i > 1 && noteProven(before.findings.size(), sizes[i - 1].last);
    return true;
  }

  /// Proves launches of all pairs of `sizes`. If scratch is double, there is a launch between the two. The two have the
  /// least order if the most packets are missing in the launch between them. If `nested`, larger sizes have all packets
  /// of smaller sizes, so only the least size is tried for that launch.
  bool proveChangesOf(std::span<const Sliced> sizes, bool nested) {
    const bool between = index_.program.doubleScratch;
    const auto middles = nested || !between ? sizes.last(1) : sizes;
    for (const Sliced &first : sizes)
      for (const Sliced &middle : middles)
        for (const Sliced &last : sizes) {
          if (&first == &last && !first.several && (!between || &first == &middle))
            continue;
          const std::size_t before = findings_.all().size();
          SizeProof proof(index_, first.geometry, roles_, findings_, options_);
          proof.change(middle.geometry, last.geometry);
          if (proof.run(result_))
            continue;
          note(before, between ? diag::between_three_sizes : diag::between_sizes,
               {bytesOf(first.geometry), bytesOf(middle.geometry), bytesOf(last.geometry)});
          return false;
        }
    return true;
  }

  /// Returns false. If messages may have more than `last` units a chunk, first adds a note to all findings from number
  /// `from` on: such messages are proven.
  bool noteProven(std::size_t from, std::uint64_t last) {
    if (last < unitsAllowed(index_.program).second)
      note(from, diag::proven_from, {(last + 1) * bytesOfUnit(index_.program)});
    return false;
  }

  std::uint64_t bytesOf(const Geometry &geometry) const {
    return std::uint64_t{geometry.unitsPerChunk()} * index_.program.bufferAlignment;
  }

  /// Adds a note to all findings from number `from` on.
  void note(std::size_t from, const ir::DiagInfo &info, const std::vector<ir::DiagArg> &args) {
    for (std::size_t i = from; i < findings_.all().size(); ++i)
      findings_.all()[i].notes.push_back({&info, findings_.all()[i].where, args});
  }

  const ProgramIndex &index_;
  Findings &findings_;
  const VerifyOptions &options_;
  VerifyResult &result_;
  const LoopRates rates_;
  const ThreadRoles roles_;
};

} // namespace
} // namespace proof

VerifyResult verify(const ir::Program &program, ir::DiagnosticEngine &diags, const VerifyOptions &options) {
  ir::requireBlocks(program);
  if (ir::hasSwitchSignals(program)) {
    VerifyResult refused;
    if (!proof::checkSwitchSignals(program, diags)) {
      refused.errors = 1;
      return refused;
    }
    const auto by = options.threadsInTurns ? ir::SpelledBy::ThreadEach : ir::SpelledBy::OneThread;
    return verify(ir::spellOutSwitchSignals(program, by), diags, options);
  }
  VerifyResult result;
  result.ranks = static_cast<std::uint32_t>(program.ranks.size());
  const proof::ProgramIndex index(program);
  proof::Findings findings(index, diags);
  result.unstated = proof::checkStated(index, findings);
  result.ofRows = ir::info(program.collective.kind).hasRows;
  result.ofExperts = ir::info(program.collective.kind).hasExperts;
  const bool ended = proof::checkWideScratch(index, findings) && proof::checkLamport(index, findings) &&
                     proof::checkRows(index, findings) && proof::Prover(index, findings, options, result).run();
  result.errors = findings.errors();
  result.warnings = findings.warnings();
  result.proven = ended && result.errors == 0;
  if (!options.warnings)
    findings.dropWarnings();
  findings.flush();
  return result;
}

std::string VerifyResult::summary() const {
  if (!proven)
    return "not proven: " + ir::plural(errors, "error");
  std::string text = "proven: " + ir::plural(ranks, "rank") + ", " + ir::plural(launches, "launch");
  text.replace(text.rfind(ir::plural(launches, "launch")), std::string::npos,
               std::to_string(launches) + (launches == 1 ? " launch" : " launches"));
  if (anyIterations)
    text += ", any number of iterations";
  else if (iterations != 0)
    text += ", up to " + ir::plural(iterations, "iteration");
  if (unevenSizes != 0)
    text += ", " + std::to_string(unevenSizes + 1) + " ways in which slices meet";
  if (ofRows)
    text += ofExperts ? ", all indices of experts" : ", all counts up to the capacity";
  return text + ": " + ir::plural(operations, "operation") + " in " + ir::plural(phases, "phase") + " over " +
         ir::plural(edges, "edge") + ", " + std::to_string(accesses) + " accesses in order, " +
         ir::plural(results, "output chunk") + " right" +
         (unstated != 0 ? ", nothing stated of " + std::to_string(unstated) + (results != 0 ? " more" : "") : "");
}

} // namespace mscclc::passes
