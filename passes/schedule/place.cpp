#include "passes/schedule/place.h"

#include "ir/chunk_cells.h"
#include "ir/program_index.h"
#include "passes/schedule/packet_ranks.h"
#include "passes/schedule/placement.h"
#include "passes/schedule/range_cuts.h"
#include "passes/schedule/schedule_diagnostics.h"
#include "passes/schedule/scratch_slots.h"
#include "passes/schedule/through_switch.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace mscclc::passes {
namespace {

using ir::Move;
using ir::MoveKind;
using ir::RankChunk;
using ir::Via;

/// Takes the statements and their places out of the program. If the program asks for the use of switches, first changes
/// the statements that a switch can do.
ir::Movement takeStatements(ir::Program &program) {
  if (program.movement.throughSwitch)
    program.movement.putStatements(schedule::throughSwitch(program));
  return program.movement.takeStatements();
}

/// Sets `cut` to one piece of each place: `size` chunks, from chunk `at` of the place on.
void cutInto(std::vector<RankChunk> &cut, std::span<const RankChunk> places, std::uint32_t at, std::uint32_t size) {
  cut.clear();
  for (const RankChunk &place : places)
    cut.push_back(schedule::pieceOf(place, at, size));
}

/// For each place, another place with the same data. Two places that overlap are always equal.
class OtherPlaces {
public:
  explicit OtherPlaces(const ir::Program &program) : program_(program) {}

  /// Returns the other place with the data of `place`; null if there is none.
  const RankChunk *of(const RankChunk &place) const {
    const auto found = others_.find(startOf(place));
    return found == others_.end() ? nullptr : &found->second;
  }
  void keep(const RankChunk &place, const RankChunk &other) { others_.insert_or_assign(startOf(place), other); }
  /// Forgets the other place of `place`, because `place` is overwritten.
  void forget(const RankChunk &place) { others_.erase(startOf(place)); }

private:
  using Start = std::tuple<std::uint32_t, ir::BufferKind, std::uint32_t>; ///< rank, buffer and chunk
  Start startOf(const RankChunk &place) const {
    const ir::CanonicalPlace at = ir::canonicalPlace(program_, place.rank, place.buffer, place.index);
    return {place.rank, at.buffer, at.index};
  }

  const ir::Program &program_;
  std::map<Start, RankChunk> others_;
};

class Placer {
public:
  explicit Placer(PassContext &context)
      : program_(context.program), diags_(context.diags), analyses_(context.analyses),
        listedOrder_(context.target.listedOrder), hasWire_(ir::wireOf(context.program)),
        mostPeers_(context.target.executor ? context.target.executor->channelsPerBlock : ir::none),
        given_(takeStatements(program_)), cuts_(program_, given_),
        packetRanks_(program_, given_, cuts_.unit(), context.target.executor != nullptr), slots_(program_.ranks.size()),
        holdsPackets_(program_.ranks.size(), false), arrived_(program_), encodedLater_(program_) {}

