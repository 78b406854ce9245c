// Plans, broken: break_plans [--ranks N] [--schedules N] FILE…   (FILE: a plan, IR text, or - for IR text on input)
//
// From each plan that is proven, each nop, signal, wait, acquire, release, barrier and flush is dropped, one at a time,
// alone and with its partner. The verifier must object, or what went was redundant for a reason that is named below,
// and the plan runs right without it. Then operations are changed: what is not refused must run right.
// Prints a line for each plan; exit 1 if something does not hold.
#include "break_ops.h"
#include "drop_sync.h"

#include "backend-json/read_plan.h"
#include "ir/op_semantics.h"
#include "ir/structure.h"
#include "ir/text.h"
#include "passes/pass_manager.h"
#include "passes/simulate.h"
#include "passes/verify.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace mscclc;

namespace {

struct Settings {
  std::uint32_t ranks = 1, schedules = 6;
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

/// Proven, and without a new warning.
bool accepted(const ir::Program &program, std::uint64_t warnings) {
  ir::DiagnosticEngine diags;
  if (!ir::checkStructure(program, diags))
    return false;
  const auto result = passes::verify(program, diags, {.schedules = false});
  return result.proven && result.warnings <= warnings;
}

bool runsRight(const ir::Program &program, std::uint32_t schedules) {
  ir::DiagnosticEngine diags;
  passes::SimulateOptions options;
  options.type = passes::DataType::I32;
  options.schedules = schedules;
  if (program.reuseResources) {
    // The least multiple of what the chunks need that is no smaller than any plan's least message.
    const std::uint64_t step =
        std::uint64_t{16} * std::max(program.ranks[0].inputChunks, program.ranks[0].outputChunks);
    options.sizes = {(1024 + step - 1) / step * step};
  }
  return passes::simulate(program, diags, options).ok;
}

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
    // One of several nops in a row stays: which, is all the same.
    return kept >= after.size() || after[kept].kind != ir::OpKind::Nop;
  }

private:
  const ir::Program &before_;
  ir::Program after_;
};

/// What may go from plans although -O2 does not see it, and why.
struct Explained {
  const char *program;
  fuzz::Dropped::Kind kind;
  const char *reason;
};
constexpr Explained explained[] = {
    {"multi_node__allgather", fuzz::Dropped::Nop, "the peer uses nothing before the last signal, which has its own"},
    {"multi_node__allgather_tbg", fuzz::Dropped::Pair, "a step's signal tells that the step before it is copied"},
    {"multi_node__allgather_tbg", fuzz::Dropped::Nop, "a step's signal tells that the step before it is copied"},
    {"alltoall__alltoall_pipeline", fuzz::Dropped::Nop, "the channel's signal and wait order what the semaphore does"},
    {"allreduce_packets", fuzz::Dropped::Nop, "what is unpacked was computed from what was sent, element by element"},
    {"single_node__allreduce_naivy", fuzz::Dropped::Nop,
     "what is unpacked was computed from what was sent, element by element"},
    {"allreduce_ring", fuzz::Dropped::Pair, "what comes round the ring tells that the next rank has begun"},
    {"allreduce_ring", fuzz::Dropped::Nop, "what comes round the ring tells that the next rank has begun"},
};

/// Why a program is right without something, in words; empty if there is no reason to think so.
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

bool judge(const std::string &file, const Settings &settings) {
  const auto program = readProgram(file);
  if (!program)
    return false;
  ir::DiagnosticEngine diags;
  const auto proof = passes::verify(*program, diags, {.schedules = false});
  if (!proof.proven) { // its faults have tests of their own
    std::cout << file << ": not proven itself\n";
    return true;
  }
  bool good = true;
  std::uint64_t dropped = 0, objected = 0, changed = 0, refused = 0;
  std::map<std::string, std::uint64_t> reasons;
  const Redundant redundant(*program);
  fuzz::dropEach(*program, settings.ranks, [&](const ir::Program &less, const fuzz::Dropped &d) {
    ++dropped;
    if (!accepted(less, proof.warnings)) {
      ++objected;
      return;
    }
    const std::string reason = reasonFor(*program, redundant, d);
    ++reasons[reason.empty() ? "?" : reason];
    const bool right = runsRight(less, settings.schedules);
    if (reason.empty() || !right) {
      good = false;
      std::cout << file << ": without " << d.what
                << (right ? " it is proven too, for no reason" : " it is proven, but runs wrong") << "\n";
    }
  });
  fuzz::changeEach(*program, settings.ranks, [&](const ir::Program &other, const std::string &what) {
    ++changed;
    if (!accepted(other, ~std::uint64_t{0})) {
      ++refused;
      return;
    }
    if (!runsRight(other, settings.schedules)) {
      good = false;
      std::cout << file << ": with " << what << " it is proven, but runs wrong\n";
    }
  });
  std::cout << file << ": " << dropped << " dropped, " << objected << " missed";
  for (const auto &[reason, count] : reasons)
    std::cout << ", " << count << " redundant (" << reason << ")";
  std::cout << "; " << changed << " changed, " << refused << " refused, " << changed - refused
            << " right all the same\n";
  return good;
}

} // namespace

int main(int argc, char **argv) {
  Settings settings;
  bool good = true;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if ((word == "--ranks" || word == "--schedules") && i + 1 < argc)
      (word == "--ranks" ? settings.ranks : settings.schedules) =
          static_cast<std::uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    else
      good &= judge(word, settings);
  }
  return good ? 0 : 1;
}
