// Schedules, proves and runs random movement programs: schedule_random COUNT [FIRST_SEED] [SCHEDULES] [ordered|rows]
//
// Each means what it promises, as the generator has run it statement by statement. So its meaning must be accepted, the
// passes must schedule it, with whatever they were told to choose, the proof must accept what they made, which must end
// as the statements mean, and a run of that must be right. Some are scheduled for an executor whose blocks have few
// channels, with relay blocks and without, and some pruned. For a third, what is left open is chosen, mostly with a
// limit of the blocks that a rank may use. None may pass it; only where an executor's limits ask for more is the
// program refused, with a note of them. Sharing scratch must cost no operation, as far as nothing is fused; and blocks
// must have what is said that they have at least. With `ordered`, programs ask for Order::Ranks or Order::Tree: the
// trees of the proof must be these, and runs of floats must end with their bits. With `rows`, programs are of rows, and
// runs have mixed counts. Then one operation of each is changed, too. What is still proven must still run right. Prints
// what does not hold with its seed, the smallest program in full, and counts; exit 1 if anything did not.
#include "random_movement.h"

#include "ir/collectives.h"
#include "ir/internal_error.h"
#include "ir/structure.h"
#include "ir/text.h"
#include "passes/pass_manager.h"
#include "passes/schedule/choose.h"
#include "passes/schedule/least_blocks.h"
#include "passes/schedule/order_sums.h"
#include "passes/schedule/same_values.h"
#include "passes/schedule/schedule_diagnostics.h"
#include "passes/simulate/simulate.h"
#include "passes/time/machine.h"
#include "passes/verify/sum_steps.h"
#include "passes/verify/verify.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <string_view>

using namespace mscclc;

namespace {

class Judge {
public:
  Judge(std::uint32_t schedules, std::string_view kind)
      : schedules_(schedules), ordered_(kind == "ordered"), rows_(kind == "rows") {}

  void judge(std::uint64_t seed) {
    ir::Program given = rows_ ? fuzz::randomRows(seed) : fuzz::randomMovement(seed, ordered_);
    if (given.movement.statements.empty())
      return;
    ++programs_;
    statements_ += given.movement.statements.size();
    ir::DiagnosticEngine diags;
    std::optional<passes::schedule::Meaning> meaning = passes::schedule::meaningOf(given, diags);
    if (meaning && ordered_)
      meaning = passes::schedule::orderSums(given, diags) ? passes::schedule::meaningOf(given, diags) : std::nullopt;
    if (!meaning) {
      fault(given, given, seed, "its meaning is refused", diags.render(false));
      return;
    }
    limits_ = passes::executorLimits.front();
    limits_.channelsPerBlock = limits_.remotesPerBlock = static_cast<std::uint32_t>(2 + seed / 5 % 4);
    target_.executor = seed % 5 == 0 ? &limits_ : nullptr;
    target_.listedOrder = target_.executor != nullptr;
    const std::string most = "fuse,lower-data-sync,infer-sync,drop-redundant-sync,fuse,split-waits";
    for (const std::string &rest : {std::string("lower-data-sync,infer-sync,replicate-instances"),
                                    most + (seed % 4 == 0 ? ",prune-sync" : "") + ",replicate-instances"})
      if (!schedule(given, *meaning, seed, rest))
        return;
    if (holdsLeast(given, seed, most) && seed % 3 == 1)
      choose(given, *meaning, seed);
  }
  bool tell() const {
    for (const auto &[kind, fault] : smallest_)
      std::cout << "\nThe smallest of '" << kind << "', seed " << fault.seed << ":\n" << fault.text;
    std::cout << programs_ << " movement programs, " << statements_ << " statements, " << operations_ << " operations, "
              << saved_ << " chunks of scratch saved; " << trees_ << " trees of sums; " << refused_
              << " refused for want of blocks; " << changed_ << " changed, of which " << harmless_ << " are proven; "
              << faults_ << " faults\n";
    return faults_ == 0;
  }

private:
  struct Fault {
    std::uint64_t seed = 0;
    std::size_t size = 0;
    std::string text;
  };

