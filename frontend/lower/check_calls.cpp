#include "frontend/lower/check_calls.h"

#include "frontend/diagnostics.h"
#include "frontend/limits.h"

#include <algorithm>
#include <string>

namespace mscclc::frontend {

using detail::Call;
using ir::OpKind;
using ir::plural;

namespace {
constexpr CallInfo callInfos[] = {
#define CALL(id, spelling, family, operation, variant, instead)                                                        \
  {spelling, CallFamily::family, OpKind::operation, OpKind::variant, instead},
#include "frontend/trace/calls.def"
};

/// Returns "ReduceOp::Sum, … and ReduceOp::Prod".
std::string reduceOpEnumerators() {
  return ir::enumerate({
#define REDUCE_OP(id, ...) "ReduceOp::" #id,
#include "ir/reduce_ops.def"
  });
}
} // namespace

const ir::DiagInfo &chunkMadeHere(const Operand &chunks) {
  return chunks.isOfRef ? diag::chunk_named_here : diag::chunk_sliced_here;
}

const CallInfo &infoOf(Call call) {
  return callInfos[static_cast<std::size_t>(call)];
}

CallChecker::Result CallChecker::check(const TraceReader &reader, CheckedCall &call) {
  made_ = {};
  const Result result = look(reader, call);
  if (result == Result::Good)
    noteWrites(call);
  if (familyOf(reader.call()) == CallFamily::Ref) {
    made_.valid = result == Result::Good || result == Result::Nothing;
    made_.taken = writes_.now();
    refs_.push_back(made_);
  }
  return result;
}

CallChecker::Result CallChecker::look(const TraceReader &reader, CheckedCall &call) {
  const auto record = reader.as<CallRecord>();
  call.call = reader.call();
  call.info = &infoOf(call.call);
  call.spelling = call.info->spelling;
  call.loc = declarations_.places[record.head.place];
  call.sync = static_cast<ir::DataSync>(record.head.flags & detail::CallFlags::syncMask);
  call.relaxed = (record.head.flags & detail::CallFlags::relaxed) != 0;
  call.packet = (record.head.flags & detail::CallFlags::packet) != 0;
  const std::uint32_t op = record.head.flags >> detail::CallFlags::opShift & detail::CallFlags::opMask;
  if (declarations_.phase() == ProgramPhase::Skipping)
    return Result::Faulty;
  if (op >= ir::reduceOpCount)
    return diagnostics_.report(diag::no_enumerator, call.loc, {call.spelling, "an .op", reduceOpEnumerators()});
  call.reduceOp = static_cast<ir::ReduceOp>(op);
  if (call.info->family == CallFamily::Movement)
    return statement(reader, call);
  if (call.info->family == CallFamily::Ref)
    return refCall(reader, call);
  if (declarations_.phase() == ProgramPhase::Open && program_.schedule == ir::Schedule::Auto) {
    // The construction of such a channel or semaphore was already reported, so calls on it are not.
    if (const CallFamily family = call.info->family;
        record.handle != detail::unset &&
        (family == CallFamily::Channel || family == CallFamily::Semaphore || family == CallFamily::Switch))
      return Result::Faulty;
    return diagnostics_.report(diag::manual_in_auto, call.loc,
                               {"'" + std::string(call.spelling) + "'", call.info->instead});
  }
  if (const Result result = executor(record, call); result != Result::Good)
    return result;
  if (declarations_.phase() != ProgramPhase::Open) {
    declarations_.inProgram("'" + std::string(call.spelling) + "'", call.loc);
    return Result::Faulty;
  }

  const Result where = call.info->family == CallFamily::Blocks ? barrierBlocks(reader, call) : blocks(record, call);
  if (where == Result::Damaged)
    return where;
  if (const Result result = operands(reader, call); result != Result::Good)
    return result;
  bool good = where == Result::Good;
  if (call.hasChunks && call.info->family == CallFamily::Switch)
    good = checkSwitch(reader.as<SwitchCallRecord>(), call) && good;
  else if (call.hasChunks)
    good = checkChunks(call) && good;
  return good ? Result::Good : Result::Faulty;
}

/// Looks up the handle of a call: sets the executing rank, and the channel.
CallChecker::Result CallChecker::executor(const CallRecord &record, CheckedCall &call) {
  call.channel = nullptr;
  call.view = nullptr;
  const auto neverMade = [&](std::string_view what) {
    return diagnostics_.report(diag::never_made, call.loc, {call.spelling, what});
  };
  switch (call.info->family) {
  case CallFamily::Rank:
  case CallFamily::Blocks:
    if (record.handle == detail::faulty)
      return Result::Faulty;
    if (record.handle == detail::unset) { // no chunk names the rank; the operands are reported later
      call.rank = 0;
      return Result::Good;
    }
    if (record.handle >= program_.ranks.size())
      return diagnostics_.report(diag::rank_out_of_range, call.loc, {record.handle, program_.ranks.size() - 1});
    call.rank = record.handle;
    return Result::Good;
  case CallFamily::Channel:
    if (record.handle == detail::unset)
      return neverMade("of a channel");
    if (record.handle >= declarations_.channels.size())
      return Result::Damaged;
    call.channel = &declarations_.channels[record.handle];
    if (!call.channel->valid)
      return Result::Faulty;
    call.rank = call.channel->src;
    return call.info->shape().allows(call.channel->type) ? Result::Good : Result::Damaged;
  case CallFamily::Semaphore: {
    if (record.handle == detail::unset)
      return neverMade("of a semaphore");
    if (record.handle >= declarations_.semaphores.size())
      return Result::Damaged;
    const SemaphoreDecl &semaphore = declarations_.semaphores[record.handle];
    call.rank = semaphore.rank;
    call.semaphore = semaphore.id;
    return semaphore.valid ? Result::Good : Result::Faulty;
  }
  case CallFamily::Hook:
    call.rank = 0; // see operands()
    return takeHook(record.handle, call);
  case CallFamily::Switch:
    if (record.handle >= declarations_.views.size())
      return Result::Damaged;
    call.view = &declarations_.views[record.handle];
    if (!call.view->valid)
      return Result::Faulty;
    call.rank = call.view->member.rank;
    call.switchBuffer = declarations_.switches[call.view->channel].buffer;
    return Result::Good;
  case CallFamily::Movement:
  case CallFamily::Ref:
    break;
  }
  return Result::Damaged;
}

CallChecker::Result CallChecker::blocks(const CallRecord &record, CheckedCall &call) {
  call.inGroup = (record.on & CallRecord::group) != 0;
  if (!call.inGroup) {
    if (record.on == CallRecord::faultyBlock)
      return Result::Faulty;
    if (record.on >= maxBlocks)
      return Result::Damaged;
    block_ = record.on;
    call.blocks = {&block_, 1};
    return Result::Good;
  }
  const std::uint32_t handle = record.on & ~CallRecord::group;
  if (handle == (detail::unset & ~CallRecord::group))
    return diagnostics_.report(diag::never_made, call.loc, {call.spelling, "in a thread-block group"});
  if (handle >= declarations_.groups.size())
    return Result::Damaged;
  const GroupDecl &group = declarations_.groups[handle];
  if (ir::signalsThroughSwitch(call.info->kind))
    return diagnostics_.report(diag::switch_signal_in_group, call.loc, {call.spelling})
        .note(diag::group_made_here, declarations_.places[group.place]);
  if (call.channel && call.channel->type == ir::ChannelType::Port && !ir::awaitsPackets(call.info->kind))
    return diagnostics_.report(diag::port_in_group, call.loc, {call.spelling})
        .note(diag::group_made_here, declarations_.places[group.place]);
  call.blocks = declarations_.blocksOf(group);
  return group.valid ? Result::Good : Result::Faulty;
}

CallChecker::Result CallChecker::barrierBlocks(const TraceReader &reader, CheckedCall &call) {
  call.inGroup = false;
  if (reader.extraCount() == 0)
    return diagnostics_.report(diag::empty_barrier, call.loc);
  barrier_.clear();
  const bool good = declarations_.checkBlocks(reader, call.loc, barrier_);
  call.blocks = barrier_;
  return good ? Result::Good : Result::Faulty;
}

CallChecker::Result CallChecker::operands(const TraceReader &reader, CheckedCall &call) {
  const RecordHead head = reader.head();
  call.hasChunks = false;
  call.srcs.clear();
  if (call.info->family == CallFamily::Blocks)
    return Result::Good;
  if ((head.flags & RecordHead::tooMany) != 0)
    return diagnostics_.report(diag::too_many_chunks, call.loc);
  const std::uint32_t hasDst = (head.flags & RecordHead::hasDst) != 0;
  const bool isSwitch = call.info->family == CallFamily::Switch, reduces = ir::reduces(call.info->kind) && !isSwitch;
  const std::uint32_t count = ir::info(call.info->kind).step != ir::OpStep::Data ? 0 : isSwitch ? 1 : 2;
  if (reduces ? head.count < 1 + hasDst : head.count != count || hasDst != (count == 2))
    return Result::Damaged;
  if (head.count == 0)
    return Result::Good;
  call.hasChunks = true;

  Result result = Result::Good;
  const auto take = [&](std::size_t index, std::string_view role, Operand &out) {
    const Result taken = operand(reader.extra<ChunkRecord>(index), role, call, out);
    if (result != Result::Damaged && taken != Result::Good)
      result = taken;
  };
  if (isSwitch) {
    const bool writes = ir::reducesInSwitch(call.info->kind);
    take(0, writes ? "destination" : "source", writes ? call.dst : call.srcs.emplace_back());
    return result;
  }
  if (hasDst)
    take(0, "destination", call.dst);
  call.srcs.reserve(head.count);
  for (std::uint32_t i = hasDst; i < head.count; ++i)
    take(i, i == hasDst ? "source" : "other chunk", call.srcs.emplace_back());
  if (reduces && call.srcs.size() == 1)
    return diagnostics_.report(diag::no_other_chunks, call.loc);
  if (!hasDst)
    call.dst = call.srcs[0];
  if (call.info->family == CallFamily::Hook)
    call.rank = call.dst.rank;
  return result;
}

/// Sets the hook of the call to the hook with this handle.
CallChecker::Result CallChecker::takeHook(std::uint32_t handle, CheckedCall &call) {
  if (handle >= declarations_.hooks.size())
    return Result::Damaged;
  call.hook = declarations_.hooks[handle].number;
  return declarations_.hooks[handle].valid ? Result::Good : Result::Faulty;
}

/// Returns true if `operand` is in the output. Rows of arrays belong to rows of the output.
bool CallChecker::inOutput(const Operand &operand, const CheckedCall &call) {
  if (ir::outputOffset(program_, operand.rank, memoryOf(operand)))
    return true;
  return diagnostics_.report(diag::apply_outside_output, call.loc, {Declarations::bufferName(operand.buffer)})
      .note(chunkMadeHere(operand), declarations_.places[operand.place], {operand.rank});
}

CallChecker::Result CallChecker::operand(const ChunkRecord &record, std::string_view role, const CheckedCall &call,
                                         Operand &out) {
  if (record.buffer == detail::faulty)
    return Result::Faulty;
  if (record.buffer == detail::unset)
    return diagnostics_.report(diag::never_sliced, call.loc, {role, call.spelling});
  std::uint32_t room = 0, base = 0;
  if ((record.buffer & BufferHandle::ofRank) != 0) {
    out.rank = (record.buffer & ~BufferHandle::ofRank) >> 1;
    out.buffer = static_cast<ir::BufferKind>(record.buffer & 1);
    if (out.rank >= program_.ranks.size())
      return Result::Damaged;
    room = program_.ranks[out.rank].chunksOf(out.buffer);
  } else {
    if (record.buffer >= declarations_.scratch.size())
      return Result::Damaged;
    const ScratchDecl &scratch = declarations_.scratch[record.buffer];
    if (!scratch.valid)
      return Result::Faulty;
    out.rank = scratch.rank;
    out.buffer = ir::BufferKind::Scratch;
    room = scratch.size;
    base = scratch.offset;
  }
  if (record.size == 0 || record.index >= room || record.size > room - record.index)
    return diagnostics_.report(diag::chunk_out_of_range, call.loc,
                               {record.index, std::uint64_t{record.index} + record.size, out.rank,
                                Declarations::bufferName(out.buffer), plural(room, "chunk")});
  out.index = base + record.index;
  out.size = record.size;
  out.place = record.place;
  out.isOfRef = false;
  return Result::Good;
}

bool CallChecker::ownedBy(const Operand &operand, std::string_view role, std::uint32_t rank, std::string_view reason,
                          const CheckedCall &call) {
  if (operand.rank == rank)
    return true;
  ir::DiagBuilder report = diagnostics_.report(diag::chunk_of_other_rank, call.loc, {role, operand.rank, reason, rank});
  report.note(chunkMadeHere(operand), declarations_.places[operand.place], {operand.rank});
  if (call.channel)
    report.note(diag::channel_made_here, declarations_.places[call.channel->place],
                {call.channel->src, call.channel->dst});
  return false;
}

bool CallChecker::sameSize(const Operand &first, std::string_view firstRole, const Operand &second,
                           std::string_view secondRole, const CheckedCall &call) {
  if (first.size == second.size)
    return true;
  return diagnostics_
      .report(diag::sizes_differ, call.loc,
              {firstRole, plural(first.size, "chunk"), secondRole, plural(second.size, "chunk")})
      .note(chunkMadeHere(first), declarations_.places[first.place], {first.rank})
      .note(chunkMadeHere(second), declarations_.places[second.place], {second.rank});
}

bool CallChecker::inScratch(const Operand &operand, std::string_view role, const CheckedCall &call) {
  if (operand.buffer == ir::BufferKind::Scratch)
    return true;
  return diagnostics_
      .report(diag::packets_outside_scratch, call.loc, {role, call.spelling, Declarations::bufferName(operand.buffer)})
      .note(chunkMadeHere(operand), declarations_.places[operand.place], {operand.rank});
}

/// Returns true if the operands fit: on the ranks that the operation needs, of one size, and packets in scratch.
bool CallChecker::checkChunks(const CheckedCall &call) {
  const bool isLocal = call.channel == nullptr;
  const auto owned = [&](const Operand &chunk, std::string_view role, bool isRemote) {
    if (isLocal)
      return ownedBy(chunk, role, call.rank, "the operation is one of", call);
    return isRemote ? ownedBy(chunk, role, call.channel->dst, "the channel leads to", call)
                    : ownedBy(chunk, role, call.channel->src, "the channel belongs to", call);
  };
  const bool mixed = call.srcs.size() > 1 && !call.isRemoteSource(0) && call.isRemoteSource(1);
  const std::string_view first = mixed ? "local source" : "source", other = mixed ? "remote source" : "other chunk";
  bool good = owned(call.dst, "destination", call.isRemoteDestination());
  for (std::size_t i = 0; i < call.srcs.size(); ++i)
    good = good && owned(call.srcs[i], i == 0 ? first : other, call.isRemoteSource(i));
  good = sameSize(call.dst, "destination", call.srcs[0], "source", call) && good;
  for (std::size_t i = 1; i < call.srcs.size(); ++i)
    good = sameSize(call.srcs[i], other, call.srcs[0], first, call) && good;
  if (call.call == Call::Apply)
    good = inOutput(call.dst, call) && good;
  return checkForms(call) && good;
}

/// Returns true if operands that the operation reads or writes as packets are in scratch.
bool CallChecker::checkForms(const CheckedCall &call) {
  const ir::OpInfo &op = ir::info(call.kind());
  const auto fits = [&](const Operand &chunk, std::string_view role, ir::OperandForms forms, std::uint32_t index) {
    return ir::formOf(forms, index, call.channelType()) == ir::DataForm::Plain || inScratch(chunk, role, call);
  };
  const Operand &src = call.srcs[0];
  bool good = true;
  for (std::uint32_t i = 1; i < call.srcs.size(); ++i)
    good = fits(call.srcs[i], "other chunk", op.sources, i) && good;
  good = fits(call.dst, "destination", op.destinations, 0) && good;
  if (op.sources != ir::OperandForms::PacketsIfPort)
    return fits(src, "source", op.sources, 0) && good;
  if (call.channelType() != ir::ChannelType::Port || src.buffer == ir::BufferKind::Scratch)
    return good;
  return diagnostics_.report(diag::port_packets_plain, call.loc, {Declarations::bufferName(src.buffer)})
      .note(chunkMadeHere(src), declarations_.places[src.place], {src.rank});
}

bool CallChecker::checkSwitch(const SwitchCallRecord &record, CheckedCall &call) {
  const bool writes = ir::reducesInSwitch(call.info->kind);
  const Operand &chunk = writes ? call.dst : call.srcs[0];
  const std::string_view role = writes ? "destination" : "source";
  bool good = ownedBy(chunk, role, call.rank, "the switch channel is used at", call);
  if (record.size != chunk.size) {
    diagnostics_.report(diag::switch_size_differs, call.loc, {role, plural(chunk.size, "chunk"), record.size})
        .note(chunkMadeHere(chunk), declarations_.places[chunk.place], {chunk.rank});
    good = false;
  }
  if (ir::formOfDestination(call.info->kind, 0) == ir::DataForm::Packet) {
    good = inScratch(chunk, role, call) && good;
    if (call.switchBuffer != ir::BufferKind::Scratch) {
      diagnostics_.report(diag::switch_packets_outside_scratch, call.loc, {call.spelling, toString(call.switchBuffer)})
          .note(diag::switch_made_here, declarations_.places[declarations_.switches[call.view->channel].place]);
      good = false;
    }
  }
  good = checkExtent(call.loc, call.view->channel, record.offset, record.size, false) && good;
  call.offset = static_cast<std::uint32_t>(record.offset);
  return good;
}

/// Checks that chunks [offset, offset + size) of a switch channel exist on every rank of its group. `final`: true at
/// the end of the program, as scratch may grow until then.
bool CallChecker::checkExtent(ir::LocId loc, std::uint32_t channel, std::int64_t offset, std::int64_t size,
                              bool final) {
  SwitchDecl &decl = declarations_.switches[channel];
  if (offset >= 0 && size >= 1 && size <= decl.extent && offset <= decl.extent - size)
    return true;
  const auto bad = [&](const SwitchMember &member) {
    const std::int64_t room = program_.ranks[member.rank].chunksOf(decl.buffer);
    return offset < 0 || size < 1 || offset > room || size > room - offset;
  };
  const std::span<const SwitchMember> members = declarations_.membersOf(decl);
  const auto found = std::find_if(members.begin(), members.end(), bad);
  if (found == members.end()) {
    decl.extent = std::max(decl.extent, offset + size);
    return true;
  }
  if (!final && decl.buffer == ir::BufferKind::Scratch && offset >= 0 && size >= 1) {
    pending_.push_back({loc, channel, offset, size});
    return true;
  }
  std::int64_t end = 0;
  if (__builtin_add_overflow(offset, size, &end))
    end = std::numeric_limits<std::int64_t>::max();
  return diagnostics_
      .report(diag::switch_offset_out_of_range, loc,
              {offset, end, found->rank, Declarations::bufferName(decl.buffer),
               plural(program_.ranks[found->rank].chunksOf(decl.buffer), "chunk")})
      .note(diag::switch_made_here, declarations_.places[decl.place]);
}

void CallChecker::finish() {
  for (const PendingExtent &extent : pending_)
    checkExtent(extent.loc, extent.channel, extent.offset, extent.size, true);
  pending_.clear();
}

void CallChecker::restart() {
  refs_.clear();
  writes_ = {};
}

} // namespace mscclc::frontend
