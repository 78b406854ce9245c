// Memory as threads of several devices see it: PTX ISA 9.0, chapter 8 (memory consistency model).
//
// Causality. Each thread has a vector clock, which is its view: how much of each thread happens before. A release (a
// release operation, or a fence before a strong write) stores its view with the write. An acquire (an acquire
// operation, or a fence after a strong read) joins the view of the write that it observed, if both are morally strong.
// That means: both are strong, and each is within the other's scope. A read-modify-write passes on the view of the
// write that it replaces.
//
// Aliases. A multicast address is an alias of its members' addresses. Causality orders an access through one kind of
// address before one through the other only if a fence.proxy.alias lies between them: so each view has a second one, of
// what happens before such a fence.
//
// Races. Two accesses conflict if they overlap and one of them writes. A conflict is a finding unless causality orders
// the two, or both are strong, within each other's scope, and of the same bytes. Of packets, different launches access
// one slot only in an order: a finding as well, though all are strong. There each strong write that was read orders
// what came before it, as if there were fences: a load has returned when its thread goes on, so no later store reaches
// it.
//
// Packets within a launch. A packet is a relaxed store: it orders only the reads that its data was computed from. A
// write that causality orders after the taking of such a packet does not reach the read. For, PTX forbids values out of
// thin air, and no GPU makes a store before the branches that it depends on. So a value carries its origins: the plain
// reads that it was computed from, also by way of packets. For the same reason a store does not reach the reads that
// its value was computed from. A rank that reduces in the switch stores the sum in place of what the switch has read.
//
// Stale reads. A location keeps its last four strong writes in coherence order. A strong read may return any of them,
// except those older than a write that is ordered before the read, or than one that was read in its past. A weak read
// has only one candidate; otherwise it is a race. There are no store buffers: a program that load buffering could break
// has a race.
//
// The bytes themselves are those of the host. If they differ from the last recorded write, the host has written them
// (the runtime, or the proxy of a port). The host orders its own accesses. Its reads are no events here. So of words
// that it reads while the kernel runs, a strong write must release the thread's plain writes to such words, for the
// system: it announces them. Otherwise that is a finding.
//
// Causality through the host. The host acquires each release to words that it reads, and each of its writes is a
// release for the system. So a thread that acquires a signal of a port is ordered after the threads that sent it. The
// host is one agent, and its write is seen when a thread reads it. Some writes so release more than they do: what
// reached the host before they were read, by requests to other proxies.
#pragma once

#include "module.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace mscclc::ptx {

using Clock = std::uint32_t;
using View = std::vector<Clock>; ///< [thread]; what is missing is 0
/// What happens before a point.
struct Past {
  View any;
  View aliased; ///< with an alias fence on the way
};
using SharedPast = std::shared_ptr<const Past>;
constexpr unsigned numScopes = 3;

/// A plain read, and those who have taken a packet that was computed from what it read.
struct PlainRead {
  struct Taker {
    std::uint32_t thread;
    Clock clock;
  };
  std::vector<Taker> takers;
};
/// The plain reads, and those of the switch, that a value was computed from, sorted by address; null: none, or nothing
/// is known of them.
using Origins = std::shared_ptr<const std::vector<std::shared_ptr<PlainRead>>>;
Origins joined(const Origins &a, const Origins &b);

/// An access of at most 8 bytes, within 8 aligned ones.
struct Access {
  std::uint32_t thread = 0;
  std::uint64_t address = 0;
  unsigned bytes = 0;
  Order order = Order::Weak;
  Scope scope = Scope::Sys;
  const Instruction *by = nullptr;
  bool writes = false;
  bool isMulticast = false;       ///< through a multicast address
  bool isHosts = false;           ///< to words that the host reads while the kernel runs
  std::uint32_t packetLaunch = 0; ///< of a packet slot: which launch of its rank accesses it, from 1; 0: no slot
  bool isStrong() const { return order != Order::Weak; }
  bool acquires() const { return order == Order::Acquire || order == Order::AcqRel; }
  bool releases() const { return order == Order::Release || order == Order::AcqRel; }
};

/// Two accesses that conflict and are not ordered.
struct Race {
  const Instruction *first = nullptr, *second = nullptr; ///< null: the user's access
  std::string text;
};

class Memory {
public:
  explicit Memory(std::mt19937_64 &random) : random_(random) {}

  /// A thread of block `block` on device `device`; its number, from 0.
  std::uint32_t addThread(std::uint32_t device, std::uint32_t block);

  /// From now on values have origins.
  void keepOrigins() { keepsOrigins_ = true; }
  bool keepsOrigins() const { return keepsOrigins_; }

