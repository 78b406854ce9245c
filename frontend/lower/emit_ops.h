// Operations of the program, made from calls that are in order.
#pragma once

#include "frontend/lower/check_calls.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace mscclc::frontend {

/// A pipeline as recorded.
struct LoopInfo {
  std::uint64_t unit = 0; ///< bytes
  std::uint32_t iterations = 0;
  ir::LocId loc = ir::noLoc;
};

/// Writes the operations of all thread blocks, in two walks over the recording: the first counts, so that the second
/// writes into memory of exactly the right size. Both see the same calls and loops in the same order.
class OpEmitter {
public:
  OpEmitter(ir::Program &program, const Declarations &declarations) : program_(program), declarations_(declarations) {}

  void beginLoop(const LoopInfo &loop);
  void endLoop() { inLoop_ = false; }

  /// First walk.
  void count(const CheckedCall &call);
  /// Memory that what was counted takes, in bytes.
  std::uint64_t bytes() const { return bytes_; }
  /// Between the walks.
  void allocate();
  /// Second walk.
  void emit(const CheckedCall &call);

private:
  struct BlockPlan {
    std::uint32_t ops = 0, chunks = 0, ids = 0;
    std::uint32_t lastLoop = 0; ///< number of the loop that a header was made for
    std::uint32_t header = 0;   ///< index of that header
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// What is known of a channel's entries in tables.
  struct ChannelUse {
    std::uint32_t block = none;                        ///< that used it first
    std::uint32_t remoteBlock[3] = {none, none, none}; ///< that used the other end's buffer last, by buffer
    std::uint32_t remoteId[3] = {none, none, none};    ///< Rank::remoteBuffers index, by buffer
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
  std::uint32_t loopNumber_ = 0; ///< of the last loop that began, from 1

  std::vector<ChannelUse> uses_; // by channel
  /// The block that used a remote buffer first, through memory and through port channels. [rank][remote buffer]
  std::vector<std::vector<std::array<std::uint32_t, 2>>> remoteFirst_;
  // Entries of blocks' tables, besides those that the above tell of. Keys pack (channel, block) and (rank, block, id).
  llvm::DenseSet<std::uint64_t> usedChannels_, usedRemotes_;
  /// Rank::remoteBuffers index of (peer << 2 | buffer). [rank]
  std::vector<llvm::DenseMap<std::uint32_t, std::uint32_t>> remoteIds_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t> barriers_;
  std::vector<std::uint32_t> numBarriers_; // by rank
  std::vector<ir::Chunk> srcs_, dsts_;
};

} // namespace mscclc::frontend
