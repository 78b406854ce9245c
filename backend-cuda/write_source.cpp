#include "backend-cuda/write_source.h"

#include "ir/internal_error.h"
#include "kernel_template.h"

#include <algorithm>
#include <limits>
#include <map>

namespace mscclc::cuda {

namespace {

constexpr std::size_t maxColumn = 120;

/// C++ string literal.
std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    // A second question mark could begin a trigraph, of which compilers warn.
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

/// Text that stays within one comment line.
std::string oneLine(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  // A backslash at the end would join the next line.
  while (!text.empty() && text.back() == '\\')
    text.pop_back();
  return text;
}

std::string number64(std::uint64_t v) {
  return v == std::numeric_limits<std::uint64_t>::max() ? "~uint64_t{0}" : std::to_string(v) + (v >> 31 ? "u" : "");
}

/// head, then arguments, broken between arguments where the line would be too long.
void writeCall(std::string &out, const std::string &indent, const Statement &s) {
  std::string line = indent + s.function + "(";
  const std::string hanging(indent.size() + 4, ' ');
  for (std::size_t i = 0; i < s.arguments.size(); ++i) {
    std::string piece = s.arguments[i] + (i + 1 < s.arguments.size() ? "," : ");");
    const bool first = i == 0;
    if (hanging.size() + piece.size() > maxColumn) { // a list that is too long for one line
      const std::string broken = "\n" + hanging + "    ";
      for (const std::string_view joint : {" return ", " : "})
        for (std::size_t at = 0; (at = piece.find(joint, at)) != std::string::npos; at += broken.size() + joint.size())
          piece.replace(at, 1, broken);
      // Places written one by one: few(k.peerOutput(…), k.peerOutput(…)).
      for (std::size_t at = 0; (at = piece.find("), k.", at)) != std::string::npos; at += 2)
        if (piece.rfind("few(", 0) == 0 && piece.compare(at + 3, 6, "k.rank") != 0 &&
            piece.compare(at + 3, 7, "k.block") != 0)
          piece.replace(at + 2, 1, broken);
    }
    if (line.size() + (first ? 0 : 1) + piece.size() > maxColumn) {
      out += line + "\n";
      line = hanging + piece;
    } else {
      line += (first ? "" : " ") + piece;
    }
  }
  out += line + (s.arguments.empty() ? ");" : "") + "\n";
}

void writeStatements(std::string &out, const std::vector<Statement> &statements, const std::string &indent) {
  for (const Statement &s : statements) {
    if (!s.comment.empty())
      out += indent + "// " + oneLine(s.comment) + "\n";
    switch (s.kind) {
    case Statement::Kind::Call:
      writeCall(out, indent, s);
      break;
    case Statement::Kind::Pipeline:
      out += indent + "for (uint64_t u = 0, units = k.units(" + std::to_string(s.chunks) + ", " +
             std::to_string(s.unit) + "); u < units; ++u) {\n";
      writeStatements(out, s.body, indent + "  ");
      out += indent + "}\n";
      break;
    case Statement::Kind::Repeat:
      out += indent + "for (int j = 0; j < " + std::to_string(s.times) + "; ++j) {\n";
      writeStatements(out, s.body, indent + "  ");
      out += indent + "}\n";
      break;
    }
  }
}

/// "block 3 of rank 0", "blocks 0 to 6 of every rank", or how many.
std::string whoRuns(const BlockProgram &p, std::uint32_t ranks) {
  const auto &all = p.instances;
  if (all.size() == 1)
    return "Block " + std::to_string(all[0].block) + " of rank " + std::to_string(all[0].rank) + ".";
  int low = all[0].block, high = low;
  for (const auto &at : all) {
    low = std::min(low, at.block);
    high = std::max(high, at.block);
  }
  const auto span = static_cast<std::size_t>(high - low + 1);
  if (all.size() == span * ranks)
    return (span == 1 ? "Block " + std::to_string(low)
                      : "Blocks " + std::to_string(low) + " to " + std::to_string(high)) +
           " of every rank.";
  return std::to_string(all.size()) + " blocks, the first of them block " + std::to_string(all[0].block) + " of rank " +
         std::to_string(all[0].rank) + ".";
}

std::string programsText(const KernelModel &model) {
  std::string out;
  for (std::size_t i = 0; i < model.programs.size(); ++i) {
    const BlockProgram &p = model.programs[i];
    out += "// " + whoRuns(p, model.ranks) + "\n";
    out += "template <class K> MSCCLC_BLOCK void program" + std::to_string(i) + "([[maybe_unused]] const K &k) {\n";
    if (model.reduceOps != "NoReduce" && model.reduceOps != "MixedReduce")
      out += "  using Op [[maybe_unused]] = typename K::Op;\n";
    writeStatements(out, p.statements, "  ");
    out += "}\n\n";
  }
  return out;
}

std::string dispatchText(const KernelModel &model) {
  if (model.programs.empty())
    return "";
  std::string out;
  for (const KernelModel::Choice &c : model.choices) {
    if (!c.condition.empty())
      out += (out.empty() ? "  if (" : "  else if (") + c.condition + ")\n    ";
    else
      out += out.empty() ? "  " : "  else\n    ";
    out += "program" + std::to_string(c.program) + "(k);\n";
  }
  if (!out.empty())
    return out;
  out = "  switch (" + model.programOf + ") {\n";
  for (std::size_t i = 0; i < model.programs.size(); ++i)
    out += "  case " + std::to_string(i) + ":\n    program" + std::to_string(i) + "(k);\n    break;\n";
  return out + "  }\n";
}

/// Bytes of an entry of a table.
std::size_t entryBytes(const Tables::Table &table) {
  const auto [low, high] = std::minmax_element(table.entries.begin(), table.entries.end());
  return *low >= 0 && *high < 256 ? 1 : *low >= 0 && *high < 65536 ? 2 : 8;
}

/// Where the device reads its tables: constant memory is 64 KiB in all.
const char *deviceStorage(const Tables &tables) {
  std::size_t bytes = 0;
  for (const Tables::Table &t : tables.all())
    bytes += t.entries.size() * entryBytes(t) + 8;
  return bytes <= std::size_t{48} << 10 ? "MSCCLC_TABLE" : "MSCCLC_LARGE_TABLE";
}

std::string tablesText(const Tables &tables, const char *storage) {
  std::string out;
  for (const Tables::Table &t : tables.all()) {
    const std::size_t bytes = entryBytes(t);
    const char *type = bytes == 1 ? "uint8_t" : bytes == 2 ? "uint16_t" : "int64_t";
    std::string line = std::string(storage) + " " + type + " " + t.name + "[] = {";
    for (std::size_t i = 0; i < t.entries.size(); ++i) {
      const std::string piece = std::to_string(t.entries[i]) + (i + 1 < t.entries.size() ? "," : "};");
      if (line.size() + 1 + piece.size() > maxColumn) {
        out += line + "\n";
        line = "    " + piece;
      } else {
        line += (i == 0 ? "" : " ") + piece;
      }
    }
    out += line + "\n";
  }
  return out.empty() ? out : out + "\n";
}

} // namespace

void writeSource(const ir::Program &program, const EmitOptions &options, const KernelModel &m, std::string &out) {
  const DescriptorFormulas &d = m.descriptor;
  const auto yes = [](bool b) { return std::string(b ? "true" : "false"); };
  const std::map<std::string_view, std::string> fields{
      {"title",
       oneLine(program.name + ": " + program.collective.name + " of " + ir::plural(m.ranks, "rank") +
               (m.root ? ", root " + std::to_string(*m.root) : "") + (program.collective.inplace ? ", in place" : ""))},
      {"tool", oneLine(options.toolVersion)},
      {"source", options.sourceName.empty() ? "" : oneLine(" from " + options.sourceName)},
      {"switches", options.switches.empty() ? "" : oneLine(" with " + options.switches)},
      {"nameText", quote(program.name)},
      {"collectiveText", quote(program.collective.name)},
      {"toolText", quote(options.toolVersion)},
      {"sourceText", quote(options.sourceName)},
      {"switchesText", quote(options.switches)},
      {"identifier", kernelIdentifier(program.name)},
      {"dtypes", m.dtypes},
      {"reduceOps", m.reduceOps},
      {"packetKinds", m.packetKinds},
      {"ranks", std::to_string(m.ranks)},
      {"threads", std::to_string(m.threads)},
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
      {"outlined", yes(m.outlined)},
      {"packets", yes(m.packets)},
      {"doubleScratch", yes(m.doubleScratch)},
      {"tables", tablesText(m.tables, deviceStorage(m.tables))},
      {"descriptorTables", tablesText(m.descriptorTables, "static const")},
      {"programs", programsText(m)},
      {"dispatch", dispatchText(m)},
      {"inputChunks", d.inputChunks},
      {"outputChunks", d.outputChunks},
      {"scratchChunks", d.scratchChunks},
      {"blocks", d.blocks},
      {"memoryChannels", d.memoryChannels},
      {"portChannels", d.portChannels},
      {"switchChannels", d.switchChannels},
      {"remoteBuffers", d.remoteBuffers},
      {"semaphores", d.semaphores},
      {"barriers", d.barriers},
      {"memoryPeer", d.memoryPeer},
      {"memoryPeerChannel", d.memoryPeerChannel},
      {"portPeer", d.portPeer},
      {"portPeerChannel", d.portPeerChannel},
      {"switchBuffer", d.switchBuffer},
      {"switchSize", d.switchSize},
      {"switchMember", d.switchMember},
      {"remoteRank", d.remoteRank},
      {"remoteBuffer", d.remoteBuffer},
      {"remoteViaMemory", d.remoteViaMemory},
      {"remoteViaPort", d.remoteViaPort},
      {"semaphoreValue", d.semaphoreValue},
  };
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

} // namespace mscclc::cuda
