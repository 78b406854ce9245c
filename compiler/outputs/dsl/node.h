// A source as a tree: calls, scopes and loops, on several ranks at once.
//
// A tree stands for what a class of ranks does: one tree, in which each number has a value for each rank and, inside
// loops, for each iteration. These are a node's points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mscclc::dsl {

/// The texts of calls. Numbers stand in them as
///   %v  a number
///   %p  a rank
///   %b  a thread block
///   %u  a number of bytes
///   %s  a slice of a buffer: two numbers, its first chunk and its size
class Templates {
public:
  std::uint32_t idOf(const std::string &text) {
    const auto [found, isNew] = ids_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (isNew)
      texts_.push_back(text);
    return found->second;
  }
  const std::string &operator[](std::uint32_t id) const { return texts_[id]; }

private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::string> texts_;
};

/// How a loop counts.
struct LoopStyle {
  enum class Kind : std::uint8_t {
    Count,      ///< `first` to first + count - 1
    SkipRank,   ///< 0 to count but the rank itself
    SkipInNode, ///< the same of the rank's place in a node of `node` ranks
    SkipNode,   ///< the same of the rank's node
  };
  Kind kind = Kind::Count;
  std::uint32_t first = 0; ///< of Count
  std::uint32_t node = 0;  ///< ranks of a node
  friend bool operator==(const LoopStyle &, const LoopStyle &) = default;
};

struct Node {
  enum class Kind : std::uint8_t { Call, Scope, Loop };
  Kind kind = Kind::Call;
  std::uint32_t text = 0;                ///< of a call or scope: its template
  std::uint32_t block = 0;               ///< of a call: the thread block, on the first rank
  std::uint32_t count = 0;               ///< of a loop
  LoopStyle style = {};                  ///< of a loop
  std::vector<std::int64_t> values = {}; ///< number by number, each for all points; points of outer loops stand first
  std::vector<Node> body = {};
  std::uint64_t shape = 0; ///< equal for nodes that differ in numbers alone
  std::uint32_t lines = 1; ///< of source

  void setShape() {
    const auto mix = [this](std::uint64_t value) {
      shape = (shape ^ value) * 0x9e3779b97f4a7c15;
      shape ^= shape >> 29;
    };
    shape = static_cast<std::uint64_t>(kind) + 1;
    mix(text);
    mix(count);
    mix(static_cast<std::uint64_t>(style.kind) << 32 | style.first);
    mix(style.node);
    lines = body.empty() ? 1 : 2;
    for (const Node &node : body) {
      mix(node.shape);
      lines += node.lines;
    }
    mix(body.size());
  }
};

} // namespace mscclc::dsl
