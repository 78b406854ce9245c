// The memory of a running algorithm: its heap and its stack, at addresses that are the same in every run.
//
// An algorithm cannot see differences of its memory between runs. Addresses are fixed if the system allows it, and all
// memory is zero when it is allocated. Released memory is poisoned, and goes into quarantine before it is used again. A
// red zone of poison follows each allocation. So reads of such memory can be recognised.
#pragma once

#include "frontend/trace/recorder.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mscclc::frontend {

/// The bytes of poisoned memory. As a handle, a rank, an index or a pointer, they name nothing that exists.
inline constexpr std::uint8_t poisonByte = 0xfe;

/// Returns true if a value of an algorithm is the value of poisoned memory, as an int or as a 64-bit integer.
constexpr bool isPoison(std::int64_t value) {
  return value == -0x1010102 || value == -0x101010101010102;
}

/// Size of the stack of the algorithm.
inline constexpr std::size_t arenaStackBytes = std::size_t{1} << 28;

/// Reserves the heap and the stack. Sets the functions to call when the heap is full, and when memory is released that
/// the heap does not have. They do not return. If there is not enough address space, the heap is smaller. Returns its
/// size, or 0 if there is none.
std::uint64_t createArena(std::uint64_t heapBytes, void (*onFull)(), void (*onBadFree)());

/// Returns the stack of the algorithm.
std::span<std::byte> arenaStack();

/// Returns true if `address` lies in the guard below the stack.
bool inStackGuard(const void *address);

/// Returns an address for machine code, so that the addresses of functions and literals are fixed as well.
void *codeAddressHint();

/// Returns operator new and delete in all their forms, and the functions that the DSL's lists use.
std::span<const HostSymbol> arenaSymbols();

} // namespace mscclc::frontend
