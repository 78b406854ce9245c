#include "compiler/algorithm.h"

#include "compiler/driver.h"
#include "frontend/frontend.h"

#include <algorithm>
#include <iostream>

namespace mscclc::driver {
namespace {

frontend::FrontendOptions frontendOptions(const Options &options, std::optional<std::string> text) {
  frontend::FrontendOptions f;
  f.inputPath = options.input;
  f.stdinText = std::move(text);
  f.clangArgs = options.clangArgs;
  f.allowedFolders = options.allowedFolders;
  f.algorithm = options.algorithm;
  f.parameters = options.parameters;
  f.timeoutSeconds = options.traceTimeout;
  f.memoryBytes = options.traceMemory;
  return f;
}

/// Returns the algorithm's name, its doc comment, and a line for each parameter: its setting, type and enumerators.
std::string describeOne(const frontend::AlgorithmInfo &algorithm) {
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

std::optional<ir::Program> evaluateAlgorithm(const Options &options, std::optional<std::string> text,
                                             ir::DiagnosticEngine &diags, StageTimes &times,
                                             std::vector<std::string> &files) {
  frontend::FrontendTimes t;
  auto program = frontend::compileAlgorithm(frontendOptions(options, std::move(text)), diags, &t, &files);
  times.add("start", t.start);
  times.add("parse", t.parse);
  times.add("check", t.check);
  times.add("generate", t.generate);
  times.add("link", t.link);
  times.add("run", t.run);
  times.add("build", t.build);
  return program;
}

std::optional<frontend::AlgorithmInfo> findAlgorithm(const Options &options, std::optional<std::string> text,
                                                     ir::DiagnosticEngine &diags) {
  const auto algorithms = listAlgorithms(options, std::move(text), diags);
  if (!algorithms)
    return std::nullopt;
  if (options.algorithm.empty())
    return algorithms->size() == 1 ? std::optional(algorithms->front()) : std::nullopt;
  const auto it = std::ranges::find(*algorithms, options.algorithm, &frontend::AlgorithmInfo::name);
  return it == algorithms->end() ? std::nullopt : std::optional(*it);
}

std::optional<std::vector<frontend::AlgorithmInfo>>
listAlgorithms(const Options &options, std::optional<std::string> text, ir::DiagnosticEngine &diags) {
  return frontend::listAlgorithms(frontendOptions(options, std::move(text)), diags);
}

std::string describe(const std::vector<frontend::AlgorithmInfo> &algorithms) {
  std::string out;
  for (const auto &algorithm : algorithms)
    out += (out.empty() ? "" : "\n") + describeOne(algorithm);
  return ir::printable(out, "\n\t");
}

int precompileDsl(const std::string &directory) {
  ir::DiagnosticEngine diags;
  const bool isDone = frontend::precompileDsl({}, directory, diags);
  std::cerr << diags.render(/*color=*/false) << std::flush;
  return isDone ? exitDone : exitInputWrong;
}

} // namespace mscclc::driver
