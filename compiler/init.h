// mscclc init: lays out a project to start from.
#pragma once

#include <string>
#include <vector>

namespace mscclc::driver {

/// Does `mscclc init [DIR]`: writes an algorithm, a Makefile, its golden plan, a workflow of GitHub and a hook of
/// pre-commit into DIR, by default the current folder. Replaces no file: if one is there, it is an error. The files are
/// those of compiler/project. Returns the exit code.
int initProject(const std::vector<std::string> &arguments);

} // namespace mscclc::driver
