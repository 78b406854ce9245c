#include "compiler/findings.h"

#include "compiler/driver.h"
#include "compiler/outputs/outputs.h"
#include "compiler/session.h"
#include "compiler/version.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace mscclc::driver {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string_view severityName(ir::Severity severity) {
  switch (severity) {
  case ir::Severity::Note:
    return "note";
  case ir::Severity::Remark:
    return "remark";
  case ir::Severity::Warning:
    return "warning";
  case ir::Severity::Error:
    return "error";
  }
  return {};
}

/// Returns the text, place and notes of a diagnostic. Omits fields without a value.
OrderedJson describe(const ir::Diagnostic &diagnostic) {
  OrderedJson out = {{"severity", severityName(diagnostic.severity)}};
  const auto add = [&out](const char *field, const auto &value) {
    if (value != std::decay_t<decltype(value)>{})
      out[field] = value;
  };
  add("name", ir::nameOf(diagnostic));
  out["message"] = diagnostic.message;
  const ir::ShownPlace &place = diagnostic.place;
  add(place.line != 0 ? "file" : "place", place.file);
  add("line", place.line);
  add("column", place.column);
  add("excerpt", place.excerpt);
  add("allow", std::string(diagnostic.allowName));
  add("similar", diagnostic.similar);
  if (!diagnostic.notes.empty()) {
    out["notes"] = OrderedJson::array();
    for (const ir::Diagnostic &note : diagnostic.notes)
      out["notes"].push_back(describe(note));
  }
  return out;
}

} // namespace

FindingsForm formAsked(const std::vector<std::string> &arguments) {
  const auto asks = [&](const std::string &word) {
    const auto option = std::ranges::find(arguments, "--diagnostics");
    return std::ranges::find(arguments, "--diagnostics=" + word) != arguments.end() ||
           (option != arguments.end() && option + 1 != arguments.end() && option[1] == word);
  };
  return asks("json") ? FindingsForm::Json : asks("sarif") ? FindingsForm::Sarif : FindingsForm::Text;
}

void Findings::add(const Options &options, const ir::DiagnosticEngine &diags, std::string_view report,
                   std::string_view subject) {
  if (form_ != FindingsForm::Text) {
    for (const ir::Diagnostic &diagnostic : diags.all())
      if (!options.quiet || diagnostic.severity == ir::Severity::Error)
        findings_.push_back({diagnostic, options.input, std::string(subject)});
    return;
  }
  const std::string text = Session::render(diags, options).append(report);
  if (!text.empty())
    std::cerr << (subject.empty() ? "" : std::string(subject) + ":\n") << text << std::flush;
}

void Findings::say(std::string_view text) const {
  if (form_ == FindingsForm::Text)
    std::cerr << text << std::flush;
}

void Findings::finish(int exitCode) const {
  if (form_ == FindingsForm::Text)
    return;
  const auto write = form_ == FindingsForm::Json ? findingsAsJson : findingsAsSarif;
  std::cerr << write(findings_, exitCode) << std::flush;
}

std::string findingsAsJson(const std::vector<Finding> &findings, int exitCode) {
  OrderedJson document = {
      {"tool", std::string("mscclc ") + version()}, {"exit", exitCode}, {"findings", OrderedJson::array()}};
  for (const Finding &finding : findings) {
    OrderedJson one = {{"input", finding.input}};
    if (!finding.subject.empty())
      one["parameters"] = finding.subject;
    one.update(describe(finding.diagnostic));
    document["findings"].push_back(std::move(one));
  }
  return textOf(document);
}

} // namespace mscclc::driver
