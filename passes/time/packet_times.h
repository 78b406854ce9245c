// Computes when packets arrive, for each cell of memory that packets are written to, and for each iteration.
//
// A packet slot is written once a launch (the verifier checks that). So a cell is complete when all operations that
// write the cell have done so. A reader is notified twice: when the first packets of all its cells have arrived, and
// when the last packets have arrived.
#pragma once

#include "passes/time/fluid.h"
#include "passes/time/folding.h"
#include "passes/time/timeline.h"

#include "ir/program.h"

#include <array>
#include <vector>

namespace mscclc::passes::time {

class PacketTimes {
public:
  explicit PacketTimes(const ir::Program &program, Folding folding = {});

  /// An operation that reads packets.
  struct Reader {
    std::uint32_t span = Span::none;
    std::uint32_t notBegun = 0, notWritten = 0; ///< cells
    Time first = 0, last = 0;                   ///< so far
    std::uint32_t writer = Span::none;          ///< the span that writes the last packet
    bool begun() const { return notBegun == 0; }
    bool complete() const { return notWritten == 0; }
  };
  /// Adds a reader and returns its number.
  std::uint32_t enter(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint64_t iteration,
                      std::uint32_t span);
  const Reader &reader(std::uint32_t number) const { return readers_[number]; }

  /// Records that the operation begins to write its packets, and that readers see the first packets at time `at`. Adds
  /// to `ready` the readers for which all writers have begun.
  void begin(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint64_t iteration, Time at,
             std::vector<std::uint32_t> &ready);
  /// Records that the operation has written its packets, and that readers see the last packets at time `at`. Adds to
  /// `ready` the readers for which all writers have ended.
  void write(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint64_t iteration, Time at,
             std::uint32_t span, std::vector<std::uint32_t> &ready);

  /// True if the operation waits for packets.
  static bool reads(const ir::Op &op);
  /// True if the operation writes packets.
  static bool writes(const ir::Op &op);

private:
  struct Iteration {
    std::uint32_t begun = 0, written = 0; ///< writers
    Time first = 0, last = 0;
    std::uint32_t writer = Span::none;
    std::vector<std::uint32_t> readers;
  };
  struct Cell {
    std::uint32_t writers = 0; ///< number of operations that write the cell in an iteration
    bool inPipeline = false;
    std::vector<Iteration> iterations;
    Iteration &at(std::uint64_t iteration) {
      if (iterations.size() <= iteration)
        iterations.resize(iteration + 1);
      return iterations[iteration];
    }
  };
  template <class Visit>
  void forCells(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, bool reads, Visit &&visit);

  const ir::Program &program_;
  Folding folding_;
  std::vector<std::array<std::vector<Cell>, 3>> cells_; ///< [rank][buffer][chunk]
  std::vector<Reader> readers_;
};

} // namespace mscclc::passes::time
