// Prints a program as a source of the language.
#pragma once

#include "compiler/outputs/dsl/no_source.h"
#include "ir/program.h"

#include <string>
#include <string_view>

namespace mscclc::dsl {

/// The beginning of a source. The second line is the command that compiles it.
inline constexpr std::string_view writtenBy = "// Written by mscclc --emit-dsl from ";

struct SourceOptions {
  std::string command;  ///< the command that compiles the source to the program's plan; the first comment shows it
  std::string madeFrom; ///< the name of the input
};

/// Returns a source whose recording is `program`: a Manual one of a program that consists of calls (calls.h), or one of
/// Schedule::Auto of a program of statements. In the latter, statements that do not depend on each other may change
/// places. Equal ranks, blocks and peers become loops. If the language cannot express it, throws NoSource.
std::string sourceOf(const ir::Program &program, const SourceOptions &options);

} // namespace mscclc::dsl
