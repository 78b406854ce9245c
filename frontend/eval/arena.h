// The memory of a running algorithm: its heap and its stack, at addresses that are the same in every run.
//
// Nothing an algorithm can see of its memory differs between runs: addresses are fixed where the system allows it, and
// all memory is zero when handed out. Memory that was released is poisoned and goes into quarantine before it is used
// again, and a red zone of poison follows what is handed out: what is read there by mistake can be told.
#pragma once

#include "frontend/trace/recorder.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mscclc::frontend {

/// What poisoned memory consists of. As a handle, a rank, an index or a pointer it is nothing that exists.
inline constexpr std::uint8_t poisonByte = 0xfe;

/// Whether a value of an algorithm's is what poisoned memory gives as an int or as a 64-bit integer.
constexpr bool isPoison(std::int64_t value) {
  return value == -0x1010102 || value == -0x101010101010102;
}

/// Size of the stack that the algorithm runs on.
inline constexpr std::size_t arenaStackBytes = std::size_t{1} << 28;

/// Reserves the heap and the stack, and sets the functions to call when the heap is full and when something is
/// asked of it that it cannot know. They do not return. Where there is not enough address space the heap is smaller;
/// returns its size, or 0 if there is none.
std::uint64_t createArena(std::uint64_t heapBytes, void (*onFull)(), void (*onBadFree)());

/// The stack that the algorithm runs on.
std::span<std::byte> arenaStack();

/// Whether `address` lies in the guard below the stack.
bool inStackGuard(const void *address);

/// Where machine code goes, so that the addresses of functions and literals are fixed as well.
void *codeAddressHint();

/// operator new and delete in all their forms, and what the DSL's lists use.
std::span<const HostSymbol> arenaSymbols();

} // namespace mscclc::frontend
