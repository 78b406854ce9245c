// Makes operations of the program from checked calls.
#pragma once

#include "frontend/lower/check_calls.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace mscclc::frontend {

/// A pipeline of the recording.
struct LoopInfo {
  std::uint64_t unit = 0; ///< bytes
  std::uint32_t iterations = 0;
  ir::LocId loc = ir::noLoc;
};

/// Writes the operations of all thread blocks in two walks over the recording. The first counts, so that the second
/// writes into memory of exactly the right size. Both must visit the same calls and loops in the same order.
class OpEmitter {
public:
  OpEmitter(ir::Program &program, const Declarations &declarations) : program_(program), declarations_(declarations) {}

  void beginLoop(const LoopInfo &loop);
  void endLoop() { inLoop_ = false; }

  /// First walk.
  void count(const CheckedCall &call);
  /// Returns the memory for the counted operations, in bytes.
  std::uint64_t bytes() const { return bytes_; }
  /// Reserves the memory; called between the walks.
  void allocate();
  /// Second walk.
  void emit(const CheckedCall &call);

private:
  struct BlockPlan {
    std::uint32_t ops = 0, chunks = 0, ids = 0;
    std::uint32_t lastLoop = 0; ///< number of the last loop with a header
    std::uint32_t header = 0;   ///< index of the header of this loop
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// The blocks and ids of a channel that are already in tables.
  struct ChannelUse {
    std::uint32_t block = none;                        ///< the first block that used the channel
    std::uint32_t remoteBlock[3] = {none, none, none}; ///< [buffer of the other end]: the last block that used it
    std::uint32_t remoteId[3] = {none, none, none};    ///< [buffer of the other end]: its index in Rank::remoteBuffers
  };

  static std::uint32_t numIds(const CheckedCall &call);
  static std::uint32_t numChunks(const CheckedCall &call);
  std::uint32_t barrierId(const CheckedCall &call);
  std::uint32_t remoteId(const CheckedCall &call, ir::BufferKind buffer);
  ir::Chunk chunk(const CheckedCall &call, const Operand &operand, bool remote);
  void useChannel(const CheckedCall &call, std::uint32_t block, ir::ThreadBlock &threadBlock);
  void useRemote(const CheckedCall &call, ir::BufferKind buffer, std::uint32_t block, ir::ThreadBlock &threadBlock);
  ir::Op &loopHeader(BlockPlan &plan, ir::ThreadBlock &threadBlock);

  ir::Program &program_;
  const Declarations &declarations_;
  std::vector<std::vector<BlockPlan>> plans_; // [rank][block]
  std::uint64_t bytes_ = 0;

  LoopInfo loop_;
  bool inLoop_ = false;
  std::uint32_t loopNumber_ = 0; ///< number of the last loop that began, from 1

  std::vector<ChannelUse> uses_; // by channel
  /// [rank][remote buffer]: the first block that used the buffer, [0] through memory and [1] through port channels.
  std::vector<std::vector<std::array<std::uint32_t, 2>>> remoteFirst_;
  // Entries of blocks' tables for further blocks. Keys pack (channel, block) and (rank, block, id).
  llvm::DenseSet<std::uint64_t> usedChannels_, usedRemotes_;
  /// [rank]: maps (peer << 2 | buffer) to the index in Rank::remoteBuffers.
  std::vector<llvm::DenseMap<std::uint32_t, std::uint32_t>> remoteIds_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t> barriers_;
  std::vector<std::uint32_t> numBarriers_; // by rank
  std::vector<ir::Chunk> srcs_, dsts_;
};

} // namespace mscclc::frontend
