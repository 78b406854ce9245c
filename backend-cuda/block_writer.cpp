#include "backend-cuda/block_writer.h"

#include "backend-cuda/block_shape.h"
#include "backend-cuda/channel_order.h"
#include "ir/internal_error.h"
#include "ir/op_semantics.h"

#include <algorithm>
#include <optional>

namespace mscclc::cuda {

namespace {

using ir::Chunk;
using ir::DataForm;
using ir::Op;
using ir::OpKind;
using ir::ThreadBlock;

/// Repetitions from which on a sequence of operations is written as a loop over them. Below, code is straight-line.
constexpr int minRepeats = 16;
constexpr std::size_t maxPeriod = 32;
/// Operands that are written one by one; more become a formula of their number.
constexpr std::uint32_t maxWrittenOut = 3;
/// Sequences that look repeated and turn out not to be; after so many, a program is written straight.
constexpr int maxFailedRepeats = 64;

/// Where an operation stands: `op` in each instance, and `op + step · stride` in its repetitions.
struct At {
  std::size_t op = 0;
  int steps = 1;
  std::size_t stride = 0;
};

class BlockWriter {
public:
  BlockWriter(const KernelFacts &facts, const std::vector<SampleSpace::Instance> &instances, Tables &tables)
      : facts_(facts), program_(facts.program), instances_(instances),
        finder_(static_cast<int>(facts.program.ranks.size()), tables),
        rank_(program_.ranks[static_cast<std::size_t>(instances[0].rank)]),
        block_(rank_.blocks[static_cast<std::size_t>(instances[0].block)]) {
    shapes_.reserve(block_.ops.size());
    for (const Op &op : block_.ops)
      shapes_.push_back(shapeHash(rank_, block_, op));
    syncBefore_.resize(block_.ops.size());
    for (const SampleSpace::Instance &who : instances_) {
      const ir::Rank &rank = program_.ranks[static_cast<std::size_t>(who.rank)];
      markUnorderedChannels(rank, rank.blocks[static_cast<std::size_t>(who.block)], syncBefore_);
    }
  }

  std::vector<Statement> write() {
    std::vector<Statement> out;
    writeRange(0, block_.ops.size(), out);
    return out;
  }

private:
  // ------------------------------------------------------------------------------------------------- sequences

  void writeRange(std::size_t begin, std::size_t end, std::vector<Statement> &out) {
    for (std::size_t q = begin; q < end;) {
      const Op &op = block_.ops[q];
      if (op.kind == OpKind::Pipeline) {
        writePipeline(q, out);
        q += 1 + op.bodySize;
        continue;
      }
      if (const std::size_t length = tryRepeat(q, end, out)) {
        q += length;
        continue;
      }
      writeOp({q}, out);
      ++q;
    }
  }

  void writePipeline(std::size_t header, std::vector<Statement> &out) {
    const Op &op = block_.ops[header];
    Statement loop;
    loop.kind = Statement::Kind::Pipeline;
    loop.comment = describe(op);
    loop.unit = op.imm;
    loop.chunks = op.count;
    unit_ = op.imm;
    writeRange(header + 1, header + 1 + op.bodySize, loop.body);
    unit_ = 0;
    out.push_back(std::move(loop));
  }

  /// Writes the operations from `q` on as a repeated sequence, if they are one. Returns how many that covers.
  std::size_t tryRepeat(std::size_t q, std::size_t end, std::vector<Statement> &out) {
    for (std::size_t period = 1; period <= maxPeriod && q + period * minRepeats <= end; ++period) {
      if (failedRepeats_ >= maxFailedRepeats)
        return 0;
      std::size_t same = 0;
      while (q + same + period < end && shapes_[q + same] == shapes_[q + same + period] &&
             block_.ops[q + same].kind != OpKind::Pipeline)
        ++same;
      const int times = static_cast<int>(same / period + 1);
      if (times < minRepeats)
        continue;
      Statement loop;
      loop.kind = Statement::Kind::Repeat;
      loop.times = times;
      exact_ = true;
      failed_ = false;
      for (std::size_t t = 0; t < period && !failed_; ++t)
        writeOp({q + t, times, period}, loop.body);
      exact_ = false;
      if (!failed_) {
        out.push_back(std::move(loop));
        return period * static_cast<std::size_t>(times);
      }
      ++failedRepeats_;
    }
    return 0;
  }

