// The program of a source and its collective, as their constructors have them.
#pragma once

#include "ir/program.h"

#include <optional>
#include <string>

namespace mscclc::dsl {

/// A name for the algorithm: the program's, as far as C++ has it.
std::string functionName(const ir::Program &program);
/// `AllGather(ranks, 1, true)`. Nothing, and `why`, if it would have other buffers than the program's ranks.
std::optional<std::string> collectiveText(const ir::Program &program, std::string &why);
/// `, {.instances = 2}`, or nothing where all is as by default.
std::string optionsText(const ir::Program &program);
/// `4_KiB`, or a plain number of bytes.
std::string bytesText(std::uint64_t size);
/// A string literal.
std::string quoted(const std::string &text);

} // namespace mscclc::dsl
