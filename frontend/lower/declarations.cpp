#include "frontend/lower/declarations.h"

#include "frontend/diagnostics.h"
#include "frontend/limits.h"

#include <algorithm>

namespace mscclc::frontend {

using ir::plural;

namespace {
/// Advice for programs of Schedule::Auto: what to write instead of channels, semaphores and groups.
constexpr std::string_view copiesInstead = "write copy(dst, src) on chunks of any ranks",
                           switchInstead =
                               "write copy({dst, …}, src, {.via = Via::Switch}) or reduce(into, others, {.via = "
                               "Via::Switch})",
                           semaphoreInstead = "leave it out, as the compiler orders what depends on one another",
                           groupInstead = "leave it out, as the compiler spreads the work over thread blocks";
} // namespace

std::string_view Declarations::bufferName(ir::BufferKind kind) {
  switch (kind) {
  case ir::BufferKind::Input:
    return "input";
  case ir::BufferKind::Output:
    return "output";
  case ir::BufferKind::Scratch:
    return "scratch buffer";
  }
  return "buffer";
}

bool Declarations::take(const TraceReader &reader) {
  switch (reader.kind()) {
  case RecordKind::File:
    places.takeFile(reader);
    return true;
  case RecordKind::CallChain:
    return places.takeChain(reader);
  case RecordKind::Place:
    return places.takePlace(reader);
  case RecordKind::Collective:
    collective(reader);
    return true;
  case RecordKind::CollectiveSizes:
    return collectiveSizes(reader);
  case RecordKind::Expectation:
    return expectation(reader);
  case RecordKind::Then:
    return then(reader);
  case RecordKind::Hook:
    hook(reader);
    return true;
  case RecordKind::HookText:
    return hookText(reader);
  case RecordKind::Tag:
    tag(reader);
    return true;
  case RecordKind::ProgramBegin:
    return programBegin(reader);
  case RecordKind::ProgramEnd:
    programEnd();
    return true;
  case RecordKind::FaultyRank:
    if (inProgram("'Rank'", locOf(reader)))
      diagnostics_.report(diag::rank_out_of_range, locOf(reader), {reader.as<PairRecord>().first, limit()});
    return true;
  case RecordKind::FaultyBlock:
    if (phase_ == ProgramPhase::Open)
      diagnostics_.report(diag::block_out_of_range, locOf(reader), {reader.as<PairRecord>().first, maxBlocks - 1});
    return true;
  case RecordKind::FaultySlice:
    return faultySlice(reader);
  case RecordKind::Note:
    note(reader);
    return true;
  case RecordKind::Scratch:
    scratchBuffer(reader);
    return true;
  case RecordKind::Group:
    group(reader);
    return true;
  case RecordKind::Channel:
    channel(reader);
    return true;
  case RecordKind::SwitchChannel:
    return switchChannel(reader);
  case RecordKind::SwitchView:
    return switchView(reader);
  case RecordKind::Semaphore:
    semaphore(reader);
    return true;
  case RecordKind::LoopBegin:
  case RecordKind::LoopEnd:
  case RecordKind::Ref:
  case RecordKind::Call:
    break; // these records are not declarations
  }
  return false;
}

bool Declarations::inProgram(std::string_view what, ir::LocId at) {
  // Operations after the end of a program have one common cause, for example a program object without a name, which
  // ends at once. So only the first one is reported.
  if (phase_ == ProgramPhase::Before || (phase_ == ProgramPhase::After && !std::exchange(isPastEnd_, true)))
    diagnostics_.report(diag::outside_program, at, {what});
  return phase_ == ProgramPhase::Open;
}

bool Declarations::inManualProgram(std::string_view what, std::string_view instead, ir::LocId at) {
  if (!inProgram(what, at))
    return false;
  if (program_.schedule == ir::Schedule::Auto)
    diagnostics_.report(diag::manual_in_auto, at, {what, instead});
  return program_.schedule == ir::Schedule::Manual;
}

void Declarations::scratchBuffer(const TraceReader &reader) {
  const auto [head, rank, size] = reader.as<PairRecord>();
  const ir::LocId at = locOf(reader);
  ScratchDecl &decl = scratch.emplace_back();
  decl.place = head.place;
  if (!inProgram("'Buffer'", at))
    return;
  if (!isRank(rank)) {
    diagnostics_.report(diag::scratch_rank_out_of_range, at, {rank, limit()});
    return;
  }
  if (size < 0 || size > maxChunks) {
    diagnostics_.report(diag::bad_buffer_size, at, {"a scratch", size, maxChunks});
    return;
  }
  std::uint32_t &used = program_.ranks[static_cast<std::size_t>(rank)].scratchChunks;
  if (size > maxChunks - used) {
    diagnostics_.report(diag::scratch_too_large, at, {rank, std::int64_t{used} + size, maxChunks});
    return;
  }
  decl = {true, static_cast<std::uint32_t>(rank), used, static_cast<std::uint32_t>(size), head.place};
  used += decl.size;
}

bool Declarations::checkBlocks(const TraceReader &reader, ir::LocId at, std::vector<std::uint32_t> &blocks) {
  return checkNumbers(reader, at, static_cast<std::size_t>(maxBlocks), diag::block_out_of_range, diag::block_twice,
                      blocks);
}

/// Appends the numbers in a record's list to `numbers`. Reports numbers that are listed twice or not below `end`.
/// Returns false after a report.
bool Declarations::checkNumbers(const TraceReader &reader, ir::LocId at, std::size_t end,
                                const ir::DiagInfo &outOfRange, const ir::DiagInfo &twice,
                                std::vector<std::uint32_t> &numbers) {
  stamps_.resize(std::max(stamps_.size(), end));
  ++stamp_;
  bool good = true;
  numbers.reserve(numbers.size() + std::min(reader.extraCount(), end));
  for (std::size_t i = 0; i < reader.extraCount(); ++i) {
    const auto number = reader.extra<std::int64_t>(i);
    if (number < 0 || static_cast<std::size_t>(number) >= end) {
      diagnostics_.report(outOfRange, at, {number, end - 1});
      good = false;
    } else if (std::uint32_t &seen = stamps_[static_cast<std::size_t>(number)]; seen == stamp_) {
      diagnostics_.report(twice, at, {number});
      good = false;
    } else {
      seen = stamp_;
      numbers.push_back(static_cast<std::uint32_t>(number));
    }
  }
  return good;
}

void Declarations::group(const TraceReader &reader) {
  GroupDecl &decl = groups.emplace_back();
  decl.place = reader.head().place;
  decl.first = groupBlocks_.size();
  if (phase_ == ProgramPhase::Open && !inManualProgram("'ThreadBlockGroup'", groupInstead, locOf(reader)))
    return;
  if (reader.extraCount() == 0)
    diagnostics_.report(diag::empty_group, locOf(reader));
  decl.valid = checkBlocks(reader, locOf(reader), groupBlocks_) && reader.extraCount() != 0;
  decl.count = groupBlocks_.size() - decl.first;
}

void Declarations::channel(const TraceReader &reader) {
  const auto [head, dst, src] = reader.as<PairRecord>();
  const ir::LocId at = locOf(reader);
  const bool port = (head.flags & PairRecord::port) != 0, isPair = (head.flags & PairRecord::pair) != 0;
  const std::size_t first = channels.size();
  channels.resize(first + (isPair ? 2 : 1));
  for (std::size_t end = first; end < channels.size(); ++end)
    channels[end].place = head.place;
  if (!inManualProgram(port ? "'PortChannel'" : "'MemoryChannel'",
                       port ? "write copy(dst, src, {.via = Via::Port})" : copiesInstead, at))
    return;
  bool good = true;
  if (!isRank(src)) {
    diagnostics_.report(diag::channel_source_out_of_range, at, {src, limit()});
    good = false;
  }
  if (!isRank(dst)) {
    diagnostics_.report(diag::channel_destination_out_of_range, at, {dst, limit()});
    good = false;
  }
  if (good && dst == src) {
    diagnostics_.report(diag::channel_to_itself, at, {src});
    good = false;
  }
  if (good && !port && !program_.movement.sameNode(static_cast<std::uint32_t>(src), static_cast<std::uint32_t>(dst))) {
    diagnostics_.report(diag::memory_between_nodes, at,
                        {"MemoryChannel", src, dst, "write PortChannel(dst, src), as memory joins ranks of one node"});
    good = false;
  }
  if (!good)
    return;
  makeChannel(channels[first], port, static_cast<std::uint32_t>(dst), static_cast<std::uint32_t>(src));
  if (isPair)
    makeChannel(channels[first + 1], port, static_cast<std::uint32_t>(src), static_cast<std::uint32_t>(dst));
}

/// Makes a new channel between ranks that are in range.
void Declarations::makeChannel(ChannelDecl &decl, bool port, std::uint32_t dst, std::uint32_t src) {
  ir::Rank &rank = program_.ranks[src];
  std::vector<std::uint32_t> &peers = port ? rank.portPeers : rank.memoryPeers;
  if (!port && rank.memoryPeers.empty())
    rank.portChannelsFirst = !rank.portPeers.empty();
  decl.type = port ? ir::ChannelType::Port : ir::ChannelType::Memory;
  decl.dst = dst;
  decl.src = src;
  decl.id = static_cast<std::uint32_t>(peers.size());
  decl.number = numChannels_++;
  decl.valid = true;
  peers.push_back(dst);
}

const ChannelDecl &Declarations::refChannel(bool port, const ChannelEnd &near, const ChannelEnd &far, PlaceId place) {
  ChannelDecl &decl = refChannels_[{port, near, far}];
  if (decl.valid)
    return decl;
  // Makes both ends at once. The n-th channel of one rank to the other is paired with the n-th channel back.
  ChannelDecl &back = refChannels_[{port, far, near}];
  decl.place = back.place = place;
  makeChannel(decl, port, far.rank, near.rank);
  makeChannel(back, port, near.rank, far.rank);
  return decl;
}

void Declarations::growScratch(std::uint32_t rank, std::uint32_t chunks) {
  std::uint32_t &used = program_.ranks[rank].scratchChunks;
  used = std::max(used, chunks);
  grownScratch_ = std::max(grownScratch_, chunks);
}

bool Declarations::switchChannel(const TraceReader &reader) {
  const ir::LocId at = locOf(reader);
  SwitchDecl &decl = switches.emplace_back();
  decl.place = reader.head().place;
  decl.first = members_.size();
  if (reader.head().flags > static_cast<std::uint8_t>(ir::BufferKind::Scratch))
    return false;
  decl.buffer = static_cast<ir::BufferKind>(reader.head().flags);
  if (!inManualProgram("'SwitchChannel'", switchInstead, at))
    return true;
  if (reader.extraCount() == 0)
    diagnostics_.report(diag::switch_without_ranks, at);
  ir::SwitchChannel made{decl.buffer, {}};
  bool good = checkNumbers(reader, at, program_.ranks.size(), diag::switch_rank_out_of_range, diag::switch_rank_twice,
                           made.ranks) &&
              reader.extraCount() != 0;
  const auto isFar = [&](std::uint32_t rank) { return !program_.movement.sameNode(rank, made.ranks[0]); };
  if (const auto far = std::ranges::find_if(made.ranks, isFar); far != made.ranks.end()) {
    diagnostics_.report(
        diag::memory_between_nodes, at,
        {"SwitchChannel", made.ranks[0], *far, "make one for the ranks of each node, as a switch joins these"});
    good = false;
  }
  bytes_ += made.ranks.size() * (sizeof made + made.ranks.size() * sizeof made.ranks[0]);
  if (!good || bytes_ > maxProgramBytes)
    return true;
  for (const std::uint32_t rank : made.ranks) {
    members_.push_back({rank, static_cast<std::uint32_t>(program_.ranks[rank].switchChannels.size())});
    program_.ranks[rank].switchChannels.push_back(made);
  }
  decl.count = made.ranks.size();
  decl.valid = true;
  std::sort(members_.begin() + static_cast<std::ptrdiff_t>(decl.first), members_.end());
  return true;
}

bool Declarations::switchView(const TraceReader &reader) {
  const auto [head, rank, handle] = reader.as<PairRecord>();
  ViewDecl &decl = views.emplace_back();
  if (handle == detail::unset) {
    diagnostics_.report(diag::never_made, locOf(reader), {"atRank", "of a switch channel"});
    return true;
  }
  if (handle < 0 || handle >= static_cast<std::int64_t>(switches.size()))
    return false;
  const SwitchDecl &channel = switches[static_cast<std::size_t>(handle)];
  if (!channel.valid)
    return true;
  const std::span<const SwitchMember> members = membersOf(channel);
  const auto found =
      std::lower_bound(members.begin(), members.end(), rank,
                       [](const SwitchMember &member, std::int64_t wanted) { return member.rank < wanted; });
  if (found == members.end() || found->rank != rank) {
    diagnostics_.report(diag::rank_not_in_switch, locOf(reader), {rank})
        .note(diag::switch_made_here, places[channel.place]);
    return true;
  }
  decl = {true, static_cast<std::uint32_t>(handle), *found};
  return true;
}

void Declarations::semaphore(const TraceReader &reader) {
  const auto [head, rank, value] = reader.as<PairRecord>();
  const ir::LocId at = locOf(reader);
  SemaphoreDecl &decl = semaphores.emplace_back();
  if (!inManualProgram("'Semaphore'", semaphoreInstead, at))
    return;
  if (!isRank(rank))
    diagnostics_.report(diag::semaphore_rank_out_of_range, at, {rank, limit()});
  const bool isPossible = value >= 0 && value <= ir::maxSemaphoreValue;
  if (!isPossible)
    diagnostics_.report(diag::semaphore_value_out_of_range, at, {value});
  if (!isRank(rank) || !isPossible)
    return;
  std::vector<ir::Semaphore> &all = program_.ranks[static_cast<std::size_t>(rank)].semaphores;
  decl = {true, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(all.size())};
  all.push_back({static_cast<std::uint32_t>(value)});
}

void Declarations::note(const TraceReader &reader) {
  const auto record = reader.as<NoteRecord>();
  const ir::LocId at = locOf(reader);
  switch (static_cast<NoteFault>(record.head.flags)) {
  case NoteFault::None:
    if (++numNotes_ <= maxNotes)
      diagnostics_.report(diag::note, at, {reader.text()});
    else
      diagnostics_.report(diag::notes_left_out, programLoc_, {maxNotes});
    return;
  case NoteFault::Count:
    diagnostics_.report(diag::note_arguments, at,
                        {plural(record.places, "place"), plural(record.arguments, "argument")});
    return;
  case NoteFault::Brace:
    diagnostics_.report(diag::note_brace, at, {reader.text()});
    return;
  }
}

bool Declarations::faultySlice(const TraceReader &reader) {
  const auto record = reader.as<SliceRecord>();
  const ir::LocId at = locOf(reader);
  if (phase_ == ProgramPhase::Skipping)
    return true;
  if (record.buffer == detail::unset) {
    diagnostics_.report(diag::never_made, at, {"slice", "of a buffer"});
    return true;
  }
  if (record.head.flags != 0) {
    const bool isInput = record.head.flags == SliceRecord::to;
    diagnostics_.report(diag::no_slot, at, {isInput ? "to" : "from", isInput ? "input" : "output"});
    return true;
  }
  std::uint32_t rank = 0, size = 0;
  ir::BufferKind kind = ir::BufferKind::Scratch;
  ir::LocId made = ir::noLoc;
  if ((record.buffer & BufferHandle::ofRank) != 0) {
    rank = (record.buffer & ~BufferHandle::ofRank) >> 1;
    kind = static_cast<ir::BufferKind>(record.buffer & 1);
    if (!isRank(rank)) {
      diagnostics_.report(diag::rank_out_of_range, at, {rank, limit()});
      return true;
    }
    size = program_.ranks[rank].chunksOf(kind);
  } else {
    if (record.buffer >= scratch.size())
      return false;
    const ScratchDecl &decl = scratch[record.buffer];
    if (!decl.valid)
      return true;
    rank = decl.rank;
    size = decl.size;
    made = places[decl.place];
  }
  const std::vector<ir::DiagArg> range{record.first, record.last};
  if (record.first < 0 || record.last < 0)
    diagnostics_.report(diag::negative_index, at, range);
  else if (record.first > record.last && record.first <= size)
    diagnostics_.report(diag::slice_reversed, at, range);
  else if (record.first == record.last && record.first <= size)
    diagnostics_.report(diag::empty_slice, at, range);
  else {
    ir::DiagBuilder report = diagnostics_.report(
        diag::chunk_out_of_range, at, {record.first, record.last, rank, bufferName(kind), plural(size, "chunk")});
    if (made != ir::noLoc)
      report.note(diag::buffer_made_here, made, {plural(size, "chunk")});
  }
  return true;
}

} // namespace mscclc::frontend
