// Launches of different message sizes, one after the other, on one context. The context keeps the scratch buffer, but
// at another size its chunks have other places. So the writes of a launch into a rank's scratch may hit any chunk that
// the launch before used there (with double scratch: the launch before that).
//
// Example: a rank has 4 chunks of scratch. At 1 KiB a chunk, chunk 3 is at byte 3072. At 3 KiB a chunk, chunk 1 is
// there. So a write to chunk 1 in the second launch must come after every use of chunk 3 in the first one, and in
// general of any chunk.
//
// Inputs and outputs need no such check, because between launches they belong completely to their user (user.cpp).
#pragma once

#include "passes/run/memory.h"
#include "passes/run/order.h"

#include <unordered_map>

namespace mscclc::passes::proof {

/// The uses of scratch in the first launch, and the check of later writes against them.
class ScratchHistory {
public:
  ScratchHistory(const ProgramIndex &index, Order &order) : index_(index), order_(order), ranks_(index.numRanks()) {}

  struct Access {
    Epoch by;
    bool writes = false;
  };

  /// Notes an access of the first launch to cells [first, first + count) of `rank`'s scratch. Packets that are taken
  /// have arrived, so whoever comes after a taker also comes after the write. For packets that a port reads, the cells
  /// are those to which the port puts them. When they are taken there, the port has read them, and they had been
  /// written.
  void note(std::uint32_t rank, const Epoch &by, bool writes, bool packet, CellId first, std::uint32_t count) {
    ranks_[rank].all.push_back({{by, writes}, packet, first, count, {}});
  }
  /// Ends the first launch of `rank`. `end` is the view at its end.
  void close(std::uint32_t rank, const View &end, const Memory &memory);
  /// Returns an access of the first launch to `rank`'s scratch that may not come before a write at `view`; null if
  /// there is none.
  const Access *open(std::uint32_t rank, const View &view);

private:
  struct Noted : Access {
    bool packet;
    CellId first;
    std::uint32_t count;
    std::vector<Epoch> takers; ///< of packets that are written or that a port reads; known at the launch's end
  };
  struct RankState {
    std::vector<Noted> all;
    std::vector<Noted> loose;   ///< accesses that the rank does not know to be over when its launch ends
    std::uint32_t endPhase = 0; ///< phase of its first block
  };
  bool over(const Noted &noted, const View &view);
  bool overAtBegin(std::uint32_t rank, const View &view);
  /// What holds for all blocks of a rank since a launch began: whether accesses to another rank's scratch have
  /// completed.
  struct AtBegin {
    std::uint32_t launch = none; ///< the launch of the last query
    bool over = false;
  };
  static void findTakers(RankState &state, const Memory &memory);

  const ProgramIndex &index_;
  Order &order_;
  std::vector<RankState> ranks_;
  std::unordered_map<std::uint64_t, std::uint32_t>
      free_; ///< [block << 32 | rank]: the first phase in which all accesses have completed
  std::unordered_map<std::uint64_t, AtBegin> atBegin_; ///< [rank << 32 | rank that owns the scratch]
};

} // namespace mscclc::passes::proof
