#include "backend-cuda/write_source.h"

#include "backend-cuda/document.h"
#include "backend-cuda/printer.h"
#include "ir/internal_error.h"
#include "kernel_template.h"

#include <algorithm>
#include <limits>
#include <map>

namespace mscclc::cuda {

namespace {

/// Returns a C++ string literal.
std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    // Two question marks could begin a trigraph, and compilers warn about that.
    if (c == '"' || c == '\\' || (c == '?' && out.back() == '?')) {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char digits[] = "01234567";
      const auto v = static_cast<unsigned char>(c);
      out += {'\\', '0', digits[v >> 3], digits[v & 7]};
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Returns the field for tags; empty if the plan has none.
std::string tagsText(const ir::Program &program) {
  std::string tags;
  for (const std::string &tag : program.tags)
    tags += (tags.empty() ? "" : ",") + tag;
  return tags.empty() ? "" : "\n  static constexpr const char *tags = " + quote(tags) + ";";
}

std::string number64(std::uint64_t v) {
  return v == std::numeric_limits<std::uint64_t>::max() ? "~uint64_t{0}" : std::to_string(v) + (v >> 31 ? "u" : "");
}

/// Returns "block 3 of rank 0", "blocks 0 to 6 of every rank", or their number.
std::string whoRuns(const BlockProgram &p, std::uint32_t ranks) {
  const auto &all = p.instances;
  if (all.size() == 1)
    return "Block " + std::to_string(all[0].block) + " of rank " + std::to_string(all[0].rank) + ".";
  int low = all[0].block, high = low;
  for (const auto &at : all) {
    low = std::min(low, at.block);
    high = std::max(high, at.block);
  }
  const auto span = static_cast<std::size_t>(high) - static_cast<std::size_t>(low) + 1;
  if (all.size() == span * ranks)
    return (span == 1 ? "Block " + std::to_string(low)
                      : "Blocks " + std::to_string(low) + " to " + std::to_string(high)) +
           " of every rank.";
  return std::to_string(all.size()) + " blocks, the first of them block " + std::to_string(all[0].block) + " of rank " +
         std::to_string(all[0].rank) + ".";
}

/// Appends the statements of a block program. In a split kernel, these are the statements of one part, which only the
/// kernel `part` runs.
void printPart(std::string &out, const KernelModel &model, const char *part, const std::vector<Statement> &statements) {
  if (!model.isSplit)
    return printStatements(out, statements, "  ");
  if (statements.empty())
    return;
  out += std::string("  if constexpr (K::") + part + ") {\n";
  printStatements(out, statements, "    ");
  out += "  }\n";
}

std::string programsText(const KernelModel &model) {
  std::string out;
  for (std::size_t i = 0; i < model.programs.size(); ++i) {
    const BlockProgram &p = model.programs[i];
    out += "// " + whoRuns(p, model.ranks) + "\n";
    out += "template <class K> MSCCLC_BLOCK void program" + std::to_string(i) + "([[maybe_unused]] const K &k) {\n";
    if (model.reduceOps != "NoReduce" && model.reduceOps != "MixedReduce")
      out += "  using Op [[maybe_unused]] = typename K::Op;\n";
    printPart(out, model, "sends", p.statements);
    printPart(out, model, "receives", p.ofReceive);
    out += "}\n\n";
  }
  return out;
}

/// Returns "if (condition) program0(k); else …".
std::string askedInTurn(const KernelModel &model) {
  std::string out;
  for (const KernelModel::Case &c : model.cases) {
    if (c.condition)
      out += (out.empty() ? "  if (" : "  else if (") + spell(c.condition) + ")\n    ";
    else
      out += out.empty() ? "  " : "  else\n    ";
    out += "program" + std::to_string(c.program) + "(k);\n";
  }
  return out;
}

std::string dispatchText(const KernelModel &model) {
  if (!model.programOf)
    return askedInTurn(model);
  std::string out = "  switch (" + spell(model.programOf) + ") {\n";
  for (std::size_t i = 0; i < model.programs.size(); ++i)
    out += "  case " + std::to_string(i) + ":\n    program" + std::to_string(i) + "(k);\n    break;\n";
  return out + "  }\n";
}

/// Returns the size in bytes of an entry of `table`.
std::size_t entryBytes(const Tables::Table &table) {
  const auto [low, high] = std::minmax_element(table.entries.begin(), table.entries.end());
  return *low >= 0 && *high < 256 ? 1 : *low >= 0 && *high < 65536 ? 2 : 8;
}

/// Returns the storage class of the device's tables. All constant memory together has only 64 KiB.
const char *deviceStorage(const Tables &tables) {
  std::size_t bytes = 0;
  for (const Tables::Table &t : tables.all())
    bytes += t.entries.size() * entryBytes(t) + 8;
  return bytes <= std::size_t{48} << 10 ? "MSCCLC_TABLE" : "MSCCLC_LARGE_TABLE";
}

/// Returns the field for the numbers of instances; empty if each launch takes one.
std::string instancesText(const std::vector<InstancesFrom> &instances) {
  std::string rows;
  for (const InstancesFrom &row : instances)
    rows += (rows.empty() ? "{" : ", {") + number64(row.fromBytes) + ", " + std::to_string(row.count) + "}";
  return rows.empty() ? ""
                      : "\n  static constexpr LaunchInstances instances[] = {" + rows +
                            "}; // of a launch, from a size of the message on";
}

/// Returns the #include lines of the headers that declare the functions of hooks.
std::string hookHeadersText(const HookModel &hooks) {
  std::string out = hooks.spellings.empty() ? "" : "#include \"mscclc/hooks.cuh\"\n";
  for (const std::string &header : hooks.headers)
    out += "#include \"" + header + "\"\n";
  return out;
}

/// Returns the fields for hooks; empty if the plan has none.
std::string hookFieldsText(const HookModel &hooks) {
  if (hooks.spellings.empty())
    return "";
  std::string out = hooks.wire.empty() ? "" : "\n  using Wire = " + hooks.wire + "; // the form of values in scratch";
  if (hooks.wire.empty() || hooks.spellings.size() > 1)
    out += "\n  static constexpr uint32_t hookArrays = " + std::to_string(hooks.arrays.size()) + ";";
  if (hooks.blockElements != 0)
    out += "\n  static constexpr uint64_t blockElements = " + std::to_string(hooks.blockElements) +
           "; // chunks are whole blocks of these, and rows";
  std::string items;
  for (const HookModel::Array &array : hooks.arrays)
    items += (items.empty() ? "{" : ", {") + quote(array.name) + (array.isWritten ? ", 1, 0}" : ", 0, 0}");
  return items.empty() ? out : out + "\n  static constexpr MscclcArrayInfo arrays[] = {" + items + "};";
}

/// Returns the fields for slots of rows; empty if launches take no counts.
std::string slotsText(const KernelModel &model) {
  if (!model.slots)
    return "";
  return std::string("\n  static constexpr SlotLayout slots = SlotLayout::") +
         (model.slots == ir::RowLayout::Packed ? "Packed" : "Padded") + "; // of input and output; " +
         (model.experts == 0 ? "counts" : "an index") + " at each launch" +
         (model.ranksPerNode == 0
              ? ""
              : "\n  static constexpr uint32_t ranksPerNode = " + std::to_string(model.ranksPerNode) +
                    "; // counts go to other nodes through ports");
}

/// Returns a suffix for the name of a kernel's collective: the number of experts of a rank, the layout of their rows,
/// and the number of rows of a block that is handed over.
std::string expertsSuffix(const ir::Program &program, const KernelModel &model) {
  if (model.experts == 0)
    return "";
  return "+" + std::to_string(model.experts) + "experts" +
         (program.collective.expertLayout == ir::ExpertLayout::RankMajor ? "+rank_major" : "") +
         (model.readyRows == 0 ? "" : "+" + std::to_string(model.readyRows) + "ready");
}

/// Returns the fields for experts; empty if the plan has none.
std::string expertsText(const ir::Collective &collective, const KernelModel &model) {
  if (model.experts == 0)
    return "";
  return "\n  static constexpr uint32_t experts = " + std::to_string(model.experts) + "; // of each rank" +
         "\n  static constexpr Experts expertRows = Experts::" +
         (collective.kind == ir::CollectiveKind::Dispatch ? "Dispatch" : "Combine") +
         ";\n  static constexpr bool isExpertMajor = " +
         (collective.expertLayout == ir::ExpertLayout::ExpertMajor ? "true;" : "false;") +
         (model.readyRows == 0 ? ""
                               : "\n  static constexpr uint32_t readyRows = " + std::to_string(model.readyRows) +
                                     "; // of a block that is handed over by a word") +
         (model.oncePerRank
              ? "\n  static constexpr bool oncePerRank = true; // rows come once, with lists of their places"
              : "");
}

std::string hooksText(const ir::Program &program, const HookModel &hooks) {
  std::string out;
  for (std::size_t i = 0; i < hooks.spellings.size(); ++i)
    out += hooks.spellings[i].empty() ? ""
                                      : "using Hook" + std::to_string(i) + " = " + hooks.spellings[i] + "; // " +
                                            oneLine(program.hooks[i].name) + "\n";
  return out.empty() ? out : out + "\n";
}

/// Returns the name by which a call finds the kernel. Kernels that change, quantise or pack the result have a longer
/// name.
std::string collectiveText(const ir::Program &program, const KernelModel &model) {
  const ir::Hook *const wire = ir::wireOf(program);
  const std::string &then = program.collective.then;
  return program.collective.name + (then.empty() ? "" : "+" + then) +
         (wire ? "+" + std::string(ir::wireNames[static_cast<std::size_t>(wire->wire)]) : "") +
         (model.slots == ir::RowLayout::Packed ? "+packed" : "");
}

std::string tablesText(const Tables &tables, const char *storage) {
  std::string out;
  for (const Tables::Table &t : tables.all()) {
    const std::size_t bytes = entryBytes(t);
    const char *type = bytes == 1 ? "uint8_t" : bytes == 2 ? "uint16_t" : "int64_t";
    std::vector<Breakable> entries;
    for (const std::int64_t &entry : t.entries)
      entries.push_back(std::to_string(entry) + (&entry == &t.entries.back() ? "};" : ","));
    fillLines(out, "", std::string(storage) + " " + type + " " + t.name + "[] = {", entries);
  }
  return out.empty() ? out : out + "\n";
}

/// Returns the descriptor's function waitInfo. It names a waiting operation, its place, and the rank for which it
/// waits.
std::string waitInfoText(const WaitPlaces &waits) {
  if (std::ranges::all_of(waits.lists, [](const WaitList &list) { return list.waits.empty(); }))
    return "";
  std::string out = "  static void waitInfo(uint32_t rank, uint32_t block, uint32_t operation, uint32_t operand,\n"
                    "                       MscclcWaitInfo *info) {\n"
                    "    [[maybe_unused]] const int r = static_cast<int>(rank), b = static_cast<int>(block), i = "
                    "static_cast<int>(operand);\n"
                    "    int j = 0;\n"
                    "    *info = {nullptr, nullptr, MSCCLC_UNPAIRED};\n"
                    "    switch (static_cast<int>(" +
                    spell(waits.listOf) + ")) {\n";
  for (std::size_t i = 0; i < waits.lists.size(); ++i) {
    if (waits.lists[i].waits.empty())
      continue;
    out += "    case " + std::to_string(i) + ":\n";
    for (const WaitPlace &wait : waits.lists[i].waits)
      out += "      if (host::isAmong(operation, " + std::to_string(wait.first) + ", " + std::to_string(wait.step) +
             ", " + std::to_string(wait.times) + ", j))\n        *info = {" + quote(wait.operation) + ", " +
             quote(wait.place) + ", " +
             (wait.sender ? "static_cast<uint32_t>(" + spell(wait.sender) + ")" : "MSCCLC_UNPAIRED") + "};\n";
    out += "      break;\n";
  }
  return out + "    }\n  }\n";
}

using Fields = std::map<std::string_view, std::string>;

void addDescriptor(const DescriptorFormulas &d, Fields &fields) {
  fields.merge(Fields{
      {"inputChunks", spellWithin(d.inputChunks)},
      {"outputChunks", spellWithin(d.outputChunks)},
      {"scratchChunks", spellWithin(d.scratchChunks)},
      {"blocks", spellWithin(d.blocks)},
      {"memoryChannels", spellWithin(d.memoryChannels)},
      {"portChannels", spellWithin(d.portChannels)},
      {"switchChannels", spellWithin(d.switchChannels)},
      {"remoteBuffers", spellWithin(d.remoteBuffers)},
      {"semaphores", spellWithin(d.semaphores)},
      {"barriers", spellWithin(d.barriers)},
      {"memoryPeer", spellWithin(d.memoryPeer)},
      {"memoryPeerChannel", spellWithin(d.memoryPeerChannel)},
      {"portPeer", spellWithin(d.portPeer)},
      {"portPeerChannel", spellWithin(d.portPeerChannel)},
      {"switchBuffer", spellWithin(d.switchBuffer)},
      {"switchSize", spellWithin(d.switchSize)},
      {"switchMember", spellWithin(d.switchMember)},
      {"remoteRank", spellWithin(d.remoteRank)},
      {"remoteBuffer", spellWithin(d.remoteBuffer)},
      {"remoteViaMemory", spellWithin(d.remoteViaMemory)},
      {"remoteViaPort", spellWithin(d.remoteViaPort)},
      {"semaphoreValue", spellWithin(d.semaphoreValue)},
  });
}

/// Appends kernel.cu.in with its fields filled in.
void fillTemplate(const Fields &fields, std::string &out) {
  std::string_view rest = kernelTemplate;
  for (std::size_t at; (at = rest.find('@')) != std::string_view::npos;) {
    const std::size_t end = rest.find('@', at + 1);
    const auto field = fields.find(rest.substr(at + 1, end - at - 1));
    if (end == std::string_view::npos || field == fields.end())
      throw ir::InternalError("unknown field in kernel.cu.in");
    out += rest.substr(0, at);
    out += field->second;
    rest.remove_prefix(end + 1);
  }
  out += rest;
}

constexpr std::string_view noDigest = "0000000000000000";

/// Returns the 64-bit FNV-1a hash as 16 hexadecimal digits. It only has to show that the files of two ranks differ.
std::string digestOf(std::string_view text) {
  std::uint64_t digest = 14695981039346656037u;
  for (const char c : text)
    digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string digits(noDigest);
  for (std::size_t i = digits.size(); i-- > 0; digest /= 16)
    digits[i] = "0123456789abcdef"[digest % 16];
  return digits;
}

/// Writes the digest of the file's text into the text.
void addDigest(std::string &out, std::size_t begin) {
  constexpr std::string_view field = "\n  static constexpr const char *digest = \""; // in no comment, as a line
  const std::size_t at = out.find(field, begin) + field.size();
  out.replace(at, noDigest.size(), digestOf(std::string_view(out).substr(begin)));
}

} // namespace

void writeSource(const ir::Program &program, const EmitOptions &options, const KernelModel &m, std::string &out) {
  const auto yes = [](bool b) { return std::string(b ? "true" : "false"); };
  Fields fields{
      {"title",
       oneLine(program.name + ": " + program.collective.name + " of " + ir::plural(m.ranks, "rank") +
               (m.root ? ", root " + std::to_string(*m.root) : "") + (program.collective.inplace ? ", in place" : ""))},
      {"tool", oneLine(options.toolVersion)},
      {"source", options.sourceName.empty() ? "" : oneLine(" from " + options.sourceName)},
      {"switches", options.switches.empty() ? "" : oneLine(" with " + options.switches)},
      {"sums", options.sums.empty() ? "" : "\n// Sums: " + oneLine(options.sums)},
      {"nameText", quote(program.name)},
      {"collectiveText", quote(collectiveText(program, m) + expertsSuffix(program, m))},
      {"hookHeaders", hookHeadersText(m.hooks)},
      {"slots", slotsText(m) + expertsText(program.collective, m)},
      {"instances", instancesText(options.instances)},
      {"split",
       m.isSplit ? "\n  static constexpr bool split = true; // a kernel that sends, and one that receives" : ""},
      {"partParameter", m.isSplit ? ", KernelPart part" : ""},
      {"partArgument", m.isSplit ? ", part" : ""},
      {"hookFields", hookFieldsText(m.hooks)},
      {"hooks", hooksText(program, m.hooks)},
      {"toolText", quote(options.toolVersion)},
      {"sourceText", quote(options.sourceName)},
      {"switchesText", quote(options.switches)},
      {"tags", tagsText(program)},
      {"digest", std::string(noDigest)},
      {"identifier", kernelIdentifier(program.name)},
      {"dtypes", m.dtypes},
      {"reduceOps", m.reduceOps},
      {"packetKinds", m.packetKinds},
      {"ranks", std::to_string(m.ranks)},
      {"threads", std::to_string(m.threads)},
      {"blocksOnEach", std::to_string(m.blocksOnEach)},
      {"maxBlocks", std::to_string(m.maxBlocks)},
      {"flags", std::to_string(m.flags)},
      {"root", m.root ? ", root = " + std::to_string(*m.root) : ""},
      {"shares", std::to_string(m.shares)},
      {"groupChunks", std::to_string(m.groupChunks)},
      {"unit", number64(m.unit)},
      {"bufferAlignment", number64(m.bufferAlignment)},
      {"messageBytes", number64(m.messageBytes)},
      {"minMessageBytes", number64(m.minMessageBytes)},
      {"maxMessageBytes", number64(m.maxMessageBytes)},
      {"scratchSlots", std::to_string(m.scratchSlots)},
      {"peerBuffers", std::to_string(m.peerBuffers)},
      {"mostRows", std::to_string(m.mostRows)},
      {"maxSwitchChannels", std::to_string(m.switchChannels)},
      {"maxMemoryChannels", std::to_string(m.memoryChannels)},
      {"outlined", yes(m.outlined)},
      {"packets", yes(m.packets)},
      {"doubleScratch", yes(m.doubleScratch)},
      {"wideScratch", m.wideScratch ? ", wideScratch = true" : ""},
      {"lamportPackets", m.lamportPackets ? ", lamportPackets = true" : ""},
      {"tables", tablesText(m.tables, deviceStorage(m.tables))},
      {"descriptorTables", tablesText(m.descriptorTables, "static const")},
      {"programs", programsText(m)},
      {"dispatch", dispatchText(m)},
      {"waitInfo", waitInfoText(m.waits)},
  };
  addDescriptor(m.descriptor, fields);
  const std::size_t begin = out.size();
  fillTemplate(fields, out);
  addDigest(out, begin);
}

} // namespace mscclc::cuda
