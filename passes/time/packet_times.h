// When packets are there: each cell of memory that packets are written to, for each iteration.
//
// A packet slot is written once a launch (the verifier holds programs to that), so a cell is complete when all
// operations that write it have done so.
#pragma once

#include "passes/time/fluid.h"
#include "passes/time/timeline.h"

#include "ir/program.h"

#include <unordered_map>

namespace mscclc::passes::time {

class PacketTimes {
public:
  explicit PacketTimes(const ir::Program &program);

  /// Says that the operation begins to write its packets, or has written them, and that readers see that at `at`.
  /// Returns the readers that were waiting for this.
  std::vector<std::uint32_t> begun(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                                   std::uint64_t iteration, Time at);
  std::vector<std::uint32_t> written(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                                     std::uint64_t iteration, Time at, std::uint32_t span);

  /// When a reader of packets may begin and end, as far as that is known.
  struct Arrival {
    bool begun = true, complete = true;
    Time first = 0, last = 0;
    std::uint32_t span = Span::none; ///< what wrote the last
  };
  /// Of the packets that `op` reads. If they are not all known yet, `reader` is returned by a later begun() or
  /// written().
  Arrival arrival(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint64_t iteration,
                  std::uint32_t reader);
  /// True if the operation waits for packets that some operation writes.
  static bool reads(const ir::Op &op);

private:
  struct Iteration {
    std::uint32_t begun = 0, written = 0;
    Time first = 0, last = 0;
    std::uint32_t span = Span::none;
    std::vector<std::uint32_t> readers;
  };
  struct Cell {
    std::uint32_t writers = 0; ///< in an iteration
    bool inPipeline = false;
    std::unordered_map<std::uint64_t, Iteration> iterations;
  };
  template <class Visit>
  void forCells(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, bool reads, Visit &&visit);

  const ir::Program &program_;
  std::unordered_map<std::uint64_t, Cell> cells_; ///< by rank, buffer and chunk
};

} // namespace mscclc::passes::time
