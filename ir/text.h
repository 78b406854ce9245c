// The text form of programs: what `--emit-ir` and `--print-after` show, and what an .ir file holds.
//
//   mscclc.ir 1
//   program "sum" {
//     collective allreduce inplace
//     rank 0 {
//       buffers input 2 output 2 scratch 0
//       memory_channels [1]
//       remote0 = 1.input via memory
//       block 0 {
//         channels [memory 0]
//         remotes [memory 0]
//         rlxsignal memory [0] @1
//         rlxwait memory [0] sync after @2
//         %2 = rre memory input[0:1] <- input[0:1]%in, remote0[0:1] @3
//         put memory remote0[0:1] <- input[0:1]%2 @4
//       }
//     }
//     …
//   }
//   locations {
//     file0 = "sum.cpp"
//     @1 = file0:12:3
//     @2 = file0:13:3 from @1
//     @3 = @1 + @2
//     @4 = @1 "ops" 0
//   }
//
// Each statement has a line of its own. `//` begins a comment. A byte order mark is no part of the text. Fields with
// their default value are left out. A program of `schedule auto` may have statements that move data instead of blocks:
//
//   move {
//     copy 1.output[0:1], 2.output[0:1] <- 0.input[0:1] via memory by 0 @1
//   }
//
// Chunk ranges are half open. `%n` is the version that operation n of the block defines. `%in` is the version that
// memory has before the block writes to it (def_use.h). Versions may be left out, and those that are given are checked.
// ir/README.md has the whole language.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <optional>
#include <string>
#include <string_view>

namespace mscclc::ir {

/// The first word of IR text, after a byte order mark, blanks and comments.
inline constexpr std::string_view textHeader = "mscclc.ir";

/// Returns `text` without a UTF-8 byte order mark at its beginning.
constexpr std::string_view withoutByteOrderMark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.substr(text.starts_with(mark) ? mark.size() : 0);
}

/// Appends the canonical text of `program`. Equal programs give equal text. parse() of the text gives the program back,
/// except for SourceMap::contents. A program that is not well formed (structure.h) is shown as far as possible.
void print(const Program &program, std::string &out);

/// Reads a program from text and checks its structure. Reports errors to `diagnostics` at their places in `filename`,
/// and returns nothing if there was one. Time and memory are proportional to the length of the text, whatever numbers
/// it has.
std::optional<Program> parse(std::string_view text, std::string_view filename, DiagnosticEngine &diagnostics);

} // namespace mscclc::ir
