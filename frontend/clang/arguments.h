// The arguments for Clang.
#pragma once

#include "frontend/clang/compile_commands.h"
#include "frontend/frontend.h"

#include <string>
#include <vector>

namespace clang {
class CompilerInvocation;
}

namespace mscclc::frontend {

/// Returns the command line with which Clang's driver reads `input`: the arguments of the project, then the user's,
/// then fixed ones for the evaluation. A later argument overrides an earlier one.
std::vector<std::string> commandLine(const FrontendOptions &options, const ProjectFlags &project,
                                     const std::string &input);

/// Changes an invocation so that it writes and loads nothing, whatever the arguments ask for.
void harden(clang::CompilerInvocation &invocation);

} // namespace mscclc::frontend
