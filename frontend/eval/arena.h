// The memory of a running algorithm: its heap and its stack, at addresses that are the same in every run.
//
// An algorithm cannot see differences of its memory between runs. Addresses are fixed if the system allows it, and all
// memory is zero when it is allocated. Released memory is poisoned, and goes into quarantine before it is used again. A
// red zone of poison follows each allocation. So the checks recognise values from such memory.
#pragma once

#include "frontend/trace/recorder.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mscclc::frontend {

/// The value of each byte of poisoned memory. A handle, a rank, an index or a pointer of such bytes names nothing that
/// exists.
inline constexpr std::uint8_t poisonByte = 0xfe;

/// Returns true if `value` consists of poison bytes, as an int or as a 64-bit integer.
constexpr bool isPoison(std::int64_t value) {
  return value == -0x1010102 || value == -0x101010101010102;
}

/// The bytes of the algorithm's stack.
inline constexpr std::size_t arenaStackBytes = std::size_t{1} << 28;

/// Reserves the heap and the stack. `onFull` is called when the heap is full, and `onBadFree` when the algorithm
/// releases memory that is not from the heap. Neither returns. If there is not enough address space, the heap is
/// smaller. Returns the bytes of the heap; 0 if there is no memory for one.
std::uint64_t createArena(std::uint64_t heapBytes, void (*onFull)(), void (*onBadFree)());

/// Returns the stack of the algorithm.
std::span<std::byte> arenaStack();

/// Returns true if `address` lies in the guard below the stack.
bool inStackGuard(const void *address);

/// Returns a fixed address for machine code. So the addresses of functions and literals are the same in every run.
void *codeAddressHint();

/// Returns operator new and delete in all their forms, and the functions that the DSL's lists use.
std::span<const HostSymbol> arenaSymbols();

} // namespace mscclc::frontend
