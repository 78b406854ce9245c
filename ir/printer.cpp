#include "ir/collectives.h"
#include "ir/def_use.h"
#include "ir/text.h"
#include "ir/text_words.h"

#include <charconv>
#include <utility>

namespace mscclc::ir {

namespace {

class Printer {
public:
  Printer(const Program &program, std::string &out) : program_(program), out_(out) {}

  void printProgram();

private:
  void printCollective();
  void printOptions();
  void printHook(std::size_t index);
  void printExpectation(const Expectation &expectation);
  void printRank(std::uint32_t index);
  void printBlock(std::uint32_t rank, std::uint32_t index);
  void printOp(const ThreadBlock &block, std::uint32_t index);
  void printVersions();
  void printChunk(const Chunk &chunk);
  void printMovement();
  void printMove(const Move &move);
  void printLocations();

  Printer &text(std::string_view words) {
    out_ += words;
    return *this;
  }
  Printer &number(std::uint64_t value) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out_.append(digits, end);
    return *this;
  }
  Printer &quoted(std::string_view bytes);
  Printer &indent(std::size_t depth) {
    out_.append(2 * depth, ' ');
    return *this;
  }
  void range(std::uint32_t index, std::uint32_t size) {
    text("[").number(index).text(":").number(std::uint64_t{index} + size).text("]");
  }
  void loc(LocId id) {
    if (id != noLoc)
      text(" @").number(id);
  }
  template <typename Range, typename Item> Printer &list(const Range &range, Item &&item) {
    text("[");
    bool first = true;
    for (const auto &element : range) {
      if (!std::exchange(first, false))
        text(", ");
      item(element);
    }
    return text("]");
  }
  Printer &numberList(std::span<const std::uint32_t> numbers) {
    return list(numbers, [&](std::uint32_t n) { number(n); });
  }

  const Program &program_;
  std::string &out_;
  std::optional<VersionTracker> tracker_; // tracks the versions of the current block
  std::vector<Version> seen_;
  std::vector<std::size_t> openBodies_; // ends of the pipelines around the current operation
};

Printer &Printer::quoted(std::string_view bytes) {
  constexpr std::string_view hex = "0123456789abcdef";
  out_ += '"';
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out_ += '\\') += c;
    else if (c == '\n')
      out_ += "\\n";
    else if (c == '\t')
      out_ += "\\t";
    else if (byte < 0x20 || byte >= 0x7f)
      ((out_ += "\\x") += hex[byte >> 4]) += hex[byte & 15];
    else
      out_ += c;
  }
  out_ += '"';
  return *this;
}

void Printer::printProgram() {
  text(words::header).text(" ").number(words::formatVersion).text("\n\nprogram ").quoted(program_.name).text(" {\n");
  printCollective();
  printOptions();
  for (const Expectation &e : program_.collective.expectations)
    printExpectation(e);
  for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
    printRank(r);
  printMovement();
  text("}\n");
  printLocations();
}

void Printer::printCollective() {
  const Collective &collective = program_.collective;
  indent(1).text("collective ").text(toString(collective.kind));
  if (collective.name != toString(collective.kind))
    text(" ").quoted(collective.name);
  if (info(collective.kind).hasExperts)
    text(" experts ")
        .number(collective.experts)
        .text(" ")
        .text(expertLayoutNames[static_cast<std::size_t>(collective.expertLayout)]);
  else if (info(collective.kind).hasRows)
    text(" ").text(rowLayoutNames[static_cast<std::size_t>(collective.rows)]);
  if (info(collective.kind).hasRoot)
    text(" root ").number(collective.root);
  if (collective.inplace)
    text(" inplace");
  if (collective.chunkFactor != Collective{}.chunkFactor)
    text(" chunk_factor ").number(collective.chunkFactor);
  if (!collective.then.empty())
    text(" then ").quoted(collective.then);
  loc(collective.loc);
  text("\n");
}

void Printer::printOptions() {
  const Program defaults;
  const auto value = [&](const auto &names, auto field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(names)>, std::nullptr_t>)
      number(static_cast<std::uint64_t>(field));
    else
      text(names[static_cast<std::size_t>(field)]);
  };
  using namespace words;
  constexpr std::nullptr_t numbers = nullptr;
#define PRINT_OPTION(word, field, names)                                                                               \
  if (program_.field != defaults.field) {                                                                              \
    indent(1).text(word " ");                                                                                          \
    value(names, program_.field);                                                                                      \
    text("\n");                                                                                                        \
  }
  MSCCLC_IR_OPTIONS(PRINT_OPTION)
#undef PRINT_OPTION
  if (!program_.tags.empty()) {
    indent(1).text("tags ");
    list(program_.tags, [&](const std::string &tag) { quoted(tag); }).text("\n");
  }
  for (std::size_t i = 0; i < program_.hooks.size(); ++i)
    printHook(i);
}

