// Calls on refs (chunks.hpp): each becomes a movement statement, or an operation of a channel or a rank.
#include "frontend/diagnostics.h"
#include "frontend/limits.h"
#include "frontend/lower/check_calls.h"
#include "frontend/lower/wide_integer.h"

#include <limits>

namespace mscclc::frontend {

using detail::Call;
using ir::plural;

namespace {

/// The ranks that may be at the other end of a call.
enum class Reach : std::uint8_t {
  Near,   ///< the same rank, in a program of Schedule::Manual
  Far,    ///< another rank, always
  Either, ///< the same rank or another
};

struct RefInfo {
  Call call;
  Reach reach;
  Call near, far;           ///< the operations that the call becomes, within a rank and between ranks
  bool byReceiver;          ///< true: `.recvtb` names the executing block; false: `.sendtb`
  bool reads;               ///< reads memory of the other rank through a channel
  bool packets;             ///< the data travels in packets
  std::string_view instead; ///< what to write if the other end is on a wrong rank
};
constexpr RefInfo refInfos[] = {
    {Call::RefPut, Reach::Far, Call::Copy, Call::Put, false, false, false, "write copy(dst, buffer, index)"},
    {Call::RefGet, Reach::Far, Call::Copy, Call::Get, true, true, false, "write copy(dst, buffer, index)"},
    {Call::RefCopy, Reach::Near, Call::Copy, Call::Put, false, false, false,
     "write put(dst, buffer, index), then signal and wait"},
    {Call::RefReduce, Reach::Either, Call::Reduce, Call::ReadReduce, true, true, false, ""},
    {Call::RefSignal, Reach::Far, Call::Signal, Call::Signal, false, false, false,
     "write Rank(i).barrier({…}) between thread blocks of one rank"},
    {Call::RefWait, Reach::Far, Call::Wait, Call::Wait, true, false, false,
     "write Rank(i).barrier({…}) between thread blocks of one rank"},
    {Call::RefFlush, Reach::Far, Call::Flush, Call::Flush, false, false, false,
     "leave it out, as no port is on the way"},
    {Call::RefPutPackets, Reach::Far, Call::CopyPackets, Call::PutPackets, false, false, true,
     "write copyPackets(dst, buffer, index)"},
    {Call::RefCopyPackets, Reach::Near, Call::UnpackPackets, Call::PutPackets, false, false, true,
     "write putPackets(dst, buffer, index), and copyPackets on the other rank"},
    {Call::RefReducePackets, Reach::Near, Call::Reduce, Call::Reduce, true, false, true,
     "write putPackets(dst, buffer, index) on the other rank first, and reduce the packets that arrive"},
};
constexpr std::uint32_t firstRefCall = static_cast<std::uint32_t>(Call::RefPut);
constexpr const RefInfo &refInfoOf(Call call) {
  return refInfos[static_cast<std::uint32_t>(call) - firstRefCall];
}
static_assert([] {
  for (std::uint32_t i = 0; i < std::size(refInfos); ++i)
    if (refInfos[i].call != static_cast<Call>(firstRefCall + i))
      return false;
  return firstRefCall + std::size(refInfos) == numCalls;
}());

constexpr auto lastBuffer = static_cast<std::uint8_t>(ir::BufferKind::Scratch),
               lastChannel = static_cast<std::uint8_t>(ChannelType::Port);

constexpr bool isReduction(Call call) {
  return call == Call::RefReduce || call == Call::RefReducePackets;
}
constexpr bool movesData(Call call) {
  return call != Call::RefSignal && call != Call::RefWait && call != Call::RefFlush;
}
/// Returns true if a call writes the chunks of its own ref.
constexpr bool writesRef(Call call) {
  return call == Call::RefGet || isReduction(call);
}
/// Returns true if a call takes the ref's chunks as packets and leaves plain data.
bool unpacks(Call call, const Operand &chunks) {
  return call == Call::RefCopyPackets && chunks.buffer == ir::BufferKind::Scratch;
}

} // namespace

void CallChecker::takeRef(const TraceReader &reader) {
  const auto record = reader.as<RefRecord>();
  const ir::LocId at = declarations_.places[record.head.place];
  RefDecl &decl = refs_.emplace_back();
  if (declarations_.phase() == ProgramPhase::Skipping || !declarations_.inProgram("'chunk'", at))
    return;
  decl.chunks.buffer = static_cast<ir::BufferKind>(record.head.flags);
  decl.chunks.place = record.head.place;
  decl.valid = isEnumerator(record.head.flags, lastBuffer, "BufferType", at) &&
               refPlace(record.rank, record.index, record.size, at, decl.chunks);
  decl.taken = writes_.now();
}

/// Returns true if `value` is an enumerator. Otherwise reports it.
bool CallChecker::isEnumerator(std::uint8_t value, std::uint8_t last, std::string_view type, ir::LocId at) {
  if (value > last)
    diagnostics_.report(diag::invalid_value, at, {std::uint32_t{value}, type});
  return value <= last;
}

/// Sets the range of `out`, whose buffer is already set. Reports a wrong range and returns false.
bool CallChecker::refPlace(std::int64_t rank, std::int64_t index, std::int64_t size, ir::LocId at, Operand &out) {
  if (rank < 0 || rank >= static_cast<std::int64_t>(program_.ranks.size()))
    return diagnostics_.report(diag::rank_out_of_range, at, {rank, program_.ranks.size() - 1});
  if (size < 1)
    return diagnostics_.report(diag::ref_of_nothing, at, {size});
  out.isOfRef = true;
  std::int64_t end = 0;
  if (__builtin_add_overflow(index, size, &end))
    end = std::numeric_limits<std::int64_t>::max();
  if (index < 0)
    return diagnostics_.report(diag::ref_negative_index, at, {index, end});
  out.rank = static_cast<std::uint32_t>(rank);
  if (out.buffer == ir::BufferKind::Scratch) {
    if (end > maxChunks)
      return diagnostics_.report(diag::scratch_too_large, at, {rank, end, maxChunks});
    declarations_.growScratch(out.rank, static_cast<std::uint32_t>(end));
  } else if (const std::uint32_t room = program_.ranks[out.rank].chunksOf(out.buffer); end > room)
    return diagnostics_.report(diag::ref_out_of_range, at,
                               {index, end, rank, Declarations::bufferName(out.buffer), plural(room, "chunk")});
  out.index = static_cast<std::uint32_t>(index);
  out.size = static_cast<std::uint32_t>(size);
  return true;
}

/// Looks up a ref that a call uses.
CallChecker::Result CallChecker::refOf(std::uint32_t handle, const CheckedCall &call, RefDecl &out) {
  if (handle == detail::unset)
    return diagnostics_.report(diag::never_made, call.loc, {call.spelling, "of a ref"});
  if (handle >= refs_.size())
    return Result::Damaged;
  out = refs_[handle];
  return out.valid ? Result::Good : Result::Faulty;
}

/// Returns the form in which a call takes the chunks of its own ref. `isPort`: the call asks for a port.
ir::DataForm CallChecker::formTaken(const RefDecl &self, bool isPort, const CheckedCall &call) const {
  if (!movesData(call.call))
    return self.form;
  const bool isPortPut = call.call == Call::RefPutPackets && isPort && self.chunks.buffer == ir::BufferKind::Scratch;
  return program_.schedule == ir::Schedule::Manual && (unpacks(call.call, self.chunks) || isPortPut)
             ? ir::DataForm::Packet
             : ir::DataForm::Plain;
}

/// Reports `ref` if its chunks were written after it was made. `role`: the ref's role in the call. `form`: the form in
/// which the call takes the chunks.
bool CallChecker::isFresh(const RefDecl &ref, std::string_view role, ir::DataForm form, const CheckedCall &call) {
  const Operand &chunks = ref.chunks;
  const std::uint32_t write = writes_.last(chunks.rank, memoryOf(chunks, form));
  if (write <= ref.taken)
    return true;
  return diagnostics_
      .report(diag::stale_ref, call.loc,
              {chunks.index, std::uint64_t{chunks.index} + chunks.size, chunks.rank,
               Declarations::bufferName(chunks.buffer), role})
      .note(diag::overwritten_here, writes_.placeOf(write))
      .note(diag::ref_taken_here, declarations_.places[chunks.place]);
}

CallChecker::Result CallChecker::refCall(const TraceReader &reader, CheckedCall &call) {
  const auto record = reader.as<RefCallRecord>();
  if (declarations_.phase() != ProgramPhase::Open) {
    declarations_.inProgram("'" + std::string(call.spelling) + "'", call.loc);
    return Result::Faulty;
  }
  if (!isEnumerator(record.channel, lastChannel, "ChannelType", call.loc))
    return Result::Faulty;
  RefDecl self, other;
  if (const Result result = refOf(record.call.handle, call, self); result != Result::Good)
    return result;
  if (isReduction(call.call)) {
    if (const Result result = refOf(record.call.on, call, other); result != Result::Good)
      return result;
  } else {
    other.chunks.buffer = static_cast<ir::BufferKind>(record.buffer);
    other.chunks.place = record.call.head.place;
    if (!isEnumerator(record.buffer, lastBuffer, "BufferType", call.loc) ||
        !refPlace(record.rank, record.index, self.chunks.size, call.loc, other.chunks))
      return Result::Faulty;
  }
  made_.chunks = writesRef(call.call) || !movesData(call.call) ? self.chunks : other.chunks;
  made_.chunks.place = record.call.head.place;
  const bool isManual = program_.schedule == ir::Schedule::Manual;
  const bool takesPackets = isManual && call.call == Call::RefReducePackets,
             isPort = record.hasChannel != 0 && record.channel != 0;
  bool good = isFresh(self, "this ref", formTaken(self, isPort, call), call);
  good = (!isReduction(call.call) ||
          isFresh(other, "the other ref", takesPackets ? ir::DataForm::Packet : ir::DataForm::Plain, call)) &&
         good;
  if (!checkReach(self.chunks, other.chunks, call))
    return Result::Faulty;
  const bool moves = call.call != Call::RefCopy || self.chunks.rank != other.chunks.rank ||
                     memoryOf(self.chunks) != memoryOf(other.chunks);
  const bool keepsForm = !movesData(call.call);
  const Result result = isManual ? refOperation(record, self.chunks, other.chunks, call)
                                 : refStatement(record, self.chunks, other.chunks, call);
  made_.form = keepsForm ? self.form : ir::formOfDestination(call.info->kind, 0);
  if (result != Result::Good)
    return result;
  return !good ? Result::Faulty : moves ? Result::Good : Result::Nothing;
}

/// Checks the ranks of the operands: some calls need operands of one rank, and some need operands of two.
bool CallChecker::checkReach(const Operand &self, const Operand &other, const CheckedCall &call) {
  const RefInfo &info = refInfoOf(call.call);
  if (self.rank == other.rank && info.reach == Reach::Far)
    return diagnostics_.report(diag::ref_call_within_rank, call.loc, {call.spelling, self.rank, info.instead});
  if (self.rank != other.rank && info.reach == Reach::Near && program_.schedule == ir::Schedule::Manual)
    return diagnostics_.report(diag::ref_call_between_ranks, call.loc,
                               {call.spelling, self.rank, other.rank, info.instead});
  return true;
}

/// Turns a call on a ref into a statement, in a program of Schedule::Auto.
CallChecker::Result CallChecker::refStatement(const RefCallRecord &record, const Operand &self, const Operand &other,
                                              CheckedCall &call) {
  const Call asked = call.call;
  const bool isFar = self.rank != other.rank;
  bool good = true;
  const auto refuse = [&](bool isGiven, std::string_view what, std::string_view instead) {
    if (isGiven)
      diagnostics_.report(diag::manual_in_auto, call.loc, {"'" + std::string(what) + "'", instead});
    good = good && !isGiven;
  };
  if (!movesData(asked)) {
    refuse(true, call.spelling, call.info->instead);
    return Result::Faulty;
  }
  refuse(record.hasSendBlock != 0, ".sendtb", "leave it out, as the compiler chooses thread blocks");
  refuse(record.hasRecvBlock != 0, ".recvtb", "leave it out, as the compiler chooses thread blocks");
  CheckedMove &move = call.move;
  move = {};
  if (isFar && record.hasChannel != 0)
    move.via = record.channel == 0 ? ir::Via::Memory : ir::Via::Port;
  if (isFar && refInfoOf(asked).packets)
    move.packets = true;
  if (move.via == ir::Via::Memory && !program_.movement.sameNode(self.rank, other.rank)) {
    diagnostics_.report(diag::via_between_nodes, call.loc,
                        {".channel = ChannelType::Memory", self.rank, other.rank, "ChannelType::Port"});
    good = false;
  }
  call.srcs.clear();
  if (isReduction(asked)) {
    call.call = Call::MoveReduce;
    call.srcs = {self, other};
  } else {
    call.call = Call::MoveCopy;
    call.srcs.push_back(asked == Call::RefGet ? other : self);
  }
  move.dsts.push_back(asked == Call::RefGet || isReduction(asked) ? self : other);
  call.info = &infoOf(call.call);
  return good && checkMove(call) ? Result::Good : Result::Faulty;
}

/// Returns the thread block that executes a call on a ref, and the block at its other end, in a program of
/// Schedule::Manual.
std::optional<CallChecker::RefBlocks> CallChecker::refBlocks(const RefCallRecord &record, bool isFar,
                                                             const CheckedCall &call) {
  const bool byReceiver = refInfoOf(call.call).byReceiver;
  const bool hasOwn = byReceiver ? record.hasRecvBlock != 0 : record.hasSendBlock != 0,
             hasOther = byReceiver ? record.hasSendBlock != 0 : record.hasRecvBlock != 0;
  const WideInteger &given = byReceiver ? record.recvBlock : record.sendBlock,
                    &givenOther = byReceiver ? record.sendBlock : record.recvBlock;
  if (!hasOwn && (isFar || !hasOther))
    return diagnostics_.report(diag::ref_call_without_block, call.loc,
                               {call.spelling, byReceiver ? "{.recvtb = i}" : "{.sendtb = i}"});
  const WideInteger &own = hasOwn ? given : givenOther, &far = hasOther ? givenOther : own;
  for (const WideInteger &block : {own, far})
    if (!inRange(block, 0, static_cast<std::uint64_t>(maxBlocks - 1)))
      return diagnostics_.report(diag::block_out_of_range, call.loc, {textOf(block), maxBlocks - 1});
  if (!isFar && own.bits != far.bits)
    return diagnostics_.report(diag::ref_call_in_two_blocks, call.loc,
                               {call.spelling, record.sendBlock.bits, record.recvBlock.bits});
  return RefBlocks{static_cast<std::uint32_t>(own.bits), static_cast<std::uint32_t>(far.bits)};
}

/// Turns a call on a ref into an operation, in a program of Schedule::Manual.
CallChecker::Result CallChecker::refOperation(const RefCallRecord &record, const Operand &self, const Operand &other,
                                              CheckedCall &call) {
  const Call asked = call.call;
  const RefInfo &info = refInfoOf(asked);
  const bool isFar = self.rank != other.rank;
  const std::optional<RefBlocks> blocks = refBlocks(record, isFar, call);
  const bool isPort = record.hasChannel != 0 ? record.channel != 0 : asked == Call::RefFlush;
  if (isFar && (isPort ? info.reads : asked == Call::RefFlush))
    return diagnostics_.report(isPort ? diag::port_reads_nothing : diag::flush_of_memory, call.loc, {call.spelling});
  if (isFar && !isPort && !program_.movement.sameNode(self.rank, other.rank))
    return diagnostics_.report(diag::memory_between_nodes, call.loc,
                               {call.spelling, self.rank, other.rank,
                                info.reads ? "put on the other rank, through ChannelType::Port"
                                           : "write .channel = ChannelType::Port, as memory joins ranks of one node"});
  if (!isFar && isPort)
    return diagnostics_.report(diag::ref_port_within_rank, call.loc, {call.spelling, self.rank});
  if (!blocks)
    return Result::Faulty;
  call.rank = self.rank;
  block_ = blocks->own;
  call.blocks = {&block_, 1};
  call.inGroup = false;
  call.view = nullptr;
  call.channel = isFar ? &declarations_.refChannel(isPort, {self.rank, blocks->own}, {other.rank, blocks->other},
                                                   record.call.head.place)
                       : nullptr;
  call.call = isFar ? info.far : info.near;
  if (asked == Call::RefCopyPackets && !unpacks(asked, self))
    call.call = Call::CopyPackets;
  call.info = &infoOf(call.call);
  call.packet = asked == Call::RefReducePackets;
  call.hasChunks = movesData(asked);
  call.srcs.clear();
  if (!call.hasChunks) {
    call.sync = ir::DataSync::Both; // signals have this sync by default
    return Result::Good;
  }
  call.dst = writesRef(asked) ? self : other;
  call.srcs.push_back(asked == Call::RefGet ? other : self);
  if (isReduction(asked))
    call.srcs.push_back(other);
  return checkChunks(call) ? Result::Good : Result::Faulty;
}

ir::MemoryRange CallChecker::memoryOf(const Operand &chunks, ir::DataForm form) const {
  return ir::memoryOf(program_, chunks.rank, chunks.buffer, chunks.index, chunks.size, form);
}

/// Records the writes of a call without faults. They make refs of the old contents stale.
void CallChecker::noteWrites(const CheckedCall &call) {
  if (refs_.empty())
    return;
  const ir::DataForm form = ir::formOfDestination(call.info->kind, 0);
  const auto note = [&](const Operand &chunks) { writes_.note(chunks.rank, memoryOf(chunks, form), call.loc); };
  switch (call.info->family) {
  case CallFamily::Movement:
    for (const Operand &dst : call.move.dsts)
      if (call.call == Call::MoveApply || call.srcs.size() != 1 || dst.rank != call.srcs[0].rank ||
          memoryOf(dst) != memoryOf(call.srcs[0]))
        note(dst);
    return;
  case CallFamily::Rank:
  case CallFamily::Hook:
  case CallFamily::Channel:
    if (call.hasChunks)
      note(call.dst);
    return;
  case CallFamily::Switch:
    if (ir::reducesInSwitch(call.info->kind)) {
      note(call.dst);
      return;
    }
    for (const SwitchMember &member : declarations_.membersOf(declarations_.switches[call.view->channel]))
      note({member.rank, call.switchBuffer, call.offset, call.srcs[0].size, 0});
    return;
  case CallFamily::Blocks:
  case CallFamily::Semaphore:
  case CallFamily::Ref:
    return;
  }
}

} // namespace mscclc::frontend
