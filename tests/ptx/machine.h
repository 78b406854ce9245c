// Runs PTX kernels on the host's memory: blocks of threads, each with its own program counter.
//
// A step runs one thread until its next strong access, fence or barrier, which is part of the step. Between these,
// threads do not interact: accesses that causality does not order are a race, which `Memory` reports. The next thread
// is drawn at random with the seed. A thread whose loop of strong loads sees nothing new is parked until one of these
// locations changes.
//
// Premises. The boundary of two kernels of a stream acts as fence.acq_rel.sys of every thread, and orders all before it
// before all after it; but it is no fence of aliases. So does griddepcontrol.wait in a launch that may begin before the
// earlier one of its stream has ended (Launch::isDependent). There each access before it is a finding: it may run at
// the same time as anything of that launch. As nothing comes before it, its order is that of the boundary. Each stream
// is a device of its own, unless launches name their devices. What the host has waited for on such a
// device is ordered before later launches in other streams of it. A multicast address is an alias of its members'
// addresses.
#pragma once

#include "memory.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace mscclc::ptx {

struct Region {
  std::uint64_t address = 0, bytes = 0;
};

/// A launch of an entry.
struct Launch {
  const Module *module = nullptr;
  std::uint32_t entry = 0;
  unsigned blocks = 1, threads = 1;
  std::vector<std::byte> parameters;
  const void *stream = nullptr;
  int device = -1;             ///< of the stream; below 0: the stream has one of its own
  std::uint32_t kernels = 1;   ///< of a launch of the product; all kernels of the stream are of launches of as many
  bool isDependent = false;    ///< it may begin before the earlier launch of its stream has ended
  std::vector<Region> buffers; ///< that the user accesses before and after the launch
  std::vector<Region> packets; ///< slots of packets
  std::vector<Region> hosts;   ///< words that the host reads while the launch runs
};

/// The addresses that a multicast address stands for; none: it is no such address.
using MulticastMembers = std::function<std::vector<std::uint64_t>(std::uint64_t)>;

struct Counts {
  std::uint64_t launches = 0, instructions = 0, steps = 0, multicasts = 0;
};

/// How long the machine waits for other threads of the host.
struct Patience {
  std::chrono::milliseconds launches{0}; ///< before the first step, for launches that are on their way
  std::chrono::milliseconds changes{0};  ///< where no thread can go on, for a launch or a change of memory
};

class Machine {
public:
  explicit Machine(std::uint64_t seed, Patience patience = {}, MulticastMembers members = {})
      : seed_(seed), patience_(patience), membersOf_(std::move(members)), random_(seed), memory_(random_) {}

  /// Runs launches to their end, together with those that other threads of the host start meanwhile. Throws Unknown,
  /// and Hang where no thread of any launch can go on.
  void run(std::vector<Launch> launches);
  /// From now on, run() throws std::runtime_error with the text of a race as soon as there is one.
  void endAtRace() { endsAtRace_ = true; }
  /// The host has waited for all launches of a device.
  void synchronized(int device);

  class Hang : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
  };

  std::uint64_t seed() const { return seed_; }
  const Memory &memory() const { return memory_; }
  const Counts &counts() const { return counts_; }

private:
  struct Activation {
    const Function *function = nullptr;
    std::uint32_t at = 0;
    std::vector<std::uint64_t> registers;
    std::vector<Origins> origins; ///< [register]; empty if they are not kept
    std::unique_ptr<std::byte[]> frame;
    Origins inFrame;               ///< of all values that were stored in the frame
    std::vector<Variable> results; ///< in the caller's frame
  };
  struct Grid;
  struct Poll {
    const Instruction *by = nullptr;
    std::uint64_t address = 0, version = 0;
    bool isNewest = false;
  };
  struct Thread {
    Grid *grid = nullptr;
    std::uint32_t number = 0, block = 0, index = 0; ///< number: of `Memory`
    std::vector<Activation> calls;
    std::vector<Poll> polls; ///< strong loads since it last did something other than computing
    enum { Ready, Parked, AtBarrier, Done } state = Ready;
    bool isQueued = false; ///< in `ready_`
    bool isEarly = false;  ///< the earlier launch of the stream may still run
    std::uint64_t priority = 0;
  };
  struct Block {
    unsigned arrived = 0, running = 0;
    std::byte *shared = nullptr; ///< its shared memory
  };
  struct Grid {
    Launch launch;
    std::vector<Thread> threads;
    std::vector<Block> blocks;
    std::vector<std::uint32_t> numbers; ///< of threads
    unsigned running = 0;
    std::uint32_t ordinal = 0; ///< of the launch in its stream, from 1
  };
  struct Stream {
    std::uint32_t device = 0, launches = 0, number = 0;
    Past waited;                                                    ///< what the host has waited for
    std::map<std::pair<unsigned, unsigned>, std::uint32_t> numbers; ///< [block, thread]
    std::vector<std::uint32_t> last;                                ///< threads of the last launch
    /// [block, bytes]: shared memory. It stays, so that no other launch gets these addresses.
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint64_t>> shared;
  };

  void begin(Grid &grid);
  void queue(Thread &thread);
  void end(Grid &grid);
  void fenceAll(const Grid &grid);
  void useBuffers(const Grid &grid);
  void drive(std::unique_lock<std::mutex> &lock);
  bool awaken();
  std::size_t pick();
  [[noreturn]] void hang() const;

  void step(Thread &thread);
  bool execute(Thread &thread, Activation &activation, const Instruction &instruction);
  void leave(Thread &thread);
  void enter(Thread &thread, const Instruction &call);
  Activation activationOf(const Function &function) const;
  void arrive(Thread &thread);
  void meetIfComplete(Grid &grid, std::uint32_t block);
  std::uint64_t value(const Thread &thread, const Activation &activation, const Operand &operand) const;
  static Origins originsOf(const Activation &activation, const Operand &operand);
  static void assign(Activation &activation, const Operand &operand, std::uint64_t value, const Origins &origins = {});
  static std::uint64_t windowOf(const Thread &thread);
  static Activation *ownerOf(Thread &thread, std::uint64_t address);
  bool isPrivate(const Thread &thread, std::uint64_t address) const;
  Access sharedAccess(const Thread &thread, const Instruction &instruction, std::uint64_t address);
  bool access(Thread &thread, Activation &activation, const Instruction &instruction);
  bool atomic(Thread &thread, Activation &activation, const Instruction &instruction);
  bool multicast(Thread &thread, Activation &activation, const Instruction &instruction);
  Access accessOf(const Thread &thread, const Instruction &instruction, std::uint64_t address) const;
  std::uint64_t loadShared(Thread &thread, const Access &access, Origins &origins);
  void polled(Thread &thread);
  void move(const Thread &thread, Activation &activation, const Instruction &instruction);

  std::uint64_t seed_;
  Patience patience_;
  MulticastMembers membersOf_;
  std::mt19937_64 random_;
  Memory memory_;
  Counts counts_;
  std::map<const void *, Stream> streams_;
  std::vector<std::unique_ptr<Grid>> grids_;       ///< that run
  std::map<std::uint64_t, std::uint64_t> packets_; ///< [address]: bytes of slots
  std::map<std::uint64_t, std::uint64_t> hosts_;   ///< [address]: bytes of words that the host reads
  std::vector<Thread *> ready_, parked_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool driven_ = false; ///< whether a thread of the host is in drive()
  bool endsAtRace_ = false;
  std::exception_ptr failure_;
};

} // namespace mscclc::ptx
