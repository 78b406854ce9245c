#include "passes/schedule/place.h"

#include "ir/program_index.h"
#include "passes/schedule/placement.h"
#include "passes/schedule/schedule_diagnostics.h"
#include "passes/schedule/scratch_slots.h"
#include "passes/schedule/through_switch.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace mscclc::passes {
namespace {

using ir::Move;
using ir::MoveKind;
using ir::RankChunk;
using ir::Via;

class Placement {
public:
  explicit Placement(PassContext &context)
      : program_(context.program), diags_(context.diags),
        mostPeers_(context.target.executor ? context.target.executor->channelsPerBlock : ir::none),
        isOnExecutor_(context.target.executor != nullptr) {}

  void run() {
    ir::Movement given; // statements and places alone
    if (program_.movement.throughSwitch)
      given = schedule::throughSwitch(program_);
    else
      given = {.statements = program_.movement.statements, .places = program_.movement.places};
    program_.movement.statements.clear();
    program_.movement.places.clear();
    const std::uint32_t piece = pieceOf(given);
    findPlainScratch(given, piece);
    std::vector<std::uint32_t> firstSlot; // [rank]
    for (std::uint32_t r = 0; r < plain_.size(); ++r) {
      ir::Rank &rank = program_.ranks[r];
      if (!plain_[r])
        rank.scratchChunks = 0; // what the program keeps there are packets, in slots
      firstSlot.push_back((rank.scratchChunks + piece - 1) / piece * piece);
    }
    for (const Move &statement : given.statements) {
      where_ = ir::Where(statement.loc, "statement " + std::to_string(&statement - given.statements.data()));
      if (!checkWishes(given, statement))
        continue;
      for (std::uint32_t at = 0, size = given.places[statement.firstPlace].size; at < size; at += piece) {
        srcs_ = cutOf(given.srcs(statement), at, piece);
        dsts_ = cutOf(given.dsts(statement), at, piece);
        place(statement);
      }
    }
    if (!program_.movement.statements.empty())
      schedule::orderSlots(program_, firstSlot, piece);
    if (program_.protocol == ir::Protocol::Simple)
      makeRoomForPackets();
    if (program_.doubleScratch)
      evenScratch();
  }

private:
  /// Chunks that every place of the program is a multiple of, in size and from its buffer's beginning.
  static std::uint32_t pieceOf(const ir::Movement &movement) {
    std::uint32_t piece = 0;
    for (const RankChunk &place : movement.places)
      piece = std::gcd(piece, std::gcd(place.index, place.size));
    return std::max(piece, 1u);
  }
  static std::vector<RankChunk> cutOf(std::span<const RankChunk> places, std::uint32_t at, std::uint32_t size) {
    std::vector<RankChunk> cut(places.begin(), places.end());
    for (RankChunk &place : cut)
      place = {place.rank, place.buffer, place.index + at, size};
    return cut;
  }
  /// False, and reported, if the statement says how it is done and that cannot be.
  bool checkWishes(const ir::Movement &given, const Move &statement) {
    if (statement.via == Via::Switch || statement.kind == MoveKind::Reduce)
      return true;
    const std::uint32_t src = given.srcs(statement)[0].rank;
    for (const RankChunk &dst : given.dsts(statement)) {
      const bool port = wayOf(statement, src, dst.rank) == Via::Port;
      if (dst.rank == src || statement.by != dst.rank || !(port || statement.packets == true))
        continue;
      diags_.report(schedule::diag::written_not_read, where_, {dst.rank, port ? "through a port" : "in packets", src});
      return false;
    }
    return true;
  }
  /// Finds the ranks that have plain data in scratch. They get no packets: at another message size, plain chunks lie
  /// where packets are read. What a rank keeps in scratch may be packets if it comes from another rank as such, once,
  /// and is read at home alone. Where something is written there that nobody reads, no rank gets packets: nobody is
  /// told of that write, and packets make none visible.
  void findPlainScratch(const ir::Movement &given, std::uint32_t piece) {
    plain_.resize(program_.ranks.size(), false);
    holdsPackets_.resize(program_.ranks.size(), false);
    bool readsAll = true;
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> isRead; // of (rank, piece of scratch), since it was written
    for (const Move &statement : given.statements) {
      for (const RankChunk &src : given.srcs(statement))
        for (std::uint32_t at = 0; src.buffer == ir::BufferKind::Scratch && at < src.size; at += piece) {
          const auto [found, isUnwritten] = isRead.try_emplace({src.rank, src.index + at}, true);
          if (isUnwritten || !readsAtHome(given, statement, src.rank))
            plain_[src.rank] = true;
          found->second = true;
        }
      for (const RankChunk &dst : given.dsts(statement))
        for (std::uint32_t at = 0; dst.buffer == ir::BufferKind::Scratch && at < dst.size; at += piece) {
          const auto [found, isFirst] = isRead.try_emplace({dst.rank, dst.index + at}, false);
          if (!isFirst || statement.kind != MoveKind::Copy ||
              !wantsPackets(statement, given.srcs(statement)[0].rank, dst.rank))
            plain_[dst.rank] = true;
          readsAll = readsAll && (isFirst || found->second);
          found->second = false;
        }
    }
    for (const auto &[place, read] : isRead)
      readsAll = readsAll && read;
    if (!readsAll)
      plain_.assign(plain_.size(), true);
    // Where a rank makes no packets, its operands arrive as plain data elsewhere.
    while (findPlainOperands(given)) {
    }
    if (isOnExecutor_ && mixesScratch(given))
      plain_.assign(plain_.size(), true);
  }
  /// Whether the statement does nothing with what it reads in scratch of `rank` but what can be done with packets
  /// there: to unpack them, or to reduce them.
  static bool readsAtHome(const ir::Movement &given, const Move &statement, std::uint32_t rank) {
    return statement.via != Via::Switch &&
           std::ranges::all_of(given.dsts(statement), [&](const RankChunk &dst) { return dst.rank == rank; });
  }
  /// True if it finds more such ranks.
  bool findPlainOperands(const ir::Movement &given) {
    bool found = false;
    for (const Move &statement : given.statements) {
      if (statement.via == Via::Switch)
        continue;
      for (const RankChunk &dst : given.dsts(statement))
        for (const RankChunk &src : given.srcs(statement)) {
          const bool comesPlain = src.rank != dst.rank && !usesPackets(statement, src.rank, dst.rank);
          const bool isKept = statement.kind == MoveKind::Reduce || dst.buffer == ir::BufferKind::Scratch;
          if (!plain_[dst.rank] && ((isKept && comesPlain) || (same(src, dst) && &src != given.srcs(statement).data())))
            plain_[dst.rank] = found = true;
        }
    }
    return found;
  }
  /// Whether there are packets, which double scratch, and plain data that others than its rank's threads touch there:
  /// an executor looks for those in the first half at every launch.
  bool mixesScratch(const ir::Movement &given) const {
    constexpr auto inScratch = [](const RankChunk &place) { return place.buffer == ir::BufferKind::Scratch; };
    bool packets = false, plain = false;
    for (const Move &statement : given.statements) {
      const std::span<const RankChunk> srcs = given.srcs(statement), dsts = given.dsts(statement);
      if (statement.via == Via::Switch) {
        plain = plain || std::ranges::any_of(srcs, inScratch) || std::ranges::any_of(dsts, inScratch);
        continue;
      }
      for (const RankChunk &dst : dsts)
        for (const RankChunk &src : srcs) {
          if (src.rank == dst.rank)
            continue;
          if (usesPackets(statement, src.rank, dst.rank))
            packets = true;
          else if (isRead(statement, src.rank, dst.rank))
            plain = plain || inScratch(src);
          else // operands of a reduction are put into a slot
            plain = plain || statement.kind == MoveKind::Reduce || inScratch(dst) ||
                    (wayOf(statement, src.rank, dst.rank) == Via::Port && inScratch(src));
        }
    }
    return packets && plain;
  }

