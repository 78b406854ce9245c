#include "ir/diagnostics.h"

#include "ir/source_text.h"

#include <algorithm>
#include <optional>

namespace mscclc::ir {

std::string formatDiag(std::string_view format, const std::vector<DiagArg> &args) {
  std::string out;
  out.reserve(format.size() + 32);
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '{' && i + 2 < format.size() && format[i + 2] == '}' && format[i + 1] >= '0' &&
        format[i + 1] <= '9') {
      const auto index = static_cast<std::size_t>(format[i + 1] - '0');
      if (index < args.size())
        out += args[index].text();
      i += 2;
    } else {
      out += format[i];
    }
  }
  return out;
}

std::string kebabCase(std::string_view id) {
  std::string name(id);
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string nameOf(const Diagnostic &diagnostic) {
  return diagnostic.severity < Severity::Warning || diagnostic.id == clangId ? std::string() : kebabCase(diagnostic.id);
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool secondSet = c == 0xc2 && next >= 0x80 && next < 0xa0; // U+0080 to U+009F, in UTF-8
    if (secondSet || ((c < 0x20 || c == 0x7f) && kept.find(text[i]) == kept.npos))
      out += '?';
    else
      out += text[i];
    i += secondSet;
  }
  return out;
}

std::string plural(std::uint64_t count, std::string_view noun) {
  std::string out = std::to_string(count) + " " + std::string(noun);
  if (count != 1)
    out += 's';
  return out;
}

std::string enumerate(const std::vector<std::string> &words, std::string_view conjunction) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0)
      text += i + 1 == words.size() ? " " + std::string(conjunction) + " " : ", ";
    text += words[i];
  }
  return text;
}

namespace {

constexpr std::size_t maxExcerptBytes = 400;

} // namespace

std::string_view DiagnosticEngine::lineText(std::uint32_t file, std::uint32_t line) {
  const std::string &path = sources_->files()[file];
  auto it = files_.find(path);
  if (it == files_.end())
    it = files_.emplace(path, sourceText(*sources_, file, readable_)).first;
  std::string_view rest = it->second;
  for (std::uint32_t l = 1; l < line; ++l) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos)
      return {};
    rest.remove_prefix(end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r'))
    rest.remove_suffix(1);
  return rest.size() <= maxExcerptBytes ? rest : std::string_view();
}

ShownPlace DiagnosticEngine::resolve(const Where &where) {
  ShownPlace shown;
  const LocId id = where.loc != noLoc && sources_ ? sources_->firstPlace(where.loc) : noLoc;
  if (id == noLoc) {
    shown.file = where.text;
    return shown;
  }
  const Loc &loc = sources_->get(sources_->documentOf(id));
  shown.file = sources_->files()[loc.file];
  if (sources_->isElement(id)) {
    shown.file += ": " + sources_->elementPath(id);
    return shown;
  }
  shown.line = loc.line;
  shown.column = loc.column;
  shown.excerpt = lineText(loc.file, loc.line);
  return shown;
}

Diagnostic DiagnosticEngine::make(const DiagInfo &info, const Where &where, const std::vector<DiagArg> &args) {
  Diagnostic d;
  d.severity = severityOf(info);
  d.id = info.id;
  d.allowName = info.allowName;
  d.exitCode = info.exitCode;
  d.message = formatDiag(info.format, args);
  d.place = resolve(where);
  return d;
}

DiagBuilder DiagnosticEngine::report(const DiagInfo &info, const Where &where, const std::vector<DiagArg> &args) {
  Diagnostic d = make(info, where, args);
  std::string key(info.id);
  if (d.place.line == 0 && !where.alike.empty())
    key += '\0' + where.alike;
  else
    key += '\0' + d.place.file + ':' + std::to_string(d.place.line) + ':' + std::to_string(d.place.column);
  if (d.severity == Severity::Note || (d.place.line == 0 && where.alike.empty()))
    key += '\0' + d.message;
  if (const auto it = byPlace_.find(key); it != byPlace_.end()) {
    count(d.severity);
    ++(it->second ? it->second->similar : dropped_);
    if (it->second)
      (d.severity == Severity::Error ? foldedErrors_ : foldedWarnings_) += d.severity >= Severity::Warning;
    return {*this, nullptr};
  }
  Diagnostic *stored = keep(std::move(d));
  byPlace_.emplace(std::move(key), stored);
  if (!stored)
    return {*this, nullptr};

  if (where.loc != noLoc && sources_) {
    static constexpr DiagInfo calledFrom{"called_from", Severity::Note, "called from here"};
    const LocId place = sources_->firstPlace(where.loc);
    for (LocId caller = place == noLoc || sources_->isElement(place) ? noLoc : sources_->get(place).caller;
         caller != noLoc; caller = sources_->get(caller).caller)
      stored->notes.push_back(make(calledFrom, caller, {}));
  }
  return {*this, stored};
}

