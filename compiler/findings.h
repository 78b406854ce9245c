// The findings of a run on standard error, in the form of --diagnostics.
#pragma once

#include "compiler/options.h"
#include "ir/diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// Returns the form of --diagnostics on a command line, which may be wrong elsewhere.
FindingsForm formAsked(const std::vector<std::string> &arguments);

/// A finding, and what it is about.
struct Finding {
  ir::Diagnostic diagnostic;
  std::string input;   ///< the input that was compiled: a path, or "-"
  std::string subject; ///< the combination of parameters in words; empty if there is one
};

/// Takes the findings of each compilation of a run. Text is written at once. JSON and SARIF are one document, which
/// finish() writes.
class Findings {
public:
  explicit Findings(FindingsForm form) : form_(form) {}

  /// Takes the findings of a compilation with `options`. `report`: text that follows them, in the form of text only.
  /// `subject`: words for what they are about, if the run compiles several things.
  void add(const Options &options, const ir::DiagnosticEngine &diags, std::string_view report = {},
           std::string_view subject = {});
  /// Writes `text`, in the form of text only.
  void say(std::string_view text) const;
  /// Writes the document of the other forms. `exitCode`: that of the run.
  void finish(int exitCode) const;

private:
  FindingsForm form_;
  std::vector<Finding> findings_;
};

/// Returns the findings as a JSON document: `tool`, `exit` and `findings`. Lines and columns count from 1; a column is
/// in bytes. compiler/README.md has the fields.
std::string findingsAsJson(const std::vector<Finding> &findings, int exitCode);

/// Returns the findings as a document of SARIF 2.1.0 with one run. Each kind that was found is a rule with its
/// explanation. Columns are in code points. A finding without a line in a source is at line 1 of the input, and has its
/// place in words as a logical location.
std::string findingsAsSarif(const std::vector<Finding> &findings, int exitCode);

} // namespace mscclc::driver
