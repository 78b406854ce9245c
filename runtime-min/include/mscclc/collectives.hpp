// The collectives of collectives.def, for programs that run kernels. Buffers and messages are measured in elements.
#pragma once

#include <cstdint>
#include <cstring>

namespace mscclc::collectives {

enum class Kind : uint8_t {
#define COLLECTIVE(kind, ...) kind,
#include "collectives.def"
};

/// Values of Source::rank that are not ranks.
inline constexpr uint32_t everyRank = 0xffffffff, nobody = 0xfffffffe;

/// The final value of an element of an output: element `element` of the input of `rank`. If `rank` is everyRank, the
/// value is the reduction of that element over all ranks. If `rank` is nobody, the value may be anything.
struct Source {
  uint32_t rank;
  uint64_t element;
};

/// A collective. `ranks` is the number of ranks, and `message` the length of a message in elements.
struct Row {
  const char *name; ///< the name in kernels
  bool rooted;
  bool wholeInput, wholeOutput;       ///< true: a rank's buffer has `ranks` shares; false: it has one share
  bool messageIsOutput;               ///< true: a message is as long as the output; false: as the input
  uint64_t (*shares)(uint64_t ranks); ///< number of equal parts of a message
  double (*busFactor)(double ranks);  ///< the quotient of bus bandwidth and algorithm bandwidth, as in nccl-tests
  /// Returns where the final value of output chunk `chunk` of `rank` comes from. `share` is the chunk factor, in
  /// chunks.
  Source (*source)(uint32_t ranks, uint32_t root, uint64_t share, uint32_t rank, uint64_t chunk);

  /// Return the number of elements in a share, in each rank's input, and in each rank's output.
  constexpr uint64_t share(uint64_t ranks, uint64_t message) const { return length(false, ranks, message); }
  constexpr uint64_t input(uint64_t ranks, uint64_t message) const { return length(wholeInput, ranks, message); }
  constexpr uint64_t output(uint64_t ranks, uint64_t message) const { return length(wholeOutput, ranks, message); }
  /// True if the collective reduces elements.
  constexpr bool reduces() const { return source(2, 0, 1, 0, 0).rank == everyRank; }
  /// gets() is true if a rank's output has a defined value. gives() is true if a rank's input is used. Both are for the
  /// root if `isRoot`, and for any other rank otherwise.
  constexpr bool gets(bool isRoot) const { return source(2, 0, 1, isRoot ? 0 : 1, 0).rank != nobody; }
  constexpr bool gives(bool isRoot) const {
    for (uint32_t rank = 0; rank < 2; ++rank)
      for (uint64_t chunk = 0; chunk < (wholeOutput ? 2 : 1); ++chunk)
        if (const uint32_t from = source(2, 0, 1, rank, chunk).rank; from == everyRank || from == (isRoot ? 0u : 1u))
          return true;
    return false;
  }
  /// True if every element of an output depends only on the same element of the inputs. Then a message may be made
  /// longer at its end.
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

/// The table of collectives, indexed by Kind.
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

/// Returns the entry of the table for a collective.
constexpr const Row &of(Kind kind) {
  return rows[static_cast<unsigned>(kind)];
}

/// Returns the entry of the table for the collective with this name, with or without a root; null if there is none.
inline const Row *find(const char *name, bool rooted) {
  for (const Row &row : rows)
    if (row.rooted == rooted && std::strcmp(row.name, name) == 0)
      return &row;
  return nullptr;
}

} // namespace mscclc::collectives
