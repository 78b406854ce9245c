#include "compiler/input.h"

#include "backend-json/read_plan.h"
#include "compiler/diagnostics.h"
#include "compiler/output.h"
#include "frontend/limits.h"
#include "ir/text.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#endif

#include <filesystem>

namespace mscclc::driver {

InputKind kindOfInput(const Options &options, std::string_view text) {
  if (options.inputKind != InputKind::Auto)
    return options.inputKind;
  const std::string ending = std::filesystem::path(options.input).extension().string();
  if (ending == ".json")
    return InputKind::Plan;
  if (ending == ".ir")
    return InputKind::IR;
  if (!ending.empty())
    return InputKind::Algorithm;
  // Standard input and names without an ending: the first word tells.
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '['))
    return InputKind::Plan;
  if (first != std::string_view::npos && text.substr(first).starts_with("mscclc.ir"))
    return InputKind::IR;
  return InputKind::Algorithm;
}

std::optional<ir::Program> loadProgram(const Options &options, ir::DiagnosticEngine &diags, StageTimes &times,
                                       InputKind &kind) {
  const std::string shownName = options.input == "-" ? "<stdin>" : options.input;
  std::string text, error;
  kind = kindOfInput(options, {});
  // Clang reads algorithms itself, unless they come through a pipe or only their text tells what they are.
  const bool named = options.inputKind != InputKind::Auto || std::filesystem::path(options.input).has_extension();
  if (kind != InputKind::Algorithm || options.input == "-" || !named) {
    // Of an endless stream no more is read than tells that it is no input.
    const auto goOn = [&](std::string_view read) {
      if (kindOfInput(options, read) != InputKind::Algorithm)
        return looksLikeText(read);
      return read.size() <= frontend::maxSourceBytes;
    };
    if (!readWhole(options.input, text, error, goOn)) {
      diags.report(diag::cannot_read, {}, {error});
      return std::nullopt;
    }
    kind = kindOfInput(options, text);
    times.lap("read");
  }

  if (kind != InputKind::Algorithm && (!options.parameters.empty() || !options.algorithm.empty())) {
    diags.report(diag::parameters_need_algorithm, shownName);
    return std::nullopt;
  }
  switch (kind) {
  case InputKind::Plan: {
    auto program = json::readPlan(text, shownName, diags);
    times.lap("read plan");
    return program;
  }
  case InputKind::IR: {
    auto program = ir::parse(text, shownName, diags);
    times.lap("parse IR");
    return program;
  }
  default:
    break;
  }
#ifdef MSCCLC_WITH_FRONTEND
  return evaluateAlgorithm(options, std::move(text), diags, times);
#else
  diags.report(diag::no_front_end, shownName);
  return std::nullopt;
#endif
}

} // namespace mscclc::driver
