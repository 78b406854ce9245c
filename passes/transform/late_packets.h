// Finds packets that come late: their sender waits for something before it sends them.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::passes {

class LatePackets {
public:
  /// Finds the late packets of a program of thread blocks. `isOneRank`: only rank 0 has blocks, and all ranks do the
  /// same, with packets at the same places.
  LatePackets(const ir::Program &program, bool isOneRank);

  /// True if `op`, of a block of `rank`, reads some late packets.
  bool isReadBy(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op) const;

private:
  const ir::Program &program_;
  const bool isOneRank_;
  std::vector<std::vector<bool>> late_; ///< [rank][packet chunk of scratch]; empty: none is late
};

} // namespace mscclc::passes
