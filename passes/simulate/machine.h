// One schedule of a program on the CPU. The actors are threads of blocks, port engines and users, and take steps at
// random.
//
// Threads. A block has two lanes. Each schedule chooses at random which thread of the block each lane is. Thread i
// handles position i of an operation that lists channels or semaphores. A position without a thread in the block is not
// handled. In a data operation, each thread handles the words with its own number modulo the number of threads. So
// operations of one kind handle an element in the same thread. Packet operations and reductions in a switch have words
// of other sizes, so another thread may handle the element there.
//
// Memory. Other blocks may see the plain stores of a block late. A block that waits for a signal, acquires a semaphore
// or meets others at a barrier sees the stores that the giver had made, or had seen, in earlier phases. A third block
// does not see them yet. All blocks see the stores after a port has taken a request that the storing block issued
// later, or after the end of the launch. A relaxed signal or wait makes no store visible. Packets are visible at once.
#pragma once

#include "passes/simulate/layout.h"
#include "passes/simulate/numbers.h"
#include "passes/simulate/rows.h"

#include "ir/cursor.h"
#include "ir/memory_map.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace mscclc::passes::sim {

/// The result of a schedule.
struct Outcome {
  enum Kind { Right, Wrong, Hangs, OutOfBounds, Stopped } kind = Right;
  double maxError = 0;
  std::uint32_t rank = 0, launch = 0, chunk = 0; ///< place of the first wrong element
  std::uint64_t element = 0;                     ///< index of the element within the chunk
  std::uint32_t size = 0; ///< the size of the faulty launch, as an index into the machine's sizes
  double got = 0, wanted = 0;
  ir::OpRef place; ///< Hangs: the operation that waits; OutOfBounds: the faulty operation
  std::string waitsFor;
};

class Machine {
public:
  /// The value of each byte of input and output between launches, while their user has them.
  static constexpr int unwrittenOutput = 0x5b;

  /// A message size that launches may have.
  struct Size {
    const Layout *layout = nullptr;
    Expected *expected = nullptr;
  };

  /// With several sizes, each launch chooses one at random. Scratch, channels and semaphores keep their contents from
  /// launch to launch, as in a context of the executor: executor.cc makes one context for each plan and pair of
  /// allocations, with scratch for the longest message. The places of chunks in scratch depend on the current size
  /// (execution_plan.cc, getOffset), but the second half of scratch always begins at the same place.
  Machine(const ir::Program &program, std::vector<Size> sizes, const Inputs &inputs, const SimulateOptions &options);

  /// Adds calls for 0 bytes between launches. Such a call runs nothing and uses no buffers. Double scratch and packets
  /// do not count it as a launch. The proof relies on this (verify/verify.h).
  void callForNothing() { callsForNothing_ = true; }

