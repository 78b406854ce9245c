// Random programs, proven and run: prove_random COUNT [FIRST_SEED] [SCHEDULES]
//
// Each program is right by construction, so it must be proven and run right, also behind the passes of -O2. Then it is
// changed at random: what the run breaks must not be proven; and both ways of keeping order must agree. Prints what
// does not hold, with its seed, and counts; exit 1 if anything did not.
#include "random_program.h"

#include "ir/structure.h"
#include "ir/text.h"
#include "passes/pass_manager.h"
#include "passes/simulate.h"
#include "passes/verify.h"

#include <array>
#include <cstdlib>
#include <iostream>

using namespace mscclc;

namespace {

struct Counts {
  std::array<std::uint64_t, ir::opKindCount> kinds{}; ///< operations of the programs that are right
  std::uint64_t programs = 0, removed = 0, mutants = 0, proven = 0, refused = 0, broken = 0, refusedAndRight = 0,
                faults = 0;
};

passes::SimulateOptions runOptions(const ir::Program &program, std::uint64_t seed, std::uint32_t schedules) {
  passes::SimulateOptions options;
  options.type = passes::DataType::I32;
  options.schedules = schedules;
  options.seed = seed;
  options.sizes = {std::uint64_t{64} * program.ranks[0].inputChunks};
  return options;
}

void show(const ir::Program &program, const std::string &words, std::uint64_t seed, const std::string &diagnostics) {
  std::string text;
  ir::print(program, text);
  std::cout << "seed " << seed << ": " << words << "\n" << diagnostics << text << "\n";
}

/// The passes of -O2 keep a program right.
void judgeOptimized(const ir::Program &right, std::uint64_t seed, std::uint32_t schedules, Counts &counts) {
  ir::Program program = right;
  passes::PassManager passes({}, passes::propertiesOf(program));
  passes.add("fuse,lower-data-sync,infer-sync,drop-redundant-sync,fuse,part-waits");
  ir::DiagnosticEngine diags;
  const bool ran = passes.run(program, diags).ok;
  counts.removed += right.numOps() - program.numOps();
  if (ran && passes::verify(program, diags, {.warnings = false}).proven &&
      passes::simulate(program, diags, runOptions(program, seed, schedules)).ok)
    return;
  ++counts.faults;
  show(program, "wrong once optimized", seed, diags.render(false));
}

void judge(std::uint64_t seed, std::uint32_t schedules, Counts &counts) {
  const ir::Program right = fuzz::randomProgram(seed);
  ir::DiagnosticEngine diags, structure;
  if (!ir::checkStructure(right, structure)) {
    ++counts.faults;
    return show(right, "not well formed", seed, structure.render(false));
  }
  ++counts.programs;
  for (const ir::Rank &rank : right.ranks)
    for (const ir::ThreadBlock &block : rank.blocks)
      for (const ir::Op &op : block.ops)
        ++counts.kinds[static_cast<std::size_t>(op.kind)];
  if (!passes::verify(right, diags).proven) {
    ++counts.faults;
    return show(right, "right by construction, but refused", seed, diags.render(false));
  }
  if (!passes::simulate(right, diags, runOptions(right, seed, schedules)).ok) {
    ++counts.faults;
    return show(right, "right by construction, but runs wrong", seed, diags.render(false));
  }
  judgeOptimized(right, seed, schedules, counts);
  for (std::uint64_t m = 0; m < 4; ++m) {
    std::string what;
    const auto mutant = fuzz::mutate(right, seed * 16 + m, what);
    if (!mutant)
      continue;
    ++counts.mutants;
    ir::DiagnosticEngine proof, run;
    const bool proven = passes::verify(*mutant, proof, {.warnings = false, .schedules = false}).proven;
    ir::DiagnosticEngine other;
    if (passes::verify(*mutant, other, {.warnings = false, .schedules = false, .clocks = true}).proven != proven) {
      ++counts.faults;
      show(*mutant, "logs and clocks disagree: " + what, seed, proof.render(false) + other.render(false));
    }
    const bool runs = passes::simulate(*mutant, run, runOptions(*mutant, seed, schedules)).ok;
    ++(proven ? counts.proven : counts.refused);
    counts.broken += !runs;
    counts.refusedAndRight += !proven && runs;
    if (proven && !runs) {
      ++counts.faults;
      show(*mutant, "proven, but runs wrong: " + what, seed, run.render(false));
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const auto schedules = static_cast<std::uint32_t>(argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 16);
  Counts counts;
  for (std::uint64_t seed = first; seed < first + count && counts.faults < 10; ++seed)
    judge(seed, schedules, counts);
  std::cout << counts.programs << " programs right by construction, from which -O2 took " << counts.removed
            << " operations; " << counts.mutants << " changed ones: " << counts.proven << " proven, " << counts.refused
            << " refused; " << counts.broken << " broke when run, " << counts.refusedAndRight
            << " were refused though no run broke; " << counts.faults << " faults\n";
  std::cout << "operations:";
  for (std::size_t k = 0; k < counts.kinds.size(); ++k)
    if (counts.kinds[k] != 0)
      std::cout << " " << ir::opInfos[k].mnemonic << " " << counts.kinds[k];
  std::cout << "\n";
  return counts.faults == 0 ? 0 : 1;
}
