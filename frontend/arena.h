// The memory of a running algorithm: its heap and its stack, at addresses that are the same in every run.
//
// Nothing an algorithm can see of its memory differs between runs: addresses are fixed where the system allows it, and
// all memory is zero when handed out.
#pragma once

#include "frontend/recorder.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mscclc::frontend {

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

/// operator new and delete in all their forms.
std::span<const HostSymbol> arenaSymbols();

} // namespace mscclc::frontend
