// The numbers of rows that ranks send to each other, for runs and estimates of programs of rows.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::passes {

class RowCounts {
public:
  /// Mixtures, which differ from launch to launch: of 0, 1, the capacity, one above it, less than 0 and random counts;
  /// one sender only; and all rows to one receiver.
  RowCounts() = default;
  /// Reads "zero", "full", "over" (one above the capacity), "random:SEED" (0 to the capacity), "uniform:N" (N rows for
  /// each rank) or "zipf:S" (rank d gets the capacity divided by (d + 1) to the power of S). Returns nothing for
  /// another text.
  static std::optional<RowCounts> parse(std::string_view text);
  /// Reads a table of the counts: on line s the counts that rank s gives for ranks 0, 1 and so on, or for experts 0, 1
  /// and so on if there are `experts` of them in all. They may be negative, or above the capacity. Sets `fault` to what
  /// is wrong, or to nothing.
  static RowCounts ofTable(std::string_view text, std::uint32_t ranks, std::string &fault, std::uint32_t experts = 0);

  /// Returns the count that rank `src` of `ranks` gives for rank `dst`, or expert `dst` of as many, in launch `launch`.
  /// `seed` selects a mixture.
  std::int64_t of(std::uint64_t seed, std::uint32_t launch, std::uint32_t ranks, std::uint32_t src, std::uint32_t dst,
                  std::uint64_t capacity) const;
  /// Returns the rows that go from rank `src` to rank `dst` in an estimate of the program. `choices`: the number of
  /// different experts that each row goes to, if it goes once to each rank (Program::oncePerRank). Then it is the
  /// expected number for a random choice of them, in which rank `dst` has its share of all that `src` sends. 0: a row
  /// goes to a rank once for each of its experts there.
  std::uint64_t liveRows(const ir::Program &program, std::uint32_t src, std::uint32_t dst, std::uint64_t capacity,
                         std::uint32_t choices = 0) const;
  /// Returns the entries of the index of rank `rank` that are live, of a program with experts. `capacity`: of a slot.
  std::uint64_t entries(const ir::Program &program, std::uint32_t rank, std::uint64_t capacity) const;

private:
  enum class Kind : std::uint8_t { Mixture, Zero, Full, Over, Random, Uniform, Zipf, Table };
  Kind kind_ = Kind::Mixture;
  std::uint64_t number_ = 0; ///< the number of Random and Uniform
  double exponent_ = 0;
  std::vector<std::int64_t> table_; ///< [src * ranks + dst]
};

} // namespace mscclc::passes
