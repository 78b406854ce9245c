#include "compiler/explain_error.h"

#include <algorithm>
#include <map>
#include <utility>

namespace mscclc::driver {
namespace {

struct Page {
  std::string_view room, text;
};

constexpr Page pages[] = {
#include "compiler/diagnostic_pages.inc"
};

constexpr std::string_view heading = "\n## ";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of('\n');
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of('\n') - first + 1);
}

using Key = std::pair<std::string_view, std::string_view>; ///< the folder, and the name of the diagnostic in kebab case

/// Cuts all pages into sections. Returns the text of each section.
std::map<Key, std::string_view> readSections() {
  std::map<Key, std::string_view> sections;
  for (const Page &page : pages)
    for (std::size_t at = page.text.find(heading); at != std::string_view::npos;) {
      const std::size_t begin = at + heading.size();
      at = page.text.find(heading, begin);
      const std::string_view section = page.text.substr(begin, at == page.text.npos ? at : at - begin);
      const std::size_t end = std::min(section.find('\n'), section.size());
      sections.emplace(Key{page.room, section.substr(0, end)}, trimmed(section.substr(end)));
    }
  return sections;
}

std::string sectionOf(const DiagnosticKind &kind) {
  std::string text = "## " + ir::kebabCase(kind.id) + "\n\n";
  text.append(kind.severity == ir::Severity::Warning ? "Warning" : "Error").append(": `").append(kind.format) += "`\n";
  if (!kind.allowName.empty())
    text.append("`--allow=").append(kind.allowName) += "` makes it a warning.\n";
  return text.append("\n").append(explanationOf(kind)) += "\n";
}

} // namespace

const std::vector<DiagnosticKind> &allDiagnostics() {
  struct Row { // a row for a folder, or for a diagnostic
    std::string_view room, id;
    ir::level::Level level;
    std::string_view text, allowName;
  };
  static constexpr Row rows[] = {
#define ROOM(folder) {folder, {}, {}, {}, {}},
#define DIAG(id, column, text) {{}, #id, ir::level::column, text, {}},
#define ALLOWABLE(id, name, summary, text) {{}, #id, ir::level::Error, text, name},
#include "compiler/all_diagnostics.def"
#undef ALLOWABLE
#undef DIAG
#undef ROOM
  };
  static const std::vector<DiagnosticKind> all = [] {
    std::vector<DiagnosticKind> found;
    std::string_view room;
    for (const Row &row : rows)
      if (row.id.empty())
        room = row.room;
      else if (row.level.severity >= ir::Severity::Warning)
        found.push_back({room, row.id, row.level.severity, row.text, row.allowName});
    return found;
  }();
  return all;
}

std::string_view explanationOf(const DiagnosticKind &kind) {
  static const std::map<Key, std::string_view> sections = readSections();
  const std::string name = ir::kebabCase(kind.id);
  const auto section = sections.find(Key{kind.room, name});
  return section == sections.end() ? std::string_view() : section->second;
}

std::string pageOf(std::string_view name) {
  std::string text;
  for (const DiagnosticKind &kind : allDiagnostics())
    if (name == "all" || ir::kebabCase(kind.id) == ir::kebabCase(name))
      text += (text.empty() ? "" : "\n") + sectionOf(kind);
  return text;
}

std::vector<std::string> diagnosticNames() {
  std::vector<std::string> names;
  for (const DiagnosticKind &kind : allDiagnostics())
    names.push_back(ir::kebabCase(kind.id));
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

} // namespace mscclc::driver
