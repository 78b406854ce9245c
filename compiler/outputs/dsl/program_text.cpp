#include "compiler/outputs/dsl/program_text.h"

#include "compiler/outputs/dsl/no_source.h"
#include "ir/collectives.h"
#include "ir/hooks.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mscclc::dsl {
namespace {

/// Returns the class of the language for each collective.
constexpr std::string_view classOf(ir::CollectiveKind kind) {
  switch (kind) {
#define COLLECTIVE(kind, ...)                                                                                          \
  case ir::CollectiveKind::kind:                                                                                       \
    return #kind;
#define SIZED_COLLECTIVE(kind, ...)                                                                                    \
  case ir::CollectiveKind::kind:                                                                                       \
    return #kind "Collective";
#include "runtime-min/include/mscclc/collectives.def"
  }
  return "";
}

std::string_view orderName(ir::Order order) {
  switch (order) {
  case ir::Order::Written:
    return "Written";
  case ir::Order::Any:
    return "Any";
  case ir::Order::Ranks:
    return "Ranks";
  case ir::Order::Tree:
    return "Tree";
  }
  return "";
}

bool isWord(const std::string &name) {
  static constexpr std::array words = {
      "alignas",       "alignof",     "and",          "and_eq",       "bitand",    "bitor",
      "co_await",      "co_return",   "co_yield",     "const_cast",   "consteval", "constexpr",
      "constinit",     "decltype",    "dynamic_cast", "not_eq",       "or_eq",     "reinterpret_cast",
      "static_assert", "static_cast", "std",          "thread_local", "typeid",    "xor_eq",
      "asm",           "auto",        "bool",         "break",        "case",      "catch",
      "char",          "class",       "compl",        "concept",      "const",     "continue",
      "copy",          "default",     "delete",       "do",           "double",    "else",
      "enum",          "explicit",    "export",       "extern",       "false",     "float",
      "for",           "friend",      "goto",         "if",           "inline",    "int",
      "long",          "main",        "mscclc",       "mutable",      "namespace", "new",
      "noexcept",      "not",         "numbers",      "nullptr",      "operator",  "or",
      "pipeline",      "private",     "protected",    "public",       "reduce",    "register",
      "requires",      "return",      "short",        "signed",       "sizeof",    "static",
      "struct",        "switch",      "tb",           "template",     "this",      "throw",
      "true",          "try",         "typedef",      "typename",     "union",     "unsigned",
      "using",         "virtual",     "void",         "volatile",     "while",     "xor"};
  return std::ranges::find(words, name) != words.end();
}

} // namespace

