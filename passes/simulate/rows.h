// The counts of a program of rows in each launch, their exchange, and the places of rows that follow from them.
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
  std::vector<ir::RowRange> inputs;    ///< [src * ranks + dst]: rows of the slot in the input of `src`
  std::vector<ir::RowRange> outputs;   ///< [dst * ranks + src]: rows of the slot in the output of `dst`
  std::optional<ExpertLaunch> experts; ///< only if the collective has experts

  RowLaunch(const ir::Program &program, std::uint64_t capacity, const RowCounts &counts, std::uint64_t seed,
            std::uint32_t launch);
  const ir::RowRange &input(std::uint32_t src, std::uint32_t dst) const { return inputs[src * ranks + dst]; }
  const ir::RowRange &output(std::uint32_t src, std::uint32_t dst) const { return outputs[dst * ranks + src]; }
  /// Returns the rows that `src` sends to `dst` in launch `launch`.
  ExpertLaunch::Bytes sent(std::uint32_t src, std::uint32_t dst, std::uint32_t launch, const Inputs &values,
                           std::uint64_t rowBytes) const;
  /// Returns the rows of a part, counted from the first row of its slot. With `inOutput`, leaves out rows for which the
  /// output has no room.
  ir::RowRange rowsOf(const ir::RowPart &part, bool inOutput) const;
};

/// The state of a machine that depends on the counts of rows.
class Rows {
public:
  Rows(const ir::Program &program, const ir::RowSlots &slots, const RowCounts &counts, std::uint64_t rowBytes)
      : program_(program), slots_(slots), counts_(counts), rowBytes_(rowBytes) {}

  void reset(std::uint64_t seed);
  std::uint64_t rowBytes() const { return rowBytes_; }
  const RowLaunch &launch(std::uint32_t number, const Layout &layout);

  /// Sends the counts of rank `src` for launch `launch` to rank `to`.
  void send(std::uint32_t src, std::uint32_t to, std::uint32_t launch) { table(to, launch, src) = launch + 1; }
  /// True if `rank` has the counts of `src` for launch `launch`. A rank always has its own counts.
  bool has(std::uint32_t rank, std::uint32_t launch, std::uint32_t src) const {
    return rank == src || sent_[(rank * 2 + launch % 2) * ranks() + src] == launch + 1;
  }
  bool hasAll(std::uint32_t rank, std::uint32_t launch) const;
  /// Returns the first rank whose counts are still missing for chunk `chunk` of an operand; nothing if all are there.
  std::optional<std::uint32_t> missing(const ir::OpRef &place, std::uint32_t operand, std::uint32_t chunk,
                                       std::uint32_t launch) const;
  /// Returns the byte range in which the live rows of chunk `chunk` of an operand lie in their buffer.
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
  std::vector<std::uint32_t>
      sent_; ///< [rank][launch % 2][src]: the launch for which `rank` last got the counts of `src`, plus 1
};

} // namespace mscclc::passes::sim
