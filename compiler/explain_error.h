// --explain-error: the pages of diagnostics. A diagnostic has a row in a `.def` file, and a section in a page beside
// it, *diagnostics*.md, headed by its name: meaning, an example, and how to mend it.
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
  std::string_view format;    ///< its text, with {0}, {1}, … for what differs
  std::string_view allowName; ///< the name in --allow; empty: it cannot be allowed
};

/// Returns all kinds in the order of the rooms. Two rooms may have one of the same name.
const std::vector<DiagnosticKind> &allDiagnostics();

/// Returns the section of the page beside the `.def` file, without its heading; empty if there is none.
std::string_view explanationOf(const DiagnosticKind &kind);

/// Returns the page of the kinds named `name`, or of all kinds if `name` is `all`; empty if there is none. The page is
/// Markdown: name, severity, text, explanation. A name may have underscores, too.
std::string pageOf(std::string_view name);

/// Returns the names of all kinds, sorted, each once.
std::vector<std::string> diagnosticNames();

} // namespace mscclc::driver
