// The findings of a run on standard error, in the form of --diagnostics.
#pragma once

#include "compiler/options.h"
#include "ir/diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// Returns the form that --diagnostics asks for. The rest of the command line may be wrong.
FindingsForm formAsked(const std::vector<std::string> &arguments);

/// A finding with the input and the parameters that it is about.
struct Finding {
  ir::Diagnostic diagnostic;
  std::string input;   ///< the input that was compiled: a path, or "-"
  std::string subject; ///< the combination of parameters in words; empty if the run has only one
};

/// Takes the findings of each compilation of a run. Text is written at once. JSON and SARIF are one document, which
/// finish() writes.
class Findings {
public:
  explicit Findings(FindingsForm form) : form_(form) {}

  /// Takes the findings of a compilation with `options`. `report`: text that is written after them, only if the form is
  /// text. `subject`: the combination of parameters in words, if the run compiles several combinations.
  void add(const Options &options, const ir::DiagnosticEngine &diags, std::string_view report = {},
           std::string_view subject = {});
  /// Writes `text` if the findings are written as text.
  void say(std::string_view text) const;
  /// Writes the document if the form is JSON or SARIF. `exitCode`: the exit code of the run.
  void finish(int exitCode) const;

private:
  FindingsForm form_;
  std::vector<Finding> findings_;
};

/// Returns the findings as a JSON document: `tool`, `exit` and `findings`. Lines and columns count from 1; a column is
/// in bytes. compiler/README.md has the fields.
std::string findingsAsJson(const std::vector<Finding> &findings, int exitCode);

/// Returns the findings as a document of SARIF 2.1.0 with one run. Each kind of finding is a rule with its explanation.
/// Columns count code points. A finding without a source line is placed at line 1 of the input; its place in words is a
/// logical location.
std::string findingsAsSarif(const std::vector<Finding> &findings, int exitCode);

} // namespace mscclc::driver
