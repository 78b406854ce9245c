// Translation validation: proves the program after each pass.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <functional>
#include <string_view>

namespace mscclc::passes {

/// Returns a PassManagerOptions::check for a run of passes that begins with `program`. If a program is proven before a
/// pass, but not after it, the pass is at fault, not the program. Then the check throws ir::InternalError with the
/// pass's name and the findings. A program that still has statements of the movement form counts as not proven.
/// `allowed`: names of the findings that the run allows.
std::function<bool(std::string_view pass, const ir::Program &, ir::DiagnosticEngine &)>
checkTranslation(const ir::Program &program, const ir::AllowedNames &allowed = {});

} // namespace mscclc::passes
