// Loads a program from an input of any kind.
#pragma once

#include "compiler/options.h"
#include "compiler/timing.h"

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "ir/readable_files.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// The input, read as far as necessary to find its kind.
struct Input {
  std::string shownName;                 ///< the name in diagnostics
  InputKind kind = InputKind::Algorithm; ///< never Auto
  std::optional<std::string> text;       ///< absent: Clang reads the algorithm from its file
  std::optional<int> level = {};         ///< optimization level in the first comment of a source that --emit-dsl wrote
};

/// Finds the kind of the input: from -x if it is given, else from the ending of the file's name, else from the
/// beginning of the text. A plan begins with `{`, XML with `<`, and IR text with its header. Everything else is an
/// algorithm. If the input cannot be read, reports an error and returns nothing.
std::optional<Input> readInput(const Options &options, ir::DiagnosticEngine &diags);

/// Returns the files whose lines diagnostics may show: the input, and all files below its folder and the folders of -I
/// and --allow-include.
ir::ReadableFiles readableFiles(const Options &options);

/// Translates the input into a program. Evaluates an algorithm; reads a plan, XML or IR text and checks its structure.
/// Reports errors to `diags`. `files` receives the other files that were read.
std::optional<ir::Program> loadProgram(const Options &options, Input input, ir::DiagnosticEngine &diags,
                                       StageTimes &times, std::vector<std::string> &files);

/// Reads the XML schedule of `program` again, this time with its own thread blocks. `shownName`: its name in
/// diagnostics.
std::optional<ir::Program> readXmlAgain(const Options &options, std::string_view shownName, const ir::Program &program,
                                        ir::DiagnosticEngine &diags);

} // namespace mscclc::driver
