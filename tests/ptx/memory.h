// Memory as threads of several devices see it: PTX ISA 9.0, chapter 8 (memory consistency model).
//
// Causality. Each thread has a vector clock, its view: of each thread, how much of it happens before. A release (a
// release operation, or a fence before a strong write) leaves its view with the write. An acquire (an acquire
// operation, or a fence after a strong read) joins the view of the write that it observed, if both are morally strong:
// strong, and each within the other's scope. A read-modify-write hands on the view of the write that it replaces.
//
// Races. Two accesses conflict if they overlap and one of them writes. A conflict is a finding unless causality orders
// the two, or both are strong, within each other's scope, and of the same bytes.
//
// Stale reads. A location keeps its last four strong writes in coherence order. A strong read may return any of them
// that is not older than one that it is ordered behind, or than one that was read in its past. A weak read has one
// candidate: else it races. There are no store buffers: what load buffering would harm is a race.
//
// The bytes themselves are those of the host. What differs from the last write that is on record was written by the
// host meanwhile (the runtime, or the proxy of a port), which orders its own accesses.
#pragma once

#include "module.h"

#include <array>
#include <functional>
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
using SharedView = std::shared_ptr<const View>;
constexpr unsigned numScopes = 3;

/// An access of at most 8 bytes, within 8 aligned ones.
struct Access {
  std::uint32_t thread = 0;
  std::uint64_t address = 0;
  unsigned bytes = 0;
  Order order = Order::Weak;
  Scope scope = Scope::Sys;
  const Instruction *by = nullptr;
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

  /// The value. `isNewest`, if it is given, says whether no newer one was there.
  std::uint64_t load(const Access &access, bool *isNewest = nullptr);
  void store(const Access &access, std::uint64_t value);
  /// A read-modify-write; `next` maps the value that is there to the one that it leaves. Returns the former.
  std::uint64_t update(const Access &access, const std::function<std::uint64_t(std::uint64_t)> &next);
  /// fence.acq_rel or fence.sc.
  void fence(std::uint32_t thread, Scope scope, bool sc);
  /// All that these threads did before happens before all that they do next.
  void meet(std::span<const std::uint32_t> threads);
  /// The same for what `before` did and what `after` do, as between kernels of a stream.
  void follow(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after);

  /// The user of a device reads and writes these bytes, after all that `threads` did: a conflict is a race.
  void use(std::span<const std::uint32_t> threads, std::uint64_t address, std::uint64_t bytes);

  /// Counts writes to the 8 bytes at `address`: a waiting thread looks again when it changes.
  std::uint64_t version(std::uint64_t address) const;
  /// Whether the host changed these 8 bytes since the last write on record.
  bool changedByHost(std::uint64_t address) const;

  const std::vector<Race> &races() const { return races_; }
  std::uint64_t staleReads() const { return staleReads_; }

private:
  struct Thread {
    std::uint32_t device = 0, block = 0;
    View now;
    std::array<SharedView, numScopes> fenced; ///< [scope]: at the last fence
    std::array<View, numScopes> observed;     ///< [scope]: by strong reads that did not acquire
  };
  struct Reader {
    Access access;
    Clock clock = 0;
  };
  struct Write {
    Access access; ///< thread none: by the host, or before all
    Clock clock = 0;
    std::uint64_t value = 0;                   ///< of the segment
    std::array<SharedView, numScopes> release; ///< [scope]
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
  bool isBefore(std::uint32_t thread, Clock clock, std::uint32_t now) const;
  bool isMorallyStrong(const Access &a, const Access &b) const;
  bool includes(const Access &a, std::uint32_t other) const;
  void check(const Access &earlier, Clock clock, const Access &now);
  std::size_t floorOf(const Segment &segment, const Access &access) const;
  void read(Write &write, const Access &access);
  void write(Segment &segment, const Access &access, std::uint64_t value, const Write *replaced);
  void tick(std::uint32_t thread) { ++threads_[thread].now[thread]; }

  std::mt19937_64 &random_;
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, Cell> cells_; ///< [address / 8]
  View sc_;
  std::vector<Race> races_;
  std::set<std::pair<const Instruction *, const Instruction *>> reported_;
  std::uint64_t staleReads_ = 0;
};

} // namespace mscclc::ptx
