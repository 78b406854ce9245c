// The one diagnostics engine. All parts of the compiler report through it, and no other code prints.
//
// Each folder lists its diagnostics in its own `diagnostics.def`, one line each:
//   DIAG(chunk_out_of_range, Error, "chunk {0}:{1} is out of range: the {2} buffer has {3} chunks")
// The second column is the severity. It also sets the exit code (`level` below).
// If a program may be right in spite of an error, its user can allow the error. Then the error has a name for --allow
// and a line for --help:
//   ALLOWABLE(input_still_sent, "unflushed-source", "a port may still read its source", "rank {0} may end its launch
//   …")
// declare_diagnostics.h makes the descriptors. Texts are in lower case without a full stop.
// A page beside the `.def` file, *diagnostics*.md, explains each warning and error; CONTRIBUTING.md has its form.
#pragma once

#include "ir/readable_files.h"
#include "ir/source_map.h"

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mscclc::ir {

enum class Severity : std::uint8_t { Note, Remark, Warning, Error };

/// A kind of diagnostic. `id` is stable (snake case); `format` holds {0}, {1}, … for arguments.
struct DiagInfo {
  std::string_view id;
  Severity severity;
  std::string_view format;
  std::string_view allowName =
      {};           ///< the name in --allow, which makes the error a warning; empty: it cannot be allowed
  int exitCode = 1; ///< exit code of a run that fails only with such errors
};

/// The second column of a `.def` file. An Error is about the input, and a UsageError about the command line.
namespace level {
struct Level {
  Severity severity;
  int exitCode = 1;
};
inline constexpr Level Note{Severity::Note}, Remark{Severity::Remark}, Warning{Severity::Warning},
    Error{Severity::Error}, UsageError{Severity::Error, 2};
} // namespace level

/// An argument of a diagnostic: any integer or string.
class DiagArg {
public:
  DiagArg(std::string_view text) : text_(text) {}
  DiagArg(const char *text) : text_(text) {}
  DiagArg(const std::string &text) : text_(text) {}
  DiagArg(char c) : text_(1, c) {}
  template <typename T>
    requires std::is_integral_v<T>
  DiagArg(T value) : text_(std::to_string(value)) {}
  const std::string &text() const { return text_; }

private:
  std::string text_;
};

/// The place of a diagnostic: a source location, or words ("plan.json: $.gpus[0]", "rank 1, block 0, operation 3").
struct Where {
  LocId loc = noLoc;
  std::string text;
  /// A key for a place in words. Similar places have the same key. Diagnostics of one kind with the same key are shown
  /// once, with a count.
  std::string alike;
  Where() = default;
  Where(LocId id) : loc(id) {}
  Where(std::string words) : text(std::move(words)) {}
  /// Shows the source location if there is one, else the words.
  Where(LocId id, std::string words) : loc(id), text(std::move(words)) {}
};

/// A place as it is shown: file, line and column from 1 (0: none), and the text of the line if it is available.
struct ShownPlace {
  std::string file; ///< the file; without a source, the words of the place
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string excerpt;
  friend bool operator==(const ShownPlace &, const ShownPlace &) = default;
};

/// A diagnostic as it is shown.
struct Diagnostic {
  Severity severity = Severity::Error;
  std::string_view id;
  std::string message;
  ShownPlace place;
  std::vector<Diagnostic> notes;
  std::uint64_t similar = 0;       ///< number of further diagnostics of this kind at this place
  std::string_view allowName = {}; ///< the name in --allow that allows or has allowed it; shown after the message
  int exitCode = 1;                ///< exit code of a run that fails only with errors of this kind
};

class DiagnosticEngine;

/// Adds notes to a diagnostic that was just reported. Drops the notes if the diagnostic was only counted.
///
/// A builder also converts to the result of a function that fails: false, no value, or the enumerator `Faulty`. So the
/// function can end with `return diagnostics.report(…)`.
class DiagBuilder {
public:
  DiagBuilder &note(const DiagInfo &info, const Where &where, const std::vector<DiagArg> &args = {});
  template <std::same_as<bool> T> operator T() const { return false; }
  template <typename T> operator std::optional<T>() const { return std::nullopt; }
  template <typename T>
    requires requires { T::Faulty; }
  operator T() const {
    return T::Faulty;
  }

private:
  friend class DiagnosticEngine;
  DiagBuilder(DiagnosticEngine &engine, Diagnostic *diagnostic) : engine_(engine), diagnostic_(diagnostic) {}
  DiagnosticEngine &engine_;
  Diagnostic *diagnostic_;
};

/// Names of diagnostics that are allowed. They are reported as warnings instead of errors.
using AllowedNames = std::set<std::string, std::less<>>;

/// Collects diagnostics. Several diagnostics of one kind at one place are kept as one, with a count.
class DiagnosticEngine {
public:
  /// Resolves the LocIds of later reports. `sources` must outlive them.
  void setSources(const SourceMap *sources) { sources_ = sources; }
  /// Sets the files whose lines later reports may show. Lines of other files are never shown, because the input may
  /// name any file. Without this call, no lines are shown. `readable` must outlive the reports.
  void setReadable(const ReadableFiles *readable) { readable_ = readable; }
  /// Sets the number of errors that are kept. Further errors are only counted. 0: no limit.
  void setErrorLimit(std::size_t limit) { errorLimit_ = limit; }
  /// Reports diagnostics with these names as warnings.
  void allow(AllowedNames names) { allowed_ = std::move(names); }
  /// Reports warnings as errors, except those that allow() made.
  void setWarningsAsErrors(bool areErrors) { warningsAreErrors_ = areErrors; }
  /// Returns the severity with which `info` is reported. Code that counts errors, or stops at one, asks here.
  Severity severityOf(const DiagInfo &info) const {
    return allowed_.contains(info.allowName) ? Severity::Warning : raised(info.severity);
  }

  /// Reports a diagnostic at `where`. Adds a note for each call site through which the location was reached.
  DiagBuilder report(const DiagInfo &info, const Where &where, const std::vector<DiagArg> &args = {});
  /// Adds a finished diagnostic, for example one of Clang's.
  void add(Diagnostic diagnostic);

  bool hasErrors() const { return numErrors_ != 0; }
  std::uint64_t numErrors() const { return numErrors_; }
  std::uint64_t numWarnings() const { return numWarnings_; }
  const std::deque<Diagnostic> &all() const { return kept_; }
  /// Returns the exit code of a run that fails: the exit code of its errors if all have the same one, else 1.
  int exitCode() const;

  /// Returns all diagnostics in Clang's form: `file:line:column: error: text [name]`, the line, a caret, notes. The
  /// number of errors at the end counts diagnostics that were folded into one as one.
  std::string render(bool color, bool warnings = true) const;

private:
  friend class DiagBuilder;
  Severity raised(Severity severity) const {
    return severity == Severity::Warning && warningsAreErrors_ ? Severity::Error : severity;
  }
  ShownPlace resolve(const Where &where);
  Diagnostic make(const DiagInfo &info, const Where &where, const std::vector<DiagArg> &args);
  /// Counts `diagnostic` and keeps it. Returns null for an error past the limit.
  Diagnostic *keep(Diagnostic diagnostic);
  void count(Severity severity);
  std::string_view lineText(std::uint32_t file, std::uint32_t line);

  const SourceMap *sources_ = nullptr;
  const ReadableFiles *readable_ = nullptr;
  std::size_t errorLimit_ = 10;
  bool warningsAreErrors_ = false;
  AllowedNames allowed_;
  std::uint64_t numErrors_ = 0, numWarnings_ = 0, keptErrors_ = 0, dropped_ = 0;
  std::uint64_t foldedErrors_ = 0,
                foldedWarnings_ = 0; ///< how many of these are counted in the `similar` of another diagnostic
  std::deque<Diagnostic> kept_;
  std::unordered_map<std::string, Diagnostic *> byPlace_;
  std::unordered_map<std::string, std::string> files_; // path -> text
};

/// The `id` of diagnostics whose texts come from Clang. They have no name of mscclc.
inline constexpr std::string_view clangId = "clang";

/// Returns the name of a warning or error for --explain-error: its `id` in kebab case. Returns an empty text for notes,
/// remarks and diagnostics of Clang.
std::string nameOf(const Diagnostic &diagnostic);
/// Returns `id` in kebab case.
std::string kebabCase(std::string_view id);

/// Replaces {0}, {1}, … in `format`.
std::string formatDiag(std::string_view format, const std::vector<DiagArg> &args);

/// Returns `text`, which comes from the input, in a form that is safe for a terminal: control characters except those
/// in `kept` become `?`.
std::string printable(std::string_view text, std::string_view kept = {});

/// Returns a count and its noun: "1 chunk", "3 chunks".
std::string plural(std::uint64_t count, std::string_view noun);

/// Returns a list in words: "a", "a and b", "a, b and c".
std::string enumerate(const std::vector<std::string> &words, std::string_view conjunction = "and");

} // namespace mscclc::ir