  bool schedule(const ir::Program &given, const passes::schedule::Meaning &meaning, std::uint64_t seed,
                const std::string &rest) {
    const bool fused = rest.starts_with("fuse");
    ir::Program program = given;
    program.movement.relayBlocks = fused;
    ir::Program apart = program;
    ir::DiagnosticEngine diags;
    if (!run(given, seed, std::string("place,order,cut,share-scratch,synchronise,") + rest, program, diags) ||
        !run(given, seed, std::string("place,order,cut,synchronise,") + rest, apart, diags))
      return false;
    operations_ += program.numOps();
    saved_ += chunksOf(apart) - chunksOf(program);
    // What fuses depends on what stands side by side, which is a little different.
    if ((!fused && program.numOps() > apart.numOps()) || chunksOf(program) > chunksOf(apart))
      return fault(given, program, seed, "shared scratch costs something", "");
    return isRight(given, program, meaning, seed, diags);
  }

  /// What is left open is chosen. Where the program says how many blocks a rank may use, none has more.
  bool choose(const ir::Program &given, const passes::schedule::Meaning &meaning, std::uint64_t seed) {
    ir::Program open = given;
    ir::Movement &movement = open.movement;
    movement.chooseInstances = seed % 2 == 0;
    // As a source leaves them open: what is scheduled so if nothing fits asks for no more blocks than it has to.
    movement.blocks = 1;
    movement.stages = false;
    if (movement.chooseInstances)
      open.instances = 1;
    const bool pinned = std::ranges::any_of(movement.statements, [](const ir::Move &s) { return s.block.has_value(); });
    // Blocks that are given may be more.
    const std::uint32_t most = pinned ? 0 : static_cast<std::uint32_t>(seed / 12 % 8);
    movement.mostBlocks = most != 0 ? most * (movement.chooseInstances ? 1 : open.instances) : 0;
    const passes::time::Machine machine = passes::time::findMachine("h100x8*16");
    const passes::schedule::ChooseOptions goal{.machine = machine,
                                               .runner = passes::time::Runner::Kernel,
                                               .messageBytes = std::uint64_t{1} << (10 + seed / 24 % 4 * 5),
                                               .target = target_};
    ir::Program program = open;
    const passes::schedule::Choice choice = passes::schedule::choose(program, goal);
    ir::DiagnosticEngine diags;
    const std::string left =
        (choice.done.empty() ? passes::pipeline(passes::maxOptLevel, passes::Stage::Place, passes::Stage::Tidy) + ","
                             : "") +
        "replicate-instances";
    if (!run(open, seed, left, program, diags, movement.mostBlocks != 0 && target_.executor))
      return false;
    if (std::ranges::any_of(program.ranks, [&](const ir::Rank &rank) {
          return movement.mostBlocks != 0 && rank.blocks.size() > movement.mostBlocks;
        }))
      return fault(open, program, seed, "more blocks than it may use", "");
    return isRight(open, program, meaning, seed, diags);
  }

