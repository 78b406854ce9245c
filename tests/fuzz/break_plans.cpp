// Breaks plans: break_plans [--least] [--ranks N] [--schedules N] [--most N] [--seed N] FILE… (FILE: a plan, IR text,
// or -)
//
// For each plan that is proven: each nop, signal, wait, acquire, release, barrier and flush of the first N ranks is
// removed, one at a time, alone and together with its partner. Either the verifier refuses the result, or the removed
// operation was redundant for one of the reasons named below, and the plan still runs right. Then operations are
// changed; each result must be refused or run right. With --most, only N of each kind are tried, drawn by the seed.
// With --least, the plan first goes through prune-sync; afterwards no synchronisation may be redundant. No operations
// are changed. Prints a line for each plan. Exits with 1 if a check fails.
#include "break_ops.h"
#include "drop_sync.h"

#include "backend-json/read_plan.h"
#include "ir/op_semantics.h"
#include "ir/structure.h"
#include "ir/text.h"
#include "passes/pass_manager.h"
#include "passes/simulate/simulate.h"
#include "passes/verify/verify.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>

using namespace mscclc;

namespace {

struct Settings {
  std::uint32_t ranks = 1, schedules = 6, most = ~std::uint32_t{0}, seed = 1;
  bool least = false;
};

std::optional<ir::Program> readProgram(const std::string &file) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
  } else {
    std::ifstream in(file);
    if (!in)
      return std::nullopt;
    text << in.rdbuf();
  }
  ir::DiagnosticEngine diags;
  auto program = file.ends_with(".json") ? json::readPlan(text.str(), file, diags) : ir::parse(text.str(), file, diags);
  std::cerr << diags.render(false);
  return program;
}

/// Returns what must be allowed so that the program is proven; nothing if it cannot be proven.
std::optional<ir::AllowedNames> neededFor(const ir::Program &program) {
  ir::DiagnosticEngine diags;
  ir::AllowedNames names;
  if (passes::verify(program, diags, {.schedules = false}).proven)
    return names;
  for (const ir::Diagnostic &d : diags.all()) {
    if (d.severity == ir::Severity::Error && d.allowName.empty())
      return std::nullopt;
    if (d.severity == ir::Severity::Error)
      names.emplace(d.allowName);
  }
  return names;
}

/// Proven, and without a new warning.
bool accepted(const ir::Program &program, const ir::AllowedNames &allowed, std::uint64_t warnings) {
  ir::DiagnosticEngine diags;
  diags.allow(allowed);
  if (!ir::checkStructure(program, diags))
    return false;
  const auto result = passes::verify(program, diags, {.schedules = false});
  return result.proven && result.warnings <= warnings;
}

/// Returns the program with smaller units of pipelines, so that a short message takes several iterations.
ir::Program withSmallUnits(ir::Program program) {
  std::uint64_t common = 0;
  const auto forUnits = [&](const auto &visit) {
    for (ir::Rank &rank : program.ranks)
      for (ir::ThreadBlock &block : rank.blocks)
        for (ir::Op &op : block.ops)
          if (op.kind == ir::OpKind::Pipeline)
            visit(op.imm);
  };
  forUnits([&](std::uint64_t &unit) { common = std::gcd(common, unit); });
  const std::uint64_t factor = std::max<std::uint64_t>(1, common / program.bufferAlignment);
  if (common % program.bufferAlignment == 0)
    forUnits([&](std::uint64_t &unit) { unit /= factor; });
  return program;
}

bool runsRight(const ir::Program &program, const ir::AllowedNames &allowed, std::uint32_t schedules) {
  ir::DiagnosticEngine diags;
  passes::SimulateOptions options;
  options.type = passes::DataType::I32;
  options.schedules = schedules;
  options.allow(allowed);
  return passes::simulate(withSmallUnits(program), diags, options).ok;
}

/// Chooses which of `total` things to try: all of them, or `most` at random.
class Sample {
public:
  Sample(std::uint64_t total, const Settings &settings) : chosen_(total, total <= settings.most) {
    if (total > settings.most)
      std::fill_n(chosen_.begin(), settings.most, true);
    std::shuffle(chosen_.begin(), chosen_.end(), std::mt19937_64(settings.seed));
  }
  bool next() { return chosen_[next_++]; }

private:
  std::vector<bool> chosen_;
  std::size_t next_ = 0;
};

