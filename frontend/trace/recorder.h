// Records the calls of an algorithm. It runs inside the sandbox, so it uses no allocation, system calls or exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mscclc {
struct Place;
} // namespace mscclc

namespace mscclc::frontend {

/// A function or variable that an algorithm's code may use.
struct HostSymbol {
  const char *name;
  void *address;
};

/// A use of a macro with arguments. For Clang, the calls in a macro are at its closing parenthesis, while users look at
/// its name. Lines and columns count from 1.
struct MacroUse {
  std::uint32_t endLine, endColumn; ///< position of the closing parenthesis
  std::uint32_t line, column;       ///< position of the name
  std::string file;
};

/// Data for a recording. All of it must live as long as the recording.
struct RecordingSetup {
  void (*onFaultyProgram)() = nullptr; ///< called when a program with a faulty collective begins; may end the process
  void (*onFull)() = nullptr;          ///< called once, when the region is full; may end the process
  void (*onPoison)(const Place &place) = nullptr; ///< called when poison (arena.h) is used at `place`
  std::span<const MacroUse> macros = {};          ///< sorted by end; a call at an end is recorded at the macro's name
};

/// Starts a recording. Records go to `region`, which must be aligned to eight bytes and at least a kibibyte long. When
/// `region` is full, further records are dropped and TraceHeader::full is set.
void startRecording(std::span<std::byte> region, const RecordingSetup &setup = {});

/// Returns true if a program has begun in this recording.
bool hasRecordedProgram();

/// Ends the recording. Calls are ignored until another recording starts. Returns the number of used bytes in the
/// region.
std::size_t finishRecording();

/// Returns all symbols that the DSL header uses.
std::span<const HostSymbol> recorderSymbols();

} // namespace mscclc::frontend
