#include "passes/verify/report.h"

#include "passes/phases.h"
#include "passes/verify/deadlock.h"

#include "ir/chunk_cells.h"
#include "ir/collectives.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {
std::string block(const ProgramIndex &index, std::uint32_t b) {
  return "rank " + std::to_string(index.rankOf(b)) + ", block " + std::to_string(index.idOf(b));
}
/// Returns "ranks 1, 2 and 5, block 0". All of `blocks` must have the same number.
std::string ranksOf(const ProgramIndex &index, const std::vector<std::uint32_t> &blocks) {
  std::vector<std::uint32_t> ranks;
  for (const std::uint32_t b : blocks)
    ranks.push_back(index.rankOf(b));
  return ir::describeRanks(ranks) + ", block " + std::to_string(index.idOf(blocks[0]));
}
} // namespace

std::string Reporter::accessWords(const Epoch &record, std::uint32_t op, bool writes) const {
  const std::string name = op == none ? "user" : word(order_.blockOf(record), op);
  return std::string(writes ? "write" : "read") + " ('" + name + "')";
}

ir::OpRef Reporter::place(const Epoch &record, std::uint32_t op) const {
  return op == none ? Findings::nowhere : index_.place(order_.blockOf(record), op);
}

/// True if two accesses have no order, and the first one reads what nobody has written in this launch. Then the write
/// should have been first.
bool Reporter::readsTooEarly(const Conflict &c, std::uint32_t launch) const {
  if (c.control || c.firstWrites || c.first.isUser() || c.second.isUser() || c.first.isPut() ||
      order_.blockOf(c.first) == order_.blockOf(c.second))
    return false;
  const Epoch &before = memory_[c.cell].write;
  if (before.isUser()) // the user leaves values to be read only in inputs
    return memory_[c.cell].value == Values::unwritten;
  return !before.exists() || order_.launchOf(order_.blockOf(before), before.phase) != launch;
}

void Reporter::conflict(const Conflict &seen) {
  Conflict c = seen;
  const auto launch = [&](const Epoch &r, std::uint32_t block) {
    return order_.launchOf(block, r.phase + (r.ref == Epoch::userWrite));
  };
  std::uint32_t a = order_.blockOf(c.first), b = order_.blockOf(c.second);
  Story story{0, c, launch(c.first, a), launch(c.second, b)};
  const bool nextLaunch = story.firstLaunch != story.secondLaunch;
  const bool early = !nextLaunch && readsTooEarly(c, story.firstLaunch);
  if (early) {
    std::swap(c.first, c.second);
    std::swap(c.firstOp, c.secondOp);
    std::swap(c.firstWrites, c.secondWrites);
    std::swap(a, b);
    story.conflict = c;
  }
  const ir::OpRef first = place(c.first, c.firstOp), second = place(c.second, c.secondOp);
  const std::string cell = memory_.describe(c.cell);

  Findings::Finding *f = nullptr;
  if (c.first.isUser() && c.second.isUser())
    return;
  if (c.second.isUser()) {
    const std::uint32_t owner = index_.rankOf(b);
    if (c.control && c.firstWrites && c.second.ref == Epoch::userRead) {
      findings_.report(diag::relaxed_carries_data, first, {owner, cell});
      return;
    }
    if (c.firstWrites) {
      if ((f = findings_.add(diag::output_not_final, first)))
        f->args = {owner, cell, index_.rankOf(a), index_.idOf(a)};
    } else if ((f = findings_.add(diag::input_still_read, first))) {
      f->args = {cell, owner, index_.rankOf(a), index_.idOf(a)};
    }
  } else if (c.first.isUser() && c.cell >= memory_.firstSlot()) {
    if ((f = findings_.add(diag::packet_not_cleared, second)))
      f->args = {index_.rankOf(b), index_.idOf(b), cell, index_.rankOf(a)};
  } else if (c.first.isUser()) {
    if ((f = findings_.add(diag::touched_too_early, second)))
      f->args = {index_.rankOf(b), index_.idOf(b), c.secondWrites ? "write" : "read", cell, index_.rankOf(a)};
  } else if (a == b && first == second && !nextLaunch && c.first.phase == c.second.phase && !c.first.isPut()) {
    findings_.report(diag::race_in_operation, first,
                     {cell, c.firstWrites ? "write" : "read", c.secondWrites ? "write" : "read"});
    return;
  } else if ((f = findings_.add(nextLaunch ? diag::relaunch_race : diag::race, second, first))) {
    f->args = {cell,           accessWords(c.first, c.firstOp, c.firstWrites),    index_.rankOf(a),
               index_.idOf(a), accessWords(c.second, c.secondOp, c.secondWrites), index_.rankOf(b),
               index_.idOf(b)};
    f->notes.push_back({&diag::other_access,
                        findings_.where(first),
                        {accessWords(c.first, c.firstOp, c.firstWrites), index_.rankOf(a), index_.idOf(a)}});
  }
  if (!f)
    return;
  const std::string words = early ? noSync(a, b, isOfSource(c)) : missing(c, a, b, nextLaunch);
  f->notes.push_back({&diag::missing_order, f->where, {words + wrapWords(c)}});
  story.finding = static_cast<std::size_t>(f - findings_.all().data());
  stories_.push_back(story);
}

