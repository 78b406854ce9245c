// Checks launches of different message sizes that follow each other on one context. The context keeps the scratch
// buffer, but at another size its chunks have other places. So the writes of a launch into a rank's scratch may hit any
// chunk that the last launch used there (with double scratch: the launch before the last one).
//
// Example: a rank has 4 chunks of scratch. At 1 KiB a chunk, chunk 3 is at byte 3072. At 3 KiB a chunk, chunk 1 is at
// byte 3072. So a write to chunk 1 in the second launch must come after every use of chunk 3 in the first launch. In
// general, a write must come after every use of any chunk.
//
// Inputs and outputs need no such check, because between launches they belong completely to their user (user.cpp).
#pragma once

#include "passes/run/memory.h"
#include "passes/run/order.h"

#include <unordered_map>

namespace mscclc::passes::proof {

/// Records the uses of scratch in the first launch, and checks later writes against them.
class ScratchHistory {
public:
  ScratchHistory(const ProgramIndex &index, Order &order) : index_(index), order_(order), ranks_(index.numRanks()) {}

  struct Access {
    Epoch by;
    bool writes = false;
  };

  /// Notes an access of the first launch to cells [`first`, `first` + `count`) of `rank`'s scratch. If packets have
  /// been taken, they had arrived, so everything after a taker also comes after the write of the packets. If a port
  /// reads packets, the cells are the destinations of its put. If packets are taken there, the port has read its
  /// sources, and these had been written.
  void note(std::uint32_t rank, const Epoch &by, bool writes, bool packet, CellId first, std::uint32_t count) {
    ranks_[rank].all.push_back({{by, writes}, packet, first, count, {}});
  }
  /// Ends the first launch of `rank`. `end` is the rank's view at that time.
  void close(std::uint32_t rank, const View &end, const Memory &memory);
  /// Returns an access of the first launch to `rank`'s scratch that is not ordered before a write at `view`; null if
  /// there is none.
  const Access *open(std::uint32_t rank, const View &view);

private:
  struct Noted : Access {
    bool packet;
    CellId first;
    std::uint32_t count;
    /// For a write of packets, and for a port's read of packets: the operations that took these packets. They are known
    /// when the launch ends.
    std::vector<Epoch> takers;
  };
  struct RankState {
    std::vector<Noted> all;
    std::vector<Noted> loose;   ///< accesses that may not be over when the rank's launch ends
    std::uint32_t endPhase = 0; ///< last phase of the rank's first block in that launch
  };
  bool over(const Noted &noted, const View &view);
  bool overAtBegin(std::uint32_t rank, const View &view);
  /// The knowledge of all blocks of a rank since a launch began: whether accesses to another rank's scratch are over.
  struct AtBegin {
    std::uint32_t launch = none; ///< the launch of the last query
    bool over = false;
  };
  static void findTakers(RankState &state, const Memory &memory);

  const ProgramIndex &index_;
  Order &order_;
  std::vector<RankState> ranks_;
  /// [block << 32 | rank]: the first phase of the block in which all accesses to the rank's scratch are known to be
  /// over.
  std::unordered_map<std::uint64_t, std::uint32_t> free_;
  std::unordered_map<std::uint64_t, AtBegin> atBegin_; ///< [rank that knows << 32 | rank that owns the scratch]
};

} // namespace mscclc::passes::proof
