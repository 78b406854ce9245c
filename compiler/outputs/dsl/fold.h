// Folds lines that differ only in numbers into loops.
#pragma once

#include "compiler/outputs/dsl/loops.h"

#include <map>
#include <memory>

namespace mscclc::dsl {

/// Folds the lines of one class of ranks into loops.
class Folder {
public:
  /// `nodes`: the possible numbers of ranks on a node.
  Folder(std::vector<std::uint32_t> ranks, std::uint32_t numRanks, std::vector<std::uint32_t> nodes)
      : ranks_(std::move(ranks)), numRanks_(numRanks), nodes_(std::move(nodes)) {}

  /// Replaces runs of lines by loops. Each number in a loop must have an expression. The order of operations does not
  /// change.
  void fold(std::vector<Node> &lines);

  /// Returns the points at which a line inside `loops` has numbers.
  const LoopSpace &spaceOf(const std::vector<Loop> &loops);

private:
  void foldScopes(std::vector<Node> &lines);
  void foldWithinBlocks(std::vector<Node> &lines);
  void foldAlikeBlocks(std::vector<Node> &lines);
  std::size_t sizeOf(const std::vector<Node> &lines);
  void foldRuns(std::vector<Node> &lines);
  bool foldPeriod(std::vector<Node> &lines, std::size_t period);
  std::size_t foldAt(std::vector<Node> &lines, std::size_t first, std::size_t period, std::size_t count);
  bool tryLoop(const std::vector<Node> &lines, std::size_t first, std::size_t period, std::size_t count, Node &loop);
  static Node mergeLines(const std::vector<const Node *> &lines, std::size_t width);
  /// Returns the total length of the expressions in `node`; nothing if one of its numbers has no expression.
  std::optional<std::size_t> cost(const Node &node, std::vector<Loop> &loops);

  std::vector<std::uint32_t> ranks_;
  std::uint32_t numRanks_;
  std::vector<std::uint32_t> nodes_;
  std::vector<Loop> around_; ///< the loops around the lines that are being folded
  std::map<std::string, std::unique_ptr<LoopSpace>> spaces_;
};

/// Joins the lines of several ranks into one tree. The lines of the ranks must differ only in numbers.
std::vector<Node> joinRanks(const std::vector<std::vector<Node>> &ranks);

} // namespace mscclc::dsl
