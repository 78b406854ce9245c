// A source as a tree: calls, scopes and loops, on several ranks at once.
//
// A class of ranks has one tree. Each number in it has a value for each rank and, inside loops, for each iteration.
// These are a node's points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mscclc::dsl {

/// The texts of calls. Their numbers are written as
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

/// The values of a loop's variable.
struct LoopStyle {
  enum class Kind : std::uint8_t {
    Count,      ///< `first` to first + count - 1
    SkipRank,   ///< 0 to `count`, without the number of the rank itself
    SkipInNode, ///< the same for the rank's place in a node of `node` ranks
    SkipNode,   ///< the same for the rank's node
  };
  Kind kind = Kind::Count;
  std::uint32_t first = 0; ///< the first value of Count
  std::uint32_t node = 0;  ///< number of ranks of a node
  friend bool operator==(const LoopStyle &, const LoopStyle &) = default;
};

struct Node {
  enum class Kind : std::uint8_t { Call, Scope, Loop };
  Kind kind = Kind::Call;
  std::uint32_t text = 0;                ///< template of a call or scope
  std::uint32_t block = 0;               ///< thread block of a call, on the first rank
  std::uint32_t count = 0;               ///< iterations of a loop
  LoopStyle style = {};                  ///< style of a loop
  std::vector<std::int64_t> values = {}; ///< for each number, its values at all points; inner loops vary fastest
  std::vector<Node> body = {};
  std::uint64_t shape = 0; ///< equal for nodes that differ only in numbers
  std::uint32_t lines = 1; ///< number of lines of source

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
