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

/// Receives the diagnostics of Clang and of mscclc, converts them to ir::Diagnostics, and sends them to the parent
/// process.
class SourceReporter : public clang::DiagnosticConsumer {
public:
  /// `readable`: the files that the source may read. It may be set later.
  SourceReporter(ChildReport &report, std::string dslDirectory, const std::optional<ir::ReadableFiles> &readable)
      : report_(report), dslDirectory_(std::move(dslDirectory)), readable_(readable) {}

  void setSources(const clang::SourceManager *sources) { sources_ = sources; }

  /// Sets the folders in which the project searches for headers. The source may not be allowed to read all of them.
  void setProjectFolders(std::set<std::string> folders) { projectFolders_ = std::move(folders); }

  /// While muted, Clang's diagnostics are dropped.
  void setMuted(bool isMuted) { isMuted_ = isMuted; }

  struct Note {
    const ir::DiagInfo &info;
    clang::SourceLocation where;
    std::vector<ir::DiagArg> args = {};
  };
  /// Reports `info` at `where`, but only once at each place.
  void report(const ir::DiagInfo &info, clang::SourceLocation where, const std::vector<ir::DiagArg> &args = {},
              const std::vector<Note> &notes = {});
  /// Reports at a place from debug information.
  void report(const ir::DiagInfo &info, std::string_view file, unsigned line, unsigned column,
              const std::vector<ir::DiagArg> &args);
  /// Reports about `file` as a whole.
  void report(const ir::DiagInfo &info, std::string_view file, const std::vector<ir::DiagArg> &args);

  /// Stores the place that Clang has reached. If Clang crashes, the diagnostic gets this place.
  void reached(clang::SourceLocation where) { reached_ = where; }
  /// Returns the last stored place. The file name lives as long as the reporter and the source manager.
  FailurePlace placeReached() const;

  /// Sends the pending diagnostic, which may have waited for notes.
  void flush();
  /// Holds all diagnostics back until release().
  void hold() { isHolding_ = true; }
  /// Returns the diagnostics that are held back, in order. The caller may change them.
  std::vector<Held> &held() { return held_; }
  void release();
  /// Returns a diagnostic of mscclc as report() would report it.
  ir::Diagnostic shown(const ir::DiagInfo &info, clang::SourceLocation where,
                       const std::vector<ir::DiagArg> &args) const;
  bool hasErrors() const { return errors_ != 0; }
  bool hadFatalError() const { return fatal_; }
  /// True after an error for a constant that takes too many steps. Other constants might take as long, so they are not
  /// evaluated, and Clang's diagnostics about them are dropped.
  bool hadLongConstant() const { return hadLongConstant_; }
  /// Sets a function to call at the first constant that takes too many steps.
  void onLongConstant(std::function<void()> act) { onLongConstant_ = std::move(act); }

  /// Returns the owner of the code at `where`. Code from a macro belongs to the place where the macro is used.
  FileKind kindOf(clang::SourceLocation where) const;
  bool isUser(clang::SourceLocation where) const { return where.isValid() && kindOf(where) == FileKind::User; }
  /// Returns the kinds of all files that were read. The keys are the files' names in debug information.
  llvm::StringMap<FileKind> fileKinds() const;
  /// Returns the uses of macros with arguments in the user's files, sorted by their end.
  std::vector<MacroUse> macroUses() const;

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &info) override;

private:
  FileKind kindOf(clang::FileID file) const;
  /// Returns the kind of a header of the DSL; nothing for any other file.
  std::optional<FileKind> kindOfLibrary(llvm::StringRef file) const;
  /// Returns a file's name for the user. The DSL's headers get their real path.
  std::string shownName(llvm::StringRef file) const;
  ir::ShownPlace place(clang::SourceLocation where) const;
  std::string excerpt(clang::FileID file, unsigned offset) const;
  /// Returns true if an include of `name` at `where` finds a file that the source may not read.
  bool isOutside(const std::string &name, clang::SourceLocation where) const;
  void addIncludeNotes(ir::Diagnostic &diagnostic, clang::SourceLocation where) const;
  bool wantsNote(const clang::Diagnostic &note) const;
  /// Returns a diagnostic of Clang together with its arguments.
  Held heldOf(ir::Diagnostic shown, const clang::Diagnostic &info) const;
  /// Makes `diagnostic` the pending one. The notes that follow belong to it.
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