  bool same(const RankChunk &a, const RankChunk &b) const { return schedule::isSameMemory(program_, a, b); }
  bool near(std::uint32_t a, std::uint32_t b) const { return program_.movement.sameNode(a, b); }
  Via wayOf(const Move &statement, std::uint32_t from, std::uint32_t to) const {
    return statement.via.value_or(program_.movement.wayOf(from, to));
  }
  bool usesPackets(const Move &statement, std::uint32_t from, std::uint32_t to) const {
    return wantsPackets(statement, from, to) && takesPackets(from, to);
  }
  bool wantsPackets(const Move &statement, std::uint32_t from, std::uint32_t to) const {
    const bool isRead = statement.kind == MoveKind::Copy && statement.by == to; // as plain data
    return from != to && statement.packets.value_or(program_.protocol == ir::Protocol::LL && !isRead) &&
           wayOf(statement, from, to) == program_.movement.wayOf(from, to);
  }
  /// Whether plain data of the statement is read by the rank that it goes to, and not put there.
  bool isRead(const Move &statement, std::uint32_t from, std::uint32_t to) const {
    const bool reads = statement.kind == MoveKind::Reduce && program_.movement.pull;
    return near(from, to) && wayOf(statement, from, to) == Via::Memory &&
           statement.by.value_or(reads ? to : from) == to;
  }
  /// Whether packets may lie where they are put, and where they are made.
  bool takesPackets(std::uint32_t from, std::uint32_t to) const {
    return !plain_[to] && (near(from, to) || !plain_[from]);
  }
  /// New scratch of `rank`, as long as the statement's places.
  RankChunk slot(std::uint32_t rank) {
    std::uint32_t &used = program_.ranks[rank].scratchChunks;
    const std::uint32_t size = dsts_.front().size;
    used = (used + size - 1) / size * size; // lanes cut pieces alike only where they begin at multiples of their size
    const RankChunk made{rank, ir::BufferKind::Scratch, used, size};
    used += size;
    return made;
  }
  /// The executor finds the second half of another rank's scratch by the size of its own.
  void evenScratch() {
    std::uint32_t most = 0;
    for (const ir::Rank &rank : program_.ranks)
      most = std::max(most, rank.scratchChunks);
    for (ir::Rank &rank : program_.ranks)
      rank.scratchChunks = most;
  }
  /// Protocol LL gives scratch twice the bytes, which packets take. Under Simple they take two chunks each.
  void makeRoomForPackets() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      if (holdsPackets_[r])
        program_.ranks[r].scratchChunks *= 2;
  }
  /// New scratch of `rank` for packets. Its halves are used by turns, so that a launch need not ask whether the one
  /// before is over.
  RankChunk packetSlot(std::uint32_t rank) {
    program_.doubleScratch = true;
    holdsPackets_[rank] = true;
    return slot(rank);
  }