  // -------------------------------------------------------------------------------------------------- numbers

  const ir::Rank &rankAt(const Sample &s) const { return program_.ranks[static_cast<std::size_t>(s.rank)]; }
  const ThreadBlock &blockAt(const Sample &s) const { return rankAt(s).blocks[static_cast<std::size_t>(s.block)]; }
  std::size_t opAt(const At &at, const Sample &s) const { return at.op + static_cast<std::size_t>(s.step) * at.stride; }
  const Chunk &chunkAt(const At &at, std::uint32_t operand, const Sample &s) const {
    const ThreadBlock &block = blockAt(s);
    return block.operands(block.ops[opAt(at, s)])[operand];
  }

  /// The formula of a number over all instances, repetitions and `count` items from `first` on.
  std::string number(const At &at, int first, int count, const ValueOf &value) {
    const SampleSpace space{instances_, at.steps, first, count};
    if (!exact_)
      return finder_.expressionOrTable(space, value);
    std::string text = finder_.expression(space, value);
    failed_ |= text.empty();
    return text;
  }

  std::string opNumber(const At &at) const {
    const std::string first = std::to_string(at.op);
    if (at.steps == 1)
      return first;
    return first + " + " + (at.stride == 1 ? "j" : std::to_string(at.stride) + " * j");
  }

  // ------------------------------------------------------------------------------------------------- operands

  static bool usesItem(const std::string &text) {
    // The item is the one-letter identifier `i`.
    for (std::size_t p = text.find('i'); p != std::string::npos; p = text.find('i', p + 1)) {
      const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
      if ((p == 0 || !part(text[p - 1])) && (p + 1 == text.size() || !part(text[p + 1])))
        return true;
    }
    return false;
  }

  static std::string asList(const std::string &text, std::size_t count) {
    if (count == 1)
      return "one(" + text + ")";
    return "list<" + std::to_string(count) + ">([&](int" + (usesItem(text) ? " i" : "") + ") { return " + text + "; })";
  }

  /// Ids of an operation: channels or semaphores.
  std::string ids(const At &at) { return ids(at, 0, block_.ops[at.op].numIds); }
  std::string ids(const At &at, std::uint32_t first, std::uint32_t count) {
    const std::string text = number(at, 0, static_cast<int>(count), [&, first](const Sample &s) {
      const ThreadBlock &block = blockAt(s);
      return static_cast<std::int64_t>(block.idsOf(block.ops[opAt(at, s)])[first + static_cast<std::uint32_t>(s.item)]);
    });
    return asList(text, count);
  }

  static const char *placeName(ir::BufferKind buffer, DataForm form) {
    if (form == DataForm::Packet)
      return "Packets(";
    return buffer == ir::BufferKind::Input ? "Input(" : buffer == ir::BufferKind::Output ? "Output(" : "Scratch(";
  }

  /// `operands` consecutive operands from `first` on; item `shift` is the first of them. They are of one kind.
  std::string run(const At &at, std::uint32_t first, std::uint32_t count, DataForm form, int shift) {
    const Op &op = block_.ops[at.op];
    const Chunk &chunk = block_.operands(op)[first];
    const auto operand = [&, first, shift](const Sample &s) -> const Chunk & {
      return chunkAt(at, first + static_cast<std::uint32_t>(s.item - shift), s);
    };
    const std::string index = number(at, shift, static_cast<int>(count),
                                     [&](const Sample &s) { return static_cast<std::int64_t>(operand(s).index); });
    std::string place = placeName(bufferOf(rank_, chunk), form);
    if (ir::isLocal(chunk.space)) {
      place[0] = static_cast<char>(place[0] - 'A' + 'a');
      return "k." + place + index + ")";
    }
    if (op.channelType == ir::ChannelType::Port)
      return "k.port" + place + index + ")";
    const std::string peer = number(at, shift, static_cast<int>(count), [&](const Sample &s) {
      return static_cast<std::int64_t>(rankAt(s).remoteBuffers[operand(s).id].rank);
    });
    return "k.peer" + place + peer + ", " + index + ")";
  }

