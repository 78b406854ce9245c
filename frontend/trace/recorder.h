// Records what an algorithm asks for. Runs inside the sandbox: no allocation, no system call, no exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mscclc {
struct Place;
} // namespace mscclc

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

/// What a recording needs to know; all of it lives as long as the recording.
struct RecordingSetup {
  void (*onFaultyProgram)() = nullptr;            ///< a program begins whose collective is faulty; may end the process
  void (*onFull)() = nullptr;                     ///< called once; may end the process
  void (*onPoison)(const Place &place) = nullptr; ///< a value from poisoned memory (arena.h) is used at `place`
  std::span<const MacroUse> macros = {};          ///< sorted by their end; places there are recorded as their beginning
};

/// From here on records go to `region`, which is aligned to eight bytes and at least a kibibyte long. What does not fit
/// is dropped and TraceHeader::full is set.
void startRecording(std::span<std::byte> region, const RecordingSetup &setup = {});

/// Whether a program has begun in this recording.
bool hasRecordedProgram();

/// Ends the recording; calls are ignored until the next one starts. Returns the bytes of the region that are in use.
std::size_t finishRecording();

/// All that the DSL header refers to.
std::span<const HostSymbol> recorderSymbols();

} // namespace mscclc::frontend
