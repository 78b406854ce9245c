#include "passes/transform/replicate_instances.h"

#include "ir/program_index.h"
#include "passes/analysis/shared_chunks.h"
#include "passes/diagnostics.h"

#include <limits>

namespace mscclc::passes {
namespace {

using ir::ChunkSpace;

constexpr std::uint64_t maxId = std::numeric_limits<std::uint32_t>::max();

class Replication {
public:
  Replication(PassContext &context)
      : program_(context.program), diags_(context.diags), n_(context.program.instances),
        shifts_(context.program.replication == ir::Replication::Interleaved) {}

  void run() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      if (!fits(r))
        return;
    for (ir::Rank &rank : program_.ranks)
      replicate(rank);
    program_.collective.chunkFactor *= n_;
    replicateExpectations();
    program_.instances = 1;
  }

private:
  bool fits(std::uint32_t r) {
    const ir::Rank &rank = program_.ranks[r];
    const std::pair<const char *, std::uint64_t> counts[] = {
        {"input chunks", rank.inputChunks},       {"output chunks", rank.outputChunks},
        {"scratch chunks", rank.scratchChunks},   {"memory channels", rank.memoryPeers.size()},
        {"port channels", rank.portPeers.size()}, {"switch channels", rank.switchChannels.size()},
        {"semaphores", rank.semaphores.size()},   {"thread blocks", rank.blocks.size()},
    };
    for (const auto &[what, count] : counts)
      if (count * n_ > maxId) {
        diags_.report(diag::instances_too_many, "rank " + std::to_string(r), {n_, what, count});
        return false;
      }
    return true;
  }

  template <typename T> void repeatEach(std::vector<T> &items) const {
    std::vector<T> repeated;
    repeated.reserve(items.size() * n_);
    for (const T &item : items)
      repeated.insert(repeated.end(), n_, item);
    items = std::move(repeated);
  }

  void replicate(ir::Rank &rank) {
    rank.inputChunks *= n_;
    rank.outputChunks *= n_;
    rank.scratchChunks *= n_;
    repeatEach(rank.memoryPeers);
    repeatEach(rank.portPeers);
    repeatEach(rank.switchChannels);
    repeatEach(rank.semaphores);
    std::vector<ir::ThreadBlock> blocks;
    blocks.reserve(rank.blocks.size() * n_);
    for (ir::ThreadBlock &block : rank.blocks) {
      for (std::uint32_t instance = 0; instance + 1 < n_; ++instance)
        shift(blocks.emplace_back(block), instance);
      shift(blocks.emplace_back(std::move(block)), n_ - 1);
      block = {};
    }
    rank.blocks = std::move(blocks);
  }

  /// Turns a copy of a block into the instance number `instance`. Each operand belongs to only one operation, so it is
  /// shifted once.
  void shift(ir::ThreadBlock &block, std::uint32_t instance) const {
    for (ir::Chunk &chunk : block.chunks) {
      if (shifts_)
        chunk.index = chunk.index * n_ + instance * chunk.size;
      if (chunk.space == ChunkSpace::Switch)
        chunk.id = chunk.id * n_ + instance;
    }
    for (std::uint32_t &id : block.ids)
      id = id * n_ + instance;
    for (ir::ResourceUse &use : block.channels)
      use.id = use.id * n_ + instance;
    for (ir::Op &op : block.ops)
      if (op.kind == ir::OpKind::Barrier)
        op.imm = op.imm * n_ + instance;
  }

  /// Replaces each expected chunk by n chunks. Chunk i expects the same sum as before, of part i of each contribution.
  void replicateExpectations() {
    std::vector<ir::Expectation> all;
    all.reserve(program_.collective.expectations.size() * n_);
    for (const ir::Expectation &one : program_.collective.expectations)
      for (std::uint32_t part = 0; part < n_; ++part) {
        ir::Expectation &expectation = all.emplace_back(one);
        expectation.outputChunk = one.outputChunk * n_ + part;
        for (ir::Contribution &contribution : expectation.contributions)
          contribution.chunk = contribution.chunk * n_ + part;
      }
    program_.collective.expectations = std::move(all);
  }

  ir::Program &program_;
  ir::DiagnosticEngine &diags_;
  const std::uint32_t n_;
  const bool shifts_;
};

void replicateInstances(PassContext &context) {
  ir::Program &program = context.program;
  if (program.instances == 1)
    return;
  const std::uint64_t errors = context.diags.numErrors();
  if (program.replication == ir::Replication::Interleaved)
    reportSharedChunks(program, context.diags);
  if (context.diags.numErrors() != errors)
    return;
  const std::uint32_t instances = program.instances;
  Replication(context).run();
  context.stats.count("instances", instances);
}

} // namespace

Pass createReplicateInstancesPass() {
  return {.needs = Scheduled,
          .provides = SingleInstance,
          .isProvided =
              [](const ir::Program &program) { return program.movement.statements.empty() && program.instances == 1; },
          .run = replicateInstances};
}

} // namespace mscclc::passes
