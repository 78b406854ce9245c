#include "compiler/outputs/dsl/source.h"

#include "compiler/outputs/dsl/program_text.h"
#include "compiler/outputs/dsl/script.h"
#include "compiler/outputs/dsl/statements.h"
#include "compiler/outputs/dsl/tree_text.h"
#include "ir/shape_classes.h"

#include <algorithm>

namespace mscclc::dsl {
namespace {

/// A class of ranks. Their lines differ only in numbers.
struct Class {
  std::vector<std::uint32_t> ranks;
  std::vector<std::vector<Node>> scripts; ///< the lines of each rank
};

/// Returns the divisors of `ranks` between 1 and `ranks`, ascending. They are the possible numbers of ranks on a node.
std::vector<std::uint32_t> nodeSizes(std::uint32_t ranks) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 2; size < ranks; ++size)
    if (ranks % size == 0)
      sizes.push_back(size);
  return sizes;
}

class SourceWriter {
public:
  SourceWriter(const ir::Program &program, const SourceOptions &options)
      : program_(program), options_(options), numRanks_(static_cast<std::uint32_t>(program.ranks.size())),
        nodes_(nodeSizes(numRanks_)), tables_(numRanks_) {}

  std::string write() {
    const std::string collective = collectiveText(program_);
    names_ = namesOf(program_);
    const std::string shared = sharedText();
    std::string ranks;
    for (const RankLines &lines : sections())
      for (Class &one : classesOf(lines))
        ranks += "\n" + classText(one);
    const std::string body = shared + ranks;

    std::string text = std::string(writtenBy) + options_.madeFrom + ". The same plan again:\n//   " + options_.command +
                       "\n#include <mscclc/dsl.hpp>\nusing namespace mscclc;\n\n";
    if (body.find("numbers(") != std::string::npos)
      text += numbersText;
    text += "MSCCLC_ALGORITHM void " + functionName(program_) +
            "() {\n  constexpr int ranks = " + std::to_string(numRanks_) + ";\n" + programText(collective);
    text += tables_.text();
    return text + body + "}\n";
  }

private:
  static constexpr std::string_view numbersText =
      "/// `count` numbers from `first` on, each `step` more than the one before.\n"
      "static List<int> numbers(int first, int count, int step = 1) {\n"
      "  List<int> list;\n"
      "  for (int i = 0; i < count; ++i)\n"
      "    list.push_back(first + i * step);\n"
      "  return list;\n"
      "}\n\n";

  /// Returns the lines of all ranks, divided into sections. A program of thread blocks has one section.
  std::vector<RankLines> sections() {
    if (!program_.movement.statements.empty())
      return statementSections(program_, templates_);
    RankLines lines;
    for (std::uint32_t rank = 0; rank < numRanks_; ++rank)
      try {
        lines.push_back(scriptOf(program_, names_, rank, templates_));
      } catch (const NoSource &no) {
        throw NoSource{"rank " + std::to_string(rank) + ": " + no.why};
      }
    return {std::move(lines)};
  }

  static std::vector<Class> classesOf(const RankLines &lines) {
    ir::ShapeClasses known;
    std::vector<Class> classes;
    for (std::uint32_t rank = 0; rank < lines.size(); ++rank) {
      ir::Shape shapes;
      for (const Node &node : lines[rank])
        shapes.push_back(node.shape);
      const std::uint32_t number = known.of(std::move(shapes));
      classes.resize(known.size());
      classes[number].ranks.push_back(rank);
      classes[number].scripts.push_back(lines[rank]);
    }
    return classes;
  }

  std::string programText(const std::string &collective) {
    const std::string begin = "  CollectiveProgram program(" + quoted(program_.name) + ", ";
    std::string end = optionsText(program_) + ");\n";
    const bool expects = !program_.collective.expectations.empty();
    const std::string what = expects ? "collective" : collective;
    if (begin.size() + what.size() + end.size() > 120 && end[0] == ',')
      end = ",\n" + std::string(27, ' ') + end.substr(2);
    if (!expects)
      return begin + what + end;
    std::vector<Node> lines;
    for (const ir::Expectation &expectation : program_.collective.expectations) {
      std::string text = "collective.expect(%p, %v, {";
      std::vector<std::int64_t> values{expectation.rank, expectation.outputChunk};
      for (std::size_t i = 0; i < expectation.contributions.size(); ++i) {
        text += i == 0 ? "{%p, %v}" : ", {%p, %v}";
        values.insert(values.end(), {expectation.contributions[i].rank, expectation.contributions[i].chunk});
      }
      addLine(lines, text + "});", std::move(values));
    }
    return "  CustomCollective collective" + collective.substr(collective.find('(')) + ";\n" + foldedAlone(lines, 2) +
           begin + what + end;
  }

  void addLine(std::vector<Node> &lines, const std::string &text, std::vector<std::int64_t> values) {
    Node &node = lines.emplace_back(Node{.text = templates_.idOf(text), .values = std::move(values)});
    node.setShape();
  }

  /// Folds lines that do not depend on a rank, and returns their text.
  std::string foldedAlone(std::vector<Node> &lines, unsigned indent) {
    const std::vector<std::uint32_t> one{0};
    Folder folder(one, numRanks_, {});
    folder.fold(lines);
    return TreeWriter(folder, one, numRanks_, templates_, tables_).write(lines, indent);
  }

