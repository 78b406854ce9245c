// Loads a program, whatever form it comes in.
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

/// The input as far as it has to be read to know what it is.
struct Input {
  std::string shownName;                 ///< as diagnostics show it
  InputKind kind = InputKind::Algorithm; ///< never Auto
  std::optional<std::string> text;       ///< absent: the file is not read; Clang reads algorithms itself
  std::optional<int> level = {};         ///< of optimization, which a source says that --emit-dsl has written it for
};

/// Finds out what the input is: by -x, else by its name's ending, whatever the case of its letters, else by how the
/// text begins: `{` is a plan, `<` is XML, the header of IR text is that, all else an algorithm. Nothing, and an error,
/// if it cannot be read.
std::optional<Input> readInput(const Options &options, ir::DiagnosticEngine &diags);

/// The files whose lines may be shown, as far as the options tell: below the folders of the input, -I and
/// --allow-include.
ir::ReadableFiles readableFiles(const Options &options);

/// Translates the input. Errors go to `diags`. Algorithms are evaluated; plans, XML and IR text are read and their
/// structure is checked. `files` gets what was read besides the input.
std::optional<ir::Program> loadProgram(const Options &options, Input input, ir::DiagnosticEngine &diags,
                                       StageTimes &times, std::vector<std::string> &files);

/// The schedule in XML that `program` was read from as `shownName`, read once more, with its thread blocks kept.
std::optional<ir::Program> readXmlAgain(const Options &options, std::string_view shownName, const ir::Program &program,
                                        ir::DiagnosticEngine &diags);

} // namespace mscclc::driver