void Printer::printHook(std::size_t index) {
  const Hook &hook = program_.hooks[index];
  indent(1).text("hook").number(index).text(" = ").quoted(hook.name).text(" ");
  text(granularityNames[static_cast<std::size_t>(hook.granularity)]);
  if (hook.granularity == Granularity::Block)
    text(" ").number(hook.block);
  const auto arrays = [&](std::string_view word, const std::vector<std::string> &names) {
    if (!names.empty())
      text(" ").text(word).text(" ").list(names, [&](const std::string &name) { quoted(name); });
  };
  arrays("reads", hook.reads);
  arrays("writes", hook.writes);
  arrays("equal", hook.equal);
  if (!hook.function.empty())
    text(" function ").quoted(hook.function);
  if (!hook.header.empty())
    text(" header ").quoted(hook.header);
  if (hook.wire != Wire::None)
    text(" wire ").text(wireNames[static_cast<std::size_t>(hook.wire)]);
  loc(hook.loc);
  text("\n");
}

void Printer::printExpectation(const Expectation &e) {
  indent(1).text("expect ").number(e.rank).text(".output[").number(e.outputChunk).text("] =");
  bool first = true;
  for (const Contribution &c : e.contributions) {
    text(std::exchange(first, false) ? " " : " + ").number(c.rank).text(".input[").number(c.chunk).text("]");
  }
  if (first)
    text(" nothing");
  loc(e.loc);
  text("\n");
}

void Printer::printRank(std::uint32_t index) {
  const Rank &rank = program_.ranks[index];
  text("\n").indent(1).text("rank ").number(index).text(" {\n");
  indent(2).text("buffers input ").number(rank.inputChunks).text(" output ").number(rank.outputChunks);
  text(" scratch ").number(rank.scratchChunks).text("\n");

  // The order of the two lists shows which type of channel was constructed first.
  const auto channels = [&](ChannelType type) {
    if (rank.portChannelsFirst || !rank.peers(type).empty())
      indent(2).text(toString(type)).text("_channels ").numberList(rank.peers(type)).text("\n");
  };
  channels(rank.portChannelsFirst ? ChannelType::Port : ChannelType::Memory);
  channels(rank.portChannelsFirst ? ChannelType::Memory : ChannelType::Port);

  if (!rank.semaphores.empty()) {
    indent(2).text("semaphores ");
    list(rank.semaphores, [&](const Semaphore &s) { number(s.initialValue); }).text("\n");
  }
  for (std::size_t i = 0; i < rank.switchChannels.size(); ++i) {
    indent(2).text("switch").number(i).text(" = ").text(toString(rank.switchChannels[i].buffer)).text(" of ");
    numberList(rank.switchChannels[i].ranks).text("\n");
  }
  for (std::size_t i = 0; i < rank.remoteBuffers.size(); ++i) {
    const RemoteBuffer &remote = rank.remoteBuffers[i];
    indent(2).text("remote").number(i).text(" = ").number(remote.rank).text(".").text(toString(remote.buffer));
    if (remote.viaMemory)
      text(" via memory");
    if (remote.viaPort)
      text(" via port");
    text("\n");
  }
  for (std::uint32_t b = 0; b < rank.blocks.size(); ++b)
    printBlock(index, b);
  indent(1).text("}\n");
}

void Printer::printBlock(std::uint32_t rank, std::uint32_t index) {
  const ThreadBlock &block = program_.ranks[rank].blocks[index];
  indent(2).text("block ").number(index).text(" {\n");
  const auto table = [&](std::string_view word, const std::vector<ResourceUse> &uses) {
    if (uses.empty())
      return;
    indent(3).text(word).text(" ");
    list(uses, [&](const ResourceUse &use) { text(toString(use.type)).text(" ").number(use.id); }).text("\n");
  };
  table("channels", block.channels);
  table("remotes", block.remoteBuffers);

  tracker_.emplace(program_, rank);
  openBodies_.clear();
  for (std::uint32_t i = 0; i < block.ops.size(); ++i) {
    while (!openBodies_.empty() && openBodies_.back() <= i) {
      openBodies_.pop_back();
      indent(3 + openBodies_.size()).text("}\n");
    }
    printOp(block, i);
  }
  while (!openBodies_.empty()) {
    openBodies_.pop_back();
    indent(3 + openBodies_.size()).text("}\n");
  }
  indent(2).text("}\n");
}

void Printer::printChunk(const Chunk &chunk) {
  text(words::spaces[static_cast<std::size_t>(chunk.space)]);
  if (!isLocal(chunk.space))
    number(chunk.id);
  range(chunk.index, chunk.size);
}

