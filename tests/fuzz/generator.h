// Builds one random program, step by step. The program is right by construction:
//
// - Every place in memory has an owner, which is a block of its rank. A step takes over the places that it uses on its
//   own rank. For places on other ranks, a message asks the owner first, and another one tells it when the step is
//   done.
// - Steps are built in an order in which they could run, so the program cannot hang.
// - A packet slot is written once in a launch. A rank that writes a slot on another rank first hears from that rank in
//   the same launch, so that rank has ended the launch before. An exchange of packets may also provide this order.
// - Before a rank ends its launch, it has heard of everything that was done to its memory. So the next launch may have
//   any size. Packets that are not taken would still be on their way; therefore the program takes all of them, or all
//   its messages have one size.
// - Slices of blocks may be empty at small sizes. Order relies only on the first slice, which is never empty.
#pragma once

#include "../unit/passes-verify/plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>

namespace fuzz {

class Generator {
public:
  explicit Generator(std::uint64_t seed);
  mscclc::ir::Program make();
  bool unusual() const { return unusual_; } ///< see RandomProgram::unusual; of the last program

private:
  using BufferKind = mscclc::ir::BufferKind;
  using ChannelType = mscclc::ir::ChannelType;
  using Chunk = mscclc::ir::Chunk;
  using OpKind = mscclc::ir::OpKind;
  using Value = std::vector<mscclc::ir::Contribution>; ///< sorted; empty: undefined

  struct Cell {
    Value value;
    std::uint32_t owner = 0;              ///< block
    bool written = false;                 ///< by an operation of this launch
    std::optional<std::uint32_t> sending; ///< port channel whose put may still read it
  };
  /// A chunk in memory. If two buffers share memory, `buffer` is the input.
  struct Where {
    std::uint32_t rank = 0;
    BufferKind buffer = BufferKind::Input;
    std::uint32_t chunk = 0;
    auto operator<=>(const Where &) const = default;
  };
  using Wheres = std::vector<Where>;
  struct BlockState {
    std::set<Where> reads, writes; ///< in the present phase
    bool waited = false;           ///< something was waited for in the present phase
    /// Channels that were signalled (`told`) and waited on (`heard`) in the current phase. The value is the position of
    /// the channel in the operation, and whether the operation was relaxed.
    std::map<std::pair<ChannelType, std::uint32_t>, std::pair<std::uint32_t, bool>> told, heard;
  };
  struct Doer {
    std::uint32_t rank = 0, block = 0;
    auto operator<=>(const Doer &) const = default;
  };

  // generator.cpp: choices, phases, messages, owners.
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool oneIn(std::uint32_t n) { return below(n) == 0; }
  plan::Plan makePlan();
  BlockState &state(Doer d) { return states_[d.rank * blocks_ + d.block]; }
  plan::Block on(Doer d) { return plan_.on(d.rank, d.block); }
  void nop(Doer d);
  void ended(Doer d) { state(d) = {}; }
  void touch(Doer d, const Wheres &reads, const Wheres &writes);
  void settle(Doer d);
  std::pair<std::uint32_t, std::uint32_t> channels(Doer a, Doer b, ChannelType type);
  void keepPositions(Doer d, bool tells, ChannelType type, const plan::Ids &ids, bool relaxed);
  void tell(Doer d, const plan::Ids &ids, ChannelType type, bool relaxed = false);
  void hear(Doer d, const plan::Ids &ids, ChannelType type, bool relaxed = false);
  void shuffle(plan::Ids &ids) { std::shuffle(ids.begin(), ids.end(), random_); }
  void message(Doer from, Doer to, bool relaxed);
  void messageToAll(Doer from, const std::vector<Doer> &to);
  void messageFromAll(const std::vector<Doer> &from, Doer to, bool relaxed);
  void meetAll(std::uint32_t rank);
  void flush(const Where &at);
  void handOver(Doer from, Doer to);
  void take(const Where &at, std::uint32_t block);
  void takeToWrite(const Where &at, std::uint32_t block) {
    take(at, block);
    flush(at);
  }
  Doer ownerOf(const Where &at) const { return {at.rank, cells_.at(at).owner}; }
  bool mayRelax(const Where &at) { return !cells_.at(at).written && oneIn(2); }
  Where any(std::uint32_t rank, bool writable);
  std::optional<Where> defined(std::uint32_t rank);
  std::optional<Where> disjointFrom(std::uint32_t rank, const Value &value);
  const Value &valueAt(const Where &at) const { return cells_.at(at).value; }
  void write(const Where &at, Value value);
  std::uint32_t otherRank(std::uint32_t rank);
  std::uint32_t otherBlock(std::uint32_t block) { return (block + 1 + below(blocks_ - 1)) % blocks_; }
  BufferKind nameOf(const Where &at);
  Chunk local(const Where &at, std::uint32_t size = 1);
  Chunk remote(Doer by, const Where &at, std::uint32_t size = 1, ChannelType type = ChannelType::Memory);
  std::uint32_t widthOf(const Where &a, const Where &b);
  static bool disjoint(const Value &a, const Value &b);
  static Value joined(const Value &a, const Value &b);
  static Where behind(const Where &at) { return {at.rank, at.buffer, at.chunk + 1}; }
  std::uint32_t messageChunks() const { return plan_.program.ranks[0].inputChunks; }
  static constexpr std::uint64_t oneChunk = 96; ///< bytes of a chunk in programs that take messages of one size
  std::uint64_t unit() { return std::uint64_t{16} << below(4); }
  void limitSizes();
  void applyHook();
  void step();