  void append(Move statement, std::uint32_t by, std::span<const RankChunk> srcs, const RankChunk &dst,
              std::optional<Via> via, bool packets) {
    statement.by = by;
    statement.via = via;
    statement.packets = packets ? std::optional(true) : std::nullopt;
    program_.movement.append(statement, srcs, {&dst, 1});
  }

  void place(const Move &statement) {
    if (statement.via == Via::Switch)
      return placeInSwitch(statement);
    if (statement.kind == MoveKind::Reduce)
      return reduce(statement);
    for (const RankChunk &dst : dsts_)
      copy(statement, dst, srcs_.front());
  }

  /// The packets that came for what lies at `place`; null if there are none.
  const RankChunk *packetsOf(const RankChunk &place) const {
    const auto found = came_.find(keyOf(place));
    return found != came_.end() ? &found->second : nullptr;
  }
  /// `place` is written.
  void forget(const RankChunk &place) {
    const auto [rank, buffer, begin] = keyOf(place);
    const std::uint64_t size = place.size; // of all places that came_ has
    const auto first = came_.lower_bound({rank, buffer, begin - std::min(begin, size - 1)});
    came_.erase(first, came_.lower_bound({rank, buffer, begin + size}));
  }

  void placeInSwitch(const Move &statement) {
    const bool reduces = statement.kind == MoveKind::Reduce;
    const RankChunk &own = reduces ? dsts_.front() : srcs_.front();
    const std::vector<RankChunk> &group = reduces ? srcs_ : dsts_;
    if (!schedule::isOnePlaceOfAll(group, own)) {
      diags_.report(schedule::diag::switch_places, where_, {reduces ? "reads" : "writes"});
      return;
    }
    if (group.size() == 1) // which takes no switch
      return copy(statement, dsts_.front(), srcs_.front());
    if (reduces && !ir::mayReduceInSwitch(statement.reduceOp, group.size(), program_.movement.reassociate)) {
      diags_.report(schedule::diag::switch_order, where_,
                    {statement.reduceOp == ir::ReduceOp::Sum ? "sum" : "product", ir::plural(group.size(), "operand")});
      return;
    }
    Move whole = statement;
    whole.by = own.rank;
    whole.packets.reset();
    std::ranges::for_each(dsts_, [&](const RankChunk &dst) { forget(dst); });
    program_.movement.append(whole, srcs_, dsts_);
  }