  void run() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      if (!packetRanks_.keepsPlainData(r))
        program_.ranks[r].scratchChunks = 0; // slots of packets replace the program's own data in scratch
    program_.doubleScratch |= program_.split;
    // An estimate of the number of statements: mostly, each place of a statement except one becomes a copy. Packets
    // also need an operation that unpacks them.
    const std::size_t moves = given_.places.size() * (ir::usesPackets(program_.protocol) ? 2 : 1);
    program_.movement.statements.reserve(moves);
    program_.movement.places.reserve(2 * moves);
    for (const Move &statement : given_.statements) {
      current_ = &statement;
      if (&statement != given_.statements.data() && packetRanks_.isSentSum(given_, (&statement)[-1]))
        continue; // the statement of the sum stores this copy, too
      if (!checkWishes(statement))
        continue;
      if (program_.protocol == ir::Protocol::Lamport && !checkLamport(statement))
        continue;
      if (statement.packets == true && statement.via != Via::Switch)
        warnOfPlainData(statement);
      cuts_.eachPiece(given_, statement, [&](std::uint32_t at, std::uint32_t size) {
        cutInto(srcs_, given_.srcs(statement), at, size);
        cutInto(dsts_, given_.dsts(statement), at, size);
        for (RankChunk &src : srcs_)
          if (const RankChunk *const plain = schedule::isScratch(src) ? encodedLater_.of(src) : nullptr)
            src = *plain;
        if (packetRanks_.isSentSum(given_, statement))
          dsts_.insert(dsts_.begin(), schedule::pieceOf(given_.dsts((&statement)[1])[0], at, size));
        place(statement);
      });
    }
    if (!program_.movement.statements.empty())
      schedule::orderSlots(program_, slots_, analyses_);
    if (program_.protocol == ir::Protocol::Simple)
      makeRoomForPackets();
    if (program_.doubleScratch)
      evenScratch();
  }

private:
  /// Returns the source location of the current statement.
  ir::Where where() const {
    return {current_->loc, "statement " + std::to_string(current_ - given_.statements.data())};
  }

  /// Reports an error and returns false if the statement asks for an execution that is impossible.
  bool checkWishes(const Move &statement) {
    if (statement.via == Via::Switch || statement.kind == MoveKind::Reduce)
      return true;
    const std::uint32_t src = given_.srcs(statement)[0].rank;
    for (const RankChunk &dst : given_.dsts(statement)) {
      const bool port = schedule::wayOf(program_.movement, statement, src, dst.rank) == Via::Port;
      if (dst.rank == src || statement.by != dst.rank || !(port || statement.packets == true))
        continue;
      diags_.report(schedule::diag::written_not_read, where(), {dst.rank, port ? "through a port" : "in packets", src});
      return false;
    }
    return true;
  }

  /// Reports an error and returns false if a rank cannot receive packets without flags, because of plain data in
  /// scratch.
  bool checkLamport(const Move &statement) {
    for (const RankChunk &dst : given_.dsts(statement))
      for (const RankChunk &src : given_.srcs(statement))
        if (src.rank != dst.rank && packetRanks_.keepsPlainData(dst.rank)) {
          diags_.report(schedule::diag::lamport_not_taken, where(),
                        {src.rank, dst.rank, whyPlain(statement, src.rank, dst.rank)});
          return false;
        }
    return true;
  }

  /// Warns if the statement asks for packets but some of its data travels as plain data. Warns once for each reason.
  void warnOfPlainData(const Move &statement) {
    for (const RankChunk &dst : given_.dsts(statement))
      for (const RankChunk &src : given_.srcs(statement)) {
        if (src.rank == dst.rank || packetRanks_.travelsInPackets(statement, src.rank, dst.rank))
          continue;
        const std::string why = whyPlain(statement, src.rank, dst.rank);
        if (saidPlain_.insert(why).second)
          diags_.report(schedule::diag::packets_not_taken, where(), {src.rank, dst.rank, why});
      }
  }
  std::string whyPlain(const Move &statement, std::uint32_t from, std::uint32_t to) const {
    if (near(from, to) && schedule::wayOf(program_.movement, statement, from, to) == Via::Port)
      return "inside a node, packets go through memory";
    if (const std::string_view why = packetRanks_.whyNone(); !why.empty())
      return std::string(why);
    const std::uint32_t keeper = packetRanks_.keepsPlainData(to) ? to : from;
    return "rank " + std::to_string(keeper) + " keeps plain data in scratch, and no rank has both there";
  }

