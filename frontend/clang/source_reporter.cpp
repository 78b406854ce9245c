#include "frontend/clang/source_reporter.h"

#include "frontend/clang/source_files.h"
#include "frontend/diagnostics.h"

#include "clang/AST/Decl.h"
#include "clang/Basic/DiagnosticAST.h"
#include "clang/Basic/DiagnosticDriver.h"
#include "clang/Basic/DiagnosticFrontend.h"
#include "clang/Basic/DiagnosticLex.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/FileManager.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace clang;

namespace mscclc::frontend {
namespace {

constexpr std::size_t maxErrors = 1000, maxWarnings = 50;
constexpr std::size_t maxExcerpt = 400, maxMessage = 2000;

/// Shortens a long message. A message that quotes the source may be as long as the source.
std::string shortened(std::string text) {
  if (text.size() > maxMessage) {
    std::size_t end = maxMessage;
    while ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      --end;
    text.resize(end);
    text += "…";
  }
  return text;
}

/// Returns a diagnostic without its place.
ir::Diagnostic unplaced(const ir::DiagInfo &info, const std::vector<ir::DiagArg> &args = {}) {
  return {.severity = info.severity, .id = info.id, .message = ir::formatDiag(info.format, args)};
}

/// Replaces all bytes of the line that a terminal would not show as they are. Columns stay the same.
std::string printable(llvm::StringRef line) {
  std::string out(line);
  for (std::size_t i = 0; i < out.size();) {
    const auto lead = static_cast<unsigned char>(out[i]);
    std::size_t length = lead < 0x80                   ? 1
                         : lead >= 0xc2 && lead < 0xe0 ? 2
                         : lead >= 0xe0 && lead < 0xf0 ? 3
                         : lead >= 0xf0 && lead < 0xf5 ? 4
                                                       : 0;
    if (length > out.size() - i)
      length = 0;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(out[i + k]) & 0xc0) != 0x80)
        length = 0;
    if (length == 0 || (length == 1 && (lead < 0x20 || lead == 0x7f) && lead != '\t')) {
      out[i] = '?';
      length = 1;
    }
    i += length;
  }
  return out;
}

/// Returns argument `i` if it is text or a name.
std::string nameOf(const Diagnostic &info, unsigned i) {
  switch (info.getArgKind(i)) {
  case DiagnosticsEngine::ak_std_string:
    return info.getArgStdStr(i);
  case DiagnosticsEngine::ak_c_string:
    return info.getArgCStr(i);
  case DiagnosticsEngine::ak_identifierinfo:
    return info.getArgIdentifier(i) ? info.getArgIdentifier(i)->getName().str() : std::string();
  default:
    return DeclarationName::getFromOpaqueInteger(info.getRawArg(i)).getAsString();
  }
}

} // namespace

std::string SourceReporter::excerpt(FileID file, unsigned offset) const {
  bool invalid = false;
  const llvm::StringRef text = sources_->getBufferData(file, &invalid);
  if (invalid || offset > text.size())
    return {};
  const std::size_t lineStart = text.take_front(offset).rfind('\n') + 1; // npos + 1 is 0
  llvm::StringRef line = text.substr(lineStart);
  line = line.substr(0, line.find('\n'));
  line.consume_back("\r");
  return line.size() > maxExcerpt ? std::string() : printable(line);
}

std::string SourceReporter::shownName(llvm::StringRef file) const {
  return printable(isBelow(file, dslMount) ? dslDirectory_ + file.substr(std::strlen(dslMount)).str() : file.str());
}

ir::ShownPlace SourceReporter::place(SourceLocation where) const {
  ir::ShownPlace shown;
  if (!sources_ || where.isInvalid())
    return shown;
  const SourceLocation loc = sources_->getFileLoc(where);
  const PresumedLoc presumed = sources_->getPresumedLoc(loc);
  if (presumed.isInvalid())
    return shown;
  shown.file = shownName(presumed.getFilename());
  shown.line = presumed.getLine();
  shown.column = presumed.getColumn();
  const auto [file, offset] = sources_->getDecomposedLoc(loc);
  shown.excerpt = excerpt(file, offset);
  return shown;
}

bool SourceReporter::isOutside(const std::string &name, SourceLocation where) const {
  if (!readable_ || !sources_)
    return false;
  const OptionalFileEntryRef from = sources_->getFileEntryRefForID(sources_->getFileID(sources_->getFileLoc(where)));
  return !readable_->holdsEverywhere(from ? shownName(from->getDir().getName()) : ".", name) ||
         std::ranges::any_of(projectFolders_,
                             [&](const std::string &folder) { return !readable_->holdsEverywhere(folder, name); });
}

