#include "ir/program.h"

#include "ir/hooks.h"
#include "ir/op_shapes.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace mscclc::ir {

std::size_t ThreadBlock::append(Op op, std::span<const Chunk> srcs, std::span<const Chunk> dsts,
                                std::span<const std::uint32_t> opIds) {
  op.firstChunk = static_cast<std::uint32_t>(chunks.size());
  op.numSrcs = static_cast<std::uint32_t>(srcs.size());
  op.numDsts = static_cast<std::uint32_t>(dsts.size());
  op.firstId = static_cast<std::uint32_t>(ids.size());
  op.numIds = static_cast<std::uint32_t>(opIds.size());
  chunks.insert(chunks.end(), srcs.begin(), srcs.end());
  chunks.insert(chunks.end(), dsts.begin(), dsts.end());
  ids.insert(ids.end(), opIds.begin(), opIds.end());
  ops.push_back(op);
  return ops.size() - 1;
}

std::uint64_t Rank::busyBlocks() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(blocks, [](const ThreadBlock &block) { return !block.ops.empty(); }));
}

std::size_t Program::numOps() const {
  std::size_t n = 0;
  for (const ThreadBlock &block : blocksOf(ranks))
    n += block.ops.size();
  return n;
}

bool Program::hasPorts() const {
  return std::ranges::any_of(ranks, [](const Rank &rank) { return !rank.portPeers.empty(); });
}

bool Hook::isOfRank() const {
  return !writes.empty() || std::ranges::any_of(reads, [&](const std::string &array) {
    return std::ranges::find(equal, array) == equal.end();
  });
}

std::vector<std::string> Hook::arrays() const {
  std::vector<std::string> all = reads;
  std::ranges::copy_if(writes, std::back_inserter(all),
                       [&](const std::string &array) { return std::ranges::find(reads, array) == reads.end(); });
  return all;
}

namespace {

bool isOf(std::string_view text, std::string_view signs) {
  return std::ranges::all_of(text, [&](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) || signs.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

} // namespace

const Hook *wireOf(const Program &program) {
  const auto wire = std::ranges::find_if(program.hooks, [](const Hook &hook) { return hook.wire != Wire::None; });
  return wire == program.hooks.end() ? nullptr : &*wire;
}

std::string faultOf(const Hook &hook) {
  const auto has = [](std::span<const std::string> names, const std::string &name) {
    return std::ranges::find(names, name) != names.end();
  };
  if ((hook.granularity == Granularity::Block) != (hook.block != 0))
    return hook.block == 0 ? "has blocks of no elements" : "has a number of elements of a block, but no blocks";
  for (const auto &[verb, names] : {std::pair("reads", &hook.reads), std::pair("writes", &hook.writes)})
    for (std::size_t i = 0; i < names->size(); ++i)
      if ((*names)[i].empty() || has(std::span(*names).first(i), (*names)[i]))
        return std::string(verb) +
               ((*names)[i].empty() ? " an array without a name" : " array '" + (*names)[i] + "' twice");
  // The function and the header are written into source text, so only these characters are allowed.
  if (!isOf(hook.function, "_:<>, "))
    return "has the function '" + hook.function + "', which is no name of a type";
  if (!isOf(hook.header, "_-+./"))
    return "has the header '" + hook.header + "', which is no path of letters, digits and _-+./";
  if (hook.function.empty() && !hook.header.empty())
    return "has a header but no function";
  for (const std::string &name : hook.equal)
    if (!has(hook.reads, name) || has(hook.writes, name))
      return "says that array '" + name + "' is equal on all ranks, and " +
             (has(hook.writes, name) ? "writes it" : "does not read it");
  if (hook.wire != Wire::None && (!hook.reads.empty() || !hook.writes.empty()))
    return "is a wire format, and has arrays";
  // Up to 32 threads encode a block together, and each of them encodes 8 elements.
  if (hook.wire != Wire::None && (hook.granularity != Granularity::Block || hook.block % 8 != 0 || hook.block > 256))
    return "is a wire format of blocks of " + std::to_string(hook.block) +
           " elements: a block has a multiple of 8, and at most 256";
  if (hook.wire != Wire::None && !hook.function.empty())
    if (const std::string wanted = functionOf(hook.wire, hook.block); hook.function != wanted)
      return "is a wire format whose function is not " + wanted;
  return {};
}

bool isTag(std::string_view text) {
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  const auto isNameChar = [&](char c) {
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
  };
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (name.empty() || !std::ranges::all_of(name, isNameChar))
    return false;
  if (equals == std::string_view::npos)
    return true;
  std::string_view digits = text.substr(equals + 1);
  if (digits == "1")
    return false;
  digits.remove_prefix(digits.starts_with('-') ? 1 : 0);
  const bool isWhole = !digits.empty() && digits.size() <= 20 && std::ranges::all_of(digits, isDigit);
  return isWhole && (digits[0] != '0' || digits.size() == 1);
}

bool sumsInSwitch(const Program &program) {
  const auto sums = [](const Op &op) {
    return reducesInSwitch(op.kind) && isDoneInSwitch(op.reduceOp) && !isReorderable(op.reduceOp);
  };
  return std::ranges::any_of(program.ranks, [&](const Rank &rank) {
    return std::ranges::any_of(rank.blocks,
                               [&](const ThreadBlock &block) { return std::ranges::any_of(block.ops, sums); });
  });
}

bool isOfSource(const Program &program, const Op &op) {
  const LocId place = program.sources.firstPlace(op.loc);
  return place != noLoc && !program.sources.isElement(place);
}

std::string_view wordOf(const Program &program, const Op &op) {
  return isOfSource(program, op) ? info(op.kind).call : info(op.kind).mnemonic;
}

std::string_view toString(OpKind kind) {
  return info(kind).mnemonic;
}

std::string_view toString(ChannelType type) {
  constexpr std::string_view names[] = {"none", "memory", "port", "switch"};
  return names[static_cast<std::size_t>(type)];
}

std::string_view toString(BufferKind kind) {
  constexpr std::string_view names[] = {"input", "output", "scratch"};
  return names[static_cast<std::size_t>(kind)];
}

char bufferLetter(BufferKind kind) {
  return "ios"[static_cast<std::size_t>(kind)];
}

std::string_view toString(ReduceOp op) {
  return reduceOpNames[static_cast<std::size_t>(op)];
}

std::string_view toString(Protocol protocol) {
  constexpr std::string_view names[] = {"Simple", "LL", "Lamport"};
  return names[static_cast<std::size_t>(protocol)];
}

} // namespace mscclc::ir
