// Records what an algorithm asks for. Runs inside the sandbox: no allocation, no system call, no exception.
#pragma once

#include <cstddef>
#include <span>

namespace mscclc::frontend {

/// A function or variable that an algorithm's code may refer to.
struct HostSymbol {
  const char *name;
  void *address;
};

/// From here on records go to `region`, which is aligned to eight bytes and at least a kibibyte long. What does not fit
/// is dropped and TraceHeader::full is set; `onFull` is then called once, and may end the process.
void startRecording(std::span<std::byte> region, void (*onFull)() = nullptr);

/// Whether a program has begun in this recording.
bool hasRecordedProgram();

/// Ends the recording; calls are ignored until the next one starts. Returns the bytes of the region that are in use.
std::size_t finishRecording();

/// All that the DSL header refers to.
std::span<const HostSymbol> recorderSymbols();

} // namespace mscclc::frontend