std::string Reporter::word(std::uint32_t block, std::uint32_t op) const {
  return std::string(ir::wordOf(index_.program, index_.ops(block).ops[op]));
}

/// True if the accesses were written in the language. Then advice uses the terms of the language.
bool Reporter::isOfSource(const Conflict &c) const {
  const bool isFirst = c.second.isUser();
  return ir::isOfSource(index_.program,
                        index_.ops(order_.blockOf(isFirst ? c.first : c.second)).ops[isFirst ? c.firstOp : c.secondOp]);
}

std::string Reporter::missing(const Conflict &c, std::uint32_t a, std::uint32_t b, bool nextLaunch) const {
  const std::string rb = std::to_string(index_.rankOf(b));
  const Relation relation = c.firstWrites                   ? Relation::Visibility
                            : c.cell >= memory_.firstSlot() ? Relation::HappensBefore
                                                            : Relation::Released;
  const bool ofSource = isOfSource(c);
  if (c.first.isPut() && !c.firstWrites)
    return std::string("the port may still read its source: a flush of the channel after the put (or ") +
           (ofSource ? "putWithSignalAndFlush and a barrier" : "pwsf") + ")" + (ofSource ? "" : " and a nop") +
           " would order them";
  if (c.first.isPut() && a == b)
    return "the put is complete only once rank " + std::to_string(memory_.locate(c.cell).rank) +
           " has waited for a later signal on the same channel, and has signalled back";
  if (c.control && !c.firstWrites)
    return "only a packet orders them, which keeps no earlier read before a write: a signal and a wait would";
  if (c.control && !c.first.isUser())
    return "only a relaxed signal (or a packet) orders them, which makes no data visible: a signal and a wait that are "
           "not relaxed would";
  if (!c.second.isUser() && a != b && order_.before(c.first, c.firstWrites, order_.nextView(b), relation)) {
    const std::uint32_t wait = waitInPhase(b, c.secondOp);
    const std::string what = wait == none ? "operation that it waits by" : word(b, wait);
    return "the " + what + " is in the same phase as the access after it: " +
           (ofSource && wait != none ? "Sync::After of the " + what
            : ofSource               ? "a barrier of this block alone between them"
                                     : "a nop between them") +
           " would order them";
  }
  if (a == b && !nextLaunch)
    return std::string("threads of a block do not wait for each other: a ") +
           (ofSource ? "barrier of this block alone" : "nop") + " between the two operations" +
           (ofSource && !index_.program.autoSync ? ", or autoSync," : "") + " would order them";
  if (!c.first.isUser() && !c.first.isPut() && a != b && c.first.phase != 0 &&
      order_.launchOf(a, c.first.phase - 1) == order_.launchOf(a, c.first.phase) &&
      order_.known(a, c.first.phase - 1, c.view, relation))
    if (const std::uint32_t signal = signalInPhase(a, c.firstOp); signal != none) {
      const bool takesSync = !ir::putsAndSignals(index_.ops(a).ops[signal].kind);
      return "a " + word(a, signal) + " follows the " + (c.firstWrites ? "write" : "read") + " in the same phase: " +
             (ofSource && takesSync ? "Sync::Before of the " + word(a, signal)
              : ofSource            ? "a barrier of this block alone between them"
                                    : "a nop between them") +
             " would order them";
    }
  if (c.second.isUser())
    return "a signal to rank " + rb +
           " after the access, and a wait for it (or a barrier with the block that waits) "
           "before rank " +
           rb + " ends, would order them";
  if (c.first.isUser() || nextLaunch)
    return launchSync(c, index_.rankOf(a), index_.rankOf(b), ofSource);
  return noSync(a, b, ofSource);
}