  /// A function that is called from time to time with the completed share of a schedule, 0 to 1. If it returns false,
  /// the schedule stops.
  using Watch = std::function<bool(double)>;
  /// Runs one schedule of `launches` launches. `watch` may be empty.
  Outcome run(std::uint64_t seed, std::uint32_t launches, const Watch &watch = {});

private:
  static constexpr std::uint32_t none = ir::none;
  static constexpr std::uint32_t lanesPerBlock = 2;
  enum class Progress : std::uint8_t { Moved, Blocked, Ended };
  /// Something that takes steps: a lane, the engine of a port, a rank's user, or a rank's sender of counts.
  struct Actor {
    enum Kind : std::uint8_t { Lane, Engine, User, Counts } kind = Lane;
    std::uint32_t rank = 0;
    std::uint32_t index = 0; ///< number of the lane, the port channel or the rank
    std::uint32_t priority = 0;
  };
  /// The kinds of events that an actor can wait for. key() numbers the events.
  enum class Event : std::uint8_t { Signal, Semaphore, Nop, Barrier, Port, Packet, Launch, User, Counts };
  static std::uint64_t key(Event event, std::uint64_t id = 0) { return std::uint64_t(event) << 56 | id; }
  /// Returns the number of the event that the packet at `at` arrives. The highest bits of the address do not fit in it.
  /// If two addresses have the same number, an actor is woken in vain, which does no harm.
  static std::uint64_t packetKey(const std::byte *at) {
    return key(Event::Packet, reinterpret_cast<std::uintptr_t>(at) << 8 >> 8);
  }
  /// A thread of a block.
  struct Lane {
    std::uint32_t rank = 0, block = 0, number = 0;
    ir::BlockCursor at;
    std::uint32_t id = 0, pair = 0;
    std::uint64_t granule = 0;
    std::uint64_t target = 0;                                     ///< the count for which a flush or a nop waits
    enum : std::uint8_t { Before, Itself, After } stage = Before; ///< Before, After: nops of the operation's DataSync
    bool entered = false, ended = true;
  };
  struct Store { ///< a store that some blocks do not see yet
    std::byte *at = nullptr;
    std::uint64_t bytes = 0, data = 0; ///< `data` is an index into Block::data
    std::uint64_t phase = 0;
    std::uint64_t number = 0; ///< number of the store among those of all blocks, in the order of time
  };
  struct Mark { ///< the first `upTo` stores of `block` since the schedule began
    std::uint32_t block = none;
    std::uint64_t upTo = 0;
  };
  /// The stores that a block sees, with at most one mark for each block. A view that contains a store also contains all
  /// stores that the storing block had seen by then.
  using View = std::vector<Mark>;
  struct Block {
    ir::ArrivalCounter nops;   ///< counts arrivals of lanes at all nops and barriers
    bool delays = false;       ///< other blocks may see its stores late
    std::vector<Store> stores; ///< in order; all blocks see the stores before `firstStore`
    std::size_t firstStore = 0;
    std::uint64_t seen = 0; ///< how many of its stores all blocks see, since the schedule began
    std::vector<std::byte> data;
    View view; ///< stores of other blocks that this one has seen, and its own stores that they had seen
    std::uint64_t phase() const { return nops.rounds(lanesPerBlock); }
  };
  struct Request { ///< a request in a port's queue
    bool signal = false, packets = false;
    std::byte *src = nullptr, *dst = nullptr;
    std::uint64_t bytes = 0, done = 0;
    std::uint32_t rank = 0; ///< the rank of the destination
    View view;
  };
  struct Port {
    std::deque<Request> queue;
    std::uint64_t pushed = 0, finished = 0;
    std::uint32_t actor = none;
  };
  struct Waiting {
    std::vector<std::uint32_t> actors;
    std::vector<std::uint64_t>
        keys; ///< the event for which each of `actors` waits; a separate array is faster to search
    void add(std::uint32_t actor, std::uint64_t key) {
      actors.push_back(actor);
      keys.push_back(key);
    }
  };
  struct RankState {
    std::unique_ptr<std::byte[]> input, output, scratch;
    std::uint64_t inputBytes = 0, outputBytes = 0,
                  scratchBytes = 0; ///< bytes of buffers for the longest message; scratch has twice `scratchBytes`
    ir::CanonicalPlace inputPlace{}, outputPlace{}; ///< places of input and output; in place, one lies within the other
    std::uint32_t launch = 0, lanesEnded = 0;
    std::uint32_t countsSent = 0; ///< number of ranks that have this rank's counts of the launch
    std::uint32_t call = 0;       ///< number of calls: launches, and calls for 0 bytes
    std::uint32_t firstLane = 0, numLanes = 0;
    enum { Start, Running, Done } stage = Start;
    Waiting waiting;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t>
        arrays; ///< by hook and byte of the output: the arrays of test_hook.h
  };
  /// The memory of an operand.
  struct Location {
    std::byte *at = nullptr;
    std::uint32_t rank = 0;
    bool packet = false;
    std::uint64_t spread = 1; ///< size of an element there divided by its size in the message
    bool encoded = false;     ///< the memory holds blocks in the program's wire format
  };

