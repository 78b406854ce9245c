// Diagnostics at Clang's source locations: Clang's own, and the dialect's.
#pragma once

#include "frontend/clang/held.h"
#include "frontend/eval/child_report.h"
#include "frontend/eval/compiled_algorithm.h"
#include "frontend/eval/runtime_checks.h"
#include "frontend/trace/recorder.h"

#include "ir/diagnostics.h"
#include "ir/readable_files.h"

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::frontend {

/// Takes Clang's diagnostics, turns them and our own into ir::Diagnostics and hands them to the parent process.
class SourceReporter : public clang::DiagnosticConsumer {
public:
  /// `readable` is what the source may read, once that is set.
  SourceReporter(ChildReport &report, std::string dslDirectory, const std::optional<ir::ReadableFiles> &readable)
      : report_(report), dslDirectory_(std::move(dslDirectory)), readable_(readable) {}

  void setSources(const clang::SourceManager *sources) { sources_ = sources; }

  /// Folders where the project has headers looked for, though the source may not read them all.
  void setProjectFolders(std::set<std::string> folders) { projectFolders_ = std::move(folders); }

  /// While muted, what Clang has to say is dropped.
  void setMuted(bool isMuted) { isMuted_ = isMuted; }

  struct Note {
    const ir::DiagInfo &info;
    clang::SourceLocation where;
    std::vector<ir::DiagArg> args = {};
  };
  /// Reports at `where`; the same kind is reported once at each place.
  void report(const ir::DiagInfo &info, clang::SourceLocation where, const std::vector<ir::DiagArg> &args = {},
              const std::vector<Note> &notes = {});
  /// Reports at a place as debug information tells it.
  void report(const ir::DiagInfo &info, std::string_view file, unsigned line, unsigned column,
              const std::vector<ir::DiagArg> &args);
  /// Reports about `file` as a whole.
  void report(const ir::DiagInfo &info, std::string_view file, const std::vector<ir::DiagArg> &args);

  /// Notes how far reading has come, for a diagnostic in case Clang crashes.
  void reached(clang::SourceLocation where) { reached_ = where; }
  /// The place last reached. The file name lives as long as the reporter and the source manager.
  FailurePlace placeReached() const;

  /// Hands over a diagnostic that still waits for notes.
  void flush();
  /// From now on diagnostics are kept back, until release().
  void hold() { isHolding_ = true; }
  /// What is kept back, in order; it may be changed.
  std::vector<Held> &held() { return held_; }
  void release();
  /// A diagnostic of ours as it would be reported.
  ir::Diagnostic shown(const ir::DiagInfo &info, clang::SourceLocation where,
                       const std::vector<ir::DiagArg> &args) const;
  bool hasErrors() const { return errors_ != 0; }
  bool hadFatalError() const { return fatal_; }
  /// True after an error of a constant that takes too many steps. What other constants are worth is not found out then,
  /// as each may take as long, and what Clang would say of them is dropped.
  bool hadLongConstant() const { return hadLongConstant_; }
  /// Called when that comes to be so.
  void onLongConstant(std::function<void()> act) { onLongConstant_ = std::move(act); }

  /// Whose the code at `where` is; for a macro, where it is used.
  FileKind kindOf(clang::SourceLocation where) const;
  bool isUser(clang::SourceLocation where) const { return where.isValid() && kindOf(where) == FileKind::User; }
  /// Kinds of all files read so far, by the names that debug information gives them.
  llvm::StringMap<FileKind> fileKinds() const;
  /// The uses of macros with arguments in the user's files, sorted by their end.
  std::vector<MacroUse> macroUses() const;

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &info) override;

private:
  FileKind kindOf(clang::FileID file) const;
  /// The kind of one of the DSL's headers; nothing for any other file.
  std::optional<FileKind> kindOfLibrary(llvm::StringRef file) const;
  /// A file's name for the user, for whom the DSL's headers are where they are.
  std::string shownName(llvm::StringRef file) const;
  ir::ShownPlace place(clang::SourceLocation where) const;
  std::string excerpt(clang::FileID file, unsigned offset) const;
  /// Whether a file of this name, included at `where`, is looked for among those that the source may not read.
  bool isOutside(const std::string &name, clang::SourceLocation where) const;
  void addIncludeNotes(ir::Diagnostic &diagnostic, clang::SourceLocation where) const;
  bool wantsNote(const clang::Diagnostic &note) const;
  /// A diagnostic of Clang's with what it is about.
  Held heldOf(ir::Diagnostic shown, const clang::Diagnostic &info) const;
  /// Starts a diagnostic; notes go to it until the next one.
  void begin(Held diagnostic);

  ChildReport &report_;
  std::string dslDirectory_;
  const std::optional<ir::ReadableFiles> &readable_;
  std::set<std::string> projectFolders_;
  const clang::SourceManager *sources_ = nullptr;
  std::optional<Held> pending_;
  std::vector<Held> held_;
  std::set<std::pair<std::string_view, std::uint32_t>> reported_;
  std::size_t errors_ = 0, warnings_ = 0;
  clang::SourceLocation reached_;
  mutable std::string reachedFile_;
  bool fatal_ = false, dropNotes_ = false, isMuted_ = false, isHolding_ = false, hadLongConstant_ = false;
  std::function<void()> onLongConstant_;
  mutable llvm::DenseMap<clang::FileID, FileKind> kinds_;
};

} // namespace mscclc::frontend
