#include "backend-cuda/operation_writer.h"

#include "ir/internal_error.h"
#include "ir/op_semantics.h"

namespace mscclc::cuda {

namespace {

using ir::DataForm;
using ir::Op;
using ir::OpKind;

class OperationWriter {
public:
  OperationWriter(const KernelFacts &facts, OperandWriter &operands, const At &at, bool releases, std::uint32_t hook,
                  std::vector<Statement> &out)
      : facts_(facts), operands_(operands), at_(at), op_(operands.op(at)), releases_(releases), hook_(hook), out_(out),
        port_(op_.channelType == ir::ChannelType::Port), comment_(describe(facts.program, op_)) {}

  void write();

private:
  // The following functions are called in the order in which formulas are sought and tables are numbered.
  Expr position() const { return operands_.position(at_); }
  ListExpr ids() { return operands_.ids(at_, 0, op_.numIds); }
  ListExpr plain(std::uint32_t first, std::uint32_t count = 1) {
    return operands_.chunks(at_, first, count, DataForm::Plain);
  }
  /// Returns plain destinations. If the operation also does an apply, values for the first destination go through its
  /// hook.
  ListExpr stored(std::uint32_t first, std::uint32_t count = 1) {
    ListExpr list = plain(first, count);
    if (hook_ != 0) {
      const At apply{at_.op + hook_, at_.steps, at_.stride};
      list.hook = "Hook" + std::to_string(operands_.op(apply).imm);
      list.inOutput = operands_.inOutput(apply, 0);
      comment_ += "; " + describe(facts_.program, operands_.op(apply));
    }
    return list;
  }
  ListExpr packets(std::uint32_t first, std::uint32_t count = 1) {
    return operands_.chunks(at_, first, count, DataForm::Packet);
  }
  ListExpr members(std::uint32_t operand, DataForm form) { return operands_.members(at_, operand, form); }
  Expr switchChannel(std::uint32_t operand) { return operands_.switchChannel(at_, operand); }
  SliceExpr slice() { return operands_.slice(at_, 0); }
  const std::string &reduceOp() const { return facts_.reduceOp[static_cast<std::size_t>(op_.reduceOp)]; }

  void sync() { out_.push_back({{}, SyncStatement{}}); }
  void call(CallStatement call) { out_.push_back({std::exchange(comment_, {}), std::move(call)}); }
  /// Appends a call for synchronisation.
  void control(std::string function, std::vector<Argument> arguments) {
    call({std::move(function), {}, std::move(arguments)});
  }
  /// Appends a call that moves data.
  void move(std::string function, std::vector<Argument> arguments, std::string templateArgument = {}) {
    call({std::move(function), std::move(templateArgument), std::move(arguments), true});
  }

  void reduce();
  void reducePackets();
  bool firstAfter(std::vector<Argument> &arguments);
  void readPutPacket();
  void pairs();
  void pairsOfOneSize(std::uint32_t first, std::uint32_t count);

