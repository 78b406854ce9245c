// Breaks emitted text into lines.
#pragma once

#include <string>
#include <vector>

namespace mscclc::cuda {

inline constexpr std::size_t maxColumn = 120;

/// Text with possible breaks between its parts. Either all parts are on one line with spaces between them, or each
/// except the first begins a line.
class Breakable {
public:
  Breakable() = default;
  Breakable(std::string text) : parts_{std::move(text)} {}

  /// Appends to the last part.
  Breakable &operator<<(std::string_view text) {
    if (parts_.empty())
      parts_.emplace_back();
    parts_.back() += text;
    return *this;
  }
  /// Puts text before the first part.
  Breakable &prepend(std::string_view text) {
    if (parts_.empty())
      parts_.emplace_back();
    parts_.front().insert(0, text);
    return *this;
  }
  /// Allows a break here.
  void mayBreak() { parts_.emplace_back(); }

  /// Returns the width on one line, in columns.
  std::size_t width() const;
  std::string onOneLine() const { return joined(" "); }
  std::string joined(const std::string &separator) const;

private:
  std::vector<std::string> parts_;
};

/// Appends to `out`: `indent` and `head`, then `pieces` with spaces between them, as many on a line as fit. Further
/// lines are indented by 4 more. A piece that is too long for a line is broken, and indented by another 4.
void fillLines(std::string &out, const std::string &indent, const std::string &head,
               const std::vector<Breakable> &pieces);

} // namespace mscclc::cuda