  bool same(const RankChunk &a, const RankChunk &b) const { return schedule::isSameMemory(program_, a, b); }
  bool isWide() const { return program_.movement.accumulate == ir::Accumulate::Wide; }
  bool near(std::uint32_t a, std::uint32_t b) const { return program_.movement.sameNode(a, b); }
  /// Returns a new slot in scratch of `rank`, as long as the current statement's places.
  RankChunk slot(std::uint32_t rank) {
    std::uint32_t &used = program_.ranks[rank].scratchChunks;
    const RankChunk made{rank, ir::BufferKind::Scratch, used, dsts_.front().size};
    slots_[rank].push_back({made.index, made.size});
    used += made.size;
    return made;
  }
  /// Gives all ranks the same amount of scratch, because the executor finds the second half of another rank's scratch
  /// by the size of its own.
  void evenScratch() {
    std::uint32_t most = 0;
    for (const ir::Rank &rank : program_.ranks)
      most = std::max(most, rank.scratchChunks);
    for (ir::Rank &rank : program_.ranks)
      rank.scratchChunks = most;
  }
  /// Makes room for packets. Protocol LL doubles the bytes of scratch, as packets need. Under Simple, packets take two
  /// chunks each.
  void makeRoomForPackets() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      if (holdsPackets_[r])
        program_.ranks[r].scratchChunks *= 2;
  }
  /// Returns a new slot for packets in scratch of `rank`. Launches use the halves of scratch in turn, so that a launch
  /// need not know that the previous launch is over.
  RankChunk packetSlot(std::uint32_t rank) {
    program_.doubleScratch = true;
    holdsPackets_[rank] = true;
    return slot(rank);
  }

  void append(const Move &statement, std::uint32_t by, std::span<const RankChunk> srcs, const RankChunk &dst,
              std::optional<Via> via, bool packets) {
    append(statement, by, srcs, {&dst, 1}, via, packets);
  }
  void append(Move statement, std::uint32_t by, std::span<const RankChunk> srcs, std::span<const RankChunk> dsts,
              std::optional<Via> via, bool packets) {
    statement.by = by;
    statement.via = via;
    const bool isOpen = !packets && !(via && ir::usesPackets(program_.protocol));
    statement.packets = isOpen ? std::nullopt : std::optional(packets);
    program_.movement.append(statement, srcs, dsts);
  }

  void place(const Move &statement) {
    if (statement.via == Via::Switch)
      return placeInSwitch(statement);
    if (statement.kind == MoveKind::Reduce)
      return reduce(statement);
    if (statement.kind == MoveKind::Apply)
      return apply(statement);
    for (const RankChunk &dst : dsts_)
      copy(statement, dst, srcs_.front());
  }

  /// Applies a hook on the rank that has the data.
  void apply(const Move &statement) {
    arrived_.forget(dsts_.front());
    append(statement, dsts_.front().rank, srcs_, dsts_.front(), std::nullopt, false);
  }

  void placeInSwitch(const Move &statement) {
    const bool reduces = statement.kind == MoveKind::Reduce;
    const RankChunk &own = reduces ? dsts_.front() : srcs_.front();
    const std::vector<RankChunk> &group = reduces ? srcs_ : dsts_;
    if (!schedule::isOnePlaceOfAll(group, own)) {
      diags_.report(schedule::diag::switch_places, where(), {reduces ? "read" : "write"});
      return;
    }
    if (group.size() == 1) // one place needs no switch
      return copy(statement, dsts_.front(), srcs_.front());
    if (reduces && !ir::mayReduceInSwitch(statement.reduceOp, group.size(), program_.movement.order)) {
      diags_.report(schedule::diag::switch_order, where(),
                    {ir::nounOf(statement.reduceOp), ir::plural(group.size(), "operand")});
      return;
    }
    Move whole = statement;
    whole.by = own.rank;
    whole.packets.reset();
    std::ranges::for_each(dsts_, [&](const RankChunk &dst) { arrived_.forget(dst); });
    program_.movement.append(whole, srcs_, dsts_);
  }

  /// Returns the copy that brings an operand of `statement` to another place.
  static Move asCopy(Move statement) {
    statement.kind = MoveKind::Copy;
    statement.reduceOp = ir::ReduceOp::Sum;
    return statement;
  }

  void copy(const Move &statement, const RankChunk &dst, const RankChunk &src) {
    if (same(dst, src))
      return;
    const Move plain = asCopy(statement);
    arrived_.forget(dst);
    if (dst.rank == src.rank && hasWire_ && schedule::isScratch(dst) && !packetRanks_.keepsPlainData(dst.rank))
      return encodedLater_.keep(dst, src);
    if (dst.rank == src.rank) {
      const RankChunk *packets = keptAt(src);
      return append(plain, dst.rank, {packets ? packets : &src, 1}, dst, std::nullopt, packets != nullptr);
    }
    if (packetRanks_.travelsInPackets(statement, src.rank, dst.rank)) {
      const RankChunk packets = send(statement, src, dst.rank);
      arrived_.keep(dst, packets);
      if (schedule::isScratch(dst)) // statements that read `dst` take the packets instead
        return;
      return append(plain, dst.rank, {&packets, 1}, dst, std::nullopt, true);
    }
    const bool port = schedule::wayOf(program_.movement, statement, src.rank, dst.rank) == Via::Port;
    const bool changesWidth = port && isWide() && schedule::isScratch(src) != schedule::isScratch(dst);
    // A kernel that never waits cannot find out that rank `dst.rank` has begun the launch.
    if (changesWidth || (program_.split && !schedule::isScratch(dst)))
      return copyInScratch(statement, dst, src);
    const std::uint32_t by = port ? src.rank : statement.by.value_or(src.rank);
    append(plain, by == dst.rank ? by : src.rank, {&src, 1}, dst, port ? Via::Port : Via::Memory, false);
  }

  /// Copies in two steps, through a slot in scratch. A port moves bytes, so data that is wide at only one end is
  /// widened before the port, or narrowed after it. In a kernel that never waits, the rank of `dst` takes the data from
  /// the slot.
  void copyInScratch(const Move &statement, const RankChunk &dst, const RankChunk &src) {
    const RankChunk aside = slot(schedule::isScratch(dst) ? src.rank : dst.rank);
    copy(without(statement), aside, src);
    copy(without(statement), dst, aside);
  }

  /// Returns the packets that hold the data of a place in scratch; null if there are none.
  const RankChunk *keptAt(const RankChunk &place) const {
    return schedule::isScratch(place) ? arrived_.of(place) : nullptr;
  }

  /// Sends `src` to rank `to` in packets, and returns the place where they arrive. Inside a node, data that came in
  /// packets is passed on as these packets, because unpacking first would take the time of a load and a store. A port
  /// does not pass on packets that have arrived: no block learns when the port has read them, so no signal could show
  /// that their slot is free.
  RankChunk send(const Move &statement, const RankChunk &src, std::uint32_t to) {
    const bool isNear = near(src.rank, to);
    const RankChunk packets = packetSlot(to);
    const RankChunk *const came = isNear ? arrived_.of(src) : nullptr;
    if (isNear && !came) {
      append(asCopy(statement), src.rank, {&src, 1}, packets, Via::Memory, true);
      return packets;
    }
    Move put = asCopy(statement);
    put.by = src.rank;
    put.via = isNear ? Via::Memory : Via::Port;
    put.packets = true;
    program_.movement.append(put, {came ? came : &src, 1}, std::array{came ? *came : packetSlot(src.rank), packets});
    return packets;
  }

  enum class Operand : std::uint8_t { Local, Remote, Packets };
  struct Source {
    RankChunk place;
    Operand how = Operand::Local;
  };

  /// Makes `src` available to the reducing rank: as a local place, by a remote read, or by a put into a slot.
  Source fetch(const Move &statement, std::uint32_t to, const RankChunk &src, bool readsAll) {
    if (const RankChunk *packets = keptAt(src); packets && src.rank == to)
      return {*packets, Operand::Packets};
    if (src.rank == to)
      return {src};
    if (packetRanks_.travelsInPackets(statement, src.rank, to))
      return {send(statement, src, to), Operand::Packets};
    if (schedule::isReadThere(program_.movement, statement, src.rank, to, readsAll))
      return {src, Operand::Remote};
    const RankChunk arrived = slot(to);
    copy(without(statement), arrived, src);
    return {arrived};
  }
  static Move without(Move statement) {
    statement.by.reset();
    return statement;
  }

  /// In an operation on packets, all operands except the first are packets. So if any operand is packets, the rank's
  /// own operands become packets, too. Otherwise a sum would be narrowed before and after such an operand, at different
  /// steps on different ranks.
  void makePackets(const Move &statement, std::span<Source> operands) {
    const auto isPackets = [](const Source &source) { return source.how == Operand::Packets; };
    if (std::ranges::none_of(operands, isPackets))
      return;
    for (Source &source : operands)
      if (source.how == Operand::Local) {
        const RankChunk packets = packetSlot(source.place.rank);
        append(asCopy(statement), source.place.rank, {&source.place, 1}, packets, Via::Memory, true);
        source = {packets, Operand::Packets};
      }
  }

  /// Moves the rank's own plain operand to the front of `chain` if all operands before it are of one kind. Returns the
  /// number of other operands that are combined before it. If the target combines sources in the listed order, moves
  /// only the second operand.
  std::uint32_t bringLocalFirst(std::vector<Source> &chain) const {
    const auto local = std::ranges::find(chain, Operand::Local, &Source::how);
    const auto before = static_cast<std::uint32_t>(local - chain.begin());
    const auto isAsFirst = [&](const Source &source) { return source.how == chain[0].how; };
    const bool isMoved = local != chain.end() && !listedOrder_ && std::all_of(chain.begin(), local, isAsFirst);
    // A step of a sum is commutative, so the second operand may come first.
    if (!isMoved && (before != 1 || local == chain.end()))
      return 0;
    std::rotate(chain.begin(), local, local + 1);
    return isMoved && chain.size() > 2 ? before : 0;
  }

  void reduce(const Move &statement) {
    const RankChunk dst = dsts_.front();
    const bool readsAll = !listedOrder_ && schedule::canReadAll(program_.movement, srcs_, dst.rank) &&
                          std::ranges::none_of(srcs_, [&](const RankChunk &src) {
                            return keptAt(src) || packetRanks_.travelsInPackets(statement, src.rank, dst.rank);
                          });
    std::vector<Source> chain;
    for (const RankChunk &src : srcs_)
      chain.push_back(fetch(statement, dst.rank, src, readsAll));
    arrived_.forget(dst);
    const std::uint32_t firstAfter = bringLocalFirst(chain);
    makePackets(statement, std::span(chain).subspan(1));
    std::size_t lastAtResult = 0; // the last operand after the first one that is at `dst`
    for (std::size_t i = 1; i < chain.size(); ++i)
      if (same(chain[i].place, dst))
        lastAtResult = i;
    const auto readsResult = [&](std::size_t from) { return lastAtResult >= from; };
    if (chain[0].how != Operand::Local) {
      const RankChunk first = readsResult(1) ? slot(dst.rank) : dst;
      const bool packets = chain[0].how == Operand::Packets;
      append(asCopy(statement), dst.rank, {&chain[0].place, 1}, first,
             packets ? std::nullopt : std::optional(Via::Memory), packets);
      chain[0] = {first};
    }
    // Makes runs of operands that one operation of one block can take. Each run is added to the sum so far. The sum is
    // not stored at the place of the result as long as an operand is there.
    RankChunk sum = chain[0].place;
    std::optional<RankChunk> spare;
    for (std::size_t begin = 1; begin < chain.size();) {
      Move run = statement;
      run.firstAfter = begin == 1 ? firstAfter : 0;
      std::size_t end = begin + 1;
      while (end < chain.size() && chain[end].how == chain[begin].how &&
             (chain[end].how == Operand::Packets || end - begin < mostPeers_ || hasWire_))
        ++end;
      const bool isAside = readsResult(end) || (end < chain.size() && isWide());
      if (isAside && !spare)
        spare = slot(dst.rank);
      const RankChunk to = isAside ? *spare : dst;
      std::vector<RankChunk> operands{sum};
      for (; begin < end; ++begin)
        operands.push_back(chain[begin].place);
      const Operand how = chain[end - 1].how;
      std::vector<RankChunk> results{to};
      if (end == chain.size() && dsts_.size() > 1) { // the sum is in a wire format, and is sent on
        results.push_back(packetSlot(dst.rank));
        arrived_.keep(dsts_[1], results[1]);
      }
      append(run, dst.rank, operands, results, how == Operand::Remote ? std::optional(Via::Memory) : std::nullopt,
             how == Operand::Packets);
      sum = to;
    }
  }

  ir::Program &program_;
  ir::DiagnosticEngine &diags_;
  Analyses &analyses_;
  const bool listedOrder_;  ///< see passes::Target
  const bool hasWire_;      ///< true: a wire format; operands of sums are local, and each sum is one operation
  std::uint32_t mostPeers_; ///< the most channels that a block has
  ir::Movement given_;      ///< only statements and places
  const schedule::RangeCuts cuts_;
  schedule::PacketRanks packetRanks_;
  std::vector<std::vector<schedule::ScratchSlot>> slots_; ///< [rank]
  std::vector<bool> holdsPackets_;                        ///< [rank]: some of its scratch is for packets
  OtherPlaces arrived_;                                   ///< for a place: the packets that brought its data
  OtherPlaces encodedLater_; ///< for scratch in a wire format: the place of its plain data, which is encoded later
  std::set<std::string> saidPlain_;    ///< reasons that were reported
  const Move *current_ = nullptr;      ///< the current statement
  std::vector<RankChunk> srcs_, dsts_; ///< one piece of the current sources and destinations
};

