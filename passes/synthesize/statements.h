// Writes the statements of a synthesised program.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mscclc::passes::synthesize {

/// The collective that a program performs, and its ranks.
struct Task {
  ir::CollectiveKind kind{};
  std::uint32_t ranks = 1;
  std::uint32_t ranksPerNode = 1; ///< ranks are numbered node by node
  std::uint32_t root = 0;         ///< the root, in a collective that has one

  bool sums() const;    ///< true if the collective sums data of several ranks
  bool spreads() const; ///< true if each part of the result ends on several ranks
};

/// A movement program that is being written. The compiler chooses protocol, instances and the order of sums. Except for
/// an all-to-all, input and output are in place. Indices and sizes are in chunks.
class Statements {
public:
  /// `name`: the algorithm's name, which follows the collective in the program's name. `factor`: the chunk factor.
  Statements(const Task &task, const std::string &name, std::uint32_t factor);

  std::uint32_t ranks() const { return task_.ranks; }
  std::uint32_t ranksPerNode() const { return task_.ranksPerNode; }
  std::uint32_t nodes() const { return task_.ranks / task_.ranksPerNode; }
  std::uint32_t factor() const { return program_.collective.chunkFactor; }

  /// Returns a place in the buffer of `rank` that holds a whole message. In place, this buffer holds input and output.
  ir::RankChunk at(std::uint32_t rank, std::uint32_t index, std::uint32_t size = 1) const;
  /// Returns `size` more chunks of the scratch of `rank`.
  ir::RankChunk scratch(std::uint32_t rank, std::uint32_t size);
  /// Copies `from` to all of `to`. Each place on another node gets a statement of its own. Does nothing if `to` is
  /// empty.
  void copy(std::span<const ir::RankChunk> to, const ir::RankChunk &from, std::optional<ir::Via> via = {});
  void copy(const ir::RankChunk &to, const ir::RankChunk &from) { copy({&to, 1}, from); }
  /// Replaces `to` by the sum of `parts`, added in this order. `to` may be one of `parts`.
  void sum(const ir::RankChunk &to, std::span<const ir::RankChunk> parts, std::optional<ir::Via> via = {});
  /// Adds all of `others` to `to`.
  void addTo(const ir::RankChunk &to, std::span<const ir::RankChunk> others, std::optional<ir::Via> via = {});
  void addTo(const ir::RankChunk &to, const ir::RankChunk &other) { addTo(to, {&other, 1}); }

  ir::Program take() && { return std::move(program_); }

private:
  Task task_;
  ir::Program program_;
};

} // namespace mscclc::passes::synthesize
