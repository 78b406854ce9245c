// mscclc init: lays out a project to start from.
#pragma once

#include <string>
#include <vector>

namespace mscclc::driver {

/// Does `mscclc init [DIR]`: writes an algorithm, a Makefile, a golden plan, a GitHub workflow and a pre-commit hook
/// into DIR, by default the current folder. The files are those of compiler/project. If one of them exists already,
/// reports an error and replaces nothing. Returns the exit code.
int initProject(const std::vector<std::string> &arguments);

} // namespace mscclc::driver
