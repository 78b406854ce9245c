#include "frontend/lower/check_calls.h"

#include "frontend/diagnostics.h"
#include "frontend/limits.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace mscclc::frontend {

using detail::Call;
using ir::OpKind;
using ir::plural;

namespace {
constexpr std::uint8_t any = CallInfo::anyChunks;
constexpr std::string_view leaveOut = "leave it out, as the compiler orders what depends on one another",
                           writeCopy = "write copy(dst, src)", writeReduce = "write reduce(into, others)",
                           writePackets = "write copy(dst, src, {.packets = true})";
/// In the order of Call. Columns: call, spelling, family, kind, packets in the destination, in the source, chunks, what
/// programs of Schedule::Auto say instead; where it is not any, the type of channel, and the kind of a variant.
constexpr CallInfo callInfos[] = {
    {Call::Copy, "copy", CallFamily::Rank, OpKind::Copy, false, false, 2,
     "write copy(dst, src), with {.on = tb(i)} to choose its thread block"},
    {Call::CopyPackets, "copyPackets", CallFamily::Rank, OpKind::CopyPacket, true, false, 2, writePackets},
    {Call::UnpackPackets, "unpackPackets", CallFamily::Rank, OpKind::UnpackPacket, false, true, 2, writePackets},
    {Call::Reduce, "reduce", CallFamily::Rank, OpKind::Reduce, false, false, any,
     "write reduce(into, others), with {.on = tb(i)} to choose its thread block", ir::ChannelType::None,
     OpKind::ReducePacket},
    {Call::Barrier, "barrier", CallFamily::Rank, OpKind::Barrier, false, false, 0, leaveOut, ir::ChannelType::None,
     OpKind::Nop},
    {Call::Signal, "signal", CallFamily::Channel, OpKind::Signal, false, false, 0, leaveOut, ir::ChannelType::None,
     OpKind::RelaxedSignal},
    {Call::Wait, "wait", CallFamily::Channel, OpKind::Wait, false, false, 0, leaveOut, ir::ChannelType::None,
     OpKind::RelaxedWait},
    {Call::Flush, "flush", CallFamily::Channel, OpKind::Flush, false, false, 0, leaveOut, ir::ChannelType::Port},
    {Call::Get, "get", CallFamily::Channel, OpKind::Get, false, false, 2, writeCopy, ir::ChannelType::Memory},
    {Call::Put, "put", CallFamily::Channel, OpKind::Put, false, false, 2, writeCopy},
    {Call::PutWithSignal, "putWithSignal", CallFamily::Channel, OpKind::PutWithSignal, false, false, 2, writeCopy,
     ir::ChannelType::Port},
    {Call::PutWithSignalAndFlush, "putWithSignalAndFlush", CallFamily::Channel, OpKind::PutWithSignalAndFlush, false,
     false, 2, writeCopy, ir::ChannelType::Port},
    {Call::PutPackets, "putPackets", CallFamily::Channel, OpKind::PutPacket, true, false, 2, writePackets},
    {Call::ReadPutPackets, "readPutPackets", CallFamily::Channel, OpKind::ReadPutPacket, true, true, 2, writePackets},
    {Call::ReadReduce, "reduce", CallFamily::Channel, OpKind::ReadReduce, false, false, any, writeReduce,
     ir::ChannelType::Memory},
    {Call::Acquire, "acquire", CallFamily::Semaphore, OpKind::SemAcquire, false, false, 0, leaveOut},
    {Call::Release, "release", CallFamily::Semaphore, OpKind::SemRelease, false, false, 0, leaveOut},
    {Call::SwitchReduce, "reduce", CallFamily::Switch, OpKind::SwitchReduce, false, false, 1,
     "write reduce(into, others, {.via = Via::Switch})"},
    {Call::SwitchBroadcast, "broadcast", CallFamily::Switch, OpKind::SwitchBroadcast, false, false, 1,
     "write copy({dst, …}, src, {.via = Via::Switch})"},
    {Call::SwitchBroadcastPackets, "broadcastPackets", CallFamily::Switch, OpKind::SwitchBroadcastPacket, true, true, 1,
     "write copy({dst, …}, src, {.via = Via::Switch, .packets = true})"},
    {Call::MoveCopy, "copy", CallFamily::Movement, OpKind::Copy, false, false, any, ""},
    {Call::MoveReduce, "reduce", CallFamily::Movement, OpKind::Reduce, false, false, any, ""},
    {Call::RefPut, "put", CallFamily::Ref, OpKind::Put, false, false, 0, ""},
    {Call::RefGet, "get", CallFamily::Ref, OpKind::Get, false, false, 0, ""},
    {Call::RefCopy, "copy", CallFamily::Ref, OpKind::Copy, false, false, 0, ""},
    {Call::RefReduce, "reduce", CallFamily::Ref, OpKind::Reduce, false, false, 0, ""},
    {Call::RefSignal, "signal", CallFamily::Ref, OpKind::Signal, false, false, 0, leaveOut},
    {Call::RefWait, "wait", CallFamily::Ref, OpKind::Wait, false, false, 0, leaveOut},
    {Call::RefFlush, "flush", CallFamily::Ref, OpKind::Flush, false, false, 0, leaveOut},
    {Call::RefPutPackets, "putPackets", CallFamily::Ref, OpKind::PutPacket, true, false, 0, ""},
    {Call::RefCopyPackets, "copyPackets", CallFamily::Ref, OpKind::UnpackPacket, false, true, 0, ""},
    {Call::RefReducePackets, "reducePackets", CallFamily::Ref, OpKind::ReducePacket, false, true, 0, ""},
};
constexpr bool inOrder() {
  for (std::size_t i = 0; i < std::size(callInfos); ++i)
    if (callInfos[i].call != static_cast<Call>(i))
      return false;
  return std::size(callInfos) == detail::numCalls;
}
static_assert(inOrder());

/// "ReduceOp::Sum, … and ReduceOp::Prod".
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
  if (isRefCall(reader.call())) {
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
  if (op >= ir::reduceOpCount) {
    diagnostics_.report(diag::no_enumerator, call.loc, {call.spelling, "an .op", reduceOpEnumerators()});
    return Result::Faulty;
  }
  call.reduceOp = static_cast<ir::ReduceOp>(op);
  if (call.info->family == CallFamily::Movement)
    return statement(reader, call);
  if (call.info->family == CallFamily::Ref)
    return refCall(reader, call);
  if (declarations_.phase() == ProgramPhase::Open && program_.schedule == ir::Schedule::Auto) {
    diagnostics_.report(diag::manual_in_auto, call.loc, {"'" + std::string(call.spelling) + "'", call.info->instead});
    return Result::Faulty;
  }
  if (const Result result = executor(record, call); result != Result::Good)
    return result;
  if (declarations_.phase() != ProgramPhase::Open) {
    declarations_.inProgram("'" + std::string(call.spelling) + "'", call.loc);
    return Result::Faulty;
  }

  const Result where = call.call == Call::Barrier ? barrierBlocks(reader, call) : blocks(record, call);
  if (where == Result::Damaged)
    return where;
  if (const Result result = operands(reader, call); result != Result::Good)
    return result;
  bool good = where == Result::Good;
  if (call.hasChunks && call.info->family == CallFamily::Switch)
    good = checkSwitch(reader.as<SwitchCallRecord>(), call) && good;
  else if (call.hasChunks)
    good = (call.info->family == CallFamily::Rank ? checkLocal(call) : checkChannel(call)) && good;
  return good ? Result::Good : Result::Faulty;
}

/// Looks up the handle: who executes the call, and through what.
CallChecker::Result CallChecker::executor(const CallRecord &record, CheckedCall &call) {
  call.channel = nullptr;
  call.view = nullptr;
  const auto neverMade = [&](std::string_view what) {
    diagnostics_.report(diag::never_made, call.loc, {call.spelling, what});
    return Result::Faulty;
  };
  switch (call.info->family) {
  case CallFamily::Rank:
    if (record.handle == detail::faulty)
      return Result::Faulty;
    if (record.handle == detail::unset) { // no chunk says which rank: the operands are reported
      call.rank = 0;
      return Result::Good;
    }
    if (record.handle >= program_.ranks.size()) {
      diagnostics_.report(diag::rank_out_of_range, call.loc, {record.handle, program_.ranks.size() - 1});
      return Result::Faulty;
    }
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
    return call.info->fits(call.channel->type) ? Result::Good : Result::Damaged;
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
  if (handle == (detail::unset & ~CallRecord::group)) {
    diagnostics_.report(diag::never_made, call.loc, {call.spelling, "in a thread-block group"});
    return Result::Faulty;
  }
  if (handle >= declarations_.groups.size())
    return Result::Damaged;
  const GroupDecl &group = declarations_.groups[handle];
  if (call.channel && call.channel->type == ir::ChannelType::Port && call.call != Call::ReadPutPackets) {
    diagnostics_.report(diag::port_in_group, call.loc, {call.spelling})
        .note(diag::group_made_here, declarations_.places[group.place]);
    return Result::Faulty;
  }
  call.blocks = declarations_.blocksOf(group);
  return group.valid ? Result::Good : Result::Faulty;
}

CallChecker::Result CallChecker::barrierBlocks(const TraceReader &reader, CheckedCall &call) {
  call.inGroup = false;
  if (reader.extraCount() == 0) {
    diagnostics_.report(diag::empty_barrier, call.loc);
    return Result::Faulty;
  }
  barrier_.clear();
  const bool good = declarations_.checkBlocks(reader, call.loc, barrier_);
  call.blocks = barrier_;
  return good ? Result::Good : Result::Faulty;
}

CallChecker::Result CallChecker::operands(const TraceReader &reader, CheckedCall &call) {
  const RecordHead head = reader.head();
  call.hasChunks = false;
  call.srcs.clear();
  if (call.call == Call::Barrier)
    return Result::Good;
  if ((head.flags & RecordHead::tooMany) != 0) {
    diagnostics_.report(diag::too_many_chunks, call.loc);
    return Result::Faulty;
  }
  const std::uint32_t hasDst = (head.flags & RecordHead::hasDst) != 0;
  const bool reduce = call.info->numChunks == any;
  if (reduce ? head.count < 1 + hasDst : head.count != call.info->numChunks || hasDst != (head.count == 2))
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
  if (call.info->family == CallFamily::Switch) {
    const bool writes = call.call == Call::SwitchReduce;
    take(0, writes ? "destination" : "source", writes ? call.dst : call.srcs.emplace_back());
    return result;
  }
  if (hasDst)
    take(0, "destination", call.dst);
  call.srcs.reserve(head.count);
  for (std::uint32_t i = hasDst; i < head.count; ++i)
    take(i, i == hasDst ? "source" : "other chunk", call.srcs.emplace_back());
  if (reduce && call.srcs.size() == 1) {
    diagnostics_.report(diag::no_other_chunks, call.loc);
    return Result::Faulty;
  }
  if (!hasDst)
    call.dst = call.srcs[0];
  return result;
}

CallChecker::Result CallChecker::operand(const ChunkRecord &record, std::string_view role, const CheckedCall &call,
                                         Operand &out) {
  if (record.buffer == detail::faulty)
    return Result::Faulty;
  if (record.buffer == detail::unset) {
    diagnostics_.report(diag::never_sliced, call.loc, {role, call.spelling});
    return Result::Faulty;
  }
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
  if (record.size == 0 || record.index >= room || record.size > room - record.index) {
    diagnostics_.report(diag::chunk_out_of_range, call.loc,
                        {record.index, std::uint64_t{record.index} + record.size, out.rank,
                         Declarations::bufferName(out.buffer), plural(room, "chunk")});
    return Result::Faulty;
  }
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
  diagnostics_
      .report(diag::sizes_differ, call.loc,
              {firstRole, plural(first.size, "chunk"), secondRole, plural(second.size, "chunk")})
      .note(chunkMadeHere(first), declarations_.places[first.place], {first.rank})
      .note(chunkMadeHere(second), declarations_.places[second.place], {second.rank});
  return false;
}

bool CallChecker::inScratch(const Operand &operand, std::string_view role, const CheckedCall &call) {
  if (operand.buffer == ir::BufferKind::Scratch)
    return true;
  diagnostics_
      .report(diag::packets_outside_scratch, call.loc, {role, call.spelling, Declarations::bufferName(operand.buffer)})
      .note(chunkMadeHere(operand), declarations_.places[operand.place], {operand.rank});
  return false;
}

bool CallChecker::checkLocal(const CheckedCall &call) {
  constexpr std::string_view byRank = "the operation is one of";
  bool good = ownedBy(call.dst, "destination", call.rank, byRank, call);
  for (std::size_t i = 0; i < call.srcs.size(); ++i)
    good = ownedBy(call.srcs[i], i == 0 ? "source" : "other chunk", call.rank, byRank, call) && good;
  good = sameSize(call.dst, "destination", call.srcs[0], "source", call) && good;
  for (std::size_t i = 1; i < call.srcs.size(); ++i) {
    good = sameSize(call.srcs[i], "other chunk", call.srcs[0], "source", call) && good;
    good = (!call.packet || inScratch(call.srcs[i], "other chunk", call)) && good;
  }
  good = (!call.info->packetDst || inScratch(call.dst, "destination", call)) && good;
  return (!call.info->packetSrc || inScratch(call.srcs[0], "source", call)) && good;
}

bool CallChecker::checkChannel(const CheckedCall &call) {
  constexpr std::string_view near = "the channel belongs to", far = "the channel leads to";
  const ChannelDecl &channel = *call.channel;
  const bool reduce = call.call == Call::ReadReduce, reads = reduce || call.call == Call::Get;
  bool good = ownedBy(call.dst, "destination", reads ? channel.src : channel.dst, reads ? near : far, call);
  if (reduce)
    good = ownedBy(call.srcs[0], "local source", channel.src, near, call) && good;
  for (std::size_t i = reduce; i < call.srcs.size(); ++i)
    good = ownedBy(call.srcs[i], reduce ? "remote source" : "source", reads ? channel.dst : channel.src,
                   reads ? far : near, call) &&
           good;
  good = sameSize(call.dst, "destination", call.srcs[0], "source", call) && good;
  for (std::size_t i = 1; i < call.srcs.size(); ++i)
    good = sameSize(call.srcs[i], "remote source", call.srcs[0], "local source", call) && good;
  good = (!call.info->packetDst || inScratch(call.dst, "destination", call)) && good;
  if (call.call == Call::PutPackets && channel.type == ir::ChannelType::Port &&
      call.srcs[0].buffer != ir::BufferKind::Scratch) {
    diagnostics_.report(diag::port_packets_plain, call.loc, {Declarations::bufferName(call.srcs[0].buffer)})
        .note(chunkMadeHere(call.srcs[0]), declarations_.places[call.srcs[0].place], {call.srcs[0].rank});
    good = false;
  }
  return (!call.info->packetSrc || inScratch(call.srcs[0], "source", call)) && good;
}

bool CallChecker::checkSwitch(const SwitchCallRecord &record, CheckedCall &call) {
  const bool writes = call.call == Call::SwitchReduce;
  const Operand &chunk = writes ? call.dst : call.srcs[0];
  const std::string_view role = writes ? "destination" : "source";
  bool good = ownedBy(chunk, role, call.rank, "the switch channel is used at", call);
  if (record.size != chunk.size) {
    diagnostics_.report(diag::switch_size_differs, call.loc, {role, plural(chunk.size, "chunk"), record.size})
        .note(chunkMadeHere(chunk), declarations_.places[chunk.place], {chunk.rank});
    good = false;
  }
  if (call.info->packetDst) {
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

/// Chunks [offset, offset + size) of a switch channel exist on every rank of its group. Scratch may still grow until
/// the end of the program; `final` says that it is over.
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
  // Input and output are as large on one rank as on another.
  const auto last = decl.buffer == ir::BufferKind::Scratch ? members.end() : members.begin() + 1;
  const auto found = std::find_if(members.begin(), last, bad);
  if (found == last) {
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
  diagnostics_
      .report(diag::switch_offset_out_of_range, loc,
              {offset, end, found->rank, Declarations::bufferName(decl.buffer),
               plural(program_.ranks[found->rank].chunksOf(decl.buffer), "chunk")})
      .note(diag::switch_made_here, declarations_.places[decl.place]);
  return false;
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
