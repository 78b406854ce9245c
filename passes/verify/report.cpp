#include "passes/verify/report.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {
std::string block(const ProgramIndex &index, std::uint32_t b) {
  return "rank " + std::to_string(index.rankOf(b)) + ", block " + std::to_string(index.idOf(b));
}
/// "ranks 1, 2 and 5, block 0", or "ranks 1 to 7, block 0", of blocks of one number.
std::string ranksOf(const ProgramIndex &index, const std::vector<std::uint32_t> &blocks) {
  const auto rank = [&](std::size_t i) { return index.rankOf(blocks[i]); };
  const std::size_t last = blocks.size() - 1;
  std::string text = "ranks " + std::to_string(rank(0));
  if (last >= 2 && rank(last) - rank(0) == last) {
    text += " to " + std::to_string(rank(last));
  } else if (last <= 5) {
    for (std::size_t i = 1; i < last; ++i)
      text += ", " + std::to_string(rank(i));
    text += " and " + std::to_string(rank(last));
  } else {
    text += " and " + ir::plural(last, "further rank") + " up to " + std::to_string(rank(last));
  }
  return text + ", block " + std::to_string(index.idOf(blocks[0]));
}
} // namespace

std::string Reporter::accessWords(const Epoch &record, std::uint32_t op, bool writes) const {
  const std::string name = op == none ? "user" : word(order_.blockOf(record), op);
  return std::string(writes ? "write" : "read") + " ('" + name + "')";
}

ir::OpRef Reporter::place(const Epoch &record, std::uint32_t op) const {
  return op == none ? Findings::nowhere : index_.place(order_.blockOf(record), op);
}

