// A source as a tree of calls, scopes and loops, for several ranks at once.
//
// All ranks of a class share one tree. Each number in the tree has a value for each point. A point is a rank and,
// inside loops, an iteration of each loop.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mscclc::dsl {

/// The texts of calls. A text has these marks for numbers:
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

/// The values that a loop's variable takes.
struct LoopStyle {
  enum class Kind : std::uint8_t {
    Count,      ///< from `first` to first + count - 1
    SkipRank,   ///< from 0 to `count`, without the number of the rank
    SkipInNode, ///< from 0 to `count`, without the rank's place in its node of `node` ranks
    SkipNode,   ///< from 0 to `count`, without the number of the rank's node
  };
  Kind kind = Kind::Count;
  std::uint32_t first = 0; ///< the first value, for Count
  std::uint32_t node = 0;  ///< number of ranks on a node
  friend bool operator==(const LoopStyle &, const LoopStyle &) = default;
};

struct Node {
  enum class Kind : std::uint8_t { Call, Scope, Loop };
  Kind kind = Kind::Call;
  std::uint32_t text = 0;                ///< number of the text of a call or scope, in Templates
  std::uint32_t block = 0;               ///< thread block of a call, on the first rank of the class
  std::uint32_t count = 0;               ///< number of iterations of a loop
  LoopStyle style = {};                  ///< values of a loop's variable
  std::vector<std::int64_t> values = {}; ///< [number][point]: value of the number there; inner loops vary fastest
  std::vector<Node> body = {};
  std::uint64_t shape = 0; ///< hash that is equal for nodes that differ only in numbers
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
