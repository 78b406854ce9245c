// No run writes over what it reads.
#pragma once

#include "compiler/options.h"

#include "ir/diagnostics.h"

namespace mscclc::driver {

/// Checks, before anything is read or written, that what `options` write is none of what they name to be read: the
/// input, files included by -include, the golden. Files are told apart by what they are, not by name: links are seen
/// through. False, and an error, if it is.
bool checkOutputs(const Options &options, ir::DiagnosticEngine &diags);

/// The same for the files that the program comes from, once they are known.
bool checkIncluded(const Options &options, const std::vector<std::string> &files, ir::DiagnosticEngine &diags);

} // namespace mscclc::driver