/// True if the read came first in the machine, but reads what nobody has written in this launch: then the write is the
/// one that should have been first.
bool Reporter::readsTooEarly(const Conflict &c, std::uint32_t launch) const {
  if (c.firstWrites || c.first.isUser() || c.second.isUser() || c.first.isPut() ||
      order_.blockOf(c.first) == order_.blockOf(c.second))
    return false;
  const Epoch &before = memory_[c.cell].write;
  if (before.isUser()) // an output as it was before the launch says nothing
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
      if (auto *w = findings_.add(diag::relaxed_carries_data, first))
        w->args = {owner, cell};
      return;
    }
    if (c.firstWrites) {
      if ((f = findings_.add(diag::output_not_final, first)))
        f->args = {owner, cell, index_.rankOf(a), index_.idOf(a)};
    } else if ((f = findings_.add(diag::input_still_read, first))) {
      f->args = {cell, owner, index_.rankOf(a), index_.idOf(a)};
    }
  } else if (c.first.isUser()) {
    if ((f = findings_.add(diag::touched_too_early, second)))
      f->args = {index_.rankOf(b), index_.idOf(b), c.secondWrites ? "write" : "read", cell, index_.rankOf(a)};
  } else if (a == b && first == second && !nextLaunch && c.first.phase == c.second.phase && !c.first.isPut()) {
    if ((f = findings_.add(diag::race_in_operation, first)))
      f->args = {cell, c.firstWrites ? "write" : "read", c.secondWrites ? "write" : "read"};
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

/// True if the accesses were written in the language: advice is in its terms then.
bool Reporter::isOfSource(const Conflict &c) const {
  const bool isFirst = c.second.isUser();
  return ir::isOfSource(index_.program,
                        index_.ops(order_.blockOf(isFirst ? c.first : c.second)).ops[isFirst ? c.firstOp : c.secondOp]);
}

std::string Reporter::missing(const Conflict &c, std::uint32_t a, std::uint32_t b, bool nextLaunch) const {
  const std::string rb = std::to_string(index_.rankOf(b));
  const Relation relation = c.firstWrites ? Relation::Visibility : Relation::HappensBefore;
  const bool ofSource = isOfSource(c);
  if (c.first.isPut() && !c.firstWrites)
    return std::string("the port may still read its source: a flush of the channel behind the put (or ") +
           (ofSource ? "putWithSignalAndFlush and a barrier" : "pwsf") + ")" + (ofSource ? "" : " and a nop") +
           " would order them";
  if (c.first.isPut() && a == b)
    return "the put is complete only once rank " + std::to_string(memory_.locate(c.cell).rank) +
           " has waited for a later signal on the same channel, and told so";
  if (c.control && !c.first.isUser())
    return "only a relaxed signal (or a packet) orders them, which makes no data visible: a signal and a wait that are "
           "not relaxed would";
  if (!c.second.isUser() && a != b && order_.before(c.first, c.firstWrites, order_.nextView(b), relation)) {
    const std::uint32_t wait = waitInPhase(b, c.secondOp);
    const std::string what = wait == none ? "operation that it waits by" : word(b, wait);
    return "the " + what + " is in the same phase as the access behind it: " +
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
           " behind the access, and a wait for it (or a barrier with the block that waits) "
           "before rank " +
           rb + " ends, would order them";
  if (c.first.isUser() || nextLaunch)
    return launchSync(c, index_.rankOf(a), index_.rankOf(b), ofSource);
  return noSync(a, b, ofSource);
}

/// What would tell rank `to` that rank `from` has ended the launch before. Ports have no relaxed signals.
std::string Reporter::startSignal(std::uint32_t from, std::uint32_t to, bool ofSource) const {
  const auto leads = [&](ir::ChannelType type) {
    return std::ranges::count(index_.program.ranks[from].peers(type), to) != 0;
  };
  const bool portOnly = leads(ir::ChannelType::Port) && !leads(ir::ChannelType::Memory);
  return std::string(portOnly ? "a signal" : "a relaxed signal") + " from rank " + std::to_string(from) +
         " at its start and a wait for it (" + (ofSource ? "Sync::After" : "with a nop behind") + ")";
}

std::string Reporter::launchSync(const Conflict &c, std::uint32_t from, std::uint32_t to, bool ofSource) const {
  const bool mayDouble = memory_.locate(c.cell).buffer == ir::BufferKind::Scratch && !index_.program.doubleScratch;
  return "no sync of this launch tells rank " + std::to_string(to) + " that rank " + std::to_string(from) +
         " has ended the one before: " + startSignal(from, to, ofSource) + " would" +
         (!mayDouble ? ""
          : ofSource ? ", or scratch in two halves (ProgramOptions::doubleScratch)"
                     : ", or scratch in two halves (double_scratch)");
}

std::string Reporter::noSync(std::uint32_t a, std::uint32_t b, bool ofSource) const {
  if (index_.rankOf(a) == index_.rankOf(b))
    return "no sync orders the two blocks: a barrier of blocks " + std::to_string(index_.idOf(a)) + " and " +
           std::to_string(index_.idOf(b)) +
           ", or a semaphore released behind the first and acquired before the second, would";
  return "no sync orders them: a signal from rank " + std::to_string(index_.rankOf(a)) + " behind the first (" +
         (ofSource ? "Sync::Before" : "a nop between") + ") and a wait for it on rank " +
         std::to_string(index_.rankOf(b)) + " (" + (ofSource ? "Sync::After" : "a nop behind it") +
         ") before the second would";
}

/// The operation before `op`, with no nop between, that waits for another block; or none.
std::uint32_t Reporter::waitInPhase(std::uint32_t b, std::uint32_t op) const {
  const auto &ops = index_.ops(b).ops;
  for (std::uint32_t o = op; o-- != 0 && !ir::isBlockSync(ops[o].kind) && !ir::has(ops[o].sync, ir::DataSync::After);) {
    if (ir::isWait(ops[o].kind) || ops[o].kind == ir::OpKind::SemAcquire)
      return o;
    if (ir::has(ops[o].sync, ir::DataSync::Before))
      break;
  }
  return none;
}

/// The signal or release behind operation `op` with no nop between; or none.
std::uint32_t Reporter::signalInPhase(std::uint32_t b, std::uint32_t op) const {
  const auto &ops = index_.ops(b).ops;
  for (std::uint32_t o = op + 1; o < ops.size() && !ir::isBlockSync(ops[o].kind); ++o) {
    if (ir::has(ops[o].sync, ir::DataSync::Before))
      return none;
    if (ir::isSignal(ops[o].kind) || ir::putsAndSignals(ops[o].kind) || ops[o].kind == ir::OpKind::SemRelease)
      return o;
    if (ir::has(ops[o].sync, ir::DataSync::After))
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
         " bytes: if that is the cause, limiting messages to " +
         std::to_string(bytes * (rank.inputChunks != 0 ? rank.inputChunks : rank.outputChunks)) + " bytes would do too";
}

void Reporter::packetNotThere(CellId cell, ir::OpRef op) {
  if (auto *f = findings_.add(diag::packet_not_there, op))
    f->args = {memory_.describe(cell)};
}

void Reporter::slotWrittenTwice(CellId cell, const Epoch &first, const Epoch &second) {
  const std::uint32_t a = order_.blockOf(first);
  const std::uint32_t firstOp = machine_->opOf(first), secondOp = machine_->opOf(second);
  auto *f = findings_.add(diag::slot_written_twice, place(second, secondOp), place(first, firstOp));
  if (!f)
    return;
  f->args = {memory_.describe(cell)};
  f->notes.push_back({&diag::other_access,
                      findings_.where(place(first, firstOp)),
                      {accessWords(first, firstOp, true), index_.rankOf(a), index_.idOf(a)}});
}

void Reporter::inputStillSent(CellId cell, const Epoch &put) {
  if (auto *f = findings_.add(diag::input_still_sent, place(put, machine_->opOf(put))))
    f->args = {index_.rankOf(order_.blockOf(put)), memory_.describe(cell)};
}

void Reporter::sizeChanged(std::uint32_t rank, const Epoch &first, bool firstWrites, const Epoch &second) {
  const std::uint32_t a = order_.blockOf(first), b = order_.blockOf(second);
  const ir::OpRef at = place(second, machine_->opOf(second)), other = place(first, machine_->opOf(first));
  auto *f = findings_.add(diag::size_change_race, at, other);
  if (!f)
    return;
  f->args = {rank, index_.rankOf(b), index_.idOf(b), firstWrites ? "write" : "read", index_.rankOf(a), index_.idOf(a)};
  f->notes.push_back({&diag::other_access,
                      findings_.where(other),
                      {accessWords(first, machine_->opOf(first), firstWrites), index_.rankOf(a), index_.idOf(a)}});
  if (index_.rankOf(a) == index_.rankOf(b)) {
    f->notes.push_back(
        {&diag::missing_order,
         f->where,
         {"the rank does not know that its own port is done with it: a flush of the channel before the launch "
          "ends would tell; so would one message size for all launches do (then --allow=size-change)"}});
    return;
  }
  const bool ofSource = ir::isOfSource(index_.program, index_.ops(b).ops[machine_->opOf(second)]);
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
  Replay replay(index_, geometry_, memory_);
  if (!replay.run(launches))
    return;
  constexpr std::size_t mostStories = 8, mostSteps = 8;
  for (std::size_t n = 0; n < std::min(stories_.size(), mostStories); ++n) {
    const Story &story = stories_[n];
    const Conflict &c = story.conflict;
    auto &notes = findings_.all()[story.finding].notes;
    const std::uint32_t a = order_.blockOf(c.first), b = order_.blockOf(c.second);
    std::vector<std::uint32_t> done(index_.numBlocks(), 0), wanted(index_.numBlocks(), 0);
    std::uint32_t number = 0;
    const auto say = [&](const std::string &words, ir::Where where) {
      notes.push_back({&diag::schedule_step, std::move(where), {++number, words}});
    };
    // Ranks that do the same one after the other are told together.
    const auto tell = [&](const std::vector<Replay::Step> &steps) {
      struct Line {
        std::vector<std::uint32_t> blocks;
        std::uint32_t op, launch, times;
        bool sameAs(const Line &other) const {
          return blocks == other.blocks && op == other.op && launch == other.launch;
        }
      };
      std::vector<Line> lines;
      for (const Replay::Step &s : steps) {
        const std::uint32_t op = replay.opOf(s.block, s.to - 1), launch = replay.launchOf(s.block, s.to - 1);
        if (!lines.empty() && lines.back().op == op && lines.back().launch == launch &&
            index_.idOf(lines.back().blocks[0]) == index_.idOf(s.block) &&
            index_.rankOf(lines.back().blocks.back()) < index_.rankOf(s.block))
          lines.back().blocks.push_back(s.block);
        else
          lines.push_back({{s.block}, op, launch, 1});
      }
      std::size_t kept = 0; // a loop goes on the same way for long
      for (std::size_t i = 0; i < lines.size(); ++i)
        if (kept != 0 && lines[kept - 1].sameAs(lines[i]))
          ++lines[kept - 1].times;
        else
          std::swap(lines[kept++], lines[i]);
      lines.resize(kept);
      const std::size_t from = lines.size() > mostSteps ? lines.size() - mostSteps : 0;
      if (from != 0)
        notes.push_back({&diag::schedule_more, ir::Where{}, {ir::plural(from, "step")}});
      for (std::size_t i = from; i < lines.size(); ++i) {
        const std::uint32_t first = lines[i].blocks[0];
        const std::string op = std::to_string(lines[i].op) + " ('" + word(first, lines[i].op) + "')" +
                               (lines[i].times == 1 ? "" : ", " + std::to_string(lines[i].times) + " times over");
        const std::string again = lines[i].launch == 0   ? ""
                                  : lines[i].launch == 1 ? ", launched again,"
                                                         : ", launched once more,";
        const bool one = lines[i].blocks.size() == 1;
        say((one ? block(index_, first) : ranksOf(index_, lines[i].blocks)) + again + (one ? " runs" : " run") +
                " up to " + (one ? "its" : "their") + " operation " + op,
            findings_.where(index_.place(first, lines[i].op)));
      }
    };
    // Everything the second access needs, and no more: so the first has not happened unless it is in flight.
    const auto reach = [&](const Epoch &record, std::uint32_t op, std::uint32_t blockOf, std::uint32_t launch) {
      if (!record.isUser()) {
        std::uint32_t count = replay.find(blockOf, record.phase, op, launch);
        if (a == b && c.first.phase == c.second.phase && !c.first.isUser()) // threads of one block, one ahead
          count = std::min(count, replay.find(a, c.first.phase, c.firstOp, launch));
        replay.need(blockOf, count, wanted);
      } else if (record.ref == Epoch::userRead || launch != 0) {
        const std::uint32_t rank = index_.rankOf(blockOf), of = record.ref == Epoch::userRead ? launch : launch - 1;
        for (std::uint32_t other = index_.block(rank, 0); other < index_.block(rank + 1, 0); ++other)
          replay.need(other, replay.endOfLaunch(other, of), wanted);
      }
      tell(replay.schedule(done, wanted));
    };
    const auto happen = [&](const Epoch &record, std::uint32_t op, std::uint32_t blockOf, bool writes, bool late) {
      const std::string verb = writes ? "writes" : "reads";
      if (record.isUser())
        say("rank " + std::to_string(index_.rankOf(blockOf)) +
                (record.ref == Epoch::userRead ? " has ended its launch; its user reads "
                                               : " begins; its user has written ") +
                memory_.describe(c.cell) + (late ? " only now" : ""),
            findings_.rankWhere(index_.rankOf(blockOf)));
      else
        say(block(index_, blockOf) + " " + verb + " " + memory_.describe(c.cell) + " ('" + word(blockOf, op) + "')" +
                (late ? " only now" : ""),
            findings_.where(index_.place(blockOf, op)));
    };
    reach(c.second, c.secondOp, b, story.secondLaunch);
    happen(c.second, c.secondOp, b, c.secondWrites, false);
    const bool inFlight =
        !c.first.isUser() && a != b && done[a] > replay.find(a, c.first.phase, c.firstOp, story.firstLaunch);
    if (!inFlight && a != b)
      reach(c.first, c.firstOp, a, story.firstLaunch);
    happen(c.first, c.firstOp, a, c.firstWrites, true);
  }
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
  default:
    return "nothing";
  }
}

void Reporter::deadlock() {
  // Who could still bring what somebody waits for: the operations that unfinished blocks have before them.
  struct Source {
    std::uint32_t block = none, op = 0;
  };
  std::unordered_map<std::uint64_t, Source> sources;
  std::unordered_map<CellId, Source> writers;
  const auto key = [](Waiting::Kind kind, std::uint32_t id) { return std::uint64_t{kind} << 32 | id; };
  const std::uint32_t numBlocks = index_.numBlocks();
  for (std::uint32_t b = 0; b < numBlocks; ++b)
    if (!machine_->finished(b) && machine_->waiting(b).kind == Waiting::Packet)
      writers[machine_->waiting(b).id];
  for (std::uint32_t b = 0; b < numBlocks; ++b) {
    if (machine_->finished(b))
      continue;
    const ir::ThreadBlock &code = index_.ops(b);
    const std::uint32_t rank = index_.rankOf(b);
    std::uint32_t from = machine_->at(b).op();
    if (machine_->at(b).inLoop() && !machine_->at(b).isLastIteration()) // its beginning comes again
      from = machine_->at(b).header() + 1;
    for (std::uint32_t o = from; o < code.ops.size(); ++o) {
      const ir::Op &op = code.ops[o];
      if (ir::isSignal(op.kind) || ir::putsAndSignals(op.kind))
        for (const std::uint32_t id : code.idsOf(op))
          sources.try_emplace(key(Waiting::Channel, index_.pairOf(index_.channel(op.channelType, rank, id))),
                              Source{b, o});
      if (op.kind == ir::OpKind::SemRelease)
        for (const std::uint32_t id : code.idsOf(op))
          sources.try_emplace(key(Waiting::Semaphore, index_.semaphore(rank, id)), Source{b, o});
      for (std::uint32_t i = 0; !writers.empty() && i < op.numDsts; ++i) {
        if (ir::formOfDestination(op.kind, i) != ir::DataForm::Packet)
          continue;
        const ir::Chunk &chunk = code.dsts(op)[i];
        const UnitSpan span = geometry_.span(chunk, op, nullptr, true);
        std::vector<std::uint32_t> owners{rank};
        if (chunk.space == ir::ChunkSpace::Remote)
          owners[0] = index_.program.ranks[rank].remoteBuffers[chunk.id].rank;
        else if (chunk.space == ir::ChunkSpace::Switch)
          owners = index_.program.ranks[rank].switchChannels[chunk.id].ranks;
        for (const std::uint32_t owner : owners) {
          const std::uint64_t first = memory_.base(owner, ir::BufferKind::Scratch, true) + span.first;
          for (std::uint32_t u = 0; u < span.count; ++u)
            if (const auto it = writers.find(static_cast<CellId>(first + u));
                it != writers.end() && it->second.block == none)
              it->second = {b, o};
        }
      }
    }
  }
  const auto sourceOf = [&](std::uint32_t b) -> Source {
    const Waiting &w = machine_->waiting(b);
    if (w.kind == Waiting::Packet)
      return writers[w.id];
    if (w.kind == Waiting::Barrier) { // anybody in it who is not there
      for (std::uint32_t other = index_.block(index_.rankOf(b), 0); other < index_.block(index_.rankOf(b) + 1, 0);
           ++other) {
        const auto &ops = index_.ops(other).ops;
        const bool there = machine_->waiting(other).kind == Waiting::Barrier && machine_->waiting(other).id == w.id;
        if (there || machine_->finished(other))
          continue;
        for (std::uint32_t o = machine_->at(other).op(); o < ops.size(); ++o)
          if (ops[o].kind == ir::OpKind::Barrier && ops[o].imm == index_.ops(b).ops[machine_->at(b).op()].imm)
            return {other, o};
      }
      return {};
    }
    const auto it = sources.find(key(w.kind, w.id));
    return it == sources.end() ? Source{} : it->second;
  };
  std::vector<std::uint32_t> seen(numBlocks, none);
  for (std::uint32_t start = 0; start < numBlocks; ++start) {
    std::vector<std::uint32_t> path;
    std::uint32_t b = start;
    while (!machine_->finished(b) && seen[b] == none) {
      seen[b] = start;
      path.push_back(b);
      const Source next = sourceOf(b);
      if (next.block == none) {
        if (auto *f = findings_.add(diag::waits_for_ever, index_.place(b, machine_->at(b).op())))
          f->args = {index_.rankOf(b), index_.idOf(b), waitWords(machine_->waiting(b))};
        break;
      }
      b = next.block;
      if (seen[b] != start)
        continue;
      const auto first = std::find(path.begin(), path.end(), b);
      if (auto *f = findings_.add(diag::deadlock, index_.place(b, machine_->at(b).op()))) {
        f->args = {index_.rankOf(b), index_.idOf(b), waitWords(machine_->waiting(b)),
                   ir::plural(static_cast<std::uint64_t>(path.end() - first), "block")};
        std::size_t told = 0;
        for (auto it = first; it != path.end() && told < 8; ++it, ++told) {
          const Source source = sourceOf(*it);
          f->notes.push_back({&diag::waits_here,
                              findings_.where(index_.place(*it, machine_->at(*it).op())),
                              {index_.rankOf(*it), index_.idOf(*it), waitWords(machine_->waiting(*it))}});
          f->notes.push_back({&diag::comes_here,
                              findings_.where(index_.place(source.block, source.op)),
                              {index_.rankOf(source.block), index_.idOf(source.block)}});
        }
      }
      break;
    }
  }
}

} // namespace mscclc::passes::proof
