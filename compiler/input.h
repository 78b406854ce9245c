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
  std::optional<std::string> text;       ///< absent: the file is not read here, because Clang reads algorithms itself
  std::optional<int> level = {}; ///< optimization level for which --emit-dsl has written the source, from its comment
};

/// Finds the kind of the input: from -x, else from the ending of its name, in any case, else from its beginning. A
/// plan begins with `{`, XML with `<`, and IR text with its header. Everything else is an algorithm. If the input
/// cannot be read, reports an error and returns nothing.
std::optional<Input> readInput(const Options &options, ir::DiagnosticEngine &diags);

/// Returns the files whose lines may be shown, as far as the options name them: files below the folders of the input,
/// -I and --allow-include.
ir::ReadableFiles readableFiles(const Options &options);

/// Translates the input. Errors go to `diags`. Algorithms are evaluated. Plans, XML and IR text are read, and their
/// structure is checked. `files` receives the other files that were read.
std::optional<ir::Program> loadProgram(const Options &options, Input input, ir::DiagnosticEngine &diags,
                                       StageTimes &times, std::vector<std::string> &files);

/// Reads the schedule in XML again that `program` was read from as `shownName`, and keeps its thread blocks.
std::optional<ir::Program> readXmlAgain(const Options &options, std::string_view shownName, const ir::Program &program,
                                        ir::DiagnosticEngine &diags);

} // namespace mscclc::driver