  /// Whether a scheduled program is proven, ends as it means, and runs right.
  bool isRight(const ir::Program &given, const ir::Program &program, const passes::schedule::Meaning &meaning,
               std::uint64_t seed, ir::DiagnosticEngine &diags) {
    passes::VerifyOptions proof;
    std::optional<passes::OutputSums> sums;
    passes::VerifyResult result;
    proof.atEnd = [&](const passes::proof::FinalBuffers &end) {
      passes::schedule::checkSameResult(meaning, end);
      if (ordered_ && sums)
        passes::keepCommon(*sums, passes::outputSums(end));
      else if (ordered_)
        sums = passes::outputSums(end);
    };
    try {
      result = passes::verify(program, diags, proof);
      if (!result.proven)
        return fault(given, program, seed, "scheduled and refused", diags.render(false));
      if (ordered_ && result.sums.ranksDiffer)
        return fault(given, program, seed, "ranks differ",
                     result.sums.ranksDiffer->first.tree + " and " + result.sums.ranksDiffer->second.tree);
    } catch (const ir::InternalError &error) {
      return fault(given, program, seed, "ends otherwise than it means", error.what());
    }
    if (sums && !std::ranges::all_of(sums->trees, [&](const passes::SumSteps &sum) {
          return isInOrder(sum, given.movement.order == ir::Order::Ranks);
        }))
      return fault(given, program, seed, "a sum in another order", "");
    using enum passes::DataType;
    constexpr passes::DataType floats[] = {F32, F16, BF16, F64, F8E4M3, F8E5M2};
    passes::SimulateOptions run;
    const bool isCombine = program.collective.kind == ir::CollectiveKind::Combine;
    run.type = ordered_ ? floats[seed % std::size(floats)] : isCombine ? F32 : I32;
    run.sums = sums ? &*sums : nullptr;
    trees_ += sums ? sums->trees.size() : 0;
    run.schedules = schedules_;
    run.seed = seed;
    // A row has 16 bytes. Slots of one row have no room for the rows of several experts.
    run.sizes = {(rows_ ? 16 * (1 + seed % 5) : 48) * ir::chunksOfMessage(program, program.ranks[0])};
    run.rows = rows_ ? &result.rows : nullptr;
    if (!passes::simulate(program, diags, run).ok)
      return fault(given, program, seed, "proven, but runs wrong", diags.render(false));
    return !rows_ || isFoundOut(given, program, run);
  }

  /// Whether a program of which one operation is changed is not proven, or runs right all the same.
  bool isFoundOut(const ir::Program &given, const ir::Program &right, passes::SimulateOptions run) {
    std::mt19937_64 random(run.seed);
    ir::Program program = right;
    ir::Rank &rank = program.ranks[random() % program.ranks.size()];
    ir::ThreadBlock &block = rank.blocks[random() % rank.blocks.size()];
    if (block.ops.empty())
      return true;
    const std::size_t at = random() % block.ops.size();
    if (ir::Op &op = block.ops[at]; op.numChunks() != 0 && random() % 2 == 0) {
      ir::Chunk &chunk = block.operands(op)[random() % op.numChunks()];
      chunk.index = random() % 2 == 0 ? chunk.index + 1 : chunk.index - 1;
    } else {
      block.ops.erase(block.ops.begin() + static_cast<std::ptrdiff_t>(at));
    }
    ir::DiagnosticEngine silent;
    if (!ir::checkStructure(program, silent))
      return true;
    const passes::VerifyResult result = passes::verify(program, silent);
    ++changed_;
    if (!result.proven)
      return true;
    ++harmless_;
    run.rows = &result.rows;
    run.schedules = 2 * schedules_;
    if (!passes::simulate(program, silent, run).ok)
      return fault(given, program, run.seed, "changed and proven, but runs wrong", silent.render(false));
    return true;
  }

  /// Whether a sum is a chain of its inputs in order, or for Order::Tree the tree of halves.
  static bool isInOrder(const passes::SumSteps &sum, bool isChain) {
    struct Range {
      ir::Contribution first, last;
      std::size_t count;
    };
    std::vector<Range> values;
    for (const ir::Contribution &input : sum.inputs)
      values.push_back({input, input, 1});
    for (const passes::SumSteps::Step &step : sum.steps) {
      Range a = values[step.a], b = values[step.b];
      if (b.first < a.first)
        std::swap(a, b);
      const std::size_t count = a.count + b.count;
      if (b.first <= a.last || (isChain ? b.count != 1 : a.count != std::bit_floor(count - 1)))
        return false;
      values.push_back({a.first, b.last, count});
    }
    return values.back().count == sum.inputs.size();
  }