/// Describes a signal that would show rank `to` that rank `from` has ended the launch before this one. Ports have no
/// relaxed signals.
std::string Reporter::startSignal(std::uint32_t from, std::uint32_t to, bool ofSource) const {
  const auto leads = [&](ir::ChannelType type) {
    return std::ranges::count(index_.program.ranks[from].peers(type), to) != 0;
  };
  const bool portOnly = leads(ir::ChannelType::Port) && !leads(ir::ChannelType::Memory);
  return std::string(portOnly ? "a signal" : "a relaxed signal") + " from rank " + std::to_string(from) +
         " at its start and a wait for it (" + (ofSource ? "Sync::After" : "with a nop after it") + ")";
}

std::string Reporter::launchSync(const Conflict &c, std::uint32_t from, std::uint32_t to, bool ofSource) const {
  const bool mayDouble = memory_.locate(c.cell).buffer == ir::BufferKind::Scratch && !index_.program.doubleScratch;
  return (c.control ? "only a packet tells rank " : "no sync of this launch tells rank ") + std::to_string(to) +
         " that rank " + std::to_string(from) + " has ended the one before" +
         (c.control ? ", which orders no plain access: " : ": ") + startSignal(from, to, ofSource) + " would" +
         (!mayDouble ? ""
          : ofSource ? ", or scratch in two halves (ProgramOptions::doubleScratch)"
                     : ", or scratch in two halves (double_scratch)");
}

std::string Reporter::noSync(std::uint32_t a, std::uint32_t b, bool ofSource) const {
  if (index_.rankOf(a) == index_.rankOf(b))
    return "no sync orders the two blocks: a barrier of blocks " + std::to_string(index_.idOf(a)) + " and " +
           std::to_string(index_.idOf(b)) +
           ", or a semaphore released after the first and acquired before the second, would";
  return "no sync orders them: a signal from rank " + std::to_string(index_.rankOf(a)) + " after the first (" +
         (ofSource ? "Sync::Before" : "a nop between") + ") and a wait for it on rank " +
         std::to_string(index_.rankOf(b)) + " (" + (ofSource ? "Sync::After" : "a nop after it") +
         ") before the second would";
}

/// Returns an operation before `op` that waits for another block, without a nop between them; `none` if there is none.
std::uint32_t Reporter::waitInPhase(std::uint32_t b, std::uint32_t op) const {
  const auto &ops = index_.ops(b).ops;
  for (std::uint32_t o = op; o-- != 0 && !endsPhase(ops[o]);) {
    if (ir::isWait(ops[o].kind) || ops[o].kind == ir::OpKind::SemAcquire)
      return o;
    if (beginsPhase(ops[o]))
      break;
  }
  return none;
}

/// Returns a signal or release after `op`, without a nop between them; `none` if there is none.
std::uint32_t Reporter::signalInPhase(std::uint32_t b, std::uint32_t op) const {
  const auto &ops = index_.ops(b).ops;
  for (std::uint32_t o = op + 1; o < ops.size() && !beginsPhase(ops[o]); ++o) {
    if (ir::isSignal(ops[o].kind) || ir::putsAndSignals(ops[o].kind) || ops[o].kind == ir::OpKind::SemRelease)
      return o;
    if (endsPhase(ops[o]))
      return none;
  }
  return none;
}

std::string Reporter::wrapWords(const Conflict &c) const {
  const CellPlace at = memory_.locate(c.cell);
  if (!geometry_.wraps() || at.buffer != ir::BufferKind::Scratch)
    return "";
  const ir::Rank &rank = index_.program.ranks[at.rank];
  const std::uint64_t bytes = reusedScratchChunkBytes(index_.program, rank);
  return "; iterations share scratch slots where a chunk is larger than " + std::to_string(bytes) +
         " bytes: if that is the cause, limiting messages to " + std::to_string(bytes * ir::chunksOfScale(rank)) +
         " bytes would do too";
}

void Reporter::packetNotThere(CellId cell, ir::OpRef op) {
  findings_.report(diag::packet_not_there, op, {memory_.describe(cell)});
}

