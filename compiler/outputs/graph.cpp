// --emit-dot: the dependences between operations, for Graphviz.
#include "compiler/diagnostics.h"
#include "compiler/outputs/estimates.h"
#include "ir/op_semantics.h"
#include "passes/analysis/dependences.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

namespace mscclc::driver {
namespace {

/// The style of an edge for one kind of dependence. Colour-blind readers can distinguish the colours (Okabe and Ito).
struct EdgeStyle {
  std::string_view words, color, more;
};
EdgeStyle styleOf(passes::DependenceKind kind) {
  switch (kind) {
  case passes::DependenceKind::Signal:
    return {"signal", "#0072B2", ""};
  case passes::DependenceKind::Semaphore:
    return {"semaphore", "#D55E00", ", style=dashed"};
  case passes::DependenceKind::Barrier:
    return {"barrier", "#555555", ", style=dotted, dir=none, constraint=false"};
  case passes::DependenceKind::Packet:
    return {"packets", "#009E73", ", arrowhead=vee"};
  }
  return {};
}

std::string_view fillOf(const ir::Op &op) {
  if (ir::sends(op.kind) || ir::takes(op.kind) || ir::flushes(op.kind))
    return "#FBE9C6";
  return ir::info(op.kind).step == ir::OpStep::Data ? "#CFE5F2" : "#EEEEEE";
}

/// Returns `text` as a quoted string of DOT. A `
/// ` in it is kept, because DOT reads it as a line break.
std::string dotString(std::string_view text) {
  std::string result = "\"";
  for (const char c : ir::printable(text)) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + '"';
}

class GraphWriter {
public:
  GraphWriter(std::ostream &out, const ir::Program &program, std::optional<std::uint32_t> rank)
      : out_(out), program_(program), rank_(rank), dependences_(passes::dependences(program)) {}
  void write();

private:
  static std::string nameOf(const ir::OpRef &at) {
    return "r" + std::to_string(at.rank) + "b" + std::to_string(at.block) + "o" + std::to_string(at.op);
  }
  bool isShown(const ir::OpRef &at) const { return !rank_ || at.rank == *rank_; }
  std::string linesOf(const ir::OpRef &at) const;
  void head();
  void rank(std::uint32_t number);
  void block(std::uint32_t rank, std::uint32_t number);
  void node(const ir::OpRef &at);
  void edge(const passes::Dependence &dependence);
  void edge(const std::string &from, const std::string &to, passes::DependenceKind kind);
  void elsewhere();

