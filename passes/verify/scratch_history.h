// Launches of different message sizes, one after the other, on one context: what is kept is the scratch buffer, and at
// another size its chunks lie elsewhere. So whatever a launch writes into a rank's scratch may lie over any chunk that
// the launch before (with double scratch: the one before that) used there.
//
// Input and output need no such look: between any two launches they are their user's (user.cpp), whole.
#pragma once

#include "passes/run/memory.h"
#include "passes/run/order.h"

#include <unordered_map>

namespace mscclc::passes::proof {

class ScratchHistory {
public:
  ScratchHistory(const ProgramIndex &index, Order &order) : index_(index), order_(order), ranks_(index.numRanks()) {}

  struct Access {
    Epoch by;
    bool writes = false;
  };

  /// An access of the first launch to cells [first, first + count) of `rank`'s scratch. Packets that are taken have
  /// arrived: who comes after one that took them comes after the write. Of packets that a port reads, the cells are
  /// those where it puts them: once they are taken there, it has read them, and they had been written.
  void note(std::uint32_t rank, const Epoch &by, bool writes, bool packet, CellId first, std::uint32_t count) {
    ranks_[rank].all.push_back({{by, writes}, packet, first, count, {}});
  }
  /// The first launch of `rank` has ended, from where `end` looks.
  void close(std::uint32_t rank, const View &end, const Memory &memory);
  /// An access of the first launch to `rank`'s scratch that a write seen from `view` may not come after; null: none.
  const Access *open(std::uint32_t rank, const View &view);

private:
  struct Noted : Access {
    bool packet;
    CellId first;
    std::uint32_t count;
    std::vector<Epoch> takers; ///< of packets that are written, or that a port read: known once the launch has ended
  };
  struct RankState {
    std::vector<Noted> all;
    std::vector<Noted> loose;   ///< those that the rank does not know to be over when its launch ends
    std::uint32_t endPhase = 0; ///< of its first block
  };
  bool over(const Noted &noted, const View &view);
  bool overAtBegin(std::uint32_t rank, const View &view);
  /// What the blocks of a rank know together of another's scratch since a launch began.
  struct AtBegin {
    std::uint32_t launch = none; ///< in which they were asked last
    bool over = false;
  };
  static void findTakers(RankState &state, const Memory &memory);

  const ProgramIndex &index_;
  Order &order_;
  std::vector<RankState> ranks_;
  std::unordered_map<std::uint64_t, std::uint32_t> free_; ///< [block << 32 | rank]: from this phase on all is over
  std::unordered_map<std::uint64_t, AtBegin> atBegin_;    ///< [rank << 32 | rank whose scratch it is]
};

} // namespace mscclc::passes::proof