  // plain_steps.cpp
  void localStep(Doer a, const Where &from);
  void groupStep(std::uint32_t rank, const Where &from);
  void reduceStep(Doer a, const Where &from);
  void put(Doer a, const Where &from);
  void putMany(Doer a, const Where &from);
  void get(Doer a);
  void portPut(Doer a, const Where &from);
  void sending(const Where &from, std::uint32_t channel);
  void switchStep(Doer a, const Where &from);
  std::uint32_t switchOf(BufferKind buffer);

  // shared_steps.cpp
  void share(Doer a, const Where &from);
  void portPutForAnother(Doer a, const Where &from);

  // thread_steps.cpp
  void portPutMany(Doer a, const Where &from);
  void sliceStep(std::uint32_t rank, const Where &from);
  void sliceTo(const std::vector<Doer> &writers, const std::vector<Doer> &readers);
  void chainStep(Doer a, const Where &from);
  void relayStep(Doer a, const Where &from);
  void turnsStep(Doer a, const Where &from);

  // loop_steps.cpp
  void loopPut(Doer a, const Where &from);
  void loopPackets(Doer a, const Where &from);
  void leadingPut(Doer a, const Where &from);
  void lateReleases(Doer a, const Where &from);
  void lateWrite(Doer a, const Where &from);
  void packetCredits(Doer a, const Where &from);
  bool lastsFor(std::uint64_t chunkBytes);
  void credits(Doer a, const Where &from);
  void loopCredits(Doer a, const Where &from, const Where &through, const Where &to);
  std::pair<std::uint32_t, std::uint32_t> creditSemaphores(Doer a, std::uint32_t block, std::uint32_t depth);

  // packet_steps.cpp
  struct Slot {
    std::uint32_t rank = 0, index = 0;
    auto operator<=>(const Slot &) const = default;
  };
  std::optional<Slot> freshSlot(std::uint32_t rank);
  std::optional<std::uint32_t> freshSlotOnAll();
  std::optional<Slot> filledSlot(std::uint32_t rank);
  Chunk remoteSlot(Doer by, Slot slot, ChannelType type = ChannelType::Memory);
  void askForSlot(Doer a, std::uint32_t rank);
  void sendPackets(Doer a, const Where &from);
  void sendPacketsByPort(Doer a, const Where &from);
  void copyPackets(Doer a, const Where &from);
  void unpack(Doer a);
  void forwardPackets(Doer a);
  void reducePackets(Doer a, const Where &from);
  void broadcastPackets(Doer a);
  void takeAllPackets();
  void exchange();
  template <typename Do> void bySlices(Doer a, bool slices, Do &&make);
  void acknowledged(Doer a, const Where &from);

  std::mt19937_64 random_;
  std::uint32_t blocks_ = 1, plainScratch_ = 1, firstSlot_ = 0;
  bool usesPackets_ = false, inplace_ = false, wide_ = false, mayBeUnusual_ = false, unusual_ = false, oneSize_ = false;
  mscclc::ir::ReduceOp reduceOp_ = mscclc::ir::ReduceOp::Sum;
  std::uint64_t leastChunk_ = 0, mostChunk_ = ~std::uint64_t{0}; ///< bytes of a chunk: where it is right
  std::vector<std::uint32_t> nextSlot_;
  plan::Plan plan_;
  std::vector<BlockState> states_;
  std::map<Where, Cell> cells_;
  std::map<Slot, Value> slots_; ///< those that are written
  std::map<std::tuple<Doer, Doer, ChannelType>, std::pair<std::uint32_t, std::uint32_t>> channels_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> semaphores_;
  std::map<std::tuple<Doer, std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> credits_;
  std::map<BufferKind, std::uint32_t> switches_;
};

} // namespace fuzz
