// The index of each rank in a launch of a program with experts, and what a rank does by it: it packs rows before its
// first operation, and unpacks them after its last one.
#pragma once

#include "passes/simulate/numbers.h"

#include "ir/expert_places.h"
#include "passes/row_counts.h"

#include <optional>
#include <span>
#include <vector>

namespace mscclc::passes::sim {

/// The indices of one launch. Experts have numbers among all ranks here. Rows of a dispatch have one to three payloads,
/// each an array of its own in what a rank gives and gets. These arrays follow each other.
class ExpertLaunch {
public:
  using Bytes = std::vector<std::byte>;

  /// Draws indices by which rank s names expert e as often as `counts` says for (s, e), as far as it is tested what
  /// happens above the capacity. They also name experts that do not exist. `slotCapacity`: rows.
  ExpertLaunch(const ir::Program &program, std::uint64_t slotCapacity, const RowCounts &counts, std::uint64_t seed,
               std::uint32_t launch);

  /// Returns the number of rows that rank `src` sends to rank `dst`.
  std::uint64_t sent(std::uint32_t src, std::uint32_t dst) const;
  /// Returns the rows that rank `src` sends to rank `dst`, as packing leaves them. Rows are `rowBytes` bytes long.
  Bytes pack(std::uint32_t src, std::uint32_t dst, const Inputs &inputs, std::uint64_t rowBytes) const;
  /// Unpacks to `result` the slots that all ranks have sent to `rank`. Bytes of `result` without a row stay as they
  /// are. `type`: of elements.
  void unpack(std::uint32_t rank, const std::vector<Bytes> &slots, DataType type, std::uint64_t rowBytes,
              Bytes &result) const;
  /// Sets `result` to what the collective says of `rank`. It is found without the places of cells: by lists of what
  /// each expert gets.
  void define(std::uint32_t rank, const Inputs &inputs, DataType type, std::uint64_t rowBytes, Bytes &result) const;
  /// Returns the rows of the result of `rank`.
  std::uint64_t rowsOfResult(std::uint32_t rank) const;

private:
  struct Index {
    std::uint32_t choices = 1;
    std::vector<std::int64_t> experts; ///< [row * choices + choice]
    std::vector<float> weights;        ///< of each entry
    std::vector<std::uint64_t> ordinals;
    std::vector<ir::RowCount> counts; ///< [expert]
    // These count the rows in slots. With oncePerRank, only first entries have one (ir::ExpertCells), else all have.
    std::vector<std::uint64_t> ordinalsInSlot;
    std::vector<ir::RowCount> countsInSlot;
  };
  struct Entry {
    std::uint32_t src, entry;
  };

  /// A row that an expert gets: of rank `src`, at these rows of the slot and of the layout of experts.
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
  std::uint64_t capacity_;          ///< rows of a cell
  std::uint32_t launch_, payloads_; ///< payloads of a row
  std::uint32_t align_;             ///< of groups of rows
  std::uint32_t readyRows_;         ///< of a block that is handed over; 0: none is
  std::vector<Index> indices_;      ///< by rank
};

} // namespace mscclc::passes::sim
