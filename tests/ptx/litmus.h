// Litmus programs: what the machine sees of them, and what the axioms of the PTX memory model allow.
#pragma once

#include "machine.h"

#include <compare>

namespace mscclc::ptx {

/// In `body`, a letter names a location of 8 bytes, in brackets; an upper one names it by its multicast address. %rd1
/// to %rd9 and %p1 to %p9 are free, labels have two capitals or more. `out N, %rdM;` makes a register result N.
struct LitmusThread {
  std::string body;
  unsigned device = 0, block = 0; ///< of its device
};

struct Litmus {
  std::vector<LitmusThread> threads;
  std::map<char, std::uint64_t> initial = {}; ///< of locations; 0 where it is missing

  /// Threads on devices of their own, or each in a block of its own of one device.
  static Litmus of(const std::vector<std::string> &bodies, bool oneDevice = false);
};

constexpr unsigned litmusResults = 8, litmusLocations = 8;

/// Results, and what the locations hold in the end.
struct Outcome {
  std::array<std::uint64_t, litmusResults> results{};
  std::array<std::uint64_t, litmusLocations> memory{};
  auto operator<=>(const Outcome &) const = default;
};

/// What was seen in runs of the machine.
struct Seen {
  std::set<Outcome> outcomes;
  std::set<std::string> races;
  /// Whether the first results of any outcome are these.
  bool has(const std::vector<std::uint64_t> &results) const;
};
/// Runs schedules `first` and those that follow it.
Seen runLitmus(const Litmus &litmus, std::uint64_t schedules = 300, std::uint64_t first = 1);

/// What the axioms say of a program.
struct Allowed {
  std::set<Outcome> outcomes;
  std::set<Outcome> inOrder; ///< of executions that have an order of all events in time: each read is after its write,
                             ///< and writes of a place come as coherence has them
  bool races = false;        ///< in some execution
  bool racesInOrder = false; ///< in one of those of `inOrder`
  std::uint64_t executions = 0;
  bool isCut = false; ///< a thread has more events than are enumerated: loops are, after a few rounds
};
/// Enumerates values, reads-from, coherence and the order of fence.sc. Throws Unknown.
Allowed enumerate(const Litmus &litmus);

/// The text of one thread as an entry.
std::string litmusEntry(const LitmusThread &thread, std::size_t number);

} // namespace mscclc::ptx
