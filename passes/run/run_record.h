// One run of a program, written down: what waits for what, and which accesses have to be in order.
//
// The run is the verifier's (run/control.h, data_run.h), without values: two launches of one size, three with double
// scratch, with what each rank's user does around them. Where the verifier asks whether one access is ordered before
// another, the pair is kept, so that it can be asked again of a program with less sync. Dropping sync only takes edges
// away: as long as all pairs stay in order, every access meets the same ones before it.
//
// Times are Lamport's clocks: a block counts what it does, and goes on from the time of what it has waited for. So what
// comes before has a lesser time, with sync dropped too, and a search from one event for another need not look at what
// is no later than the other. The order in which the run happens to execute blocks would do as well, but blocks that
// know nothing of each other lie far apart in it, so that between two accesses there would be most of the run.
#pragma once

#include "passes/run/geometry.h"
#include "passes/run/sync_pieces.h"

#include <span>

namespace mscclc::passes::prune {

/// A set of blocks at one moment each: those that meet at a barrier, or all of a rank between two launches.
struct Meeting {
  Piece piece = none;                 ///< of a barrier: its part in one of the blocks; `none` between launches
  std::uint32_t first = 0, count = 0; ///< into RunRecord::members
};

/// A block, and the number of one of its phases.
struct Moment {
  std::uint32_t block = 0, phase = 0;
};

/// What was sent: a signal, a release or a packet.
struct Message {
  Moment from;
  std::uint32_t time = 0;
  std::uint32_t thread = none; ///< that sent it
  Piece piece = none;          ///< `none` for a packet
  std::uint32_t port = none;   ///< the port channel through which it went
  std::uint32_t begin = none;  ///< the meeting with which its rank's launch began, or `none`
  bool weak = false;           ///< makes visible only what the launches before wrote
  std::uint32_t heard = 0;     ///< after the last receipt of its block that its thread had waited for
  /// Packets that its operation took, of the same elements; into RunRecord::taken.
  std::uint32_t firstTaken = 0, numTaken = 0;
};

/// A message that was waited for.
struct Receipt {
  std::uint32_t message = 0;
  std::uint32_t phase = 0, time = 0;
  std::uint32_t thread = none; ///< that waited
  bool weak = false;
  std::uint32_t previous = 0; ///< after the last receipt before this one that may tell more than this one does
  std::uint32_t heard = 0;    ///< after the last receipt before this one that its thread waited for
};

/// A flush of a port channel.
struct Flushed {
  std::uint32_t phase = 0, time = 0, thread = 0, port = 0;
  Piece piece = none;
};

/// A wait on a channel in the first launch. One that comes after another of its block has to be in a later phase, or of
/// the same thread: the i-th that an operation names is thread i's.
struct Wait {
  Moment at;
  Piece piece = none;
  Piece firstPiece = none;       ///< of its operation: pieces from there to `piece` say which thread it is
  std::uint32_t previous = none; ///< of this block on this channel, into RunRecord::waits
};

/// What one operation does to memory, at one time; a put is one for each destination.
struct Access {
  Moment at;
  std::uint32_t time = 0;
  std::uint32_t launch = 0;                   ///< meetings that its rank has had
  std::uint32_t thread = none;                ///< that makes it alone
  std::uint32_t port = none;                  ///< the channel of a port's put
  std::uint32_t op = none;                    ///< `none` for the user
  std::uint32_t like = none;                  ///< the first access that comes before and after the same
  std::uint32_t heard = 0;                    ///< after the last receipt of its block that its thread had waited for
  std::uint32_t firstTaken = 0, numTaken = 0; ///< packets that are known to have come before
};

/// Two accesses that have to be in order.
struct Pair {
  std::uint32_t first = 0, second = 0; ///< into RunRecord::accesses
  bool visible = false;                ///< the first writes
  /// Where no sync orders them, packets that were computed from what the first reads may.
  bool excusable = false;
  friend auto operator<=>(const Pair &, const Pair &) = default;
};

/// Accesses of the first launch to a rank's scratch, and of a later one that may write anywhere over them.
struct ScratchUse {
  std::vector<Pair> uses;   ///< each of the first launch, and one after its end
  std::vector<Pair> writes; ///< one in the last phase of the first launch, and each that writes later
};

struct RunRecord {
  std::vector<std::vector<Piece>> bounds;        ///< [block][phase]: what begins the phase; `none`: what always stands
  std::vector<std::vector<std::uint32_t>> begun; ///< [block][phase]: time
  std::vector<std::vector<Receipt>> receipts;    ///< [block], in the order of time
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> met; ///< [block]: (phase that begins, meeting)
  std::vector<std::vector<Flushed>> flushes;                             ///< [block], in the order of time
  std::vector<std::vector<std::uint32_t>> launches; ///< [block]: phases that begin with a meeting of its rank
  std::vector<std::uint32_t> firstBlock;            ///< [rank], and one more
  std::vector<std::uint32_t> rankOf;                ///< [block]
  std::vector<Message> messages;
  std::vector<std::uint32_t> taken; ///< messages
  std::vector<Meeting> meetings;
  std::vector<Moment> members;
  std::vector<Access> accesses;
  std::vector<Pair> pairs;
  std::vector<Wait> waits;         ///< in the order of the run
  std::vector<ScratchUse> scratch; ///< of ranks whose scratch may lie elsewhere in the next launch

  std::span<const Moment> membersOf(const Meeting &meeting) const {
    return std::span(members).subspan(meeting.first, meeting.count);
  }
};

/// Runs `index.program` in the size of `geometry`; joins in `orbits` what meets. Nothing if blocks are stuck or the
/// program is too large to look at. `sizesChange`: launches of other sizes may follow. `ofFirstRank`: pairs of which an
/// access of rank 0 comes second, and nothing that only others need.
std::optional<RunRecord> recordRun(const ProgramIndex &index, const proof::Geometry &geometry, const SyncPieces &pieces,
                                   SyncOrbits &orbits, bool sizesChange, bool ofFirstRank);

} // namespace mscclc::passes::prune