  /// Returns the value. `isNewest` and `origins` (if given) are set to whether there was no newer one, and to its
  /// origins.
  std::uint64_t load(const Access &access, bool *isNewest = nullptr, Origins *origins = nullptr);
  void store(const Access &access, std::uint64_t value, const Origins &origins = {});
  /// Does a read-modify-write. `next` maps the old value to the new one. Returns the old value.
  std::uint64_t update(const Access &access, const std::function<std::uint64_t(std::uint64_t)> &next);
  /// fence.acq_rel or fence.sc.
  void fence(std::uint32_t thread, Scope scope, bool sc);
  /// fence.proxy.alias.
  void fenceAliases(std::uint32_t thread);
  /// All that these threads did before happens before all that they do next.
  void meet(std::span<const std::uint32_t> threads);
  /// Returns all that `threads` did until now, and what was ordered before it.
  Past pastOf(std::span<const std::uint32_t> threads);
  void follow(const Past &before, std::span<const std::uint32_t> after);
  /// Orders everything that `before` did before everything that `after` do, as between kernels of a stream.
  void follow(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after);

  /// The user of a device reads and writes these bytes, after all that `threads` did and before what they do next: a
  /// conflict is a race.
  void use(std::span<const std::uint32_t> threads, std::uint64_t address, std::uint64_t bytes);

  /// Returns the number of writes to the 8 bytes at `address`. A waiting thread looks again when it changes.
  std::uint64_t version(std::uint64_t address) const;
  /// Whether the host changed these 8 bytes since the last write on record.
  bool changedByHost(std::uint64_t address) const;

  /// Reports an access that may run at the same time as anything of an earlier kernel of its stream.
  void reportEarly(const Access &access);

  const std::vector<Race> &races() const { return races_; }
  std::uint64_t staleReads() const { return staleReads_; }

private:
  using Released = std::array<SharedPast, numScopes>; ///< [scope]
  struct Thread {
    std::uint32_t device = 0, block = 0;
    Past now;
    Released fenced;                                        ///< at the last fence
    View told;                                              ///< by strong reads, fences or none
    Access unreleased;                                      ///< a plain write to the host's words since, or none
    std::array<Past, numScopes> observed;                   ///< [scope]: by strong reads that did not acquire
    std::unordered_map<std::uint64_t, Released> released;   ///< [address]: by its last release there
    std::unordered_map<std::uint64_t, Released> observedAt; ///< [address]: as `observed`, since the last fence
  };
  struct FenceScGroup {
    Scope scope;
    std::uint32_t device, block;
    auto operator<=>(const FenceScGroup &) const = default;
  };
  struct Reader {
    Access access; ///< the last
    Clock first = 0, last = 0;
    std::shared_ptr<PlainRead> plain; ///< if origins are kept
  };
  struct Write {
    Access access; ///< without a thread: a write of the host, or the initial value
    Clock clock = 0;
    std::uint64_t value = 0; ///< of the segment
    Released release;
    std::shared_ptr<const View> told; ///< what its thread had been told, if packets are used
    Origins origins;                  ///< of a packet
    std::vector<Reader> readers;
  };
  /// Bytes that are always accessed together.
  struct Segment {
    std::uint8_t first = 0, end = 0; ///< within the cell
    std::vector<Write> writes;       ///< in coherence order; the last is in memory
  };
  struct Cell {
    std::vector<Segment> segments;
    std::uint64_t version = 0;
  };

  static constexpr std::uint32_t host = ~std::uint32_t{0};
  static constexpr std::size_t mostWrites = 4;

  std::vector<Segment *> segmentsOf(const Access &access);
  static void split(Cell &cell, std::uint8_t at);
  Write &newest(Segment &segment, std::uint64_t cellAddress);
  bool isBefore(const Access &earlier, Clock clock, const Access &now) const;
  bool isObserved(const Write &write, const Access &now) const;
  bool isTold(const Access &earlier, Clock clock, const Access &now) const;
  bool isTaken(const Reader &reader, const Access &now) const;
  bool isMorallyStrong(const Access &a, const Access &b) const;
  bool includes(const Access &a, std::uint32_t other) const;
  void check(const Segment &segment, const Access &now, bool changes = true, const Origins &origins = {});
  void report(const Access &earlier, const Access &now);
  void checkAnnounced(const Access &write);
  std::size_t floorOf(const Segment &segment, const Access &access) const;
  Origins read(Write &write, const Access &access);
  void write(Segment &segment, const Access &access, std::uint64_t value, const Write *replaced);
  void join(std::uint32_t thread, const Write &write, const Access &access);
  Clock clockOf(std::uint32_t thread) const { return threads_[thread].now.any[thread]; }
  void tick(std::uint32_t thread) { ++threads_[thread].now.any[thread]; }

  std::mt19937_64 &random_;
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, Cell> cells_; ///< [address / 8]
  SharedPast host_;                               ///< what was released to the host; null: nothing
  std::map<FenceScGroup, Past> sc_;               ///< before their last fence.sc
  std::vector<Race> races_;
  std::set<std::pair<const Instruction *, const Instruction *>> reported_;
  std::uint64_t staleReads_ = 0;
  bool hasPackets_ = false, keepsOrigins_ = false;
};

} // namespace mscclc::ptx
