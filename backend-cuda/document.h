// Breaks emitted text over lines.
#pragma once

#include <string>
#include <vector>

namespace mscclc::cuda {

inline constexpr std::size_t maxColumn = 120;

/// Text that may be broken between its parts: either all of them stand on one line with a space between two, or each
/// but the first has a line of its own.
class Breakable {
public:
  Breakable() = default;
  Breakable(std::string text) : parts_{std::move(text)} {}

  /// Adds to the last part.
  Breakable &operator<<(std::string_view text) {
    if (parts_.empty())
      parts_.emplace_back();
    parts_.back() += text;
    return *this;
  }
  /// What is added next may begin a line.
  void mayBreak() { parts_.emplace_back(); }

  /// Columns on one line.
  std::size_t width() const;
  std::string onOneLine() const { return joined(" "); }
  std::string joined(const std::string &separator) const;

private:
  std::vector<std::string> parts_;
};

/// Appends to `out`: `indent` and `head`, then `pieces` with spaces between two, as many on a line as fit. Further
/// lines are indented by 4 more. A piece that fits no line is broken, by another 4.
void fillLines(std::string &out, const std::string &indent, const std::string &head,
               const std::vector<Breakable> &pieces);

} // namespace mscclc::cuda