DiagBuilder &DiagBuilder::note(const DiagInfo &info, const Where &where, const std::vector<DiagArg> &args) {
  if (diagnostic_)
    diagnostic_->notes.push_back(engine_.make(info, where, args));
  return *this;
}

void DiagnosticEngine::add(Diagnostic diagnostic) {
  keep(std::move(diagnostic));
}

int DiagnosticEngine::exitCode() const {
  std::optional<int> code;
  for (const Diagnostic &d : kept_)
    if (d.severity == Severity::Error)
      code = code.value_or(d.exitCode) == d.exitCode ? d.exitCode : 1;
  return code.value_or(1);
}

void DiagnosticEngine::count(Severity severity) {
  (severity == Severity::Error ? numErrors_ : numWarnings_) += severity >= Severity::Warning;
}

Diagnostic *DiagnosticEngine::keep(Diagnostic diagnostic) {
  if (diagnostic.allowName.empty())
    diagnostic.severity = raised(diagnostic.severity);
  count(diagnostic.severity);
  if (diagnostic.severity == Severity::Error && errorLimit_ != 0 && keptErrors_ == errorLimit_) {
    ++dropped_;
    return nullptr;
  }
  keptErrors_ += diagnostic.severity == Severity::Error;
  kept_.push_back(std::move(diagnostic));
  return &kept_.back();
}

namespace {

/// The terminal's escape sequences, or empty strings.
struct Palette {
  std::string_view bold, reset, error, warning, note, caret;
};
constexpr Palette plainPalette{"", "", "", "", "", ""};
constexpr Palette colorPalette{"\x1b[1m", "\x1b[0m", "\x1b[1;31m", "\x1b[1;35m", "\x1b[1;36m", "\x1b[1;32m"};

void renderOne(std::string &out, const Diagnostic &d, const Palette &p) {
  out += p.bold;
  out += d.place.file.empty() ? "mscclc" : printable(d.place.file);
  if (d.place.line != 0) {
    out += ':' + std::to_string(d.place.line);
    if (d.place.column != 0)
      out += ':' + std::to_string(d.place.column);
  }
  out += ": ";
  out += p.reset;
  switch (d.severity) {
  case Severity::Error:
    out.append(p.error).append("error: ");
    break;
  case Severity::Warning:
    out.append(p.warning).append("warning: ");
    break;
  case Severity::Remark:
    out.append(p.note).append("remark: ");
    break;
  case Severity::Note:
    out.append(p.note).append("note: ");
    break;
  }
  out.append(p.reset).append(p.bold);
  out += printable(d.message, "\n\t");
  if (!d.allowName.empty())
    out.append(" [--allow=").append(d.allowName) += ']';
  if (const std::string name = nameOf(d); !name.empty())
    out.append(" [").append(name) += ']';
  out.append(p.reset) += '\n';
  if (!d.place.excerpt.empty()) {
    out += printable(d.place.excerpt, "\t") + '\n';
    if (d.place.column != 0 && d.place.column <= d.place.excerpt.size() + 1) {
      std::string pad;
      for (std::size_t i = 0; i + 1 < d.place.column; ++i) {
        const auto c = static_cast<unsigned char>(d.place.excerpt[i]);
        if (c == '\t')
          pad += '\t';
        else if ((c & 0xc0) != 0x80) // a whole UTF-8 sequence takes one column
          pad += ' ';
      }
      out.append(pad).append(p.caret) += '^';
      out.append(p.reset) += '\n';
    }
  }
  // Folds the call chain of a recursion into one note with a count.
  for (std::size_t i = 0; i < d.notes.size();) {
    std::size_t alike = i + 1;
    while (alike < d.notes.size() && d.notes[alike].message == d.notes[i].message &&
           d.notes[alike].place == d.notes[i].place)
      ++alike;
    renderOne(out, d.notes[i], p);
    if (alike - i > 1)
      out.append(p.note).append("note: ").append(p.reset) += "(" + plural(alike - i - 1, "more call") + " like it)\n";
    i = alike;
  }
  if (d.similar != 0)
    out.append(p.note).append("note: ").append(p.reset) += "and " + std::to_string(d.similar) + " more like it\n";
}

} // namespace

std::string DiagnosticEngine::render(bool color, bool warnings) const {
  const Palette &p = color ? colorPalette : plainPalette;
  std::string out;
  for (const Diagnostic &d : kept_)
    if (warnings || d.severity == Severity::Error)
      renderOne(out, d, p);
  const std::uint64_t errors = numErrors_ - foldedErrors_,
                      shownWarnings = warnings ? numWarnings_ - foldedWarnings_ : 0;
  if (errors + shownWarnings != 0) {
    if (shownWarnings != 0)
      out += plural(shownWarnings, "warning");
    if (errors != 0)
      out += (shownWarnings != 0 ? " and " : "") + plural(errors, "error");
    out += " generated";
    if (dropped_ != 0)
      out += " (" + plural(dropped_, "error") + " not shown; --max-errors=0 shows all)";
    out += ".\n";
  }
  return out;
}

} // namespace mscclc::ir