void Reporter::appliedTwice(std::uint32_t rank, std::uint64_t unit, ir::OpRef first, ir::OpRef second) {
  auto *f = findings_.add(diag::applied_twice, second, first);
  if (!f)
    return;
  const ir::Op &op = ir::opAt(index_.program, second);
  f->args = {index_.program.hooks[op.imm].name,
             ir::describe(ir::RankChunk{rank, ir::BufferKind::Output,
                                        static_cast<std::uint32_t>(unit / geometry_.unitsPerChunk()), 1})};
  f->notes.push_back({&diag::applied_here, findings_.where(first), {}});
}

void Reporter::slotWrittenTwice(CellId cell, const Epoch &first, const Epoch &second) {
  const std::uint32_t a = order_.blockOf(first);
  const std::uint32_t firstOp = run_->opOf(first), secondOp = run_->opOf(second);
  auto *f = findings_.add(diag::slot_written_twice, place(second, secondOp), place(first, firstOp));
  if (!f)
    return;
  f->args = {memory_.describe(cell)};
  f->notes.push_back({&diag::other_access,
                      findings_.where(place(first, firstOp)),
                      {accessWords(first, firstOp, true), index_.rankOf(a), index_.idOf(a)}});
}

void Reporter::inputStillSent(CellId cell, const Epoch &put) {
  findings_.report(diag::input_still_sent, place(put, run_->opOf(put)),
                   {index_.rankOf(order_.blockOf(put)), memory_.describe(cell)});
}

void Reporter::narrowedEarly(ir::OpRef narrows, ir::OpRef adds) {
  auto *f = findings_.add(diag::narrowed_early, narrows, adds);
  if (!f)
    return;
  const bool isWide = index_.program.movement.accumulate == ir::Accumulate::Wide;
  f->args = {narrows.rank, isWide ? "put it into scratch, which is wide"
                                  : "only a kernel keeps it in f32 (--emit-cuda), and an executor does not"};
  f->notes.push_back({&diag::added_here, findings_.where(adds), {adds.rank}});
}

void Reporter::sizeChanged(std::uint32_t rank, const Epoch &first, bool firstWrites, const Epoch &second) {
  const std::uint32_t a = order_.blockOf(first), b = order_.blockOf(second);
  const ir::OpRef at = place(second, run_->opOf(second)), other = place(first, run_->opOf(first));
  auto *f = findings_.add(diag::size_change_race, at, other);
  if (!f)
    return;
  f->args = {rank, index_.rankOf(b), index_.idOf(b), firstWrites ? "write" : "read", index_.rankOf(a), index_.idOf(a)};
  f->notes.push_back({&diag::other_access,
                      findings_.where(other),
                      {accessWords(first, run_->opOf(first), firstWrites), index_.rankOf(a), index_.idOf(a)}});
  if (index_.rankOf(a) == index_.rankOf(b)) {
    f->notes.push_back(
        {&diag::missing_order,
         f->where,
         {"the rank does not know that its own port is done with it: a flush of the channel before the launch "
          "ends would let it know; so would one message size for all launches (then --allow=size-change)"}});
    return;
  }
  const bool ofSource = ir::isOfSource(index_.program, index_.ops(b).ops[run_->opOf(second)]);
  f->notes.push_back(
      {&diag::size_change_advice,
       f->where,
       {startSignal(index_.rankOf(a), index_.rankOf(b), ofSource) + " on rank " + std::to_string(index_.rankOf(b))}});
}

void Reporter::waitsNotOrdered(std::uint32_t channel, ir::OpRef first, ir::OpRef second) {
  if (second < first)
    std::swap(first, second);
  if (auto *f = findings_.add(diag::waits_not_ordered, second, first)) {
    f->args = {index_.describeChannel(channel), first.block, second.block};
    f->notes.push_back({&diag::waited_here, findings_.where(first), {}});
  }
}

void Reporter::addSchedules(std::uint32_t launches) {
  if (stories_.empty())
    return;
  ScheduleSearch search(index_, geometry_, memory_, order_);
  if (!search.run(launches))
    return;
  constexpr std::size_t mostStories = 8;
  for (std::size_t n = 0; n < std::min(stories_.size(), mostStories); ++n) {
    const Conflict &c = stories_[n].conflict;
    const Schedule schedule = search.find(c, stories_[n].firstLaunch, stories_[n].secondLaunch);
    Notes notes{findings_.all()[stories_[n].finding].notes};
    tell(schedule.beforeSecond, notes);
    tellAccess(c, c.second, c.secondOp, c.secondWrites, false, notes);
    tell(schedule.beforeFirst, notes);
    tellAccess(c, c.first, c.firstOp, c.firstWrites, true, notes);
  }
}