  /// The chunk behind a switch channel, at every rank of its group.
  std::string members(const At &at, std::uint32_t operand, DataForm form) {
    const Chunk &chunk = block_.operands(block_.ops[at.op])[operand];
    const auto size = static_cast<int>(rank_.switchChannels[chunk.id].ranks.size());
    const std::string index =
        number(at, 0, 1, [&](const Sample &s) { return static_cast<std::int64_t>(chunkAt(at, operand, s).index); });
    const std::string peer = number(at, 0, size, [&](const Sample &s) {
      const Chunk &c = chunkAt(at, operand, s);
      return static_cast<std::int64_t>(rankAt(s).switchChannels[c.id].ranks[static_cast<std::size_t>(s.item)]);
    });
    return asList("k.peer" + std::string(placeName(bufferOf(rank_, chunk), form)) + peer + ", " + index + ")",
                  static_cast<std::size_t>(size));
  }
  std::string switchChannel(const At &at, std::uint32_t operand) {
    return number(at, 0, 1, [&](const Sample &s) { return static_cast<std::int64_t>(chunkAt(at, operand, s).id); });
  }

  /// `count` operands from `first` on, all of form `form`, as one list.
  std::string operands(const At &at, std::uint32_t first, std::uint32_t count, DataForm form) {
    const auto all = block_.operands(block_.ops[at.op]);
    std::string text;
    if (count > 1 && count <= maxWrittenOut) {
      for (std::uint32_t i = 0; i < count; ++i)
        text += (i == 0 ? "few(" : ", ") + run(at, first + i, 1, form, 0);
      return text + ")";
    }
    for (std::uint32_t begin = 0; begin < count;) {
      std::uint32_t end = begin + 1;
      const Chunk &chunk = all[first + begin];
      while (end < count && all[first + end].space == chunk.space &&
             bufferOf(rank_, all[first + end]) == bufferOf(rank_, chunk))
        ++end;
      if (end < count)
        text += "i < " + std::to_string(end) + " ? ";
      text += run(at, first + begin, end - begin, form, static_cast<int>(begin));
      if (end < count)
        text += " : ";
      begin = end;
    }
    return asList(text, count);
  }

  /// True if operands [first, first + count) are one chunk in every instance and repetition.
  bool allSame(const At &at, std::uint32_t first, std::uint32_t count) const {
    for (const SampleSpace::Instance &who : instances_)
      for (int step = 0; step < at.steps; ++step) {
        const Sample s{who.rank, who.block, step, 0};
        for (std::uint32_t i = 1; i < count; ++i)
          if (chunkAt(at, first + i, s) != chunkAt(at, first, s))
            return false;
      }
    return true;
  }

  std::string slice(const At &at, std::uint32_t operand) {
    const Op &op = block_.ops[at.op];
    std::string text = "k.whole(" + std::to_string(block_.operands(op)[operand].size) + ")";
    if (op.groupSize > 1)
      text +=
          ".part(" +
          number(at, 0, 1,
                 [&](const Sample &s) { return static_cast<std::int64_t>(blockAt(s).ops[opAt(at, s)].groupIndex); }) +
          ", " + std::to_string(op.groupSize) + ")";
    if (unit_ != 0)
      text += ".unit(u, " + std::to_string(unit_) + ")";
    return text;
  }

  // ----------------------------------------------------------------------------------------------- operations

  std::string describe(const Op &op) const {
    std::string text(ir::toString(op.kind));
    std::string places;
    for (ir::LocId id : program_.sources.places(op.loc)) {
      if (program_.sources.isElement(id)) // of a plan: tells no more than the statement's own place
        continue;
      const ir::Loc &loc = program_.sources.get(id);
      const std::string &path = program_.sources.files()[loc.file];
      places +=
          (places.empty() ? "  " : ", ") + path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(loc.line);
      if (places.size() > 80)
        break;
    }
    return text + places;
  }

  void call(std::vector<Statement> &out, std::string function, std::vector<std::string> arguments,
            std::string comment = {}) const {
    Statement s;
    s.function = std::move(function);
    s.arguments = std::move(arguments);
    s.comment = std::move(comment);
    s.movesData = movesData_;
    out.push_back(std::move(s));
  }
  void sync(std::vector<Statement> &out) const {
    Statement s;
    s.function = "k.sync";
    out.push_back(std::move(s));
  }

  bool mustSyncBefore(const At &at) const {
    for (int step = 0; step < at.steps; ++step)
      if (syncBefore_[at.op + static_cast<std::size_t>(step) * at.stride] != 0)
        return true;
    return false;
  }