void SourceReporter::addIncludeNotes(ir::Diagnostic &diagnostic, SourceLocation where) const {
  if (!sources_ || where.isInvalid())
    return;
  SourceLocation loc = sources_->getFileLoc(where);
  for (int depth = 0; depth < 5; ++depth) {
    loc = sources_->getIncludeLoc(sources_->getFileID(loc));
    if (loc.isInvalid())
      return;
    ir::Diagnostic note = unplaced(diag::included_from);
    note.place = place(loc);
    if (note.place.line != 0)
      diagnostic.notes.push_back(std::move(note));
  }
}

FailurePlace SourceReporter::placeReached() const {
  if (!sources_ || reached_.isInvalid())
    return {};
  const PresumedLoc at = sources_->getPresumedLoc(sources_->getFileLoc(reached_));
  if (at.isInvalid())
    return {};
  const char *file = at.getFilename();
  if (isBelow(file, dslMount)) { // other names are not copied, because Clang may have crashed
    reachedFile_ = shownName(file);
    file = reachedFile_.c_str();
  }
  return {file, at.getLine(), at.getColumn()};
}

void SourceReporter::flush() {
  if (pending_ && isHolding_)
    held_.push_back(std::move(*pending_));
  else if (pending_)
    report_.add(pending_->shown);
  pending_.reset();
}

void SourceReporter::release() {
  flush();
  isHolding_ = false;
  for (const Held &held : held_)
    report_.add(held.shown);
  held_.clear();
}

void SourceReporter::begin(Held diagnostic) {
  flush();
  std::size_t &count = diagnostic.isError() ? errors_ : warnings_;
  const std::size_t limit = diagnostic.isError() ? maxErrors : maxWarnings;
  dropNotes_ = ++count > limit;
  diagnostic.shown.message = shortened(std::move(diagnostic.shown.message));
  if (!dropNotes_)
    pending_ = std::move(diagnostic);
}

ir::Diagnostic SourceReporter::shown(const ir::DiagInfo &info, SourceLocation where,
                                     const std::vector<ir::DiagArg> &args) const {
  ir::Diagnostic d = unplaced(info, args);
  d.place = place(where);
  addIncludeNotes(d, where);
  return d;
}

void SourceReporter::report(const ir::DiagInfo &info, SourceLocation where, const std::vector<ir::DiagArg> &args,
                            const std::vector<Note> &notes) {
  const SourceLocation loc = sources_ ? sources_->getFileLoc(where) : where;
  if (!reported_.emplace(info.id, loc.getRawEncoding()).second)
    return;
  ir::Diagnostic d = shown(info, loc, args);
  for (const Note &note : notes) {
    d.notes.push_back(unplaced(note.info, note.args));
    d.notes.back().place = place(note.where);
  }
  begin({std::move(d), 0, loc});
  flush();
}

void SourceReporter::report(const ir::DiagInfo &info, std::string_view file, unsigned line, unsigned column,
                            const std::vector<ir::DiagArg> &args) {
  ir::Diagnostic d = unplaced(info, args);
  d.place.file = file;
  d.place.line = line;
  d.place.column = column;
  for (unsigned i = 0; i < sources_->local_sloc_entry_size(); ++i) {
    const SrcMgr::SLocEntry &entry = sources_->getLocalSLocEntry(i);
    if (!entry.isFile() || sources_->getPresumedLoc(SourceLocation::getFromRawEncoding(entry.getOffset())).isInvalid())
      continue;
    const SourceLocation start = SourceLocation::getFromRawEncoding(entry.getOffset());
    if (file != sources_->getPresumedLoc(start).getFilename())
      continue;
    const SourceLocation at = sources_->translateLineCol(sources_->getFileID(start), line, std::max(column, 1u));
    if (at.isValid())
      d.place.excerpt = place(at).excerpt;
    break;
  }
  begin({std::move(d)});
  flush();
}

void SourceReporter::report(const ir::DiagInfo &info, std::string_view file, const std::vector<ir::DiagArg> &args) {
  ir::Diagnostic d = unplaced(info, args);
  d.place.file = printable(llvm::StringRef(file));
  begin({std::move(d)});
  flush();
}

