// The texts in a source that construct the program and its collective.
#pragma once

#include "ir/program.h"

#include <string>

namespace mscclc::dsl {

/// Returns a name for the algorithm's function: the program's name, changed where C++ does not allow it.
std::string functionName(const ir::Program &program);
/// Returns the constructor of the collective: `AllGather(ranks, 1, true)`. Throws NoSource if no such constructor gives
/// the ranks the buffers that they have in the program.
std::string collectiveText(const ir::Program &program);
/// Returns the options that differ from their defaults: `, {.instances = 2}`; empty if there are none.
std::string optionsText(const ir::Program &program);
/// Returns `4_KiB`, or a plain number of bytes.
std::string bytesText(std::uint64_t size);
/// Returns `text` as a string literal of C++.
std::string quoted(const std::string &text);

} // namespace mscclc::dsl
