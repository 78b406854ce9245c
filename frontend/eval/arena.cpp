#include "frontend/eval/arena.h"

#include "frontend/trace/record_abi.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace mscclc::frontend {
namespace {

// The arena is far from programs, libraries and a sanitizer's shadow in a 47-bit address space.
constexpr std::uintptr_t base = 0x2000'0000'0000;
constexpr std::size_t guardBytes = std::size_t{1} << 32; // no stack frame is larger, so none can jump past the guard
constexpr std::size_t leastGuardBytes = std::size_t{1} << 24;
constexpr std::uint64_t leastHeapBytes = std::uint64_t{1} << 20;
constexpr std::uintptr_t codeBase = base + 0x1000'0000'0000;

/// The header of a block. The sizes of blocks have four steps for each power of two. A freed block first goes into
/// quarantine. Later it serves another request of its size.
struct BlockHeader {
  std::uint32_t sizeClass; ///< the size class; freedMark is added after release
  std::uint32_t offset;    ///< bytes from the block's beginning to the user's address
};
constexpr std::uint32_t freedMark = 1u << 31;
constexpr std::size_t unitBytes = 16;
static_assert(sizeof(BlockHeader) <= unitBytes);
constexpr std::size_t numClasses = 256;
constexpr std::uint64_t quarantineBytes = std::uint64_t{16} << 20;
constexpr std::size_t redzoneBytes = 64; ///< bytes of poison after the user's part, if the block has room
constexpr std::uint64_t maxMarkedBytes = std::uint64_t{1}
                                         << 20; ///< the most bytes of a released block that are poisoned

struct Arena {
  std::byte *guard = nullptr, *stack = nullptr;
  std::size_t guardBytes = 0;
  std::byte *begin = nullptr, *next = nullptr, *end = nullptr;
  std::array<std::byte *, numClasses> freed{};
  std::byte *firstQuarantined =
      nullptr; ///< the user's address of the oldest block; each block begins with the address of the next
  std::byte *lastQuarantined = nullptr; ///< the user's address of the block that was released last
  std::uint64_t quarantined = 0;        ///< bytes
  void (*onFull)() = nullptr;
  void (*onBadFree)() = nullptr;
};
Arena arena;

constexpr std::uint64_t smallUnits = 8; ///< each size of fewer units is a class of its own

std::uint32_t classOf(std::uint64_t units) {
  if (units < smallUnits)
    return static_cast<std::uint32_t>(units);
  const auto power = static_cast<std::uint32_t>(std::bit_width(units - 1)) - 1; // `units` is in (2^power, 2^(power+1)]
  const std::uint64_t step = std::uint64_t{1} << (power - 2);
  return 4 * power + static_cast<std::uint32_t>((units - (std::uint64_t{1} << power) + step - 1) / step);
}

std::uint64_t unitsOf(std::uint32_t sizeClass) {
  if (sizeClass < smallUnits)
    return sizeClass;
  const std::uint32_t power = (sizeClass - 1) / 4;
  return (std::uint64_t{1} << power) + (std::uint64_t{sizeClass - 4 * power} << (power - 2));
}

/// Frees the block that has been in quarantine for the longest time.
void freeFirstQuarantined() {
  std::byte *user = arena.firstQuarantined;
  BlockHeader header;
  std::memcpy(&header, user - sizeof header, sizeof header);
  const std::uint32_t sizeClass = header.sizeClass & ~freedMark;
  std::byte *block = user - header.offset;
  std::memcpy(&arena.firstQuarantined, block, sizeof arena.firstQuarantined);
  std::memcpy(block, &arena.freed[sizeClass], sizeof arena.freed[sizeClass]);
  arena.freed[sizeClass] = block;
  arena.quarantined -= unitsOf(sizeClass) * unitBytes;
}

void *allocate(std::size_t size, std::size_t alignment) {
  alignment = std::max(alignment, unitBytes);
  if (size > static_cast<std::size_t>(arena.end - arena.begin) || alignment > (std::size_t{1} << 20))
    arena.onFull();
  const std::uint64_t wanted = (size + unitBytes - 1) / unitBytes + alignment / unitBytes + 1;
  const std::uint32_t sizeClass = classOf(wanted);
  const std::uint64_t bytes = unitsOf(sizeClass) * unitBytes;
  const bool fits = bytes <= static_cast<std::size_t>(arena.end - arena.next);
  while (!arena.freed[sizeClass] && !fits && arena.quarantined != 0)
    freeFirstQuarantined();
  std::byte *block = arena.freed[sizeClass];
  if (block) {
    std::memcpy(&arena.freed[sizeClass], block, sizeof arena.freed[sizeClass]);
    std::memset(block, 0, bytes);
  } else {
    if (!fits)
      arena.onFull();
    block = arena.next;
    arena.next += bytes;
  }
  const auto at = (reinterpret_cast<std::uintptr_t>(block) + unitBytes + alignment - 1) & ~(alignment - 1);
  auto *user = reinterpret_cast<std::byte *>(at);
  const BlockHeader header{sizeClass, static_cast<std::uint32_t>(user - block)};
  std::memcpy(user - sizeof header, &header, sizeof header);
  std::memset(user + size, poisonByte, std::min(redzoneBytes, static_cast<std::size_t>(block + bytes - user) - size));
  return user;
}

void release(void *pointer) {
  if (!pointer)
    return;
  auto *user = static_cast<std::byte *>(pointer);
  if (user < arena.begin + unitBytes || user >= arena.next) {
    arena.onBadFree();
    return;
  }
  BlockHeader header;
  std::memcpy(&header, user - sizeof header, sizeof header);
  // The header of a freed block has freedMark, so a second release of the block is found here.
  if (header.sizeClass >= numClasses || header.offset < unitBytes || header.offset > (std::size_t{1} << 20) ||
      header.offset % unitBytes != 0) {
    arena.onBadFree();
    return;
  }
  std::byte *block = user - header.offset;
  const std::uint64_t bytes = unitsOf(header.sizeClass) * unitBytes;
  header.sizeClass |= freedMark;
  std::memcpy(user - sizeof header, &header, sizeof header);
  std::memset(user, poisonByte, std::min<std::uint64_t>(bytes - header.offset, maxMarkedBytes));
  if (arena.quarantined != 0)
    std::memcpy(arena.lastQuarantined, &user, sizeof user);
  else
    arena.firstQuarantined = user;
  arena.lastQuarantined = block;
  for (arena.quarantined += bytes; arena.quarantined > quarantineBytes;)
    freeFirstQuarantined();
}

void *newAligned(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void *newNothrow(std::size_t size, const std::nothrow_t &) {
  return allocate(size, 1);
}
void *newAlignedNothrow(std::size_t size, std::align_val_t alignment, const std::nothrow_t &) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
// The longer forms of operator delete do not need size, alignment and tag, because the block has a header.
void deleteTwo(void *p, std::size_t) {
  release(p);
}
void deleteThree(void *p, std::size_t, std::size_t) {
  release(p);
}

void *map(std::uintptr_t at, std::size_t bytes, int protection) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#ifdef MAP_FIXED_NOREPLACE
  void *fixed = mmap(reinterpret_cast<void *>(at), bytes, protection, flags | MAP_FIXED_NOREPLACE, -1, 0);
  if (fixed == reinterpret_cast<void *>(at))
    return fixed;
  if (fixed != MAP_FAILED)
    munmap(fixed, bytes);
#endif
  void *anywhere = mmap(nullptr, bytes, protection, flags, -1, 0);
  return anywhere == MAP_FAILED ? nullptr : anywhere;
}

} // namespace

