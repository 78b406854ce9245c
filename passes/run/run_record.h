// A recorded run of a program: the waits of its blocks, and the pairs of accesses that have to be ordered.
//
// The run is that of the verifier (run/control.h, data_run.h), but without values: two launches of one size, three with
// double scratch, with the user's accesses before and after them. Whenever the verifier asks whether one access is
// ordered before another, the pair is recorded. So the same questions can be asked about a program with less sync.
// Dropping sync only removes edges: as long as all pairs stay ordered, the verifier's answers stay the same.
//
// Times are Lamport clocks. A block counts its events, and after a wait continues from the time of the message. So an
// event that happens before another one has a smaller time, even if sync is dropped. A search for an event can stop at
// the time of the event. The order of execution in the recorded run could be used as time, too. But in that order,
// blocks without connection are far apart, so most of the run would lie between two accesses.
#pragma once

#include "passes/run/epoch.h"
#include "passes/run/geometry.h"
#include "passes/run/sync_points.h"

#include <span>

namespace mscclc::passes::prune {

using proof::MessageKind;
using proof::Relation;

/// A set of blocks at one moment each: the blocks that meet at a barrier, or all blocks of a rank between two launches.
struct Meeting {
  SyncPoint point = none;             ///< the barrier's sync point in one of the blocks; `none` between launches
  std::uint32_t first = 0, count = 0; ///< index into RunRecord::members, and number of members
};

/// A block, and the number of one of its phases.
struct Moment {
  std::uint32_t block = 0, phase = 0;
};

/// A signal, a release or a packet that was sent.
struct Message {
  Moment from;
  std::uint32_t time = 0;
  std::uint32_t thread = none; ///< the thread that has sent it
  SyncPoint point = none;      ///< `none` for a packet
  std::uint32_t port = none;   ///< the port channel through which it was sent
  std::uint32_t begin = none;  ///< the meeting at which the sender's launch began, or `none`
  MessageKind kind = MessageKind::Signal;
  std::uint32_t heard = 0; ///< position after the last receipt of the sending thread, in the block's receipts
  /// For a packet: the packets of the same elements that the sending operation took. These are the index of the first
  /// one in RunRecord::taken, and their number.
  std::uint32_t firstTaken = 0, numTaken = 0;
};

/// A message that a block has waited for.
struct Receipt {
  std::uint32_t message = 0;
  std::uint32_t phase = 0, time = 0;
  std::uint32_t thread = none; ///< the thread that waited
  MessageKind kind = MessageKind::Signal;
  std::uint32_t previous = 0; ///< position after the last earlier receipt that may contain more than this one
  std::uint32_t heard = 0;    ///< position after the last earlier receipt of the same thread
};

/// A flush of a port channel.
struct Flushed {
  std::uint32_t phase = 0, time = 0, thread = 0, port = 0;
  SyncPoint point = none;
};

/// A wait on a channel in the first launch. If it comes after another wait of its block on the channel, it must be in a
/// later phase or in the same thread. Thread i does the i-th wait of an operation.
struct Wait {
  Moment at;
  SyncPoint point = none;
  SyncPoint firstPoint = none;   ///< first point of its operation; `point - firstPoint` is the thread
  std::uint32_t previous = none; ///< index into RunRecord::waits of the block's previous wait on this channel
};

/// The access of one operation to memory, at one time. A put is one access for each destination.
struct Access {
  Moment at;
  std::uint32_t time = 0;
  std::uint32_t launch = 0;    ///< number of meetings that its rank has had
  std::uint32_t thread = none; ///< the only thread that makes the access, if there is one
  std::uint32_t port = none;   ///< the channel, if it is a port's put
  std::uint32_t op = none;     ///< `none`: it is an access of the user
  std::uint32_t like = none;   ///< the first access that has the same order to all others
  std::uint32_t heard = 0;     ///< position after the last receipt of its thread, in the block's receipts
  std::uint32_t firstTaken = 0,
                numTaken = 0; ///< packets that came before it: index into RunRecord::taken, and their number
};

/// Two accesses that have to be ordered.
struct Pair {
  std::uint32_t first = 0, second = 0; ///< into RunRecord::accesses
  Relation relation = Relation::HappensBefore;
  /// True if packets may order the two accesses without sync. These packets must be computed from the data of the first
  /// access.
  bool excusable = false;
  friend auto operator<=>(const Pair &, const Pair &) = default;
};

/// The accesses of the first launch to a rank's scratch, and the writes of a later launch, which may go to any place in
/// it.
struct ScratchUse {
  std::vector<Pair> uses;   ///< each use in the first launch, paired with an access after the end of the use
  std::vector<Pair> writes; ///< each later write, paired with an access in the last phase of the first launch
};

struct RunRecord {
  std::vector<std::vector<SyncPoint>>
      bounds; ///< [block][phase]: the sync point that begins it; `none`: no sync point is needed to begin it
  std::vector<std::vector<std::uint32_t>> begun;                         ///< [block][phase]: time
  std::vector<std::vector<Receipt>> receipts;                            ///< [block], ordered by time
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> met; ///< [block]: (phase that begins, meeting)
  std::vector<std::vector<Flushed>> flushes;                             ///< [block], ordered by time
  std::vector<std::vector<std::uint32_t>> launches; ///< [block]: phases that begin with a meeting of its rank
  std::vector<std::uint32_t> firstBlock;            ///< [rank]; then the number of blocks
  std::vector<std::uint32_t> rankOf;                ///< [block]
  std::vector<Message> messages;
  std::vector<std::uint32_t> taken; ///< messages
  std::vector<Meeting> meetings;
  std::vector<Moment> members;
  std::vector<Access> accesses;
  std::vector<Pair> pairs;
  std::vector<Wait> waits;         ///< in the order of the run
  std::vector<ScratchUse> scratch; ///< [rank]; empty if later launches have the same size

  std::span<const Moment> membersOf(const Meeting &meeting) const {
    return std::span(members).subspan(meeting.first, meeting.count);
  }
};

/// Records a run of `index.program` in the size of `geometry`. Joins in `classes` the points of each barrier, and
/// senders with their receivers. Returns nothing if blocks are stuck, or if the program is too large. `sizesChange`:
/// launches of other sizes may follow. `ofFirstRank`: records only pairs whose second access is one of rank 0, and the
/// events that matter for these pairs.
std::optional<RunRecord> recordRun(const ProgramIndex &index, const proof::Geometry &geometry, const SyncPoints &points,
                                   SyncClasses &classes, bool sizesChange, bool ofFirstRank);

} // namespace mscclc::passes::prune