  std::ostream &out_;
  const ir::Program &program_;
  const std::optional<std::uint32_t> rank_; ///< shown alone
  const std::vector<passes::Dependence> dependences_;
  /// Dependences on operations of ranks that are not shown. Key: the shown operation, whether it sends, the kind of
  /// dependence, and the words for the other operation. Value: the ranks of the other operations.
  std::map<std::tuple<ir::OpRef, bool, passes::DependenceKind, std::string>, std::set<std::uint32_t>> elsewhere_;
  std::vector<std::string> heads_; ///< nodes above the blocks, in one row
};

/// Returns the label of an operation: its word, such as "put", and below it the file and line.
std::string GraphWriter::linesOf(const ir::OpRef &at) const {
  const ir::Op &op = ir::opAt(program_, at);
  std::string lines = dotString(ir::wordOf(program_, op));
  const ir::LocId place = program_.sources.firstPlace(op.loc);
  if (place == ir::noLoc || program_.sources.isElement(place))
    return lines;
  const ir::Loc &loc = program_.sources.get(place);
  const std::string file = std::filesystem::path(program_.sources.files()[loc.file]).filename().string();
  lines.pop_back();
  return lines + "\\n" + dotString(file + ":" + std::to_string(loc.line)).substr(1);
}

void GraphWriter::head() {
  out_ << "digraph " << dotString(program_.name) << " {\n"
       << "  graph [fontname=\"Helvetica\", fontsize=12, labelloc=t, newrank=true, nodesep=0.25, ranksep=0.3,\n        "
          " label=<<b>"
       << "operations in the order of each block</b>";
  std::set<passes::DependenceKind> kinds;
  for (const passes::Dependence &dependence : dependences_)
    kinds.insert(dependence.kind);
  for (const passes::DependenceKind kind : kinds)
    out_ << ", <font color=\"" << styleOf(kind).color << "\"><b>" << styleOf(kind).words << "</b></font>";
  out_ << ">]\n"
       << "  node [shape=box, style=\"rounded,filled\", color=\"#888888\", fontname=\"Helvetica\", fontsize=10, "
          "margin=\"0.08,0.04\", height=0.3]\n"
       << "  edge [color=\"#888888\", arrowsize=0.6]\n";
}

void GraphWriter::node(const ir::OpRef &at) {
  const ir::Op &op = ir::opAt(program_, at);
  const std::string source = sourceOf(program_, op);
  out_ << "      " << nameOf(at) << " [label=" << linesOf(at) << ", fillcolor=\"" << fillOf(op) << "\", tooltip="
       << dotString("rank " + std::to_string(at.rank) + ", block " + std::to_string(at.block) + ", operation " +
                    std::to_string(at.op) + (source.empty() ? "" : ", " + source))
       << "]\n";
}

void GraphWriter::block(std::uint32_t rank, std::uint32_t number) {
  const ir::ThreadBlock &block = program_.ranks[rank].blocks[number];
  const std::string name = "r" + std::to_string(rank) + "b" + std::to_string(number);
  out_ << "    subgraph cluster_" << name << " {\n      label=\"\"; style=filled; color=\"#F5F5F5\"\n      " << name
       << " [label=\"block " << number << "\", shape=plaintext, style=\"\", fontsize=11]\n";
  heads_.push_back(name);
  std::string order = "      " + name;
  std::uint32_t bodyEnd = 0;
  for (std::uint32_t i = 0; i < block.ops.size(); ++i) {
    const ir::Op &op = block.ops[i];
    if (op.kind == ir::OpKind::Pipeline) {
      bodyEnd = i + 1 + op.bodySize;
      out_ << "      subgraph cluster_r" << rank << "b" << number << "o" << i << " {\n      label=\"pipeline, steps of "
           << shownBytes(op.imm) << "\"; style=dashed; color=\"#555555\"; fontsize=10\n";
    } else {
      const ir::OpRef at{rank, number, i};
      node(at);
      order +=
          (order.ends_with(name) ? " -> " + nameOf(at) + " [style=invis, weight=100]\n      " : " -> ") + nameOf(at);
    }
    if (i + 1 == bodyEnd)
      out_ << "      }\n";
  }
  out_ << order << " [weight=100]\n    }\n";
}

void GraphWriter::rank(std::uint32_t number) {
  out_ << "  subgraph cluster_r" << number << " {\n    label=\"rank " << number
       << "\"; style=\"rounded\"; color=\"#AAAAAA\"; fontsize=13\n";
  for (std::uint32_t block = 0; block < program_.ranks[number].blocks.size(); ++block)
    this->block(number, block);
  out_ << "  }\n";
}

void GraphWriter::edge(const passes::Dependence &dependence) {
  const bool from = isShown(dependence.from), to = isShown(dependence.to);
  if (from && to)
    edge(nameOf(dependence.from), nameOf(dependence.to), dependence.kind);
  else if (from)
    elsewhere_[{dependence.from, true, dependence.kind, linesOf(dependence.to)}].insert(dependence.to.rank);
  else if (to)
    elsewhere_[{dependence.to, false, dependence.kind, linesOf(dependence.from)}].insert(dependence.from.rank);
}

void GraphWriter::edge(const std::string &from, const std::string &to, passes::DependenceKind kind) {
  const EdgeStyle style = styleOf(kind);
  out_ << "  " << from << " -> " << to << " [color=\"" << style.color << "\"" << style.more << ", tooltip=\""
       << style.words << "\"]\n";
}

/// Draws the dependences on ranks that are not shown. Equal operations of several such ranks share one node.
void GraphWriter::elsewhere() {
  std::size_t number = 0;
  for (const auto &[others, ranks] : elsewhere_) {
    const auto &[at, isSender, kind, lines] = others;
    std::string label = ranks.size() == 1 ? "rank " : "ranks ";
    for (const std::uint32_t rank : ranks)
      label += (rank == *ranks.begin() ? "" : ", ") + std::to_string(rank);
    const std::string name = "other" + std::to_string(number++);
    out_ << "  " << name << " [label=\"" << label << "\\n" << lines.substr(1) << ", style=\"rounded,dashed\"]\n";
    if (isSender)
      edge(nameOf(at), name, kind);
    else
      edge(name, nameOf(at), kind);
  }
}

void GraphWriter::write() {
  head();
  for (std::uint32_t number = 0; number < program_.ranks.size(); ++number)
    if (!rank_ || number == *rank_)
      rank(number);
  for (const passes::Dependence &dependence : dependences_)
    edge(dependence);
  elsewhere();
  out_ << "  {\n    rank=same\n";
  for (const std::string &head : heads_)
    out_ << "    " << head << "\n";
  out_ << "  }\n}\n";
}

} // namespace

bool writeGraph(Job &job) {
  if (job.options.rank && *job.options.rank >= job.program.ranks.size())
    return job.diags.report(diag::no_rank, {},
                            {std::to_string(*job.options.rank), std::to_string(job.program.ranks.size() - 1)});
  return job.writeFile(job.options.outputPath,
                       [&](std::ostream &stream) { GraphWriter(stream, job.program, job.options.rank).write(); });
}

} // namespace mscclc::driver
