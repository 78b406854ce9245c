// Finds late packets: packets whose sender waits for another block before it sends them.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::passes {

class LatePackets {
public:
  /// Finds the late packets of a program of thread blocks. `isOneRank`: only rank 0 has blocks. All ranks do the same
  /// as rank 0, with packets at the same places.
  LatePackets(const ir::Program &program, bool isOneRank);

  /// True if `op` reads some late packets. `block`: the block of `op`, on `rank`.
  bool isReadBy(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op) const;

private:
  const ir::Program &program_;
  const bool isOneRank_;
  std::vector<std::vector<bool>> late_; ///< [rank][packet chunk of scratch]: true if late; empty if no packets are late
};

} // namespace mscclc::passes