  void writeOp(const At &at, std::vector<Statement> &out) {
    const Op &op = block_.ops[at.op];
    if (has(op.sync, ir::DataSync::Before) || mustSyncBefore(at))
      sync(out);
    if (op.kind == OpKind::Nop)
      sync(out);
    else if (info(op.kind).group == ir::OpGroup::SingleThread && op.numChunks() == 0)
      writeSync(at, out);
    else if (op.kind == OpKind::Barrier)
      call(out, "barrier",
           {"k", opNumber(at),
            number(at, 0, 1,
                   [&](const Sample &s) { return static_cast<std::int64_t>(blockAt(s).ops[opAt(at, s)].imm); }),
            std::to_string(op.count)},
           describe(op));
    else {
      movesData_ = true;
      writeData(at, out);
      movesData_ = false;
    }
    if (has(op.sync, ir::DataSync::After))
      sync(out);
  }

  void writeSync(const At &at, std::vector<Statement> &out) {
    const Op &op = block_.ops[at.op];
    const bool port = op.channelType == ir::ChannelType::Port;
    const std::string position = opNumber(at), list = ids(at), comment = describe(op);
    switch (op.kind) {
    case OpKind::SemAcquire:
      return call(out, "acquire", {"k", position, list}, comment);
    case OpKind::SemRelease:
      return call(out, "release", {"k", list}, comment);
    case OpKind::Signal:
      return port ? call(out, "portSignal", {"k", position, list}, comment) : call(out, "signal", {"k", list}, comment);
    case OpKind::RelaxedSignal:
      return call(out, "relaxedSignal", {"k", list}, comment);
    case OpKind::Wait:
      return call(out, port ? "portWait" : "wait", {"k", position, list}, comment);
    case OpKind::RelaxedWait:
      return call(out, facts_.readsPeers ? "launchWait" : "relaxedWait", {"k", position, list}, comment);
    case OpKind::Flush:
      return call(out, "portFlush", {"k", position, list}, comment);
    default:
      throw ir::InternalError("no single-thread operation: " + std::string(ir::toString(op.kind)));
    }
  }

  void writeData(const At &at, std::vector<Statement> &out) {
    const Op &op = block_.ops[at.op];
    const std::uint32_t srcs = op.numSrcs, dsts = op.numDsts;
    const std::string reduce = "<" + facts_.reduceOp[static_cast<std::size_t>(op.reduceOp)] + ">";
    const std::string position = opNumber(at), comment = describe(op);
    const auto plain = DataForm::Plain, packet = DataForm::Packet;
    switch (op.kind) {
    case OpKind::Copy:
      return call(out, "copy", {"k", slice(at, 0), operands(at, 0, 1, plain), operands(at, 1, 1, plain)}, comment);
    case OpKind::CopyPacket:
      return call(out, "toPackets", {"k", slice(at, 0), operands(at, 0, 1, plain), operands(at, 1, 1, packet)},
                  comment);
    case OpKind::UnpackPacket:
      return call(out, "fromPackets",
                  {"k", position, slice(at, 0), operands(at, 0, 1, packet), operands(at, 1, 1, plain)}, comment);
    case OpKind::Reduce:
    case OpKind::ReduceSend:
    case OpKind::ReadReduce:
    case OpKind::ReadReduceSend:
      return call(out, "reduce" + reduce,
                  {"k", slice(at, 0), operands(at, 0, srcs, plain), operands(at, srcs, dsts, plain)}, comment);
    case OpKind::ReducePacket:
    case OpKind::ReduceCopyPacket:
    case OpKind::ReduceSendPacket:
    case OpKind::ReduceCopySendPacket: {
      std::vector<std::string> arguments{"k",
                                         position,
                                         slice(at, 0),
                                         operands(at, 0, 1, plain),
                                         operands(at, 1, srcs - 1, packet),
                                         operands(at, srcs, 1, plain)};
      if (dsts > 1)
        arguments.push_back(operands(at, srcs + 1, dsts - 1, packet));
      return call(out, "reducePackets" + reduce, std::move(arguments), comment);
    }
    case OpKind::Get:
    case OpKind::Put:
    case OpKind::PutPacket:
    case OpKind::PutWithSignal:
    case OpKind::PutWithSignalAndFlush:
      return writePairs(at, out);
    case OpKind::ReadPutPacket:
      if (op.channelType != ir::ChannelType::Port)
        return call(out, "forwardPackets",
                    {"k", position, slice(at, 0), operands(at, 0, 1, packet), operands(at, 1, dsts, packet)}, comment);
      call(out, "awaitPackets", {"k", position, slice(at, 0), operands(at, 0, 1, packet)}, comment);
      sync(out);
      return call(out, "portPut<Then::Nothing>",
                  {"k", position, slice(at, 0), ids(at), operands(at, 0, 1, packet), operands(at, 1, dsts, packet)});
    case OpKind::SwitchReduce:
      return call(out, "switchReduce" + reduce,
                  {"k", slice(at, 0), switchChannel(at, 0), members(at, 0, plain), operands(at, 1, 1, plain)}, comment);
    case OpKind::SwitchBroadcast:
      return call(out, "switchBroadcast",
                  {"k", slice(at, 0), switchChannel(at, 1), operands(at, 0, 1, plain), members(at, 1, plain)}, comment);
    case OpKind::SwitchBroadcastPacket:
      return call(
          out, "switchForwardPackets",
          {"k", position, slice(at, 0), switchChannel(at, 1), operands(at, 0, 1, packet), members(at, 1, packet)},
          comment);
    case OpKind::SwitchReduceBroadcast:
      return call(
          out, "switchReduceBroadcast" + reduce,
          {"k", slice(at, 0), switchChannel(at, 0), switchChannel(at, 1), members(at, 0, plain), members(at, 1, plain)},
          comment);
    default:
      throw ir::InternalError("no data operation: " + std::string(ir::toString(op.kind)));
    }
  }

