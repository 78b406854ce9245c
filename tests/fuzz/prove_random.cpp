// Proves and runs random programs: prove_random COUNT [FIRST_SEED] [SCHEDULES] [MOST_FAULTS]
//
// Each program is right by construction. So it must be proven and run right, at two sizes and at both in turn, and also
// after the passes of -O2. Only unusual programs (random_program.h) may be refused; these are counted by the finding.
// Then the program is changed at random, and each piece of synchronisation of a small program is removed. If the run of
// a changed program fails, the program must not be proven. Each answer about order is compared with plain reachability.
// Prints each failure with its seed, the smallest program of each kind of failure, and counts. Exits with 1 if there
// was a failure.
#include "drop_sync.h"
#include "random_program.h"

#include "ir/structure.h"
#include "ir/text.h"
#include "passes/pass_manager.h"
#include "passes/simulate/simulate.h"
#include "passes/verify/verify.h"
#include "tests/unit/passes-verify/plain_order.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>

using namespace mscclc;

namespace {

/// Findings that say only that the proof cannot decide.
constexpr std::array<std::string_view, 4> undecided{"slices_in_loop", "slices_too_many", "packets_in_loop",
                                                    "more_iterations"};
/// Warnings about faults that show in a run. A program with one of them does not count as proven here.
constexpr std::array<std::string_view, 2> grave{"relaxed_carries_data", "input_still_sent"};

struct Proof {
  bool proven = false;
  std::string id; ///< id of the first finding against the program
};

Proof prove(const ir::Program &program, ir::DiagnosticEngine &diags, plan::PlainOrder *order = nullptr) {
  Proof proof{passes::verify(program, diags, {.schedules = false, .watcher = order}).proven, ""};
  for (const ir::Diagnostic &d : diags.all()) {
    const bool isGrave = std::find(grave.begin(), grave.end(), d.id) != grave.end();
    proof.proven &= !isGrave;
    if (proof.id.empty() && (isGrave || d.severity == ir::Severity::Error))
      proof.id = d.id;
  }
  return proof;
}

class Judge {
public:
  Judge(std::uint32_t schedules, std::uint64_t mostFaults) : schedules_(schedules), mostFaults_(mostFaults) {}

  bool judge(std::uint64_t seed);
  bool tell(double seconds) const;

private:
  struct Fault {
    std::uint64_t seed = 0;
    std::size_t size = 0;
    std::string text; ///< findings and program
  };

  bool runs(const ir::Program &program, ir::DiagnosticEngine &diags) const;
  void fault(const ir::Program &program, const std::string &kind, const std::string &what,
             const ir::DiagnosticEngine &diags);
  void show(const ir::Program &program, const std::string &kind, const std::string &what,
            const ir::DiagnosticEngine &diags);
  void judgeOptimized(const ir::Program &right);
  void judgeMutant(const ir::Program &mutant, const std::string &what, bool runsAnyway);