std::optional<FileKind> SourceReporter::kindOfLibrary(llvm::StringRef file) const {
  if (!isBelow(file, dslMount) && !isBelow(file, dslDirectory_))
    return std::nullopt;
  // An error inside mscclc::List belongs to the line that calls it, as in library code.
  return file.ends_with("/list.hpp") ? FileKind::System : FileKind::Dsl;
}

FileKind SourceReporter::kindOf(FileID file) const {
  const auto known = kinds_.find(file);
  if (known != kinds_.end())
    return known->second;
  FileKind kind = FileKind::User;
  bool invalid = false;
  const SrcMgr::SLocEntry &entry = sources_->getSLocEntry(file, &invalid);
  if (!invalid && entry.isFile() && file != sources_->getMainFileID()) {
    const OptionalFileEntryRef ref = sources_->getFileEntryRefForID(file);
    if (const auto library = ref ? kindOfLibrary(ref->getName()) : std::nullopt)
      kind = *library;
    // The kind depends on the way in which the file was found. Line markers and pragmas in the file do not change it.
    else if (SrcMgr::isSystem(entry.getFile().getFileCharacteristic()) || !ref)
      kind = FileKind::System;
  }
  kinds_.insert({file, kind});
  return kind;
}

FileKind SourceReporter::kindOf(SourceLocation where) const {
  if (where.isInvalid())
    return FileKind::System;
  return kindOf(sources_->getFileID(sources_->getExpansionLoc(where)));
}

llvm::StringMap<FileKind> SourceReporter::fileKinds() const {
  llvm::StringMap<FileKind> kinds;
  for (unsigned i = 0; i < sources_->local_sloc_entry_size(); ++i) {
    const SrcMgr::SLocEntry &entry = sources_->getLocalSLocEntry(i);
    if (!entry.isFile())
      continue;
    const SourceLocation start = SourceLocation::getFromRawEncoding(entry.getOffset());
    const FileID file = sources_->getFileID(start);
    const FileKind kind = kindOf(file);
    if (const OptionalFileEntryRef ref = sources_->getFileEntryRefForID(file))
      kinds.insert({ref->getName(), kind});
    const PresumedLoc presumed = sources_->getPresumedLoc(start);
    if (presumed.isValid())
      kinds.insert({presumed.getFilename(), kind});
  }
  // All other files were precompiled with the DSL: its own headers, and headers of the library that they include.
  for (auto file = sources_->fileinfo_begin(); file != sources_->fileinfo_end(); ++file)
    kinds.insert({file->first.getName(), kindOfLibrary(file->first.getName()).value_or(FileKind::System)});
  return kinds;
}

std::vector<MacroUse> SourceReporter::macroUses() const {
  std::vector<MacroUse> uses;
  for (unsigned i = 0; i < sources_->local_sloc_entry_size(); ++i) {
    const SrcMgr::SLocEntry &entry = sources_->getLocalSLocEntry(i);
    if (!entry.isExpansion() || !entry.getExpansion().isFunctionMacroExpansion())
      continue;
    const SourceRange range = entry.getExpansion().getExpansionLocRange().getAsRange();
    if (!range.getBegin().isFileID() || !range.getEnd().isFileID() || !isUser(range.getBegin()))
      continue;
    const PresumedLoc name = sources_->getPresumedLoc(range.getBegin());
    const PresumedLoc end = sources_->getPresumedLoc(range.getEnd());
    if (name.isValid() && end.isValid())
      uses.push_back({end.getLine(), end.getColumn(), name.getLine(), name.getColumn(), end.getFilename()});
  }
  std::ranges::sort(uses, {}, [](const MacroUse &use) { return std::pair(use.endLine, use.endColumn); });
  return uses;
}

/// Returns true if the pending diagnostic can take another note. It takes only two notes about candidates of a call.
bool SourceReporter::wantsNote(const Diagnostic &note) const {
  const bool isCandidate = !sources_ || !note.hasSourceManager() || !isUser(note.getLocation());
  return pending_->shown.notes.size() < (isCandidate ? 2 : 12);
}

