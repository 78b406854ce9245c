#include "backend-cuda/document.h"

namespace mscclc::cuda {

std::size_t Breakable::width() const {
  std::size_t columns = parts_.empty() ? 0 : parts_.size() - 1;
  for (const std::string &part : parts_)
    columns += part.size();
  return columns;
}

std::string Breakable::joined(const std::string &separator) const {
  std::string text;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    text += (i == 0 ? "" : separator) + parts_[i];
  return text;
}

void fillLines(std::string &out, const std::string &indent, const std::string &head,
               const std::vector<Breakable> &pieces) {
  const std::string hanging(indent.size() + 4, ' ');
  out += indent + head;
  std::size_t column = indent.size() + head.size();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t width = pieces[i].width(), space = i == 0 ? 0 : 1;
    if (column + space + width <= maxColumn) {
      out += (i == 0 ? "" : " ") + pieces[i].onOneLine();
      column += space + width;
      continue;
    }
    const bool fits = hanging.size() + width <= maxColumn;
    out += "\n" + hanging + (fits ? pieces[i].onOneLine() : pieces[i].joined("\n" + hanging + "    "));
    // After a piece of several lines, `column` exceeds the limit, so the next piece begins a new line.
    column = hanging.size() + width;
  }
  out += "\n";
}

} // namespace mscclc::cuda
