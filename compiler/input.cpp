#include "compiler/input.h"

#include "backend-json/read_plan.h"
#include "compiler/diagnostics.h"
#include "compiler/files.h"
#include "compiler/outputs/dsl/source.h"
#include "compiler/outputs/outputs.h"
#include "frontend/limits.h"
#include "frontend/xml/read_xml.h"
#include "ir/text.h"
#include "passes/pipeline.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#endif

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace mscclc::driver {

namespace {

constexpr std::string_view algorithmEndings[] = {".cpp", ".cc",  ".cxx", ".c++", ".c",
                                                 ".cu",  ".hpp", ".hh",  ".hxx", ".h"};

/// Returns the kind that the ending of the file's name stands for; Auto if the ending is unknown.
InputKind kindOfName(const std::string &path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char &c : ending)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (ending == ".json")
    return InputKind::Plan;
  if (ending == ".ir")
    return InputKind::IR;
  if (ending == ".xml")
    return InputKind::Xml;
  return std::ranges::find(algorithmEndings, ending) != std::end(algorithmEndings) ? InputKind::Algorithm
                                                                                   : InputKind::Auto;
}

/// Returns the kind of input whose text begins with `text`. Skips a byte order mark, blanks and `//` comments. Text
/// that begins with `[` is treated as a plan (whose reader reports the error), except `[[`, which begins a C++
/// attribute.
InputKind kindOfText(std::string_view text) {
  constexpr std::size_t most = std::size_t{1} << 16; // enough to find the kind
  text = ir::withoutByteOrderMark(text).substr(0, most);
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with("//"))
      break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  if (text.starts_with('{') || (text.starts_with('[') && !text.starts_with("[[")))
    return InputKind::Plan;
  if (text.starts_with('<'))
    return InputKind::Xml;
  return text.starts_with(ir::textHeader) ? InputKind::IR : InputKind::Algorithm;
}

/// Returns the level in the first comment of a source that --emit-dsl wrote: `//   mscclc source.cpp -O2 -o plan.json`.
std::optional<int> levelOf(std::istream &source) {
  std::string first, command;
  if (!std::getline(source, first) || !std::getline(source, command) || !first.starts_with(dsl::writtenBy))
    return std::nullopt;
  const std::size_t at = command.find(" -O");
  if (at == command.npos || at + 3 >= command.size())
    return std::nullopt;
  const int level = command[at + 3] - '0';
  return level >= 0 && level <= passes::maxOptLevel ? std::optional(level) : std::nullopt;
}

std::optional<int> levelOfFile(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) // a pipe can only be read once
    return std::nullopt;
  std::ifstream file(path);
  return levelOf(file);
}

} // namespace

std::optional<Input> readInput(const Options &options, ir::DiagnosticEngine &diags) {
  if (!options.synthesize.empty())
    return Input{"--synthesize " + options.synthesize, InputKind::Synthesis, std::nullopt, std::nullopt};
  const bool standardInput = options.input == "-";
  Input input{standardInput ? "<stdin>" : options.input, options.inputKind, std::nullopt, std::nullopt};
  if (input.kind == InputKind::Auto && !standardInput)
    input.kind = kindOfName(options.input);
  if (input.kind == InputKind::Auto && std::filesystem::path(options.input).extension() == ".py")
    return diags.report(diag::python_input, {}, {options.input});
  if (input.kind == InputKind::Algorithm && !standardInput) {
    input.level = levelOfFile(options.input);
    return input;
  }

  const auto kindSoFar = [&, known = input.kind](std::string_view read) {
    return known != InputKind::Auto ? known : kindOfText(read);
  };
  // Returns true while more must be read. Of an endless stream, only as much is read as is needed to refuse it.
  const auto goOn = [&](std::string_view read) {
    return kindSoFar(read) == InputKind::Algorithm ? read.size() <= frontend::maxSourceBytes : looksLikeText(read);
  };
  std::string text, error;
  if (!readWhole(options.input, text, error, goOn))
    return diags.report(diag::cannot_read, {}, {error});
  // Empty input may mean that the program before the pipe has failed, as in `python algo.py | mscclc -`.
  if (input.kind == InputKind::Auto && text.find_first_not_of(" \t\r\n") == std::string::npos)
    return diags.report(diag::empty_input, {}, {standardInput ? "standard input" : "'" + options.input + "'"});
  const bool isGuess = input.kind == InputKind::Auto;
  input.kind = kindSoFar(text);
  if (isGuess && input.kind == InputKind::Algorithm && text.size() <= frontend::maxSourceBytes &&
      text.find("MSCCLC_ALGORITHM") == std::string::npos && text.find("#include") == std::string::npos)
    return diags.report(diag::unknown_input, {}, {standardInput ? "standard input" : "'" + options.input + "'"});
  // Clang reads a file again under its own name, because it searches includes in the file's folder. A pipe can be read
  // only once, so its text is kept.
  std::error_code ignored;
  if (input.kind != InputKind::Algorithm || standardInput || !std::filesystem::is_regular_file(options.input, ignored))
    input.text = std::move(text);
  return input;
}

ir::ReadableFiles readableFiles(const Options &options) {
  ir::ReadableFiles files;
  if (options.input.empty())
    return files;
  files.addFile(options.input);
  files.addFolder(options.input == "-" ? "." : ir::folderOf(options.input));
  for (const std::string &folder : options.allowedFolders)
    files.addFolder(folder);
  for (std::size_t i = 0; i < options.clangArgs.size(); ++i)
    if (const std::string &argument = options.clangArgs[i]; argument != "-I" && argument.starts_with("-I"))
      files.addFolder(argument.substr(2));
    else if (argument == "-I" && i + 1 < options.clangArgs.size())
      files.addFolder(options.clangArgs[++i]);
  return files;
}

std::optional<ir::Program> readXmlAgain(const Options &options, std::string_view shownName, const ir::Program &program,
                                        ir::DiagnosticEngine &diags) {
  const std::string *text = program.sources.contents(0);
  return text ? xml::readXml(*text, shownName, {options.ranksPerNode, true}, diags) : std::nullopt;
}

std::optional<ir::Program> loadProgram(const Options &options, Input input, ir::DiagnosticEngine &diags,
                                       StageTimes &times, [[maybe_unused]] std::vector<std::string> &files) {
  switch (input.kind) {
  case InputKind::Plan: {
    auto program = json::readPlan(*input.text, input.shownName, diags, options.output->judgesPlan);
    times.lap("read plan");
    return program;
  }
  case InputKind::IR: {
    auto program = ir::parse(*input.text, input.shownName, diags);
    times.lap("parse IR");
    return program;
  }
  case InputKind::Xml: {
    auto program = xml::readXml(*input.text, input.shownName, {options.ranksPerNode, options.keepBlocks}, diags);
    times.lap("read XML");
    return program;
  }
  case InputKind::Auto:      // readInput() has found out
  case InputKind::Synthesis: // synthesize() makes it
  case InputKind::Algorithm:
    break;
  }
#ifdef MSCCLC_WITH_FRONTEND
  return evaluateAlgorithm(options, std::move(input.text), diags, times, files);
#else
  return diags.report(diag::no_front_end, input.shownName);
#endif
}

} // namespace mscclc::driver
