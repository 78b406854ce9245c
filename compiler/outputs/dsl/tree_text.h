// Writes a tree of lines (node.h) as text.
#pragma once

#include "compiler/outputs/dsl/fold.h"

#include <string>
#include <string_view>
#include <vector>

namespace mscclc::dsl {

/// Arrays for numbers that have no expression. Each array has one number for each rank.
class Tables {
public:
  explicit Tables(std::uint32_t numRanks) : numRanks_(numRanks) {}
  /// Returns the name of an array that has `values` at the indices `ranks`. The entries at other indices are not used.
  std::string nameOf(const std::vector<std::uint32_t> &ranks, std::span<const std::int64_t> values, char letter);
  /// Their definitions.
  std::string text() const;
  std::size_t size() const { return names_.size(); }

private:
  std::uint32_t numRanks_;
  std::map<std::vector<std::int64_t>, std::string> names_;
  std::vector<std::string> definitions_;
};

/// Writes the lines of one class of ranks as text.
class TreeWriter {
public:
  TreeWriter(Folder &folder, const std::vector<std::uint32_t> &ranks, std::uint32_t numRanks,
             const Templates &templates, Tables &tables)
      : folder_(folder), ranks_(ranks), numRanks_(numRanks), templates_(templates), tables_(tables) {}

  /// Returns the text of the lines, indented by `indent` spaces. Numbers that depend on the rank use the variable
  /// `rank`.
  std::string write(const std::vector<Node> &lines, unsigned indent);

private:
  struct Shared {
    std::string text;
    int depth = 0;
    char letter = 'v';
  };
  std::string body(const std::vector<Node> &lines, unsigned indent);
  std::string loop(const Node &node, unsigned indent);
  std::string call(const Node &node);
  formula::Sum number(const Node &node, std::size_t at, char letter);
  /// Returns a mark for an expression. resolve() later replaces the mark by the expression or by a name.
  std::string share(const std::string &text, int depth, char letter);
  std::string marked(formula::Sum sum, char letter);
  /// Replaces the marks of shared expressions that belong to the current depth of loops. An expression that has several
  /// marks gets a name.
  std::string resolve(std::string text, unsigned indent);
  std::string variableOf(const Node &loop);
  bool countsBlocks(const Node &node, const Node &loop, std::size_t width, std::size_t inner) const;
  std::string freeName(const std::string &wanted);

  Folder &folder_;
  const std::vector<std::uint32_t> &ranks_;
  std::uint32_t numRanks_;
  const Templates &templates_;
  Tables &tables_;
  std::vector<Loop> loops_;
  std::vector<Shared> shared_;
  std::vector<std::string> names_;  ///< names that are declared around the current lines
  std::vector<std::string> inside_; ///< names that the loops inside the current lines declare
};

} // namespace mscclc::dsl
