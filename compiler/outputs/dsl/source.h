// Prints a program as a source of the language.
#pragma once

#include "compiler/outputs/dsl/no_source.h"
#include "ir/program.h"

#include <string>
#include <string_view>

namespace mscclc::dsl {

/// The beginning of a source. Its second line shows the command that compiles it.
inline constexpr std::string_view writtenBy = "// Written by mscclc --emit-dsl from ";

struct SourceOptions {
  std::string command;  ///< the command that compiles the source to the program's plan, shown in the first comment
  std::string madeFrom; ///< the name of the input from which the source is made
};

/// Returns a source that records `program` again. If `program` consists of calls (calls.h), the source has
/// Schedule::Manual. If it consists of statements, the source has Schedule::Auto, and statements that do not depend on
/// each other may change their order. Equal ranks, blocks and peers become loops. Throws NoSource if the language
/// cannot express the program.
std::string sourceOf(const ir::Program &program, const SourceOptions &options);

} // namespace mscclc::dsl