/// Cuts the ranges of placed statements, and leaves everything else unchanged.
void cutPlaced(ir::Program &program) {
  const ir::Movement given = program.movement.takeStatements();
  const schedule::RangeCuts cuts(program, given);
  std::vector<RankChunk> srcs, dsts;
  for (const Move &statement : given.statements)
    cuts.eachPiece(given, statement, [&](std::uint32_t at, std::uint32_t size) {
      cutInto(srcs, given.srcs(statement), at, size);
      cutInto(dsts, given.dsts(statement), at, size);
      program.movement.append(statement, srcs, dsts);
    });
}

/// True if the program has already been placed, and a second run would change it. This is so if it has packets, and so
/// double scratch, or if its protocol allows packets but all its data is plain.
bool isDone(const ir::Program &program) {
  const auto isPlain = [](const Move &s) { return !s.via || s.via == Via::Switch || s.packets == false; };
  const bool isOfPackets =
      ir::usesPackets(program.protocol) && std::ranges::all_of(program.movement.statements, isPlain);
  return (program.doubleScratch || isOfPackets) && schedule::isPlaced(program);
}

void place(PassContext &context) {
  if (context.program.movement.statements.empty())
    return;
  if (context.program.replication == ir::Replication::None) {
    context.diags.report(schedule::diag::replication_none, ir::Where(ir::noLoc, "the program"));
    return;
  }
  if (const std::uint64_t chunks = ir::ChunkCells::chunksOf(context.program); chunks > ir::ChunkCells::mostChunks) {
    context.diags.report(schedule::diag::placed_too_large, ir::Where(ir::noLoc, "the program"),
                         {ir::plural(chunks, "chunk"), ir::ChunkCells::mostChunks});
    return;
  }
  const std::size_t before = context.program.movement.statements.size();
  if (isDone(context.program))
    cutPlaced(context.program);
  else
    Placer(context).run();
  context.stats.count("statements", before);
  context.stats.count("placed", context.program.movement.statements.size());
}

} // namespace

Pass createPlacePass() {
  return {.provides = Placed, .isProvided = schedule::isPlaced, .run = place};
}

} // namespace mscclc::passes