  std::uint32_t schedules_;
  std::uint64_t mostFaults_, seed_ = 0;
  std::array<std::uint64_t, ir::opKindCount> kinds_{}; ///< operations of the programs that are right
  std::uint64_t programs_ = 0, unusual_ = 0, removed_ = 0, mutants_ = 0, proven_ = 0, refused_ = 0, refusedAndRun_ = 0,
                refusedAndRight_ = 0, faults_ = 0;
  std::map<std::string, std::uint64_t> falseAlarms_; ///< refused unusual programs, by finding
  std::map<std::string, Fault> smallest_;            ///< by kind
};

/// Runs the program at sizes drawn by the seed, at the smallest size, and at all of these in turn. So there are runs
/// with more iterations than were proven, runs with empty slices, and launches of 0 bytes in between, which do nothing.
/// A program for one size is run at that size.
bool Judge::runs(const ir::Program &program, ir::DiagnosticEngine &diags) const {
  constexpr std::uint64_t odd[] = {1, 3, 5, 17}, other[] = {2, 6, 7, 10, 25};
  const std::uint64_t step = std::uint64_t{16} * program.ranks[0].inputChunks;
  passes::SimulateOptions options;
  options.type = passes::DataType::I32;
  options.schedules = schedules_;
  options.seed = seed_;
  if (program.minMessageSize != program.maxMessageSize) {
    options.sizes.push_back(0);
    const std::uint64_t least = std::max<std::uint64_t>(1, (program.minMessageSize + step - 1) / step);
    for (const std::uint64_t units : {odd[seed_ % 4], other[seed_ / 4 % 5], least})
      if (const std::uint64_t size = step * std::max(least, std::min(units, program.maxMessageSize / step));
          std::ranges::find(options.sizes, size) == options.sizes.end())
        options.sizes.push_back(size);
  }
  return passes::simulate(program, diags, options).ok;
}

void Judge::fault(const ir::Program &program, const std::string &kind, const std::string &what,
                  const ir::DiagnosticEngine &diags) {
  ++faults_;
  show(program, kind, what, diags);
}

void Judge::show(const ir::Program &program, const std::string &kind, const std::string &what,
                 const ir::DiagnosticEngine &diags) {
  std::cout << "seed " << seed_ << ": " << kind << (what.empty() ? "" : ": " + what) << std::endl;
  Fault &smallest = smallest_[kind + ": " + what.substr(0, std::min(what.find(" rank"), what.find(" at rank")))];
  if (!smallest.text.empty() && smallest.size <= program.numOps())
    return;
  smallest = {seed_, program.numOps(), diags.render(false)};
  ir::print(program, smallest.text);
}

/// The passes of -O2 keep a program right.
void Judge::judgeOptimized(const ir::Program &right) {
  ir::Program program = right;
  passes::PassManager passes({}, passes::propertiesOf(program));
  passes.add("fuse,lower-data-sync,infer-sync,drop-redundant-sync,fuse,split-waits,prune-sync");
  ir::DiagnosticEngine diags;
  const bool ran = passes.run(program, diags).ok;
  removed_ += right.numOps() - program.numOps();
  if (!ran || !prove(program, diags).proven)
    fault(program, "refused once optimized", "", diags);
  else if (!runs(program, diags))
    fault(program, "runs wrong once optimized", "", diags);
}

/// Runs the program if it is proven, or if `runsAnyway`.
void Judge::judgeMutant(const ir::Program &mutant, const std::string &what, bool runsAnyway) {
  ++mutants_;
  ir::DiagnosticEngine diags, run;
  plan::PlainOrder order;
  const bool proven = prove(mutant, diags, &order).proven;
  if (!order.faults().empty())
    fault(mutant, "order disagrees with reachability: " + order.faults()[0], what, diags);
  ++(proven ? proven_ : refused_);
  if (!proven && !runsAnyway)
    return;
  const bool right = runs(mutant, run);
  refusedAndRun_ += !proven;
  refusedAndRight_ += !proven && right;
  if (proven && !right)
    fault(mutant, "proven, but runs wrong", what, run);
}

/// Returns false if the maximal number of faults is reached.
bool Judge::judge(std::uint64_t seed) {
  seed_ = seed;
  const auto [right, unusual] = fuzz::randomProgram(seed);
  ir::DiagnosticEngine diags, structure, run;
  if (!ir::checkStructure(right, structure)) {
    fault(right, "not well formed", "", structure);
    return faults_ < mostFaults_;
  }
  ++programs_;
  unusual_ += unusual;
  for (const ir::Rank &rank : right.ranks)
    for (const ir::ThreadBlock &block : rank.blocks)
      for (const ir::Op &op : block.ops)
        ++kinds_[static_cast<std::size_t>(op.kind)];
  const Proof proof = prove(right, diags);
  if (!proof.proven && (unusual || std::find(undecided.begin(), undecided.end(), proof.id) != undecided.end())) {
    ++falseAlarms_[proof.id];
    show(right, "unusual and right, but refused", proof.id, diags);
  } else if (!proof.proven) {
    fault(right, "right by construction, but refused", proof.id, diags);
  }
  if (!runs(right, run))
    fault(right, "right by construction, but runs wrong", "", run);
  else if (proof.proven)
    judgeOptimized(right);
  for (std::uint64_t m = 0; m < 6; ++m) {
    std::string what;
    if (const auto mutant = fuzz::mutate(right, seed * 16 + m, what))
      judgeMutant(*mutant, what, m == 0);
  }
  constexpr std::size_t small = 40;
  if (right.numOps() <= small)
    fuzz::dropEach(right, ~0u, [&](const ir::Program &less, const fuzz::Dropped &d) {
      ir::DiagnosticEngine silent;
      if (ir::checkStructure(less, silent))
        judgeMutant(less, "without " + d.what, false);
    });
  return faults_ < mostFaults_;
}

bool Judge::tell(double seconds) const {
  for (const auto &[kind, fault] : smallest_)
    std::cout << "\nThe smallest of '" << kind << "', seed " << fault.seed << ":\n" << fault.text;
  std::cout << programs_ << " programs right by construction, from which -O2 took " << removed_ << " operations; "
            << mutants_ << " changed ones: " << proven_ << " proven, " << refused_ << " refused; of " << refusedAndRun_
            << " of these no run broke " << refusedAndRight_ << "; " << faults_ << " faults\n";
  std::uint64_t alarms = 0;
  for (const auto &[id, count] : falseAlarms_)
    alarms += count;
  std::printf("%llu programs were unusual; refused though right: %llu (%.1f %% of these)",
              static_cast<unsigned long long>(unusual_), static_cast<unsigned long long>(alarms),
              100.0 * static_cast<double>(alarms) / static_cast<double>(std::max<std::uint64_t>(1, unusual_)));
  for (const auto &[id, count] : falseAlarms_)
    std::printf(", %s %llu", id.c_str(), static_cast<unsigned long long>(count));
  std::printf("; %.0f programs a second, changed ones counted\noperations:",
              static_cast<double>(programs_ + mutants_) / seconds);
  for (std::size_t k = 0; k < kinds_.size(); ++k)
    if (kinds_[k] != 0)
      std::printf(" %s %llu", std::string(ir::opInfos[k].mnemonic).c_str(), static_cast<unsigned long long>(kinds_[k]));
  std::printf("\n");
  return faults_ == 0;
}

} // namespace

int main(int argc, char **argv) {
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const std::uint64_t count = number(1, 300), first = number(2, 1);
  Judge judge(static_cast<std::uint32_t>(number(3, 16)), number(4, 10));
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t seed = first; seed < first + count && judge.judge(seed);)
    ++seed;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::cout.flush();
  return judge.tell(seconds.count()) ? 0 : 1;
}