  /// Whether what leastBlocks() says of the blocks holds after the passes `tidying`.
  bool holdsLeast(const ir::Program &given, std::uint64_t seed, const std::string &tidying) {
    ir::Program program = given;
    ir::DiagnosticEngine diags;
    if (!run(given, seed, "place,order,cut", program, diags))
      return false;
    passes::Analyses analyses;
    const passes::schedule::LeastBlocks least = passes::schedule::leastBlocks(program, analyses);
    if (!run(given, seed, "share-scratch,synchronise," + tidying, program, diags))
      return false;
    std::uint64_t operations = 0, blocks = 0;
    for (const ir::Rank &rank : program.ranks) {
      blocks = std::max(blocks, rank.busyBlocks());
      for (const ir::ThreadBlock &block : rank.blocks)
        operations = std::max<std::uint64_t>(operations, block.ops.size());
    }
    if (least.operations <= operations && least.blocks <= blocks)
      return true;
    return fault(given, program, seed, "less than there is at least",
                 std::to_string(least.operations) + " operations, " + std::to_string(least.blocks) + " blocks");
  }

  /// `mayWantBlocks`: an executor may ask for more blocks than the program allows, if the refusal says so.
  bool run(const ir::Program &given, std::uint64_t seed, const std::string &list, ir::Program &program,
           ir::DiagnosticEngine &diags, bool mayWantBlocks = false) {
    passes::PassManagerOptions options;
    options.verifyEach = true;
    options.target = target_;
    passes::PassManager manager(std::move(options), passes::propertiesOf(program));
    if (const std::string wrong = manager.add(list); !wrong.empty())
      return fault(given, program, seed, "pipeline", wrong);
    try {
      if (manager.run(program, diags).ok)
        return true;
      if (!mayWantBlocks || !wantsBlocks(diags))
        return fault(given, program, seed, "not scheduled", diags.render(false));
      ++refused_;
      return false;
    } catch (const std::exception &error) {
      return fault(given, program, seed, "broken", error.what());
    }
  }
  /// Whether all errors are of blocks that are not allowed, and say what the executor's limits ask for.
  static bool wantsBlocks(const ir::DiagnosticEngine &diags) {
    return std::ranges::all_of(diags.all(), [](const ir::Diagnostic &one) {
      return one.severity != ir::Severity::Error ||
             (one.id == passes::schedule::diag::blocks_not_allowed.id && one.notes.size() == 1 &&
              one.notes[0].id == passes::schedule::diag::blocks_of_executor.id);
    });
  }
  static std::uint64_t chunksOf(const ir::Program &program) {
    std::uint64_t chunks = 0;
    for (const ir::Rank &rank : program.ranks)
      chunks += rank.scratchChunks;
    return chunks;
  }

  bool fault(const ir::Program &given, const ir::Program &made, std::uint64_t seed, const std::string &kind,
             const std::string &what) {
    ++faults_;
    std::cout << "seed " << seed << ": " << kind << std::endl;
    Fault &smallest = smallest_[kind];
    if (smallest.text.empty() || given.movement.statements.size() < smallest.size) {
      smallest = {seed, given.movement.statements.size(), what + "\n"};
      ir::print(given, smallest.text);
      smallest.text += "\nbecame\n";
      ir::print(made, smallest.text);
    }
    return false;
  }

  std::uint32_t schedules_;
  const bool ordered_; ///< programs ask for an order of sums
  const bool rows_;    ///< they are of rows
  passes::ExecutorLimits limits_{};
  passes::Target target_; ///< of the program at hand
  std::uint64_t programs_ = 0, statements_ = 0, operations_ = 0, saved_ = 0, trees_ = 0, refused_ = 0, changed_ = 0,
                harmless_ = 0, faults_ = 0;
  std::map<std::string, Fault> smallest_;
};

} // namespace

int main(int argc, char **argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const auto schedules = argc > 3 ? static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10)) : 4;
  Judge judge(schedules, argc > 4 ? argv[4] : "");
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    judge.judge(seed);
  return judge.tell() ? 0 : 1;
}