extern "C" {
void *__mscclc_allocate(std::size_t bytes) {
  return allocate(bytes, 1);
}
void __mscclc_release(void *memory) {
  release(memory);
}
}

std::uint64_t createArena(std::uint64_t heapBytes, void (*onFull)(), void (*onBadFree)()) {
  arena.onFull = onFull;
  arena.onBadFree = onBadFree;
  // Tries smaller and smaller guards, because the process may have little address space.
  for (arena.guardBytes = guardBytes; arena.guardBytes >= leastGuardBytes; arena.guardBytes /= 16)
    if (auto *at = map(base, arena.guardBytes + arenaStackBytes, PROT_NONE)) {
      arena.guard = static_cast<std::byte *>(at);
      break;
    }
  if (!arena.guard)
    return 0;
  arena.stack = arena.guard + arena.guardBytes;
  if (mprotect(arena.stack, arenaStackBytes, PROT_READ | PROT_WRITE) != 0)
    return 0;
  void *heap = nullptr;
  for (heapBytes &= ~std::uint64_t{0xfff}; !heap && heapBytes >= leastHeapBytes;) {
    heap = map(base + 2 * (guardBytes + arenaStackBytes), heapBytes, PROT_READ | PROT_WRITE);
    if (!heap)
      heapBytes = heapBytes / 2 & ~std::uint64_t{0xfff};
  }
  if (!heap)
    return 0;
  arena.begin = arena.next = static_cast<std::byte *>(heap);
  arena.end = arena.begin + heapBytes;
  return heapBytes;
}

