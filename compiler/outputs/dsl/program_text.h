// The text of constructors of a program and its collective.
#pragma once

#include "ir/program.h"

#include <string>

namespace mscclc::dsl {

/// Returns a name for the algorithm: the program's name, changed where C++ does not allow it.
std::string functionName(const ir::Program &program);
/// Returns `AllGather(ranks, 1, true)`. If it would have other buffers than the program's ranks, throws
/// NoSource.
std::string collectiveText(const ir::Program &program);
/// Returns `, {.instances = 2}`; empty if all options have their defaults.
std::string optionsText(const ir::Program &program);
/// Returns `4_KiB`, or a plain number of bytes.
std::string bytesText(std::uint64_t size);
/// Returns a string literal.
std::string quoted(const std::string &text);

} // namespace mscclc::dsl