Held SourceReporter::heldOf(ir::Diagnostic shown, const Diagnostic &info) const {
  Held held{std::move(shown), info.getID(), info.getLocation()};
  for (unsigned i = 0, name = 0; i < info.getNumArgs(); ++i)
    switch (info.getArgKind(i)) {
    case DiagnosticsEngine::ak_std_string:
    case DiagnosticsEngine::ak_c_string:
    case DiagnosticsEngine::ak_identifierinfo:
    case DiagnosticsEngine::ak_declarationname:
      if (name < held.names.size())
        held.names[name++] = nameOf(info, i);
      break;
    case DiagnosticsEngine::ak_nameddecl:
      if (name < held.names.size())
        held.names[name++] = reinterpret_cast<const NamedDecl *>(info.getRawArg(i))->getNameAsString();
      break;
    case DiagnosticsEngine::ak_declcontext:
      held.owner = reinterpret_cast<const DeclContext *>(info.getRawArg(i));
      break;
    case DiagnosticsEngine::ak_qualtype:
      if (held.type.isNull())
        held.type = QualType::getFromOpaquePtr(reinterpret_cast<void *>(info.getRawArg(i)));
      break;
    default: // numbers and the like
      break;
    }
  return held;
}

void SourceReporter::HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  if (isMuted_ || level == DiagnosticsEngine::Ignored || level == DiagnosticsEngine::Remark)
    return;
  if (level == DiagnosticsEngine::Fatal)
    fatal_ = true;
  if (info.getID() == clang::diag::fatal_too_many_errors)
    return; // the engine prints how many errors are not shown

  if (hadLongConstant_ && level != DiagnosticsEngine::Note) {
    flush();
    dropNotes_ = true;
    return;
  }
  if (info.getID() == clang::diag::note_constexpr_step_limit_exceeded && pending_ && pending_->isError() &&
      !std::exchange(hadLongConstant_, true)) {
    fatal_ = true;
    if (onLongConstant_)
      onLongConstant_();
  }

  // If Clang refuses something that the dialect also refuses, the dialect's text says what to write instead.
  switch (info.getID()) {
  case clang::diag::err_exceptions_disabled:
    report(diag::refused_exception, info.getLocation());
    return;
  case clang::diag::warn_pp_date_time:
    report(diag::refused_date, info.getLocation());
    return;
  case clang::diag::err_drv_no_such_file: // the source itself is there
  case clang::diag::err_fe_expected_compiler_job:
    report(diag::bad_clang_arguments, "", {"they name other inputs, or ask for something else than compiling"});
    return;
  case clang::diag::err_unsupported_bom: {
    // A file that is not text has no line to show. Asking for the line would report this error again.
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    begin({{.severity = ir::Severity::Error, .id = ir::clangId, .message = printable(text)}});
    fatal_ = true;
    return;
  }
  case clang::diag::err_implied_coroutine_type_not_found:
    report(diag::refused_coroutine, info.getLocation());
    return;
  case clang::diag::err_pp_file_not_found:
    if (isOutside(info.getArgStdStr(0), info.getLocation())) {
      report(diag::not_readable, info.getLocation(), {printable(info.getArgStdStr(0))});
      return;
    }
    if (kindOfLibrary(
            sources_->getFilename(info.getLocation()))) { // a header of the language includes the missing file
      report(diag::no_cpp_library, "", {printable(info.getArgStdStr(0))});
      return;
    }
    break;
  case clang::diag::err_cannot_open_file:
    // PlainFiles refused to open the file.
    if (info.getArgStdStr(1) == std::make_error_code(std::errc::operation_not_supported).message()) {
      report(diag::not_a_regular_file, info.getLocation(), {printable(info.getArgStdStr(0))});
      return;
    }
    break;
  default:
    break;
  }

  llvm::SmallString<256> text;
  info.FormatDiagnostic(text);
  ir::Diagnostic d;
  // Until a source is opened, Clang's messages are about its arguments.
  d.id = sources_ ? ir::clangId : diag::bad_clang_arguments.id;
  d.message = printable(text);
  if (info.hasSourceManager() && sources_)
    d.place = place(info.getLocation());
  if (level == DiagnosticsEngine::Note) {
    d.severity = ir::Severity::Note;
    if (llvm::StringRef(d.message).ends_with("to silence this warning"))
      return; // another note says how to correct the source
    if (pending_ && !dropNotes_ && wantsNote(info))
      pending_->shown.notes.push_back(std::move(d));
    return;
  }
  d.severity = level == DiagnosticsEngine::Warning ? ir::Severity::Warning : ir::Severity::Error;
  if (d.severity == ir::Severity::Warning) {
    const llvm::StringRef flag = info.getDiags()->getDiagnosticIDs()->getWarningOptionForDiag(info.getID());
    if (!flag.empty())
      d.message += " [-W" + flag.str() + "]";
  }
  if (info.hasSourceManager() && sources_)
    addIncludeNotes(d, info.getLocation());
  begin(sources_ ? heldOf(std::move(d), info) : Held{std::move(d)});
}

} // namespace mscclc::frontend