std::span<std::byte> arenaStack() {
  return {arena.stack, arenaStackBytes};
}

bool inStackGuard(const void *address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto guard = reinterpret_cast<std::uintptr_t>(arena.guard);
  return arena.guard && at >= guard && at < guard + arena.guardBytes;
}

void *codeAddressHint() {
  return reinterpret_cast<void *>(codeBase);
}

std::span<const HostSymbol> arenaSymbols() {
  static const HostSymbol symbols[] = {
      {"__mscclc_allocate", reinterpret_cast<void *>(&__mscclc_allocate)},
      {"__mscclc_release", reinterpret_cast<void *>(&__mscclc_release)},
      {"_Znwm", reinterpret_cast<void *>(&__mscclc_allocate)},
      {"_Znam", reinterpret_cast<void *>(&__mscclc_allocate)},
      {"_ZnwmSt11align_val_t", reinterpret_cast<void *>(&newAligned)},
      {"_ZnamSt11align_val_t", reinterpret_cast<void *>(&newAligned)},
      {"_ZnwmRKSt9nothrow_t", reinterpret_cast<void *>(&newNothrow)},
      {"_ZnamRKSt9nothrow_t", reinterpret_cast<void *>(&newNothrow)},
      {"_ZnwmSt11align_val_tRKSt9nothrow_t", reinterpret_cast<void *>(&newAlignedNothrow)},
      {"_ZnamSt11align_val_tRKSt9nothrow_t", reinterpret_cast<void *>(&newAlignedNothrow)},
      {"_ZdlPv", reinterpret_cast<void *>(&__mscclc_release)},
      {"_ZdaPv", reinterpret_cast<void *>(&__mscclc_release)},
      {"_ZdlPvm", reinterpret_cast<void *>(&deleteTwo)},
      {"_ZdaPvm", reinterpret_cast<void *>(&deleteTwo)},
      {"_ZdlPvSt11align_val_t", reinterpret_cast<void *>(&deleteTwo)},
      {"_ZdaPvSt11align_val_t", reinterpret_cast<void *>(&deleteTwo)},
      {"_ZdlPvmSt11align_val_t", reinterpret_cast<void *>(&deleteThree)},
      {"_ZdaPvmSt11align_val_t", reinterpret_cast<void *>(&deleteThree)},
      {"_ZdlPvRKSt9nothrow_t", reinterpret_cast<void *>(&deleteTwo)},
      {"_ZdaPvRKSt9nothrow_t", reinterpret_cast<void *>(&deleteTwo)},
  };
  return symbols;
}

} // namespace mscclc::frontend