void Printer::printVersions() {
  if (seen_.empty())
    return;
  const bool cut = seen_.size() > words::maxVersionsShown;
  if (cut)
    seen_.pop_back();
  text(describe(seen_, cut));
}

void Printer::printOp(const ThreadBlock &block, std::uint32_t index) {
  const Op &op = block.ops[index];
  indent(3 + openBodies_.size());
  if (definesVersion(block, op))
    text("%").number(index).text(" = ");
  text(toString(op.kind));
  if (op.kind == OpKind::Barrier)
    text(" ").number(op.imm).text(" blocks ").number(op.count);
  else if (op.kind == OpKind::Pipeline)
    text(" unit_size ").number(op.imm).text(" num_chunks ").number(op.count);
  else if (op.kind == OpKind::Apply)
    text(" hook").number(op.imm);
  if (op.channelType != ChannelType::None)
    text(" ").text(toString(op.channelType));
  if (op.numIds != 0)
    text(" ").numberList(block.idsOf(op));

  bool first = true;
  for (const Chunk &chunk : block.dsts(op)) {
    text(std::exchange(first, false) ? " " : ", ");
    printChunk(chunk);
  }
  const auto srcs = block.srcs(op);
  for (std::uint32_t i = 0; i < srcs.size(); ++i) {
    text(i == 0 ? " <- " : ", ");
    printChunk(srcs[i]);
    seen_.clear();
    tracker_->see(op, i, srcs[i], words::maxVersionsShown + 1, seen_);
    printVersions();
  }
  if (op.reduceOp != ReduceOp::Sum)
    text(" reduce_op ").text(toString(op.reduceOp));
  if (op.firstAfter != 0)
    text(" first_after ").number(op.firstAfter);
  if (op.sync != DataSync::None)
    text(" sync ").text(words::syncs[static_cast<std::size_t>(op.sync)]);
  if (op.groupSize != 0)
    text(" slice ").number(op.groupIndex).text(" of ").number(op.groupSize);
  loc(op.loc);
  if (op.kind == OpKind::Pipeline) {
    text(" {");
    openBodies_.push_back(std::size_t{index} + 1 + op.bodySize);
  }
  text("\n");
  tracker_->define(block, op, index);
}

void Printer::printMovement() {
  const Movement &movement = program_.movement;
  if (movement.statements.empty())
    return;
  text("\n").indent(1).text("move {\n");
  for (const Move &move : movement.statements)
    printMove(move);
  indent(1).text("}\n");
}

void Printer::printMove(const Move &move) {
  const Movement &movement = program_.movement;
  const auto places = [&](std::string_view before, std::span<const RankChunk> side) {
    for (const RankChunk &place : side) {
      text(std::exchange(before, ", ")).number(place.rank).text(".").text(toString(place.buffer));
      range(place.index, place.size);
    }
  };
  indent(2).text(toString(move.kind));
  if (move.kind == MoveKind::Apply)
    text(" hook").number(move.hook);
  places(" ", movement.dsts(move));
  places(" <- ", movement.srcs(move));
  if (move.reduceOp != ReduceOp::Sum)
    text(" reduce_op ").text(toString(move.reduceOp));
  if (move.via)
    text(" via ").text(toString(*move.via));
  if (move.by)
    text(" by ").number(*move.by);
  if (move.block)
    text(" block ").number(*move.block);
  if (move.packets)
    text(" packets ").text(words::switches[*move.packets]);
  if (move.firstAfter != 0)
    text(" first_after ").number(move.firstAfter);
  loc(move.loc);
  text("\n");
}

void Printer::printLocations() {
  const SourceMap &sources = program_.sources;
  if (sources.files().empty() && sources.size() <= 1)
    return;
  text("\nlocations {\n");
  for (std::size_t f = 0; f < sources.files().size(); ++f)
    indent(1).text("file").number(f).text(" = ").quoted(sources.files()[f]).text("\n");
  for (LocId id = 1; id < sources.size(); ++id) {
    const Loc &place = sources.get(id);
    indent(1).text("@").number(id).text(" = ");
    if (sources.isMerge(id)) {
      text("@").number(place.line).text(" + @").number(place.column);
    } else if (sources.isElement(id)) {
      text("@").number(place.caller).text(" ").quoted(sources.labels()[place.line]).text(" ").number(place.column);
    } else {
      text("file").number(place.file).text(":").number(place.line).text(":").number(place.column);
      if (place.caller != noLoc)
        text(" from @").number(place.caller);
    }
    text("\n");
  }
  text("}\n");
}

} // namespace

void print(const Program &program, std::string &out) {
  Printer(program, out).printProgram();
}

} // namespace mscclc::ir