  /// What brings an operand of `statement` somewhere.
  static Move asCopy(Move statement) {
    statement.kind = MoveKind::Copy;
    statement.reduceOp = ir::ReduceOp::Sum;
    return statement;
  }

  void copy(const Move &statement, const RankChunk &dst, const RankChunk &src) {
    if (same(dst, src))
      return;
    const Move plain = asCopy(statement);
    forget(dst);
    if (dst.rank == src.rank) {
      const RankChunk *packets = keptAt(src);
      return append(plain, dst.rank, {packets ? packets : &src, 1}, dst, std::nullopt, packets != nullptr);
    }
    if (usesPackets(statement, src.rank, dst.rank)) {
      const RankChunk packets = send(statement, src, dst.rank);
      came_[keyOf(dst)] = packets;
      if (dst.buffer == ir::BufferKind::Scratch) // which is read there alone: as packets
        return;
      return append(plain, dst.rank, {&packets, 1}, dst, std::nullopt, true);
    }
    const bool port = wayOf(statement, src.rank, dst.rank) == Via::Port;
    const std::uint32_t by = port ? src.rank : statement.by.value_or(src.rank);
    append(plain, by == dst.rank ? by : src.rank, {&src, 1}, dst, port ? Via::Port : Via::Memory, false);
  }

  /// Those of a place of scratch: there is no plain data there.
  const RankChunk *keptAt(const RankChunk &place) const {
    return place.buffer == ir::BufferKind::Scratch ? packetsOf(place) : nullptr;
  }

