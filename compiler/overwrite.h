// Prevents a run from overwriting its input.
#pragma once

#include "compiler/options.h"

#include "ir/diagnostics.h"

namespace mscclc::driver {

/// Checks that `options` write no file that they also read: the input, files of -include, the golden. Called before
/// anything is read or written. Files are compared by identity, not by name, so links are followed. If one is
/// overwritten, reports an error and returns false.
bool checkOutputs(const Options &options, ir::DiagnosticEngine &diags);

/// Does the same for the files that the program was made from, when they are known.
bool checkIncluded(const Options &options, const std::vector<std::string> &files, ir::DiagnosticEngine &diags);

} // namespace mscclc::driver