  void reset(std::uint64_t seed);
  void allocate();
  std::uint32_t pick();
  bool goesOn(const Watch &watch) const;
  void wake(std::uint32_t rank, std::uint64_t key) { wake(rank, key, key + 1); }
  void wake(std::uint32_t rank, std::uint64_t firstKey, std::uint64_t endKey);
  void wakeReaders(std::uint32_t rank, const std::byte *packets, std::uint64_t bytes);
  Progress blockOn(std::uint64_t key) {
    blockedOn_ = key;
    return Progress::Blocked;
  }
  Progress step(Actor &actor);
  Progress stepLane(Lane &lane);
  Progress stepEngine(std::uint32_t channel);
  Progress stepUser(std::uint32_t rank);
  Progress stepCounts(std::uint32_t rank);
  bool portsDone(std::uint32_t rank) const;
  void beginLaunch(std::uint32_t rank);
  Progress endCall(std::uint32_t rank);
  void overwrite(std::uint32_t rank);
  Progress execute(Lane &lane, const ir::Op &op);
  Progress meet(Lane &lane, ir::ArrivalCounter &arrivals, std::uint64_t size, std::uint64_t key);
  Progress synchronise(Lane &lane, const ir::Op &op);
  void give(const Lane &lane, const ir::Op &op, std::uint32_t id);
  Progress take(const Lane &lane, const ir::Op &op, std::uint32_t id);
  Progress drain(Lane &lane, std::uint32_t portEnd);
  Progress move(Lane &lane, const ir::Op &op);
  Progress moveGranule(Lane &lane, const ir::Op &op, std::uint32_t pair, std::uint64_t at, std::uint64_t bytes);
  const std::byte *applyHook(const Lane &lane, const ir::Op &op, std::uint64_t at, std::uint64_t bytes);
  Progress push(Lane &lane, const ir::Op &op);
  void request(const Lane &lane, Port &port, const Location &from, const Location &to, std::uint64_t bytes);
  // For programs of rows:
  Progress awaitCounts(const Lane &lane, std::uint32_t operand, std::uint32_t chunk);
  std::optional<std::uint64_t> locateRows(const Lane &lane, const ir::Op &op, std::uint32_t pair, std::uint32_t chunk,
                                          Location &from, Location &to);
  Progress moveRows(Lane &lane, const ir::Op &op);
  Progress pushRows(const Lane &lane, const ir::Op &op, Port &port);
  void fillRows(std::uint32_t rank);
  void compareRows(std::uint32_t rank);
  bool isSame(std::uint32_t rank, std::span<const std::byte> got, std::span<const std::byte> wanted);
  void signal(std::uint32_t channelEnd, const View &view);
  void advance(Lane &lane);
  bool isThread(const Lane &lane, std::uint32_t position) const;
  bool isWord(const Lane &lane, const ir::Op &op, std::uint64_t word) const;
  void load(const Block &block, std::byte *into, const std::byte *from, std::uint64_t bytes) const;
  void store(Block &block, std::byte *to, const std::byte *from, std::uint64_t bytes);
  void publish(Block &block, std::uint64_t count);
  void publish(const View &view);
  View viewOf(const Block &block, std::uint64_t count) const;
  View viewOf(const Lane &lane) const;
  void add(View &view, const View &others) const;
  template <typename Use> void forEachStore(const View &view, const Use &use) const;
  const ir::ThreadBlock &codeOf(const Lane &lane) const { return program_.ranks[lane.rank].blocks[lane.block]; }
  Block &blockOf(const Lane &lane) { return blocks_[index_.block(lane.rank, lane.block)]; }
  bool hasWire() const { return wire_ != ir::Wire::None; }
  const Layout &layoutOf(std::uint32_t rank) const { return *sizes_[sizeOf_[ranks_[rank].call]].layout; }
  std::byte *bufferOf(std::uint32_t rank, ir::BufferKind buffer, const Layout &layout) const;
  Location locate(const Lane &lane, const ir::Op &op, std::uint32_t operand, std::uint64_t at, std::uint64_t bytes,
                  std::uint32_t owner);
  void owners(const Lane &lane, const ir::Op &op, std::uint32_t operand, std::vector<std::uint32_t> &ranks) const;
  std::uint64_t bytesOf(const Lane &lane, const ir::Op &op, std::uint32_t operand) const;
  const std::byte *readPacket(const Location &from, std::byte *data, std::uint64_t bytes, std::uint32_t flag) const;
  void writePacket(const Location &to, const std::byte *data, std::uint64_t bytes, std::uint32_t flag);
  void compare(std::uint32_t rank);
  std::string describeWait(const Lane &lane) const;
  const ir::Op *header(const Lane &lane) const;

  const ir::Program &program_;
  std::vector<Size> sizes_;
  const Inputs &inputs_;
  DataType type_;
  bool relaxedShows_, userAwaitsPorts_; ///< see SimulateOptions
  bool callsForNothing_ = false;
  std::optional<Rows> rows_; ///< only for a collective of rows
  ir::ProgramIndex index_;

  std::vector<Actor> actors_;
  std::vector<Lane> lanes_;
  std::vector<Block> blocks_;
  std::vector<RankState> ranks_;
  ir::CreditQueues<View> queues_; ///< signals and releases that no block has taken
  std::vector<View>
      given_; ///< [queue]: stores that its taken signals show; for a semaphore, those that its releases show
  std::vector<View> met_;                    ///< [barrier]: the stores that arriving blocks had seen
  std::vector<Port> ports_;                  ///< [channel end]
  std::vector<ir::ArrivalCounter> barriers_; ///< [barrier]: counts the arrivals of lanes
  std::vector<std::uint32_t> ready_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> sizeOf_; ///< [call]: an index into `sizes_`, or `none` for 0 bytes
  std::uint64_t salt_ = 0, blockedOn_ = 0, numStores_ = 0;
  std::uint32_t launches_ = 0, policy_ = 0;
  Outcome outcome_;
  const ir::Wire wire_;           ///< the format of blocks in scratch; None: scratch holds elements
  const std::uint64_t wireBlock_; ///< bytes of a block in the message, before it is encoded
  std::vector<std::byte> buffer_, part_, encoded_;
  Accumulator sum_;
  std::vector<std::uint32_t> owners_;
};

} // namespace mscclc::passes::sim