  /// Sends `src` to rank `to` in packets. Where they arrive. Inside a node, what came in packets is passed on as they
  /// are: to unpack them first takes the time of a load and a store on the way. A port reads them when nobody waits for
  /// it, so that who takes them would tell nobody that all have read them.
  RankChunk send(const Move &statement, const RankChunk &src, std::uint32_t to) {
    const bool isNear = near(src.rank, to);
    const RankChunk packets = packetSlot(to);
    const RankChunk *const came = isNear ? packetsOf(src) : nullptr;
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

  /// How the reducing rank gets at `src`: there, by reading it, or in a slot where it is put.
  Source fetch(const Move &statement, std::uint32_t to, const RankChunk &src) {
    if (const RankChunk *packets = keptAt(src); packets && src.rank == to)
      return {*packets, Operand::Packets};
    if (src.rank == to)
      return {src};
    if (usesPackets(statement, src.rank, to))
      return {send(statement, src, to), Operand::Packets};
    if (isRead(statement, src.rank, to))
      return {src, Operand::Remote};
    const RankChunk arrived = slot(to);
    copy(without(statement), arrived, src);
    return {arrived};
  }
  static Move without(Move statement) {
    statement.by.reset();
    return statement;
  }

  void reduce(const Move &statement) {
    const RankChunk dst = dsts_.front();
    std::vector<Source> chain;
    for (const RankChunk &src : srcs_)
      chain.push_back(fetch(statement, dst.rank, src));
    forget(dst);
    // A step of a sum commutes, so the second operand may come first.
    if (chain[0].how != Operand::Local && chain[1].how == Operand::Local)
      std::swap(chain[0], chain[1]);
    const auto readsResult = [&](std::size_t from) {
      return std::any_of(chain.begin() + static_cast<std::ptrdiff_t>(from), chain.end(),
                         [&](const Source &s) { return same(s.place, dst); });
    };
    if (chain[0].how != Operand::Local) {
      const RankChunk first = readsResult(1) ? slot(dst.rank) : dst;
      const bool packets = chain[0].how == Operand::Packets;
      append(asCopy(statement), dst.rank, {&chain[0].place, 1}, first,
             packets ? std::nullopt : std::optional(Via::Memory), packets);
      chain[0] = {first};
    }
    // Runs of operands that one operation of one block takes, each onto the sum so far. That stays off the result's
    // place as long as an operand lies there.
    RankChunk sum = chain[0].place;
    std::optional<RankChunk> spare;
    for (std::size_t begin = 1; begin < chain.size();) {
      std::size_t end = begin + 1;
      while (end < chain.size() && chain[end].how == chain[begin].how &&
             (chain[end].how == Operand::Packets || end - begin < mostPeers_))
        ++end;
      if (readsResult(end) && !spare)
        spare = slot(dst.rank);
      const RankChunk to = readsResult(end) ? *spare : dst;
      std::vector<RankChunk> operands{sum};
      for (; begin < end; ++begin)
        operands.push_back(chain[begin].place);
      const Operand how = chain[end - 1].how;
      append(statement, dst.rank, operands, to, how == Operand::Remote ? std::optional(Via::Memory) : std::nullopt,
             how == Operand::Packets);
      sum = to;
    }
  }

  ir::Program &program_;
  ir::DiagnosticEngine &diags_;
  std::uint32_t mostPeers_;            ///< that a block has channels for
  bool isOnExecutor_;                  ///< and not in a kernel of the program's own
  ir::Where where_;                    ///< the statement
  std::vector<RankChunk> srcs_, dsts_; ///< of it, one piece
  std::vector<bool> plain_;            ///< [rank]: some of its scratch is for plain data
  std::vector<bool> holdsPackets_;     ///< [rank]: some of its scratch is for packets
  /// Rank, and where memory begins.
  using Key = std::tuple<std::uint32_t, ir::BufferKind, std::uint64_t>;
  Key keyOf(const RankChunk &place) const {
    const ir::MemoryRange range = schedule::plainMemoryOf(program_, place);
    return {place.rank, range.buffer, range.begin};
  }
  /// What lies at a place, as the packets that brought it.
  std::map<Key, RankChunk> came_;
};

void place(PassContext &context) {
  if (context.program.movement.statements.empty() || schedule::isPlaced(context.program))
    return;
  if (context.program.replication == ir::Replication::None) {
    context.diags.report(schedule::diag::replication_none, ir::Where(ir::noLoc, "the program"));
    return;
  }
  const std::size_t before = context.program.movement.statements.size();
  Placement(context).run();
  context.stats.count("statements", before);
  context.stats.count("placed", context.program.movement.statements.size());
}

} // namespace

Pass createPlacePass() {
  return {.provides = Placed, .run = place};
}

} // namespace mscclc::passes
