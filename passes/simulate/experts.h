// The indices of the ranks in a launch of a program with experts. By its index, a rank packs rows before its first
// operation, and unpacks them after its last one.
#pragma once

#include "passes/simulate/numbers.h"

#include "ir/expert_places.h"
#include "passes/row_counts.h"

#include <optional>
#include <span>
#include <vector>

namespace mscclc::passes::sim {

/// The indices of one launch. Experts are numbered across all ranks here. Rows of a dispatch have one to three
/// payloads. In the buffers that a rank gives and gets, each payload is an array, and these arrays follow each other.
class ExpertLaunch {
public:
  using Bytes = std::vector<std::byte>;

  /// Draws the indices. Rank s names expert e as often as `counts` says for (s, e), but at least 0 times, and at most a
  /// few times more than the capacity of a cell. Some entries name experts that do not exist. `slotCapacity` is in
  /// rows.
  ExpertLaunch(const ir::Program &program, std::uint64_t slotCapacity, const RowCounts &counts, std::uint64_t seed,
               std::uint32_t launch);

  /// Returns the number of rows that rank `src` sends to rank `dst`.
  std::uint64_t sent(std::uint32_t src, std::uint32_t dst) const;
  /// Returns the rows that rank `src` sends to rank `dst`, as packing leaves them. Rows are `rowBytes` bytes long.
  Bytes pack(std::uint32_t src, std::uint32_t dst, const Inputs &inputs, std::uint64_t rowBytes) const;
  /// Unpacks the slots that all ranks have sent to `rank` into `result`. Bytes of `result` that belong to no row stay
  /// as they are. `type` is the type of elements.
  void unpack(std::uint32_t rank, const std::vector<Bytes> &slots, DataType type, std::uint64_t rowBytes,
              Bytes &result) const;
  /// Sets `result` to the contents that the collective defines for `rank`. Computes them independently of the places of
  /// cells, from lists of the rows that experts get.
  void define(std::uint32_t rank, const Inputs &inputs, DataType type, std::uint64_t rowBytes, Bytes &result) const;
  /// Returns the number of rows in the result of `rank`.
  std::uint64_t rowsOfResult(std::uint32_t rank) const;

private:
  struct Index {
    std::uint32_t choices = 1;
    std::vector<std::int64_t> experts; ///< [row * choices + choice]: number of an expert
    std::vector<float> weights;        ///< the weight of each entry
    std::vector<std::uint64_t> ordinals;
    std::vector<ir::RowCount> counts; ///< [expert]
    // Ordinals and counts of rows in slots. With oncePerRank, only first entries have a row there (see
    // ir::ExpertCells).
    std::vector<std::uint64_t> ordinalsInSlot;
    std::vector<ir::RowCount> countsInSlot;
  };
  struct Entry {
    std::uint32_t src, entry;
  };

  /// A row that an expert gets from rank `src`: its number in the slot, and in the buffer of experts.
  struct Received {
    std::uint32_t src;
    std::uint64_t inSlot, place;
  };

  ir::ExpertPlaces places() const { return {cells_, capacity_, align_}; }
  bool isLive(const Index &index, std::uint32_t entry) const;
  bool goesTo(const Index &index, std::uint32_t entry, std::uint32_t dst) const;
  void keepFirstEntries(Index &index) const;
  std::span<const ir::RowCount> countsOf(std::uint32_t src, std::uint32_t dst, bool inSlot = false) const;
  std::uint64_t rowInSlot(std::uint32_t src, std::uint32_t entry) const;
  std::vector<std::uint64_t> begins(std::uint32_t dst) const;
  std::uint64_t rowsOf(const Index &index) const { return index.experts.size() / index.choices; }
  template <typename Use> void forPayloads(std::uint64_t rowBytes, std::uint32_t elementBytes, const Use &use) const;
  template <typename Use>
  void forEachListed(std::uint32_t src, std::uint32_t dst, const std::vector<std::uint64_t> &begin,
                     const Use &use) const;
  template <typename Use> void forEachReceived(std::uint32_t dst, const Use &use) const;
  template <typename Make, typename Take> void handOver(std::uint32_t dst, const Make &make, const Take &take) const;
  template <typename RowOf>
  void sum(const Index &index, DataType type, std::uint64_t rowBytes, const RowOf &rowOf, Bytes &result) const;

  ir::ExpertCells cells_;
  bool isDispatch_, oncePerRank_;
  std::uint64_t capacity_;          ///< most rows of a cell
  std::uint32_t launch_, payloads_; ///< number of payloads of a row
  std::uint32_t align_;             ///< alignment of groups, in rows; 0: groups have fixed places
  std::uint32_t readyRows_;         ///< rows of a block that is handed over; 0: all rows are handed over at once
  std::vector<Index> indices_;      ///< by rank
};

} // namespace mscclc::passes::sim
