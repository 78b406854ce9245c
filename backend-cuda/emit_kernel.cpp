#include "backend-cuda/emit_kernel.h"

#include "backend-cuda/diagnostics.h"
#include "backend-cuda/specialise.h"
#include "backend-cuda/split.h"
#include "backend-cuda/write_source.h"
#include "ir/collectives.h"
#include "ir/hooks.h"
#include "ir/internal_error.h"
#include "ir/structure.h"
#include "runtime-min/include/mscclc/runtime_abi.h"

#include <algorithm>
#include <bit>
#include <cctype>

namespace mscclc::cuda {

namespace {

/// Refuses programs that a kernel cannot execute.
class KernelCheck {
public:
  KernelCheck(const ir::Program &program, ir::DiagnosticEngine &diagnostics)
      : program_(program), diagnostics_(diagnostics) {}

  void run(const EmitOptions &options) {
    const ir::Where whole("plan '" + program_.name + "'");
    if (program_.threadsPerBlock > 1024)
      diagnostics_.report(diag::too_many_threads, whole, {program_.threadsPerBlock});
    if (program_.threadsPerBlock == 0)
      diagnostics_.report(diag::no_threads, whole);
    if (program_.bufferAlignment == 0)
      diagnostics_.report(diag::bad_alignment, whole);
    for (const ir::Hook &hook : program_.hooks)
      if (hook.function.empty())
        diagnostics_.report(diag::hook_without_function, ir::Where(hook.loc, "plan '" + program_.name + "'"),
                            {hook.name});
    const std::uint64_t size = options.messageSize;
    if (size != 0 && (size < program_.minMessageSize || size > program_.maxMessageSize))
      diagnostics_.report(diag::message_size_out_of_range, whole,
                          {size, program_.minMessageSize, program_.maxMessageSize});
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b)
        checkPipelines(r, b);
  }

private:
  void checkPipelines(std::uint32_t rank, std::uint32_t b) {
    const ir::ThreadBlock &block = program_.ranks[rank].blocks[b];
    for (std::uint32_t o = 0; o < block.ops.size(); ++o) {
      const ir::Op &op = block.ops[o];
      if (op.kind != ir::OpKind::Pipeline)
        continue;
      const ir::Where where(op.loc, "rank " + std::to_string(rank) + ", block " + std::to_string(b) + ", operation " +
                                        std::to_string(o));
      if (op.imm == 0) {
        diagnostics_.report(diag::pipeline_unit_zero, where);
        continue;
      }
      // The longest element has 8 bytes, and so has the payload of a packet with a flag.
      const std::uint64_t longest = program_.protocol == ir::Protocol::Lamport ? 16 : 8;
      if (op.imm % longest != 0)
        diagnostics_.report(diag::pipeline_unit_unaligned, where, {op.imm, longest});
    }
  }

  const ir::Program &program_;
  ir::DiagnosticEngine &diagnostics_;
};

/// Refuses buffers that hold a part of a share if hooks take rows or blocks. The size of such a buffer would depend on
/// the size of rows or blocks.
void checkShares(const ir::Program &program, const KernelModel &model, ir::DiagnosticEngine &diagnostics) {
  if (model.hooks.blockElements == 0 || model.groupChunks == 0)
    return;
  const auto hook =
      std::ranges::find_if(program.hooks, [](const ir::Hook &h) { return h.granularity != ir::Granularity::Element; });
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    const ir::Rank &rank = program.ranks[r];
    if (rank.inputChunks % model.groupChunks == 0 && rank.outputChunks % model.groupChunks == 0)
      continue;
    diagnostics.report(diag::hook_divides_shares, ir::Where(hook->loc, "plan '" + program.name + "'"),
                       {hook->name, ir::granularityNames[static_cast<std::size_t>(hook->granularity)],
                        ir::plural(model.groupChunks, "chunk"), r, rank.inputChunks, rank.outputChunks});
    return;
  }
}

/// Returns false and reports errors if no launch could meet the requirements of the kernel.
bool fits(const ir::Program &program, const EmitOptions &options, const KernelModel &model,
          ir::DiagnosticEngine &diagnostics) {
  const ir::Where whole("plan '" + program.name + "'");
  const std::uint64_t before = diagnostics.numErrors();
  if (!model.isTyped && !options.types.empty())
    diagnostics.report(diag::types_do_not_matter, whole);
  if (model.lamportPackets && (!model.isTyped || !model.withoutFlags.empty()))
    diagnostics.report(diag::lamport_without_floats, whole,
                       {model.isTyped ? "elements of type " + model.withoutFlags : "data that it only moves"});
  if (model.mixesSpreads)
    diagnostics.report(diag::spreads_differ, whole);
  if (const ir::Hook *const wire = ir::wireOf(program)) {
    const std::vector<std::string> &types = ir::info(wire->wire).types;
    const auto isOther = [&](const std::string &type) { return std::ranges::find(types, type) == types.end(); };
    if (const auto type = std::ranges::find_if(options.types, isOther); type != options.types.end())
      diagnostics.report(diag::wire_type, whole,
                         {ir::wireNames[static_cast<std::size_t>(wire->wire)], ir::enumerate(types), *type});
  }
  const auto isFloat8 = [](const std::string &type) { return type.starts_with("f8"); };
  if (const auto type = std::ranges::find_if(options.types, isFloat8);
      type != options.types.end() && program.movement.accumulate != ir::Accumulate::Narrow && ir::sumsInSwitch(program))
    diagnostics.report(diag::switch_adds_in_f16, whole, {*type});
  const std::uint64_t share = std::uint64_t{model.shares} * model.elementBytes;
  if (options.messageSize % share != 0)
    diagnostics.report(diag::message_size_uneven, whole,
                       {options.messageSize, share, ir::plural(model.elementBytes, "byte")});
  const auto kinds = static_cast<std::uint64_t>(std::popcount(model.peerBuffers));
  const std::uint64_t addresses =
      ((kinds + (model.slots ? 1 : 0)) * model.ranks + model.switchChannels + model.hooks.arrays.size()) *
      sizeof(std::uint64_t);
  constexpr std::uint64_t room = MSCCLC_PARAMETER_BYTES - MSCCLC_OTHER_PARAMETER_BYTES;
  if (addresses > room)
    diagnostics.report(
        diag::too_many_addresses, whole,
        {ir::plural(kinds, "kind"), model.ranks, ir::plural(model.switchChannels, "switch channel"), addresses, room});
  checkShares(program, model, diagnostics);
  return diagnostics.numErrors() == before;
}

} // namespace

std::string kernelIdentifier(const std::string &name) {
  std::string id;
  for (const char c : name)
    id += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return id.empty() ? "plan" : id;
}

bool mayHaveInstances(const ir::Program &program) {
  return program.hooks.empty() && !ir::info(program.collective.kind).hasRows &&
         program.protocol != ir::Protocol::Lamport && !program.hasPorts();
}

bool emitKernel(const ir::Program &program, const EmitOptions &options, std::string &out,
                ir::DiagnosticEngine &diagnostics) {
  ir::requireBlocks(program);
  if (!options.instances.empty() && !mayHaveInstances(program))
    throw ir::InternalError("instances of a program that may have one");
  const std::uint64_t before = diagnostics.numErrors();
  KernelCheck(program, diagnostics).run(options);
  if (diagnostics.numErrors() != before || !checkSplit(program, options.rows, diagnostics))
    return false;
  const KernelModel model = specialise(program, options);
  if (!fits(program, options, model, diagnostics))
    return false;
  std::string text;
  writeSource(program, options, model, text);
  out += text;
  return true;
}

} // namespace mscclc::cuda