/// The nops of a block that -O2 removes.
class Redundant {
public:
  explicit Redundant(const ir::Program &program) : before_(program), after_(program) {
    passes::PassManager passes({}, passes::propertiesOf(program));
    passes.add("drop-redundant-sync");
    ir::DiagnosticEngine diags;
    passes.run(after_, diags);
  }
  bool has(ir::OpRef at) const {
    const auto &before = before_.ranks[at.rank].blocks[at.block].ops,
               &after = after_.ranks[at.rank].blocks[at.block].ops;
    std::size_t kept = 0;
    for (std::uint32_t o = 0; o < at.op; ++o)
      kept += kept < after.size() && after[kept].kind == before[o].kind;
    // One of several nops in a row is kept. It does not matter which.
    return kept >= after.size() || after[kept].kind != ir::OpKind::Nop;
  }

private:
  const ir::Program &before_;
  ir::Program after_;
};

/// What may be removed from plans although -O2 does not find it, and why.
struct Explained {
  const char *program;
  fuzz::Dropped::Kind kind;
  const char *reason;
};
constexpr Explained explained[] = {
    {"multi_node__allgather", fuzz::Dropped::Nop, "the peer uses nothing before the last signal, which has its own"},
    {"multi_node__allgather_tbg", fuzz::Dropped::Pair, "a step's signal tells that the step before it is copied"},
    {"multi_node__allgather_tbg", fuzz::Dropped::Nop, "a step's signal tells that the step before it is copied"},
    {"allgather_hierarchical", fuzz::Dropped::Nop, "the thread that waits is the one that puts"},
    {"multi_node__send_recv", fuzz::Dropped::Nop, "the thread that waits is the one that puts"},
    {"alltoall__alltoall_pipeline", fuzz::Dropped::Nop, "the channel's signal and wait order what the semaphore does"},
    {"allreduce_packets", fuzz::Dropped::Nop, "what is unpacked was computed from what was sent, element by element"},
    {"single_node__allreduce_naivy", fuzz::Dropped::Nop,
     "what is unpacked was computed from what was sent, element by element"},
    {"allreduce_ring", fuzz::Dropped::Pair, "what comes round the ring tells that the next rank has begun"},
    {"allreduce_ring", fuzz::Dropped::Nop, "what comes round the ring tells that the next rank has begun"},
};

/// Returns in words why a program is right without a piece of synchronisation; empty if there is no such reason.
std::string reasonFor(const ir::Program &program, const Redundant &redundant, const fuzz::Dropped &d) {
  if (d.kind == fuzz::Dropped::Nop && redundant.has(d.place))
    return "-O2 removes it";
  if (program.collective.kind == ir::CollectiveKind::Test)
    return "a test of single operations: nobody uses what it orders";
  const auto &ops = program.ranks[d.place.rank].blocks[d.place.block].ops;
  for (std::uint32_t o = 0; d.kind == fuzz::Dropped::Nop && o < d.place.op; ++o)
    if (ops[o].kind == ir::OpKind::Pipeline && o + ops[o].bodySize >= d.place.op)
      return "in a loop, whose nops -O2 leaves: its iterations touch different slices";
  for (const Explained &e : explained)
    if (program.name == e.program && d.kind == e.kind)
      return e.reason;
  return "";
}

/// Checks that nothing that prune-sync leaves can be removed.
bool judgeLeast(const std::string &file, ir::Program program, const ir::AllowedNames &allowed,
                const Settings &settings) {
  ir::DiagnosticEngine diags;
  diags.allow(allowed);
  passes::PassManager passes({}, passes::propertiesOf(program));
  passes.add("lower-data-sync,prune-sync");
  passes.run(program, diags);
  const auto proof = passes::verify(program, diags, {.schedules = false});
  bool good = proof.proven && runsRight(program, allowed, settings.schedules);
  if (!good)
    std::cout << file << ": pruned, it is not proven or runs wrong\n";
  std::uint64_t total = 0, dropped = 0, redundant = 0;
  fuzz::dropEach(program, settings.ranks, [&](const ir::Program &, const fuzz::Dropped &) { ++total; });
  Sample drops(total, settings);
  fuzz::dropEach(program, settings.ranks, [&](const ir::Program &less, const fuzz::Dropped &d) {
    if (!drops.next())
      return;
    ++dropped;
    if (!accepted(less, allowed, proof.warnings))
      return;
    ++redundant;
    std::cout << file << ": pruned, it is proven without " << d.what << ", too\n";
  });
  std::cout << file << ": pruned, of " << total << " pieces of sync " << dropped << " dropped: " << redundant
            << " redundant\n"
            << std::flush;
  return good && redundant == 0;
}

