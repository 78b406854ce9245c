// The counts of a program of rows in each launch, their exchange, and where rows then lie.
#pragma once

#include "ir/rows.h"
#include "passes/row_counts.h"
#include "passes/simulate/experts.h"
#include "passes/simulate/layout.h"
#include "passes/simulate/simulate.h"

#include <map>

namespace mscclc::passes::sim {

/// Returns the bytes of a row of elements of `type`.
std::uint64_t rowBytesOf(const ir::Program &program, DataType type);

/// The counts of one launch, and the places that follow from them, in rows.
struct RowLaunch {
  std::uint32_t ranks = 0;
  std::uint64_t capacity = 0;
  std::vector<ir::RowRange> inputs;    ///< [src * ranks + dst]: where the rows lie that `src` sends
  std::vector<ir::RowRange> outputs;   ///< [dst * ranks + src]: where they end
  std::optional<ExpertLaunch> experts; ///< the launch of a collective with experts

  RowLaunch(const ir::Program &program, std::uint64_t capacity, const RowCounts &counts, std::uint64_t seed,
            std::uint32_t launch);
  const ir::RowRange &input(std::uint32_t src, std::uint32_t dst) const { return inputs[src * ranks + dst]; }
  const ir::RowRange &output(std::uint32_t src, std::uint32_t dst) const { return outputs[dst * ranks + src]; }
  /// Returns the rows that `src` sends to `dst` in launch `launch`.
  ExpertLaunch::Bytes sent(std::uint32_t src, std::uint32_t dst, std::uint32_t launch, const Inputs &values,
                           std::uint64_t rowBytes) const;
  /// Returns the first row and the number of rows, within slot, of a part. `inOutput`: of what the output has room for.
  ir::RowRange rowsOf(const ir::RowPart &part, bool inOutput) const;
};

/// The rows of a machine: all that depends on counts.
class Rows {
public:
  Rows(const ir::Program &program, const ir::RowSlots &slots, const RowCounts &counts, std::uint64_t rowBytes)
      : program_(program), slots_(slots), counts_(counts), rowBytes_(rowBytes) {}

  void reset(std::uint64_t seed);
  std::uint64_t rowBytes() const { return rowBytes_; }
  const RowLaunch &launch(std::uint32_t number, const Layout &layout);

  /// Rank `src` sends its counts of launch `launch` to rank `to`.
  void send(std::uint32_t src, std::uint32_t to, std::uint32_t launch) { table(to, launch, src) = launch + 1; }
  /// True if `rank` has the counts of `src` for launch `launch`. A rank always has its own counts.
  bool has(std::uint32_t rank, std::uint32_t launch, std::uint32_t src) const {
    return rank == src || sent_[(rank * 2 + launch % 2) * ranks() + src] == launch + 1;
  }
  bool hasAll(std::uint32_t rank, std::uint32_t launch) const;
  /// Returns the first rank whose counts are still missing for chunk `chunk` of an operand; nothing if none are
  /// missing.
  std::optional<std::uint32_t> missing(const ir::OpRef &place, std::uint32_t operand, std::uint32_t chunk,
                                       std::uint32_t launch) const;
  /// Returns the bytes of the live rows of chunk `chunk` of an operand, in its buffer.
  ByteSpan span(const ir::OpRef &place, std::uint32_t operand, std::uint32_t chunk, std::uint32_t launch,
                const Layout &layout);

private:
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(program_.ranks.size()); }
  std::uint32_t &table(std::uint32_t rank, std::uint32_t launch, std::uint32_t src) {
    return sent_[(rank * 2 + launch % 2) * ranks() + src];
  }
  ir::BufferKind bufferOf(const ir::OpRef &place, std::uint32_t operand, std::uint32_t chunk, std::uint32_t &owner,
                          std::uint32_t &index) const;

  const ir::Program &program_;
  const ir::RowSlots &slots_;
  const RowCounts &counts_;
  std::uint64_t rowBytes_, seed_ = 0;
  std::map<std::uint32_t, RowLaunch> launches_;
  std::vector<std::uint32_t> sent_; ///< [rank][half][src]: the launch that the packet is of, plus 1
};

} // namespace mscclc::passes::sim
