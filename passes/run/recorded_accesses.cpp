// Records the data operations of a run: the cells that they access, and the accesses that must come before theirs.
#include "passes/run/run_recorder.h"

#include "ir/containers.h"

#include <algorithm>
#include <tuple>

namespace mscclc::passes::prune {

using proof::Epoch;

/// Adds an access of block `b` in its current phase, and returns its number. `besides`: the access will have more
/// knowledge than its block.
std::uint32_t RunRecorder::newAccess(std::uint32_t b, std::uint32_t op, bool besides) {
  const auto id = static_cast<std::uint32_t>(record_.accesses.size());
  Access access;
  access.at = {b, phaseOf(b)};
  access.time = tick(b);
  access.launch = numMet_[index_.rankOf(b)];
  access.op = op;
  access.like = id;
  std::uint32_t &plain = lastPlain_[b];
  if (!besides && plain != none && record_.accesses[plain].at.phase == access.at.phase)
    access.like = plain;
  else if (!besides)
    plain = id;
  record_.accesses.push_back(access);
  return id;
}

/// Records the beginning of a data operation. Its accesses come after the packets that it takes.
bool RunRecorder::begins(const DataStep &step) {
  const std::uint32_t b = step.block, op = control_.at(b).op();
  for (const std::uint32_t message : step.taken)
    catchUp(b, message);
  if (!scope_.concerns(b, op))
    return false;
  now_ = {};
  if (step.op->channelType == ir::ChannelType::Port)
    return true;
  now_.reads = now_.writes = newAccess(b, op);
  if (step.takesPackets) {
    now_.writes = newAccess(b, op, true);
    record_.accesses[now_.writes].time = record_.accesses[now_.reads].time;
    knowTaken(now_.writes, step.taken);
    for (const std::uint32_t message : step.taken)
      receive(b, message, none, MessageKind::Packet);
  }
  return true;
}

/// Notes that `access` comes after the packets `taken`.
void RunRecorder::knowTaken(std::uint32_t access, std::span<const std::uint32_t> taken) {
  record_.accesses[access].firstTaken = static_cast<std::uint32_t>(record_.taken.size());
  record_.accesses[access].numTaken = static_cast<std::uint32_t>(taken.size());
  record_.taken.insert(record_.taken.end(), taken.begin(), taken.end());
}

void RunRecorder::reads(const DataStep & /*step*/, const Operand &source) {
  read(source, {{now_.reads, 0, source.ref}});
}

void RunRecorder::writes(const DataStep &step, const Operand &part, std::uint32_t /*unit*/,
                         std::span<const std::uint32_t> taken) {
  if (!step.isMixed)
    return write(part, {{now_.writes, 0, part.ref}});
  const std::uint32_t access = newAccess(step.block, control_.at(step.block).op(), true);
  record_.accesses[access].time = record_.accesses[now_.writes].time;
  knowTaken(access, taken);
  now_.message = none;
  write(part, {{access, 0, part.ref}});
}

void RunRecorder::puts(const DataStep &step, std::uint32_t thread, std::uint32_t channel, const Operand &source,
                       const Operand &destination) {
  const std::uint32_t put = newAccess(step.block, control_.at(step.block).op(), true);
  record_.accesses[put].thread = thread;
  record_.accesses[put].heard = heardBy(step.block, thread);
  record_.accesses[put].port = channel;
  now_.message = none;
  read(source, {{put, 0, source.ref}});
  write(destination, {{put, 0, destination.ref}});
}

void RunRecorder::accesses(const Operand &operand, const JudgedAccess &access, bool writes) {
  if (control_.launch() == 0)
    noteScratch(operand, access.by.agent, writes);
  else if (writes && operand.scratch)
    noteWrite(operand, access.by.agent);
}

void RunRecorder::compare(CellId cell, const Epoch &first, bool firstWrites, const JudgedAccess &second,
                          bool secondWrites) {
  const bool readsPacket = !secondWrites && cell >= memory_.firstSlot();
  if (asksOf(second.by.agent))
    pair(first, needed(cell, firstWrites), second.by.agent, second.by.ref,
         firstWrites ? readsPacket : makesPackets(first));
}

/// True if the arrival of packets may show that `reader` has read (verify/packets.cpp).
bool RunRecorder::makesPackets(const Epoch &reader) const {
  if (!memory_.usesPackets() || reader.isUser() || geometry_.mostIterations() != 0)
    return false;
  const Access &access = record_.accesses[reader.agent];
  return ir::mayBePackets(ir::info(index_.ops(access.at.block).ops[access.op].kind).destinations);
}

/// Records that `first` has to come before `second`. Does nothing if this order holds without any sync.
void RunRecorder::pair(const Epoch &first, Relation relation, std::uint32_t second, std::uint32_t ref, bool excusable) {
  const Access &x = record_.accesses[first.agent], &y = record_.accesses[second];
  const bool users = x.op == none && y.op == none;
  const bool meet = index_.rankOf(x.at.block) == index_.rankOf(y.at.block) && x.launch != y.launch && x.port == none;
  const bool one = x.at.block == y.at.block && x.time == y.time;
  if (one || users || meet)
    return;
  if (x.at.block == y.at.block && x.launch == y.launch && x.port == none && y.port == none && x.op != none &&
      y.op != none) {
    const std::uint32_t b = y.at.block;
    if (elements_.sameThread(b, {x.op, first.ref}, {y.op, ref}, control_.at(b).header(), control_.slice(b)))
      return;
  }
  const Pair found{x.like, y.like, relation, excusable};
  if (record_.pairs.empty() || record_.pairs.back() != found)
    record_.pairs.push_back(found);
}

void RunRecorder::sendPacket(CellId cell, const JudgedAccess &access) {
  if (now_.message == none) {
    now_.message = static_cast<std::uint32_t>(record_.messages.size());
    const Access &from = record_.accesses[access.by.agent];
    Message m;
    m.from = from.at;
    m.time = from.time;
    m.thread = from.thread;
    m.begin = began_[index_.rankOf(data_.step().block)];
    m.kind = MessageKind::Packet;
    m.firstTaken = from.firstTaken;
    m.numTaken = from.numTaken;
    record_.messages.push_back(m);
  }
  data_.send(cell, now_.message);
}

void RunRecorder::noteScratch(const Operand &operand, std::uint32_t access, bool writes) {
  // The write of a packet and the read of a packet by a port are not recorded. Everything that comes after the packet's
  // reader also comes after them: see verify/scratch_history.h.
  if (sizesChange_ && operand.scratch && scope_.asksOfScratch(operand.rank) &&
      !(operand.packet && (writes || record_.accesses[access].port != none)))
    record_.scratch[operand.rank].uses.push_back(
        {record_.accesses[access].like, none, writes ? Relation::Visibility : Relation::HappensBefore, false});
}

void RunRecorder::noteEnd(std::uint32_t rank) {
  const std::uint32_t b = index_.block(rank, 0);
  ends_[rank] = {newAccess(b, none, true), newAccess(b, none, true)};
  Access &before = record_.accesses[ends_[rank].before];
  before.time = record_.begun[b][before.at.phase--] - 1;
}

void RunRecorder::noteWrite(const Operand &operand, std::uint32_t access) {
  if (!sizesChange_ || !(scope_.asksOf(index_.rankOf(data_.step().block)) || scope_.asksOf(operand.rank)) ||
      !written_.insert(std::uint64_t{data_.step().block} << 32 | operand.rank).second)
    return;
  record_.scratch[operand.rank].writes.push_back(
      {ends_[operand.rank].before, record_.accesses[access].like, Relation::HappensBefore, false});
  if (record_.accesses[access].numTaken != 0 || record_.accesses[access].thread != none)
    written_.erase(std::uint64_t{data_.step().block} << 32 | operand.rank); // the next write may have less knowledge
}

void RunRecorder::userOverwrites(std::uint32_t rank) {
  overwriteByUser(rank, {{newAccess(index_.block(rank, 0), none), 0, Epoch::userWrite}});
}

void RunRecorder::userReads(std::uint32_t rank) {
  readByUser(rank, {{newAccess(index_.block(rank, 0), none), 0, Epoch::userRead}});
}

namespace {
/// Returns a key by which pairs are sorted: the strongest relation comes first.
int weakness(const Pair &pair) {
  return -static_cast<int>(pair.relation);
}
} // namespace

/// For each two blocks, keeps only the pairs from which all other pairs follow. If access A is ordered before access B,
/// then all accesses of A's block up to A are ordered before all accesses of B's block from B on.
void RunRecorder::keepDecisive() {
  const auto &accesses = record_.accesses;
  const auto plain =
      [&](const Pair &p) { // the second access is ordered by its block alone, not by a thread or by packets
        const Access &y = accesses[p.second];
        return accesses[p.first].port == none && y.thread == none && y.numTaken == 0;
      };
  const auto place = [&](const Pair &p) {
    const Access &x = accesses[p.first], &y = accesses[p.second];
    return std::tuple(x.at.block, y.at.block, y.at.phase, !plain(p), ~x.at.phase, weakness(p), p.excusable);
  };
  std::ranges::sort(record_.pairs, {}, place);
  std::vector<Pair> kept;
  /// [Relation][excusable]: the kept pairs cover all phases of the first block before this one.
  std::array<std::array<std::uint32_t, 2>, 3> over{};
  Moment blocks{none, none};
  for (const Pair &p : record_.pairs) {
    const Access &x = accesses[p.first], &y = accesses[p.second];
    if (blocks.block != x.at.block || blocks.phase != y.at.block)
      over = {};
    blocks = {x.at.block, y.at.block};
    if (x.port == none && x.at.phase < over[static_cast<std::size_t>(p.relation)][p.excusable])
      continue;
    kept.push_back(p);
    for (std::size_t relation = 0; plain(p) && relation <= static_cast<std::size_t>(p.relation); ++relation)
      for (std::size_t excusable = p.excusable; excusable < 2; ++excusable)
        over[relation][excusable] = std::max(over[relation][excusable], x.at.phase + 1);
  }
  record_.pairs = std::move(kept);
}

/// Keeps two of a block's uses of scratch: the last one, and the last one that writes. All other uses come before
/// these.
void RunRecorder::keepLastUses(std::vector<Pair> &uses) const {
  const auto &accesses = record_.accesses;
  std::ranges::sort(uses, {}, [&](const Pair &use) {
    const Access &x = accesses[use.first];
    return std::tuple(x.at.block, x.port, ~x.at.phase, weakness(use), use);
  });
  std::vector<Pair> kept;
  for (const Pair &use : uses) {
    const Access &x = accesses[use.first];
    const auto decides = [&](const Pair &last) {
      return accesses[last.first].at.block == x.at.block && accesses[last.first].port == none &&
             last.relation >= use.relation;
    };
    const auto mayDecide = std::span(kept).last(std::min<std::size_t>(kept.size(), 2));
    if (x.port != none || std::ranges::none_of(mayDecide, decides))
      kept.push_back(use);
  }
  uses = std::move(kept);
}

void RunRecorder::finish() {
  ir::sortUnique(record_.pairs);
  keepDecisive();
  for (std::uint32_t r = 0; r < record_.scratch.size(); ++r) {
    for (Pair &use : record_.scratch[r].uses)
      use.second = ends_[r].after;
    ir::sortUnique(record_.scratch[r].uses);
    keepLastUses(record_.scratch[r].uses);
    ir::sortUnique(record_.scratch[r].writes);
  }
}

} // namespace mscclc::passes::prune