bool judge(const std::string &file, const Settings &settings) {
  const auto program = readProgram(file);
  if (!program)
    return false;
  const auto allowed = neededFor(*program);
  if (!allowed) { // other tests are for its faults
    std::cout << file << ": not proven itself\n";
    return true;
  }
  if (settings.least) // of a test's operations nobody uses what sync orders
    return program->collective.kind == ir::CollectiveKind::Test || judgeLeast(file, *program, *allowed, settings);
  ir::DiagnosticEngine diags;
  diags.allow(*allowed);
  const auto proof = passes::verify(*program, diags, {.schedules = false});
  bool good = runsRight(*program, *allowed, settings.schedules);
  if (!good)
    std::cout << file << ": it is proven, but runs wrong\n";
  std::uint64_t allDrops = 0, dropped = 0, missed = 0, allChanges = 0, changed = 0, refused = 0;
  std::map<std::string, std::uint64_t> reasons;
  const Redundant redundant(*program);
  fuzz::dropEach(*program, settings.ranks, [&](const ir::Program &, const fuzz::Dropped &) { ++allDrops; });
  Sample drops(allDrops, settings);
  fuzz::dropEach(*program, settings.ranks, [&](const ir::Program &less, const fuzz::Dropped &d) {
    if (!drops.next())
      return;
    ++dropped;
    if (!accepted(less, *allowed, proof.warnings)) {
      ++missed;
      return;
    }
    const std::string reason = reasonFor(*program, redundant, d);
    ++reasons[reason.empty() ? "?" : reason];
    const bool right = runsRight(less, *allowed, settings.schedules);
    if (reason.empty() || !right) {
      good = false;
      std::cout << file << ": without " << d.what
                << (right ? " it is proven too, for no reason" : " it is proven, but runs wrong") << "\n";
    }
  });
  fuzz::changeEach(*program, settings.ranks, [&](const ir::Program &, const std::string &) { ++allChanges; });
  Sample changes(allChanges, settings);
  fuzz::changeEach(*program, settings.ranks, [&](const ir::Program &other, const std::string &what) {
    if (!changes.next())
      return;
    ++changed;
    if (!accepted(other, *allowed, ~std::uint64_t{0})) {
      ++refused;
      return;
    }
    if (!runsRight(other, *allowed, settings.schedules)) {
      good = false;
      std::cout << file << ": with " << what << " it is proven, but runs wrong\n";
    }
  });
  std::cout << file << ": of " << allDrops << " pieces of sync " << dropped << " dropped: " << missed
            << " refused without it, " << dropped - missed << " redundant";
  for (const auto &[reason, count] : reasons)
    std::cout << " (" << count << ": " << reason << ")";
  std::cout << "; of " << allChanges << " changes " << changed << " made: " << refused << " refused, "
            << changed - refused << " proven" << (good ? " and run right" : "") << "\n"
            << std::flush;
  return good;
}

} // namespace

int main(int argc, char **argv) {
  Settings settings;
  const std::map<std::string, std::uint32_t *, std::less<>> numbers{{"--ranks", &settings.ranks},
                                                                    {"--schedules", &settings.schedules},
                                                                    {"--most", &settings.most},
                                                                    {"--seed", &settings.seed}};
  bool good = true;
  for (int i = 1; i < argc; ++i)
    if (argv[i] == std::string_view("--least"))
      settings.least = true;
    else if (const auto it = numbers.find(argv[i]); it == numbers.end())
      good &= judge(argv[i], settings);
    else if (++i < argc)
      *it->second = static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
  return good ? 0 : 1;
}
