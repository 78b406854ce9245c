// Prevents a run from overwriting its input.
#pragma once

#include "compiler/options.h"

#include "ir/diagnostics.h"

namespace mscclc::driver {

/// Checks that `options` do not overwrite a file that they also read: the input, a file of -include, or the golden.
/// Called before anything is read or written. Compares files by identity, not by name, so links are followed. If a file
/// would be overwritten, reports an error and returns false.
bool checkOutputs(const Options &options, ir::DiagnosticEngine &diags);

/// Checks in the same way that no output overwrites one of `files`, from which the program was made. Called when these
/// files are known.
bool checkIncluded(const Options &options, const std::vector<std::string> &files, ir::DiagnosticEngine &diags);

} // namespace mscclc::driver