  /// Operations of which source i goes to destination i. Pairs of different size cannot share a slice.
  void writePairs(const At &at, std::vector<Statement> &out) {
    const Op &op = block_.ops[at.op];
    const auto all = block_.operands(op);
    std::string comment = describe(op);
    for (std::uint32_t begin = 0; begin < op.numSrcs;) {
      std::uint32_t end = begin + 1;
      while (end < op.numSrcs && all[end].size == all[begin].size)
        ++end;
      writePairRun(at, begin, end - begin, comment, out);
      comment.clear();
      begin = end;
    }
  }

  void writePairRun(const At &at, std::uint32_t first, std::uint32_t count, const std::string &comment,
                    std::vector<Statement> &out) {
    const Op &op = block_.ops[at.op];
    const bool packet = op.kind == OpKind::PutPacket, one = allSame(at, first, count);
    const std::string source = operands(at, first, one ? 1 : count, ir::formOfSource(op, first));
    const std::string target = operands(at, op.numSrcs + first, count, ir::formOfDestination(op.kind, first));
    const std::string part = slice(at, first), position = opNumber(at);
    if (op.channelType != ir::ChannelType::Port)
      return call(out, std::string(packet ? "toPackets" : "copy") + (one ? "" : "Pairs"), {"k", part, source, target},
                  comment);
    const std::string channels = ids(at, first, count);
    const char *then = op.kind == OpKind::PutWithSignal           ? "Then::Signal"
                       : op.kind == OpKind::PutWithSignalAndFlush ? "Then::SignalAndFlush"
                                                                  : "Then::Nothing";
    call(out, "portPut<" + std::string(then) + ">", {"k", position, part, channels, source, target}, comment);
  }

  const KernelFacts &facts_;
  const ir::Program &program_;
  const std::vector<SampleSpace::Instance> &instances_;
  FormulaFinder finder_;
  const ir::Rank &rank_; ///< of the first instance; its operands' kinds are everyone's
  const ThreadBlock &block_;
  std::vector<std::uint64_t> shapes_;
  std::vector<char> syncBefore_; ///< by operation, of any instance
  std::uint64_t unit_ = 0;       ///< of the pipeline being written
  bool movesData_ = false;       ///< what is being written does
  bool exact_ = false;           ///< tables are not wanted
  bool failed_ = false;
  int failedRepeats_ = 0;
};

} // namespace

std::vector<Statement> writeBlock(const KernelFacts &facts, const std::vector<SampleSpace::Instance> &instances,
                                  Tables &tables) {
  return BlockWriter(facts, instances, tables).write();
}

} // namespace mscclc::cuda
