// Folds lines that differ only in numbers into loops.
#pragma once

#include "compiler/outputs/dsl/loops.h"

#include <map>
#include <memory>

namespace mscclc::dsl {

/// Folds the lines of a class of ranks.
class Folder {
public:
  /// `nodes`: the numbers of ranks that a node may have.
  Folder(std::vector<std::uint32_t> ranks, std::uint32_t numRanks, std::vector<std::uint32_t> nodes)
      : ranks_(std::move(ranks)), numRanks_(numRanks), nodes_(std::move(nodes)) {}

  /// Replaces runs of lines by loops whose numbers all have expressions. The order of operations does not change.
  void fold(std::vector<Node> &lines);

  /// Returns the points of lines inside `loops`.
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
  /// Returns the length of all expressions in `node`; nothing if a number has none.
  std::optional<std::size_t> cost(const Node &node, std::vector<Loop> &loops);

  std::vector<std::uint32_t> ranks_;
  std::uint32_t numRanks_;
  std::vector<std::uint32_t> nodes_;
  std::vector<Loop> around_; ///< the loops around the lines that are folded
  std::map<std::string, std::unique_ptr<LoopSpace>> spaces_;
};

/// Joins the lines of several ranks, which differ in numbers only, into one tree.
std::vector<Node> joinRanks(const std::vector<std::vector<Node>> &ranks);

} // namespace mscclc::dsl
