#include "compiler/algorithm.h"

#include "compiler/diagnostics.h"
#include "compiler/driver.h"
#include "compiler/output.h"
#include "frontend/frontend.h"
#include "frontend/limits.h"

#include <iostream>

namespace mscclc::driver {
namespace {

frontend::FrontendOptions frontendOptions(const Options &options) {
  frontend::FrontendOptions f;
  f.inputPath = options.input;
  f.clangArgs = options.clangArgs;
  f.algorithm = options.algorithm;
  f.parameters = options.parameters;
  f.timeoutSeconds = options.traceTimeout;
  f.memoryBytes = options.traceMemory;
  return f;
}

/// Name, doc comment and a line for each parameter: setting, type, enumerators.
std::string describe(const frontend::AlgorithmInfo &algorithm) {
  std::string out = algorithm.name + "\n";
  std::string_view doc = algorithm.doc;
  while (!doc.empty()) {
    const auto end = doc.find('\n');
    out += "  " + std::string(doc.substr(0, end)) + "\n";
    doc = end == std::string_view::npos ? std::string_view() : doc.substr(end + 1);
  }
  std::size_t width = 0;
  for (const auto &p : algorithm.parameters)
    width = std::max(width, p.name.size() + p.defaultValue.size() + 1);
  for (const auto &p : algorithm.parameters) {
    const std::string setting = p.name + "=" + p.defaultValue;
    out += "  -P " + setting + std::string(width - setting.size() + 2, ' ') + p.type;
    for (std::size_t i = 0; i < p.enumerators.size(); ++i)
      out += (i == 0 ? ": " : ", ") + p.enumerators[i];
    out += "\n";
  }
  return out;
}

} // namespace

std::optional<ir::Program> evaluateAlgorithm(const Options &options, std::string text, ir::DiagnosticEngine &diags,
                                             StageTimes &times) {
  frontend::FrontendOptions f = frontendOptions(options);
  if (options.input == "-" || !text.empty())
    f.stdinText = std::move(text);
  frontend::FrontendTimes t;
  auto program = frontend::compileAlgorithm(f, diags, &t);
  times.add("start", t.start);
  times.add("parse", t.parse);
  times.add("check", t.check);
  times.add("generate", t.generate);
  times.add("link", t.link);
  times.add("run", t.run);
  times.add("build", t.build);
  return program;
}

bool listAlgorithms(const Options &options, ir::DiagnosticEngine &diags) {
  frontend::FrontendOptions f = frontendOptions(options);
  if (options.input == "-") {
    std::string error;
    const auto goOn = [](std::string_view read) { return read.size() <= frontend::maxSourceBytes; };
    if (!readWhole("-", f.stdinText.emplace(), error, goOn)) {
      diags.report(diag::cannot_read, {}, {error});
      return false;
    }
  }
  const auto algorithms = frontend::listAlgorithms(f, diags);
  if (!algorithms)
    return false;
  OutputFile output(options.output);
  if (output.error().empty()) {
    for (const auto &algorithm : *algorithms)
      output.stream() << (&algorithm == algorithms->data() ? "" : "\n") << describe(algorithm);
    if (output.commit())
      return true;
  }
  diags.report(diag::cannot_write, {}, {output.error()});
  return false;
}

int precompileDsl(const std::string &directory) {
  ir::DiagnosticEngine diags;
  const bool isDone = frontend::precompileDsl({}, directory, diags);
  std::cerr << diags.render(/*color=*/false) << std::flush;
  return isDone ? exitDone : exitInputWrong;
}

} // namespace mscclc::driver
