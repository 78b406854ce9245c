// Records what an algorithm asks for. Runs inside the sandbox: no allocation, no system call, no exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mscclc::frontend {

/// A function or variable that an algorithm's code may refer to.
struct HostSymbol {
  const char *name;
  void *address;
};

/// A use of a macro with arguments: Clang has the calls in it at its closing parenthesis, users look at its name.
/// Lines and columns count from 1.
struct MacroUse {
  std::uint32_t endLine, endColumn; ///< of the parenthesis
  std::uint32_t line, column;       ///< of the name
  std::string file;
};

/// From here on records go to `region`, which is aligned to eight bytes and at least a kibibyte long. What does not fit
/// is dropped and TraceHeader::full is set; `onFull` is then called once, and may end the process. Places at the end of one
/// of `macros`, which are sorted by their end, are recorded as its beginning.
void startRecording(std::span<std::byte> region, void (*onFull)() = nullptr, std::span<const MacroUse> macros = {});

/// Whether a program has begun in this recording.
bool hasRecordedProgram();

/// Ends the recording; calls are ignored until the next one starts. Returns the bytes of the region that are in use.
std::size_t finishRecording();

/// All that the DSL header refers to.
std::span<const HostSymbol> recorderSymbols();

} // namespace mscclc::frontend
