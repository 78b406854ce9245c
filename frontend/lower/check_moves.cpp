// Checks movement statements: their operands and their choices.
#include "frontend/diagnostics.h"
#include "frontend/limits.h"
#include "frontend/lower/check_calls.h"
#include "frontend/lower/wide_integer.h"

#include <algorithm>
#include <tuple>

namespace mscclc::frontend {

using detail::Call;

namespace {

/// The choices of `.via` in the DSL's words. The first leaves the choice open.
constexpr std::string_view viaWords[] = {".via = Via::Auto", ".via = Via::Memory", ".via = Via::Port",
                                         ".via = Via::Switch"};

std::string_view wordOf(ir::Via via) {
  return viaWords[static_cast<std::size_t>(via) + 1];
}

std::string_view roleOf(std::size_t source) {
  return source == 0 ? "source" : "other chunk";
}

/// Returns true for a copy without destinations, and for a reduction of one chunk into itself. Loops over other ranks
/// make such calls if there is only one rank.
bool movesNothing(const CheckedCall &call) {
  const auto chunksOf = [](const Operand &operand) {
    return std::tuple(operand.rank, operand.buffer, operand.index, operand.size);
  };
  return call.move.dsts.empty() || (call.call == Call::MoveReduce && call.srcs.size() == 1 &&
                                    chunksOf(call.srcs[0]) == chunksOf(call.move.dsts[0]));
}

} // namespace

CallChecker::Result CallChecker::statement(const TraceReader &reader, CheckedCall &call) {
  if (declarations_.phase() != ProgramPhase::Open) {
    declarations_.inProgram("'" + std::string(call.spelling) + "'", call.loc);
    return Result::Faulty;
  }
  if (program_.schedule == ir::Schedule::Manual)
    return diagnostics_.report(diag::statement_in_manual, call.loc, {call.spelling});
  if (call.call == Call::MoveApply)
    if (const Result hook = takeHook(reader.as<CallRecord>().handle, call); hook != Result::Good)
      return hook;
  const Result choices = moveChoices(reader.as<MoveRecord>(), call);
  if (choices == Result::Damaged)
    return choices;
  if (const Result operands = moveOperands(reader, call); operands != Result::Good)
    return operands;
  if (!checkMove(call) || choices != Result::Good)
    return Result::Faulty;
  return movesNothing(call) ? Result::Nothing : Result::Good;
}

/// Reads the choices of a statement; open choices stay empty. The operands are checked elsewhere, together with the
/// executing rank.
CallChecker::Result CallChecker::moveChoices(const MoveRecord &record, CheckedCall &call) {
  CheckedMove &move = call.move;
  move.via.reset();
  move.by.reset();
  move.block.reset();
  move.packets.reset();
  if (record.via >= std::size(viaWords))
    return diagnostics_.report(diag::no_enumerator, call.loc,
                               {call.spelling, "a .via", "Via::Auto, Via::Memory, Via::Port and Via::Switch"});
  if (record.via != 0)
    move.via = static_cast<ir::Via>(record.via - 1);
  if (record.packets != 0)
    move.packets = record.inPackets != 0;

  Result result = Result::Good;
  if (record.by != 0) {
    if (inRange(record.rank, 0, program_.ranks.size() - 1)) {
      move.by = static_cast<std::uint32_t>(record.rank.bits);
    } else {
      diagnostics_.report(diag::executor_out_of_range, call.loc, {textOf(record.rank), program_.ranks.size() - 1});
      result = Result::Faulty;
    }
  }
  const std::uint32_t block = record.call.on;
  if (block == CallRecord::faultyBlock)
    return Result::Faulty;
  if (block == CallRecord::noBlock)
    return result;
  if (block >= maxBlocks)
    return Result::Damaged;
  const std::uint32_t most = program_.movement.mostBlocks;
  if (most != 0 && block >= most)
    return diagnostics_.report(diag::block_beyond_limit, call.loc, {block, most, most - 1});
  move.block = block;
  return result;
}

CallChecker::Result CallChecker::moveOperands(const TraceReader &reader, CheckedCall &call) {
  const auto record = reader.as<MoveRecord>();
  const std::uint32_t count = record.call.head.count, numDsts = record.numDsts;
  call.srcs.clear();
  call.move.dsts.clear();
  if ((record.call.head.flags & RecordHead::tooMany) != 0)
    return diagnostics_.report(diag::too_many_chunks, call.loc);
  if (numDsts >= count || (call.call == Call::MoveCopy ? count != numDsts + 1 : numDsts != 1) ||
      (call.call == Call::MoveApply && count != 2))
    return Result::Damaged;

  Result result = Result::Good;
  const auto take = [&](std::size_t index, std::string_view role, Operand &out) {
    const Result taken = operand(reader.extra<ChunkRecord>(index), role, call, out);
    if (result != Result::Damaged && taken != Result::Good)
      result = taken;
  };
  call.move.dsts.resize(numDsts);
  call.srcs.resize(count - numDsts);
  for (std::size_t i = 0; i < numDsts; ++i)
    take(i, "destination", call.move.dsts[i]);
  for (std::size_t i = 0; i < call.srcs.size(); ++i)
    take(numDsts + i, roleOf(i), call.srcs[i]);
  return result;
}

bool CallChecker::checkMove(const CheckedCall &call) {
  bool good = true;
  if (call.call == Call::MoveCopy && call.reduceOp != ir::ReduceOp::Sum) {
    diagnostics_.report(diag::copy_with_op, call.loc);
    good = false;
  }
  if (call.call == Call::MoveApply) {
    if (call.move.via || call.move.packets || call.reduceOp != ir::ReduceOp::Sum) {
      diagnostics_.report(diag::apply_with_way, call.loc,
                          {call.move.via       ? ".via"
                           : call.move.packets ? ".packets"
                                               : ".op"});
      good = false;
    }
    return checkExecutor(call) && inOutput(call.srcs[0], call) && good;
  }
  for (const Operand &dst : call.move.dsts)
    good = sameSize(dst, "destination", call.srcs[0], "source", call) && good;
  for (std::size_t i = 1; i < call.srcs.size(); ++i)
    good = sameSize(call.srcs[i], "other chunk", call.srcs[0], "source", call) && good;
  if (call.move.dsts.empty())
    return good;
  good = checkExecutor(call) && good;
  return checkVia(call) && good;
}

/// Checks that the executing rank holds a source or a destination.
bool CallChecker::checkExecutor(const CheckedCall &call) {
  const auto isThere = [&](const Operand &operand) { return operand.rank == *call.move.by; };
  if (!call.move.by || std::ranges::any_of(call.move.dsts, isThere) || std::ranges::any_of(call.srcs, isThere))
    return true;
  return diagnostics_.report(diag::executor_holds_nothing, call.loc, {*call.move.by, call.spelling})
      .note(chunkMadeHere(call.move.dsts[0]), declarations_.places[call.move.dsts[0].place], {call.move.dsts[0].rank})
      .note(chunkMadeHere(call.srcs[0]), declarations_.places[call.srcs[0].place], {call.srcs[0].rank});
}

/// Checks that the way reaches all ranks: memory and the switch connect only the ranks of one node.
bool CallChecker::checkVia(const CheckedCall &call) {
  if (!call.move.via || *call.move.via == ir::Via::Port)
    return true;
  const Operand &first = call.move.dsts[0];
  const auto isFar = [&](const Operand &operand) { return !program_.movement.sameNode(operand.rank, first.rank); };
  const Operand *far = nullptr;
  if (const auto dst = std::ranges::find_if(call.move.dsts, isFar); dst != call.move.dsts.end())
    far = &*dst;
  else if (const auto src = std::ranges::find_if(call.srcs, isFar); src != call.srcs.end())
    far = &*src;
  if (far)
    return diagnostics_
        .report(diag::via_between_nodes, call.loc, {wordOf(*call.move.via), first.rank, far->rank, "Via::Port"})
        .note(chunkMadeHere(first), declarations_.places[first.place], {first.rank})
        .note(diag::chunk_sliced_here, declarations_.places[far->place], {far->rank});
  return *call.move.via != ir::Via::Switch || checkSwitchedMove(call);
}

/// Checks a statement through the switch. The switch adds in an order of its own and takes plain data. Only the rank
/// that controls the switch may execute the statement.
bool CallChecker::checkSwitchedMove(const CheckedCall &call) {
  bool good = true;
  if (!ir::mayReduceInSwitch(call.reduceOp, call.srcs.size(), program_.movement.order)) {
    diagnostics_.report(diag::switch_sum_in_order, call.loc, {ir::nounOf(call.reduceOp), call.srcs.size()});
    good = false;
  }
  if (call.move.packets.value_or(false)) {
    diagnostics_.report(diag::switch_packets, call.loc);
    good = false;
  }
  const bool reduces = call.call == Call::MoveReduce;
  const std::uint32_t executor = reduces ? call.move.dsts[0].rank : call.srcs[0].rank;
  if (call.move.by && *call.move.by != executor) {
    diagnostics_.report(diag::switch_executor, call.loc, {*call.move.by, executor, reduces ? "destination" : "source"});
    good = false;
  }
  return good;
}

} // namespace mscclc::frontend