void Reporter::Notes::say(const std::string &words, ir::Where where) {
  all.push_back({&diag::schedule_step, std::move(where), {++number, words}});
}

void Reporter::tell(const std::vector<Turn> &turns, Notes &notes) const {
  constexpr std::size_t mostTurns = 8;
  const std::size_t from = turns.size() > mostTurns ? turns.size() - mostTurns : 0;
  if (from != 0)
    notes.all.push_back({&diag::schedule_more, ir::Where{}, {ir::plural(from, "step")}});
  for (std::size_t i = from; i < turns.size(); ++i) {
    const Turn &turn = turns[i];
    const std::uint32_t first = turn.blocks[0];
    const std::string op = std::to_string(turn.op) + " ('" + word(first, turn.op) + "')" +
                           (turn.times == 1 ? "" : ", " + std::to_string(turn.times) + " times over");
    const std::string again = turn.launch == 0 ? "" : turn.launch == 1 ? ", launched again," : ", launched once more,";
    const bool one = turn.blocks.size() == 1;
    notes.say((one ? block(index_, first) : ranksOf(index_, turn.blocks)) + again + (one ? " runs" : " run") +
                  " up to " + (one ? "its" : "their") + " operation " + op,
              findings_.where(index_.place(first, turn.op)));
  }
}

void Reporter::tellAccess(const Conflict &c, const Epoch &epoch, std::uint32_t op, bool writes, bool late,
                          Notes &notes) const {
  const std::uint32_t by = order_.blockOf(epoch), rank = index_.rankOf(by);
  const std::string cell = memory_.describe(c.cell), end = late ? " only now" : "";
  if (epoch.isUser())
    notes.say("rank " + std::to_string(rank) +
                  (epoch.ref == Epoch::userRead ? " has ended its launch; its user reads "
                                                : " begins; its user has written ") +
                  cell + end,
              findings_.rankWhere(rank));
  else
    notes.say(block(index_, by) + " " + (writes ? "writes" : "reads") + " " + cell + " ('" + word(by, op) + "')" + end,
              findings_.where(index_.place(by, op)));
}

std::string Reporter::waitWords(const Waiting &w) const {
  switch (w.kind) {
  case Waiting::Channel:
    return "a signal from " + index_.describeChannel(index_.pairOf(w.id));
  case Waiting::Semaphore:
    return index_.describeSemaphore(w.id);
  case Waiting::Barrier:
    return "the other blocks at its barrier";
  case Waiting::Packet:
    return memory_.describe(w.id);
  case Waiting::Nothing:
    break;
  }
  return "nothing";
}

void Reporter::deadlock() {
  constexpr std::size_t mostTold = 8;
  const Control &control = run_->control();
  for (const Stuck &stuck : DeadlockSearch(index_, geometry_, memory_, control).find()) {
    const std::uint32_t b = stuck.blocks[0];
    const auto at = [&](std::uint32_t waiting) { return index_.place(waiting, control.at(waiting).op()); };
    const bool circle = !stuck.sources.empty();
    auto *f = findings_.add(circle ? diag::deadlock : diag::waits_for_ever, at(b));
    if (!f)
      continue;
    f->args = {index_.rankOf(b), index_.idOf(b), waitWords(control.waiting(b))};
    if (circle)
      f->args.push_back(ir::plural(stuck.blocks.size(), "block"));
    for (std::size_t i = 0; i < std::min(stuck.sources.size(), mostTold); ++i) {
      const std::uint32_t waiting = stuck.blocks[i];
      const Source &source = stuck.sources[i];
      f->notes.push_back({&diag::waits_here,
                          findings_.where(at(waiting)),
                          {index_.rankOf(waiting), index_.idOf(waiting), waitWords(control.waiting(waiting))}});
      f->notes.push_back({&diag::comes_here,
                          findings_.where(index_.place(source.block, source.op)),
                          {index_.rankOf(source.block), index_.idOf(source.block)}});
    }
  }
}

} // namespace mscclc::passes::proof