  const KernelFacts &facts_;
  OperandWriter &operands_;
  const At &at_;
  const Op &op_;
  const bool releases_;
  const std::uint32_t hook_;
  std::vector<Statement> &out_;
  const bool port_;
  std::string comment_; ///< comment for the first statement that is not a synchronisation
};

void OperationWriter::write() {
  constexpr DataForm plainForm = DataForm::Plain, packetForm = DataForm::Packet;
  switch (op_.kind) {
  case OpKind::Nop:
    return sync();
  case OpKind::Barrier:
    return control("barrier", {position(), operands_.barrier(at_), constant(op_.count)});
  case OpKind::SemAcquire:
    return control("acquire", {position(), ids()});
  case OpKind::SemRelease:
    return control("release", {ids()});
  case OpKind::Signal:
    return port_ ? control("portSignal", {position(), ids()}) : control("signal", {ids()});
  case OpKind::RelaxedSignal:
    return control(releases_ ? "signal" : "relaxedSignal", {ids()});
  case OpKind::Wait:
    return control(port_ ? "portWait" : "wait", {position(), ids()});
  case OpKind::RelaxedWait:
    return control("relaxedWait", {position(), ids()});
  case OpKind::Flush:
    return control("portFlush", {position(), ids()});
  case OpKind::Copy:
    return move("copy", {slice(), plain(0), stored(1)});
  case OpKind::CopyPacket:
    return move("toPackets", {slice(), plain(0), packets(1)});
  case OpKind::UnpackPacket:
    return move("fromPackets", {position(), slice(), packets(0), stored(1)});
  case OpKind::Reduce:
  case OpKind::ReduceSend:
  case OpKind::ReadReduce:
  case OpKind::ReadReduceSend:
    return reduce();
  case OpKind::ReducePacket:
  case OpKind::ReduceCopyPacket:
  case OpKind::ReduceSendPacket:
  case OpKind::ReduceCopySendPacket:
    return reducePackets();
  case OpKind::Get:
  case OpKind::Put:
  case OpKind::PutPacket:
  case OpKind::PutWithSignal:
  case OpKind::PutWithSignalAndFlush:
    return pairs();
  case OpKind::ReadPutPacket:
    return readPutPacket();
  case OpKind::SwitchReduce:
    return move("switchReduce", {slice(), switchChannel(0), members(0, plainForm), plain(1)}, reduceOp());
  case OpKind::SwitchBroadcast:
    return move("switchBroadcast", {slice(), switchChannel(1), plain(0), members(1, plainForm)});
  case OpKind::SwitchBroadcastPacket:
    return move("switchForwardPackets", {position(), slice(), switchChannel(1), packets(0), members(1, packetForm)});
  case OpKind::SwitchReduceBroadcast:
    return move("switchReduceBroadcast",
                {slice(), switchChannel(0), switchChannel(1), members(0, plainForm), members(1, plainForm)},
                reduceOp());
  case OpKind::SwitchSignal:
  case OpKind::SwitchWait:
  case OpKind::SwitchRelaxedSignal:
  case OpKind::SwitchRelaxedWait:
    throw ir::InternalError("a signal through the switch is spelled out before kernels are written");
  case OpKind::Apply:
    return move("apply", {slice(), plain(0), operands_.inOutput(at_, 0)}, "Hook" + std::to_string(op_.imm));
  case OpKind::Pipeline:
    throw ir::InternalError("a pipeline is a loop over operations, and is written as one");
  }
}

void OperationWriter::reduce() {
  std::vector<Argument> arguments{slice()};
  const bool isAfter = firstAfter(arguments);
  arguments.push_back(plain(0, op_.numSrcs));
  arguments.push_back(stored(op_.numSrcs, op_.numDsts));
  move(isAfter ? "reduceAfter" : "reduce", std::move(arguments), reduceOp());
}

/// Reduces a plain chunk and packets into a plain chunk, and in some cases into packets as well.
void OperationWriter::reducePackets() {
  const std::uint32_t srcs = op_.numSrcs, dsts = op_.numDsts;
  std::vector<Argument> arguments{position(), slice()};
  const bool isAfter = firstAfter(arguments);
  arguments.push_back(plain(0));
  arguments.push_back(packets(1, srcs - 1));
  arguments.push_back(stored(srcs));
  if (dsts > 1)
    arguments.push_back(packets(srcs + 1, dsts - 1));
  move(isAfter ? "reducePacketsAfter" : "reducePackets", std::move(arguments), reduceOp());
}

/// Appends the number of sources that are added before the first one, unless it is 0 everywhere. Returns true if it was
/// appended.
bool OperationWriter::firstAfter(std::vector<Argument> &arguments) {
  if (!operands_.firstIsLater(at_))
    return false;
  arguments.push_back(operands_.firstAfter(at_));
  return true;
}

/// A proxy does not check the flags of packets. So the block waits for the packets before it asks the proxy to send
/// them.
void OperationWriter::readPutPacket() {
  if (!port_)
    return move("forwardPackets", {position(), slice(), packets(0), packets(1, op_.numDsts)});
  move("awaitPackets", {position(), slice(), packets(0)});
  sync();
  move("portPut", {position(), slice(), ids(), packets(0), packets(1, op_.numDsts)}, "Then::Nothing");
}

/// Writes operations that move source i to destination i. Pairs of different sizes cannot share a slice.
void OperationWriter::pairs() {
  const auto all = operands_.block().operands(op_);
  for (std::uint32_t begin = 0; begin < op_.numSrcs;) {
    std::uint32_t end = begin + 1;
    while (end < op_.numSrcs && all[end].size == all[begin].size)
      ++end;
    pairsOfOneSize(begin, end - begin);
    begin = end;
  }
}

void OperationWriter::pairsOfOneSize(std::uint32_t first, std::uint32_t count) {
  const bool one = operands_.areOneChunk(at_, first, count);
  ListExpr sources = operands_.chunks(at_, first, one ? 1 : count, ir::formOfSource(op_, first));
  ListExpr targets = operands_.chunks(at_, op_.numSrcs + first, count, ir::formOfDestination(op_.kind, first));
  SliceExpr part = operands_.slice(at_, first);
  if (!port_) {
    const std::string function = op_.kind == OpKind::PutPacket ? "toPackets" : "copy";
    return move(one ? function : function + "Pairs", {std::move(part), std::move(sources), std::move(targets)});
  }
  const char *then = op_.kind == OpKind::PutWithSignal           ? "Then::Signal"
                     : op_.kind == OpKind::PutWithSignalAndFlush ? "Then::SignalAndFlush"
                                                                 : "Then::Nothing";
  move("portPut",
       {position(), std::move(part), operands_.ids(at_, first, count), std::move(sources), std::move(targets)}, then);
}

} // namespace

std::string placesOf(const ir::Program &program, const ir::Op &op) {
  std::string places;
  for (ir::LocId id : program.sources.places(op.loc)) {
    if (program.sources.isElement(id)) // the location of a plan's element adds nothing to that of the statement
      continue;
    const ir::Loc &loc = program.sources.get(id);
    const std::string &path = program.sources.files()[loc.file];
    places += (places.empty() ? "" : ", ") + path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(loc.line);
    if (places.size() > 80)
      break;
  }
  return places;
}

std::string describe(const ir::Program &program, const ir::Op &op) {
  const std::string places = placesOf(program, op);
  return std::string(ir::toString(op.kind)) + (places.empty() ? "" : "  ") + places;
}

void writeOperation(const KernelFacts &facts, OperandWriter &operands, const At &at, bool releases, std::uint32_t hook,
                    std::vector<Statement> &out) {
  OperationWriter(facts, operands, at, releases, hook, out).write();
}

} // namespace mscclc::cuda
