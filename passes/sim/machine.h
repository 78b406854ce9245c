// One schedule of a program on the CPU: threads of blocks, port engines and users, each taking steps at random.
#pragma once

#include "passes/sim/layout.h"
#include "passes/sim/numbers.h"

#include "ir/channel_pairing.h"

#include <deque>
#include <memory>
#include <random>
#include <unordered_map>

namespace mscclc::passes::sim {

/// How a schedule ended.
struct Outcome {
  enum Kind { Right, Wrong, Hangs, OutOfBounds, Stopped } kind = Right;
  double maxError = 0;
  std::uint32_t rank = 0, launch = 0, chunk = 0; ///< of the first wrong element
  std::uint64_t element = 0;                     ///< within the chunk
  double got = 0, wanted = 0;
  ir::OpRef place; ///< Hangs: an operation that waits. OutOfBounds: the one at fault
  std::string waitsFor;
};

class Machine {
public:
  Machine(const ir::Program &program, const Layout &layout, const Inputs &inputs, Expected &expected, DataType type);

  /// Runs one schedule of `launches` launches.
  Outcome run(std::uint64_t seed, std::uint32_t launches);

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint32_t lanesPerBlock = 2;
  enum class Progress : std::uint8_t { Moved, Blocked, Ended };
  /// Something that takes steps.
  struct Actor {
    enum Kind : std::uint8_t { Lane, Engine, User } kind = Lane;
    std::uint32_t rank = 0;
    std::uint32_t index = 0; ///< lane, port channel or rank
    std::uint32_t priority = 0;
    bool ready = true;          ///< in ready_
    std::uint64_t waitsFor = 0; ///< key of what would wake it
  };
  /// What an actor can wait for, with a number.
  enum class Event : std::uint8_t { Signal, Semaphore, Nop, Barrier, Port, Packet, Launch, User };
  static std::uint64_t key(Event event, std::uint64_t id = 0) { return std::uint64_t(event) << 56 | id; }
  /// A thread of a block.
  struct Lane {
    std::uint32_t rank = 0, block = 0, number = 0;
    std::uint32_t pc = 0, id = 0, loop = none, pair = 0;
    std::uint64_t iteration = 0, granule = 0;
    std::uint64_t target = 0;                                     ///< of a flush or a nop: what it waits to see
    enum : std::uint8_t { Before, Itself, After } stage = Before; ///< nops that a DataSync stands for count in
    bool entered = false, ended = true;
  };
  struct Block {
    std::uint32_t firstLane = 0;
    std::uint64_t arrivals = 0; ///< of lanes at nops and barriers, ever
  };
  struct BarrierState {
    std::uint32_t blocks = 0;
    std::uint64_t arrivals = 0;
  };
  struct Request { ///< in a port's queue
    bool signal = false, packets = false;
    std::byte *src = nullptr, *dst = nullptr;
    std::uint64_t bytes = 0, done = 0;
    std::uint32_t rank = 0; ///< of the destination
  };
  struct Port {
    std::deque<Request> queue;
    std::uint64_t pushed = 0, finished = 0;
    std::uint32_t actor = none;
  };
  struct RankState {
    std::unique_ptr<std::byte[]> input, output, scratch;
    std::byte *in = nullptr, *out = nullptr;
    std::uint32_t launch = 0, lanesEnded = 0;
    std::uint32_t firstLane = 0, numLanes = 0;
    enum { Start, Running, Done } stage = Start;
    std::vector<std::uint32_t> waiting; ///< actors
  };
  struct Place {
    std::byte *at = nullptr;
    std::uint32_t rank = 0;
    bool packet = false;
  };

  void reset(std::uint64_t seed);
  std::uint32_t pick();
  void wake(std::uint32_t rank, std::uint64_t key);
  Progress blockOn(std::uint64_t key) {
    blockedOn_ = key;
    return Progress::Blocked;
  }
  Progress step(Actor &actor);
  Progress stepLane(Lane &lane);
  Progress stepEngine(std::uint32_t channel);
  Progress stepUser(std::uint32_t rank);
  Progress execute(Lane &lane, const ir::Op &op);
  Progress meet(Lane &lane, std::uint64_t &arrivals, std::uint64_t size, std::uint64_t key);
  Progress synchronise(Lane &lane, const ir::Op &op);
  Progress move(Lane &lane, const ir::Op &op);
  Progress moveGranule(Lane &lane, const ir::Op &op, std::uint32_t pair, std::uint64_t at, std::uint64_t bytes);
  Progress push(Lane &lane, const ir::Op &op);
  void signal(std::uint32_t rank, ir::ChannelType type, std::uint32_t channel);
  void advance(Lane &lane);
  Place place(const Lane &lane, const ir::Op &op, std::uint32_t operand, std::uint64_t at, std::uint64_t bytes,
              std::uint32_t owner);
  void owners(const Lane &lane, const ir::Chunk &chunk, std::vector<std::uint32_t> &ranks) const;
  std::uint64_t bytesOf(const Lane &lane, const ir::Op &op, std::uint32_t operand) const;
  bool readPacket(const Place &from, std::byte *data, std::uint64_t bytes, std::uint32_t flag) const;
  void writePacket(const Place &to, const std::byte *data, std::uint64_t bytes, std::uint32_t flag);
  void compare(std::uint32_t rank);
  std::string describeWait(const Lane &lane) const;
  std::uint32_t channel(ir::ChannelType type, std::uint32_t rank, std::uint32_t id) const {
    return firstChannel_[type == ir::ChannelType::Port][rank] + id;
  }
  const ir::Op *header(const Lane &lane) const;

  const ir::Program &program_;
  const Layout &layout_;
  const Inputs &inputs_;
  Expected &expected_;
  DataType type_;
  ir::ChannelPairing pairing_;

  std::vector<Actor> actors_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> laneActor_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> firstBlock_;
  std::vector<RankState> ranks_;
  std::vector<std::uint32_t> firstChannel_[2];
  std::vector<std::uint64_t> signals_; ///< [channel end]: not yet waited for
  std::vector<Port> ports_;            ///< [channel end]
  std::vector<std::vector<std::uint64_t>> semaphores_;
  std::vector<std::unordered_map<std::uint64_t, BarrierState>> barriers_; ///< [rank], by id
  std::vector<std::uint32_t> ready_;
  std::mt19937_64 random_;
  std::uint64_t salt_ = 0, blockedOn_ = 0;
  std::uint32_t launches_ = 0, policy_ = 0;
  Outcome outcome_;
  std::vector<std::byte> buffer_, part_;
  std::vector<std::uint32_t> owners_;
};

} // namespace mscclc::passes::sim
