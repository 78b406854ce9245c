// The arguments that Clang gets.
#pragma once

#include "frontend/clang/compile_commands.h"
#include "frontend/frontend.h"

#include <string>
#include <vector>

namespace clang {
class CompilerInvocation;
}

namespace mscclc::frontend {

/// The command line for Clang's driver to read `input`. The user's own arguments come after those of the project, and
/// what evaluation relies on comes last: of two that differ, the later one holds.
std::vector<std::string> commandLine(const FrontendOptions &options, const ProjectFlags &project,
                                     const std::string &input);

/// Makes an invocation write nothing and load nothing, whatever the arguments say.
void harden(clang::CompilerInvocation &invocation);

} // namespace mscclc::frontend
