// The collectives of collectives.def, for programs that run kernels: what a call gives and gets, in elements.
#pragma once

#include <cstdint>
#include <cstring>

namespace mscclc::collectives {

enum class Kind : uint8_t {
#define COLLECTIVE(kind, ...) kind,
#include "collectives.def"
};

/// Ranks of a Source that are none.
inline constexpr uint32_t everyRank = 0xffffffff, nobody = 0xfffffffe;

/// What an element of an output ends as: that element of the input of `rank`; of all ranks, reduced, where that is
/// everyRank; anything, where it is nobody.
struct Source {
  uint32_t rank;
  uint64_t element;
};

struct Row {
  const char *name; ///< in kernels
  bool rooted;
  bool wholeInput, wholeOutput;       ///< whether a buffer of each rank has `ranks` shares, else one
  bool messageIsOutput;               ///< a message is as long as the output, else as the input
  uint64_t (*shares)(uint64_t ranks); ///< parts of a message that are equally long
  double (*busFactor)(double ranks);  ///< bus bandwidth over algorithm bandwidth
  Source (*source)(uint32_t ranks, uint32_t root, uint64_t share, uint32_t rank, uint64_t chunk);

  /// Elements of a share, and of each rank's buffers, in a message of so many.
  constexpr uint64_t share(uint64_t ranks, uint64_t message) const { return length(false, ranks, message); }
  constexpr uint64_t input(uint64_t ranks, uint64_t message) const { return length(wholeInput, ranks, message); }
  constexpr uint64_t output(uint64_t ranks, uint64_t message) const { return length(wholeOutput, ranks, message); }
  /// Whether elements are reduced.
  constexpr bool reduces() const { return source(2, 0, 1, 0, 0).rank == everyRank; }
  /// Whether a rank gets anything, and whether it gives anything to some rank.
  constexpr bool gets(bool isRoot) const { return source(2, 0, 1, isRoot ? 0 : 1, 0).rank != nobody; }
  constexpr bool gives(bool isRoot) const {
    for (uint32_t rank = 0; rank < 2; ++rank)
      for (uint64_t chunk = 0; chunk < (wholeOutput ? 2 : 1); ++chunk)
        if (const uint32_t from = source(2, 0, 1, rank, chunk).rank; from == everyRank || from == (isRoot ? 0u : 1u))
          return true;
    return false;
  }
  /// Whether every element of an output comes from the same element of inputs, so that a message may be made longer at
  /// its end.
  constexpr bool isElementwise() const {
    for (uint32_t rank = 0; rank < 2; ++rank)
      for (uint64_t chunk = 0; chunk < (wholeOutput ? 2 : 1); ++chunk)
        if (const Source from = source(2, 0, 1, rank, chunk); from.rank != nobody && from.element != chunk)
          return false;
    return true;
  }

private:
  constexpr uint64_t length(bool whole, uint64_t ranks, uint64_t message) const {
    const bool isWhole = messageIsOutput ? wholeOutput : wholeInput;
    return whole == isWhole ? message : whole ? message * ranks : message / ranks;
  }
};

namespace detail {
enum { Share = false, Whole = true, Input = false, Output = true };
} // namespace detail

/// By Kind.
inline constexpr Row rows[] = {
#define ROW(name, rooted, input, output, message, shares, bus, from, taken)                                            \
  {name,                                                                                                               \
   rooted,                                                                                                             \
   detail::input,                                                                                                      \
   detail::output,                                                                                                     \
   detail::message,                                                                                                    \
   []([[maybe_unused]] uint64_t ranks) -> uint64_t { return shares; },                                                 \
   []([[maybe_unused]] double ranks) -> double { return bus; },                                                        \
   []([[maybe_unused]] uint32_t ranks, [[maybe_unused]] uint32_t root, [[maybe_unused]] uint64_t share,                \
      [[maybe_unused]] uint32_t rank,                                                                                  \
      [[maybe_unused]] uint64_t chunk) { return Source{static_cast<uint32_t>(from), taken}; }},
#define COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                              \
  ROW(name, false, input, output, message, shares, bus, from, taken)
#define ROOTED_COLLECTIVE(kind, name, input, output, inPlace, message, shares, bus, from, taken)                       \
  ROW(name, true, input, output, message, shares, bus, from, taken)
#include "collectives.def"
#undef ROW
};

constexpr const Row &of(Kind kind) {
  return rows[static_cast<unsigned>(kind)];
}

/// The collective of that name, with a root or without; null if the table does not have it.
inline const Row *find(const char *name, bool rooted) {
  for (const Row &row : rows)
    if (row.rooted == rooted && std::strcmp(row.name, name) == 0)
      return &row;
  return nullptr;
}

} // namespace mscclc::collectives