std::string bytesText(std::uint64_t size) {
  for (const auto &[unit, shift] : {std::pair{"_GiB", 30}, std::pair{"_MiB", 20}, std::pair{"_KiB", 10}})
    if (size != 0 && size % (std::uint64_t{1} << shift) == 0 && size >> 62 == 0)
      return std::to_string(size >> shift) + unit;
  return std::to_string(size) + (size >> 31 != 0 ? "u" : "");
}

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f || c == '?') {
      constexpr std::string_view digits = "01234567";
      out += '\\';
      for (const int shift : {6, 3, 0})
        out += digits[byte >> shift & 7];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string functionName(const ir::Program &program) {
  std::string name;
  for (const char c : program.name)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 0x80 ? c : '_';
  // C++ reserves names with two underscores in a row.
  name.erase(std::unique(name.begin(), name.end(), [](char a, char b) { return a == '_' && b == '_'; }), name.end());
  while (!name.empty() && name[0] == '_')
    name.erase(0, 1);
  // Classes of the language begin with a capital letter.
  if (name.empty() || std::islower(static_cast<unsigned char>(name[0])) == 0 || isWord(name) || name.ends_with("_t"))
    name = "algorithm_" + name;
  if (name.back() == '_')
    name.pop_back();
  return name;
}

std::string collectiveText(const ir::Program &program) {
  const ir::Collective &collective = program.collective;
  const ir::CollectiveInfo &info = ir::info(collective.kind);
  const ir::Rank &first = program.ranks[0];
  const std::uint64_t ranks = program.ranks.size();
  const std::string inplace = collective.inplace ? "/*inplace=*/true" : "/*inplace=*/false";
  std::string text(classOf(collective.kind));
  std::uint64_t input = first.inputChunks, output = first.outputChunks;
  if (info.hasRows) {
    input = output = ranks;
    if (info.hasExperts)
      text += "(ranks, " + std::to_string(collective.experts) +
              (collective.expertLayout == ir::ExpertLayout::ExpertMajor ? ", ExpertLayout::ExpertMajor)"
                                                                        : ", ExpertLayout::RankMajor)");
    else
      text += collective.rows == ir::RowLayout::Padded ? "(ranks, RowLayout::Padded)" : "(ranks, RowLayout::Packed)";
  } else if (ir::hasChunkFactor(collective.kind)) {
    const std::uint64_t factor = ir::chunksOfShare(program);
    input = info.input == ir::Extent::Whole ? factor * ranks : factor;
    output = info.output == ir::Extent::Whole ? factor * ranks : factor;
    text += "(ranks, " + std::to_string(factor) + ", ";
    if (info.hasRoot)
      text += "/*root=*/" + std::to_string(collective.root) + ", ";
    text += inplace + ")";
  } else {
    const bool isCustom = info.promise == ir::Promise::Stated;
    std::string sizes = "ranks, " + std::to_string(input) + ", " + std::to_string(output);
    const auto isLikeFirst = [&](const ir::Rank &rank) {
      return rank.inputChunks == input && rank.outputChunks == output;
    };
    if (isCustom && !std::ranges::all_of(program.ranks, isLikeFirst)) {
      sizes.clear();
      for (const ir::Rank &rank : program.ranks)
        sizes += (sizes.empty() ? "{{" : ", {") + std::to_string(rank.inputChunks) + ", " +
                 std::to_string(rank.outputChunks) + "}";
      return text + "(" + quoted(collective.name) + ", " + sizes + "}, " + inplace + ")";
    }
    if (!isCustom && collective.inplace)
      throw NoSource{"a collective '" + collective.name + "' in place"};
    text += isCustom ? "(" + quoted(collective.name) + ", " + sizes + ", " + inplace + ")" : "(" + sizes + ")";
  }
  for (std::size_t r = 0; r < program.ranks.size(); ++r)
    if (program.ranks[r].inputChunks != input || program.ranks[r].outputChunks != output)
      throw NoSource{"input and output of rank " + std::to_string(r) + ", which have " +
                     std::to_string(program.ranks[r].inputChunks) + " and " +
                     std::to_string(program.ranks[r].outputChunks) + " chunks, where the collective has " +
                     std::to_string(input) + " and " + std::to_string(output)};
  return text;
}

std::string optionsText(const ir::Program &program) {
  const ir::Program usual;
  std::string text;
  const auto add = [&](bool differs, const std::string &option) {
    if (differs)
      text += (text.empty() ? "" : ", ") + option;
  };
  const ir::Movement &movement = program.movement;
  const bool isAuto = program.schedule == ir::Schedule::Auto;
  add(isAuto && movement.chooseInstances, ".instances = automatic");
  add(isAuto && movement.chooseProtocol, ".protocol = Protocol::Auto");
  add(isAuto, ".schedule = Schedule::Auto");
  add(isAuto && movement.order != ir::Order::Written, ".order = Order::" + std::string(orderName(movement.order)));
  add(isAuto && movement.mostBlocks != 0, ".blocks = " + std::to_string(movement.mostBlocks));
  add(program.instances != usual.instances, ".instances = " + std::to_string(program.instances));
  add(program.protocol != usual.protocol, ".protocol = Protocol::" + std::string(ir::toString(program.protocol)));
  add(program.fuse != usual.fuse, ".fuse = false");
  add(program.autoSync != usual.autoSync, ".autoSync = false");
  add(program.replication != usual.replication, ".replication = Replication::None");
  add(program.reuseResources != usual.reuseResources, ".reuseResources = true");
  add(program.threadsPerBlock != usual.threadsPerBlock,
      ".threadsPerBlock = " + std::to_string(program.threadsPerBlock));
  add(program.doubleScratch != usual.doubleScratch, ".doubleScratch = true");
  add(program.bufferAlignment != usual.bufferAlignment,
      ".bufferAlignment = " + std::to_string(program.bufferAlignment));
  add(program.minMessageSize != usual.minMessageSize, ".minMessageSize = " + bytesText(program.minMessageSize));
  add(program.maxMessageSize != usual.maxMessageSize, ".maxMessageSize = " + bytesText(program.maxMessageSize));
  add(program.movement.ranksPerNode != 0, ".ranksPerNode = " + std::to_string(program.movement.ranksPerNode));
  add(program.latePacketsApart != usual.latePacketsApart, ".latePacketsApart = true");
  add(program.split, ".split = true");
  add(program.readyRows != 0, ".readyRows = " + std::to_string(program.readyRows));
  add(program.oncePerRank != usual.oncePerRank,
      program.oncePerRank == ir::OncePerRank::On ? ".oncePerRank = true" : ".oncePerRank = automatic");
  add(program.movement.accumulate != ir::Accumulate::Narrow, ".accumulate = Accumulate::Wide");
  if (const ir::Hook *const wire = ir::wireOf(program))
    add(true,
        ".wire = Wire::" + std::string(ir::info(wire->wire).word) + "{.block = " + std::to_string(wire->block) + "}");
  std::string tags;
  for (const std::string &tag : program.tags) {
    const std::size_t equals = tag.find('=');
    const std::string name = quoted(tag.substr(0, equals));
    tags += tags.empty() ? "" : ", ";
    tags += equals == std::string::npos ? name : "{" + name + ", " + tag.substr(equals + 1) + "}";
  }
  add(!tags.empty(), ".tags = {" + tags + "}");
  return text.empty() ? text : ", {" + text + "}";
}

} // namespace mscclc::dsl
