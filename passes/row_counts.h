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
  /// Mixes counts, in another way for each launch. Counts are 0, 1, the capacity, the capacity plus 1, negative or
  /// random. In some launches only one rank sends, or only one receives.
  RowCounts() = default;
  /// Reads "zero", "full", "over" (one above the capacity), "random:SEED" (0 to the capacity), "uniform:N" (N rows for
  /// each rank) or "zipf:S" (rank d gets the capacity divided by (d + 1) to the power of S). Returns nothing for
  /// another text.
  static std::optional<RowCounts> parse(std::string_view text);
  /// Reads a table of counts. Line s has the counts that rank s gives for ranks 0, 1 and so on. If there are experts,
  /// it has those for experts 0, 1 and so on instead. `experts`: number of experts of all ranks together, or 0. Counts
  /// may be negative, or above the capacity. Sets `fault` to a description of the error, or to an empty text.
  static RowCounts ofTable(std::string_view text, std::uint32_t ranks, std::string &fault, std::uint32_t experts = 0);

  /// Returns the count that rank `src` gives for receiver `dst` in launch `launch`. The receivers are `ranks` ranks, or
  /// as many experts. `seed` selects a mixture.
  std::int64_t of(std::uint64_t seed, std::uint32_t launch, std::uint32_t ranks, std::uint32_t src, std::uint32_t dst,
                  std::uint64_t capacity) const;
  /// Returns the rows that go from rank `src` to rank `dst` in an estimate of the program. `choices` is 0 if a row goes
  /// to a rank once for each of its experts there. If a row goes to each rank at most once (Program::oncePerRank),
  /// `choices` is the number of different experts of a row. Then the result is the expected number of rows for random
  /// choices. Experts of `dst` are chosen in proportion to its share of all rows that `src` sends.
  std::uint64_t liveRows(const ir::Program &program, std::uint32_t src, std::uint32_t dst, std::uint64_t capacity,
                         std::uint32_t choices = 0) const;
  /// Returns the number of live entries in the index of rank `rank`, for a program with experts. `capacity`: rows of a
  /// slot.
  std::uint64_t entries(const ir::Program &program, std::uint32_t rank, std::uint64_t capacity) const;

private:
  enum class Kind : std::uint8_t { Mixture, Zero, Full, Over, Random, Uniform, Zipf, Table };
  Kind kind_ = Kind::Mixture;
  std::uint64_t number_ = 0; ///< the seed of Random, or the rows of Uniform
  double exponent_ = 0;
  std::vector<std::int64_t> table_; ///< [src * ranks + dst]
};

} // namespace mscclc::passes
