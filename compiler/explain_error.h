// --explain-error: the pages of diagnostics. Each diagnostic has a row in a `.def` file and a section in the page
// *diagnostics.md* of the same folder. The section has the diagnostic's name as heading, its meaning, an example and
// the remedy.
#pragma once

#include "ir/diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// A warning or error that mscclc may report.
struct DiagnosticKind {
  std::string_view room; ///< the folder of its `.def` file
  std::string_view id;
  ir::Severity severity = ir::Severity::Error;
  std::string_view format;    ///< text of the message; {0}, {1}, … are filled in when it is reported
  std::string_view allowName; ///< name that --allow takes; empty: the diagnostic cannot be allowed
};

/// Returns all kinds of warnings and errors, in the order of the folders. Two folders may use the same name.
const std::vector<DiagnosticKind> &allDiagnostics();

/// Returns the section about `kind` in *diagnostics.md*, without its heading; empty if there is none.
std::string_view explanationOf(const DiagnosticKind &kind);

/// Returns the page about the kinds named `name`, or about all kinds if `name` is `all`; empty if there is none. The
/// page is Markdown: name, severity, text, explanation. `name` may contain `_` in place of `-`.
std::string pageOf(std::string_view name);

/// Returns the names of all kinds, sorted, without repetitions.
std::vector<std::string> diagnosticNames();

} // namespace mscclc::driver