  /// Returns the declarations that all ranks share: scratch and switch channels.
  std::string sharedText() {
    std::string text;
    std::vector<Node> lines;
    if (names_.scratch) {
      text += "  List<Buffer> scratches; // of each rank\n";
      std::vector<std::uint32_t> sizes;
      for (const ir::Rank &rank : program_.ranks)
        sizes.push_back(rank.scratchChunks);
      if (std::ranges::count(sizes, sizes[0]) == static_cast<std::ptrdiff_t>(sizes.size()))
        text += "  for (int rank = 0; rank < ranks; ++rank)\n    scratches.push_back(Buffer(rank, " +
                std::to_string(sizes[0]) + "));\n";
      else
        for (std::uint32_t rank = 0; rank < numRanks_; ++rank)
          addLine(lines, "scratches.push_back(Buffer(%p, %v));", {rank, sizes[rank]});
    }
    text += foldedAlone(lines, 2);
    if (names_.switches.empty())
      return text;
    lines.clear();
    for (const ir::SwitchChannel &channel : names_.switches) {
      std::vector<std::int64_t> values;
      const std::string list = listTemplate(channel.ranks, values, 'p');
      const std::string_view buffer = channel.buffer == ir::BufferKind::Input    ? "Input"
                                      : channel.buffer == ir::BufferKind::Output ? "Output"
                                                                                 : "Scratch";
      addLine(lines, "switches.push_back(SwitchChannel(" + list + ", BufferType::" + std::string(buffer) + "));",
              std::move(values));
    }
    return text + "  List<SwitchChannel> switches;\n" + foldedAlone(lines, 2);
  }

  /// Returns the text for one class of ranks.
  std::string classText(Class &one) {
    if (one.scripts[0].empty())
      return "";
    std::vector<Node> together = joinRanks(one.scripts);
    Folder folder(one.ranks, numRanks_, nodes_);
    folder.fold(together);
    return ranksText(folder, one.ranks, together);
  }

  std::string ranksText(Folder &folder, const std::vector<std::uint32_t> &ranks, const std::vector<Node> &lines) {
    const std::string inner = TreeWriter(folder, ranks, numRanks_, templates_, tables_).write(lines, 4);
    return headOf(ranks) + listsOf(ranks[0], inner) + inner + "  }\n";
  }

  /// Returns the beginning of the scope for a class of ranks: `for (…) {`, or `{` and a constant if the class has only
  /// one rank.
  std::string headOf(const std::vector<std::uint32_t> &ranks) const {
    const std::string first = std::to_string(ranks[0]), past = std::to_string(ranks.back() + 1);
    if (ranks.size() == 1)
      return "  {\n    constexpr int rank = " + first + ";\n";
    const std::uint32_t step = ranks[1] - ranks[0];
    bool inRow = true;
    std::string list;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      inRow &= i == 0 || ranks[i] - ranks[i - 1] == step;
      list += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    }
    if (!inRow)
      return "  for (const int rank : {" + list + "}) {\n";
    return "  for (int rank = " + first + "; rank < " + (ranks.back() + 1 == numRanks_ ? "ranks" : past) + "; " +
           (step == 1 ? "++rank" : "rank += " + std::to_string(step)) + ") {\n";
  }

  /// Returns the declarations of the buffers and lists that the text `inner` uses.
  std::string listsOf(std::uint32_t rank, const std::string &inner) const {
    std::string text;
    const auto uses = [&](std::string_view word) {
      for (std::size_t at = inner.find(word); at != std::string::npos; at = inner.find(word, at + 1))
        if (inner[at - 1] == ' ' || inner[at - 1] == '(' || inner[at - 1] == '{')
          if (const char after = inner[at + word.size()]; after == '[' || after == '.')
            return true;
      return false;
    };
    for (const std::string name : {"input", "output"})
      if (uses(name))
        text += "    const Buffer " + name + " = Rank(rank)." + name + "();\n";
    if (uses("scratch"))
      text += "    const Buffer scratch = scratches[rank];\n";
    for (const auto &[type, name, kind] : {std::tuple{ir::ChannelType::Memory, "channels", "MemoryChannel"},
                                           {ir::ChannelType::Port, "ports", "PortChannel"}})
      if (!program_.ranks[rank].peers(type).empty()) {
        const bool byPeer = names_.byPeer[static_cast<std::size_t>(type)];
        text += byPeer ? std::string("    List<") + kind + "> " + name + "(ranks, {}); // by peer\n"
                       : std::string("    List<List<") + kind + ">> " + name + "(ranks, {}); // by peer\n";
      }
    if (!program_.ranks[rank].semaphores.empty())
      text += "    List<Semaphore> semaphores;\n";
    if (uses("others"))
      text += "    List<Chunk> others;\n";
    return text;
  }

  const ir::Program &program_;
  const SourceOptions &options_;
  const std::uint32_t numRanks_;
  const std::vector<std::uint32_t> nodes_;
  Names names_;
  Templates templates_;
  Tables tables_;
};

} // namespace

std::string sourceOf(const ir::Program &program, const SourceOptions &options) {
  return SourceWriter(program, options).write();
}

} // namespace mscclc::dsl
