// Prints a program as a source of the language.
#pragma once

#include "ir/program.h"

#include <optional>
#include <string>
#include <string_view>

namespace mscclc::dsl {

/// What a source begins with; the command that compiles it is in its second line.
inline constexpr std::string_view writtenBy = "// Written by mscclc --emit-dsl from ";

struct SourceOptions {
  std::string command;  ///< compiles the source to the program's plan, as its first comment shows it
  std::string madeFrom; ///< the name of the input
};

/// A Manual source whose recording is `program`, which is one of calls (calls.h) without statements. Loops are drawn
/// over ranks, blocks and peers that do alike. Nothing, and `why`, if the language cannot say it.
std::optional<std::string> sourceOf(const ir::Program &program, const SourceOptions &options, std::string &why);

} // namespace mscclc::dsl
