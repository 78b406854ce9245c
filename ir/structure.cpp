// The structural checker's part for the program, ranks and blocks. Faults are rare, so only programs without faults are
// checked fast: the checker makes tables for each rank and block, and then does a constant number of look-ups for each
// operand.
#include "ir/structure.h"

#include "ir/collectives.h"
#include "ir/hooks.h"
#include "ir/ir_diagnostics.h"
#include "ir/structure_checker.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace mscclc::ir {

namespace {

/// Returns the rule that the chunks of `rank` break; empty if there is none.
std::string_view chunkRule(CollectiveKind kind, const Rank &rank, std::uint64_t ranks) {
  const std::uint64_t in = rank.inputChunks, out = rank.outputChunks;
  if (!hasChunkFactor(kind))
    return "";
  if (in == 0 || out == 0)
    return "both are at least 1";
  const bool wholeInput = info(kind).input == Extent::Whole, wholeOutput = info(kind).output == Extent::Whole;
  if (wholeInput && wholeOutput)
    return in == out && in % ranks == 0 ? "" : "both are one multiple of the number of ranks";
  if (wholeInput)
    return in == out * ranks ? "" : "every output has its place in the input";
  if (wholeOutput)
    return out == in * ranks ? "" : "every input has its place in the output";
  return in == out ? "" : "as much is received as is sent";
}

} // namespace

std::string describe(const ProgramPlace &place) {
  if (place.statement != ProgramPlace::none)
    return "statement " + std::to_string(place.statement);
  if (place.rank == ProgramPlace::none)
    return "the program";
  std::string words = "rank " + std::to_string(place.rank);
  if (place.block != ProgramPlace::none)
    words += ", block " + std::to_string(place.block);
  if (place.op != ProgramPlace::none)
    words += ", operation " + std::to_string(place.op);
  return words;
}

bool checkStructure(const Program &program, DiagnosticEngine &diagnostics) {
  return StructureChecker(program, diagnostics, nullptr).run();
}

bool checkStructure(const Program &program, DiagnosticEngine &diagnostics, const ShowPlace &show) {
  return StructureChecker(program, diagnostics, &show).run();
}

LocId StructureChecker::locOf(const ProgramPlace &place) const {
  LocId loc = noLoc;
  if (place.statement != ProgramPlace::none)
    loc = program_.movement.statements[place.statement].loc;
  else if (place.op != ProgramPlace::none)
    loc = opAt(program_, {place.rank, place.block, place.op}).loc;
  return loc < program_.sources.size() ? loc : noLoc;
}

void StructureChecker::faultAt(const ProgramPlace &place, LocId loc, const DiagInfo &info,
                               std::initializer_list<DiagArg> args) {
  ++numFaults_;
  if (!show_) {
    diagnostics_.report(info, Where(loc, describe(place)), args);
    return;
  }
  Diagnostic d;
  d.severity = info.severity;
  d.id = info.id;
  d.message = formatDiag(info.format, args);
  d.place = (*show_)(place);
  diagnostics_.add(std::move(d));
}

bool StructureChecker::run() {
  if (numRanks_ > maxRanks) {
    faultAt({maxRanks}, noLoc, diag::many_ranks, {numRanks_, maxRanks});
    return false;
  }
  checkProgram();
  for (std::uint32_t r = 0; r < numRanks_ && !full(); ++r) {
    at_ = {r};
    rank_ = &program_.ranks[r];
    checkRank();
  }
  if (switchesFit_ && !full())
    checkSwitchGroups();
  if (!full())
    checkMovement();
  return numFaults_ == 0;
}

void StructureChecker::checkProgram() {
  const auto atLeastOne = [&](std::string_view name, std::uint32_t value) {
    if (value == 0)
      fault(diag::option_zero, {name});
  };
  if (numRanks_ == 0)
    fault(diag::no_ranks, {});
  if (program_.name.empty())
    fault(diag::name_empty, {"program"});
  atLeastOne("chunk_factor", program_.collective.chunkFactor);
  atLeastOne("instances", program_.instances);
  if (program_.instances > maxInstances)
    fault(diag::many_instances, {program_.instances, maxInstances});
  atLeastOne("threads_per_block", program_.threadsPerBlock);
  if (!std::has_single_bit(program_.bufferAlignment))
    fault(diag::alignment_not_power, {program_.bufferAlignment});
  if (program_.minMessageSize > program_.maxMessageSize)
    fault(diag::message_sizes, {program_.minMessageSize, program_.maxMessageSize});
  const std::vector<std::string> &tags = program_.tags;
  for (auto tag = tags.begin(); tag != tags.end(); ++tag)
    if (!isTag(*tag))
      fault(diag::tag_bad, {*tag});
    else if (std::find(tags.begin(), tag, *tag) != tag)
      fault(diag::tag_repeats, {*tag});
  const std::uint32_t perNode = program_.movement.ranksPerNode;
  if (perNode != 0 && numRanks_ % perNode != 0)
    fault(diag::nodes_uneven, {plural(numRanks_, "rank"), perNode});
  checkCollective();
  checkExpectations();
  checkHooks();
}

void StructureChecker::checkHooks() {
  const std::vector<Hook> &hooks = program_.hooks;
  for (auto hook = hooks.begin(); hook != hooks.end(); ++hook) {
    const LocId loc = hook->loc < program_.sources.size() ? hook->loc : noLoc;
    if (hook->loc != loc)
      fault(diag::unknown_location_id, {hook->loc, plural(program_.sources.size() - 1, "location")});
    if (hook->name.empty())
      faultAt({}, loc, diag::name_empty, {"hook"});
    if (std::find_if(hooks.begin(), hook, [&](const Hook &other) { return other.name == hook->name; }) != hook)
      faultAt({}, loc, diag::hook_repeats, {hook->name});
    if (const std::string words = faultOf(*hook); !words.empty())
      faultAt({}, loc, diag::hook_bad, {hook->name, words});
    if (hook->wire != Wire::None && &*hook != wireOf(program_))
      faultAt({}, loc, diag::hook_bad, {hook->name, "is a second wire format"});
    if (const auto shared = sharedArray(hooks, static_cast<std::size_t>(hook - hooks.begin())))
      faultAt({}, loc, diag::hook_shares, {hook->name, shared->name, shared->other->name});
  }
  const std::string &then = program_.collective.then;
  const auto promised = std::ranges::find(hooks, then, &Hook::name);
  if (!then.empty() && promised == hooks.end())
    fault(diag::then_no_hook, {then});
  else if (!then.empty() && promised->wire != Wire::None)
    fault(diag::hook_bad, {then, "is a wire format, which no collective promises"});
}

void StructureChecker::checkCollective() {
  const Collective &collective = program_.collective;
  if (collective.name.empty())
    fault(diag::name_empty, {"collective"});
  if (info(collective.kind).promise == Promise::Stated && namedCollective(collective.name, false))
    fault(diag::custom_name_taken, {collective.name});
  if (info(collective.kind).hasRoot && numRanks_ != 0 && collective.root >= numRanks_)
    fault(diag::root_out_of_range, {collective.root, collective.name, plural(numRanks_, "rank")});
  if (info(collective.kind).hasRows && collective.inplace)
    fault(diag::rows_in_place, {collective.name});
  if (info(collective.kind).hasExperts && !expertsFit(numRanks_, collective.experts))
    fault(diag::experts_out_of_range, {collective.experts, maxExperts, plural(numRanks_, "rank")});
  if (program_.readyRows != 0 && !info(collective.kind).hasExperts)
    fault(diag::ready_without_experts, {collective.name});
  if (program_.oncePerRank != OncePerRank::Off && collective.kind != CollectiveKind::Dispatch)
    fault(diag::once_per_rank_alone, {toString(collective.kind)});
  // Reports one rank only, because the others are mostly wrong in the same way.
  for (std::uint32_t r = 0; r < numRanks_; ++r) {
    const Rank &rank = program_.ranks[r];
    std::string_view rule = chunkRule(collective.kind, rank, numRanks_);
    if (rule.empty() && hasChunkFactor(collective.kind) && rank.inputChunks != program_.ranks[0].inputChunks)
      rule = "they differ from rank 0's";
    if (rule.empty())
      continue;
    faultAt({r}, noLoc, diag::chunks_of_collective,
            {rank.inputChunks, rank.outputChunks, collective.name, plural(numRanks_, "rank"), rule});
    return;
  }
}

void StructureChecker::checkExpectations() {
  const Collective &collective = program_.collective;
  if (!collective.expectations.empty() && info(collective.kind).promise != Promise::Stated)
    fault(diag::expectation_not_custom, {toString(collective.kind)});
  std::unordered_set<std::uint64_t> stated;
  for (const Expectation &e : collective.expectations) {
    if (full())
      return;
    const LocId loc = e.loc < program_.sources.size() ? e.loc : noLoc;
    if (!stated.insert(std::uint64_t{e.rank} << 32 | e.outputChunk).second)
      faultAt({}, loc, diag::expectation_repeats, {e.rank, e.outputChunk});
    std::vector<Contribution> sorted = e.contributions;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      faultAt({}, loc, diag::contribution_repeats, {twice->rank, twice->chunk});
    if (e.loc >= program_.sources.size())
      faultAt({}, noLoc, diag::unknown_location_id, {e.loc, plural(program_.sources.size() - 1, "location")});
    if (e.rank >= numRanks_ || e.outputChunk >= program_.ranks[e.rank].outputChunks)
      faultAt({}, loc, diag::expectation_out_of_range, {e.rank, "output", e.outputChunk});
    for (const Contribution &c : e.contributions)
      if (c.rank >= numRanks_ || c.chunk >= program_.ranks[c.rank].inputChunks)
        faultAt({}, loc, diag::expectation_out_of_range, {c.rank, "input", c.chunk});
  }
}

void StructureChecker::checkRank() {
  checkPeers(ChannelType::Memory);
  checkPeers(ChannelType::Port);
  checkSwitchChannels();
  checkRemoteBuffers();
  checkSemaphores();
  barriers_.clear();
  for (std::uint32_t b = 0; b < rank_->blocks.size() && !full(); ++b) {
    at_ = {at_.rank, b};
    block_ = &rank_->blocks[b];
    checkBlock();
  }
  at_ = {at_.rank};
  checkBarriers();
}

void StructureChecker::checkPeers(ChannelType type) {
  const auto &peers = rank_->peers(type);
  for (std::uint32_t c = 0; c < peers.size() && !full(); ++c) {
    if (peers[c] >= numRanks_)
      fault(diag::peer_out_of_range, {toString(type), c, peers[c], plural(numRanks_, "rank")});
    else if (peers[c] == at_.rank)
      fault(diag::peer_is_self, {toString(type), c, at_.rank});
    else if (type == ChannelType::Memory && !program_.movement.sameNode(at_.rank, peers[c]))
      fault(diag::channel_between_nodes, {toString(type), c, at_.rank, peers[c]});
  }
}

void StructureChecker::checkSwitchChannels() {
  switchChunks_.clear();
  const std::size_t before = numFaults_;
  for (std::uint32_t c = 0; c < rank_->switchChannels.size() && !full(); ++c) {
    const SwitchChannel &channel = rank_->switchChannels[c];
    std::uint32_t smallest = rank_->chunksOf(channel.buffer);
    seen_.clear();
    for (const std::uint32_t member : channel.ranks) {
      if (member >= numRanks_) {
        fault(diag::switch_group_rank, {c, member, plural(numRanks_, "rank")});
        continue;
      }
      if (!seen_.insert(member))
        fault(diag::switch_group_repeats, {c, member});
      if (!program_.movement.sameNode(at_.rank, member))
        fault(diag::channel_between_nodes, {"switch", c, at_.rank, member});
      smallest = std::min(smallest, program_.ranks[member].chunksOf(channel.buffer));
    }
    if (!seen_.contains(at_.rank))
      fault(diag::switch_group_without_rank, {c, at_.rank});
    switchChunks_.push_back(smallest);
  }
  switchesFit_ = switchesFit_ && numFaults_ == before;
}

void StructureChecker::checkRemoteBuffers() {
  remoteChunks_.clear();
  seen_.clear();
  for (std::uint32_t i = 0; i < rank_->remoteBuffers.size() && !full(); ++i) {
    const RemoteBuffer &remote = rank_->remoteBuffers[i];
    const bool exists = remote.rank < numRanks_;
    remoteChunks_.push_back(exists ? program_.ranks[remote.rank].chunksOf(remote.buffer) : 0);
    if (!exists)
      fault(diag::remote_buffer_rank, {i, remote.rank, plural(numRanks_, "rank")});
    else if (remote.rank == at_.rank)
      fault(diag::remote_buffer_is_local, {i, remote.rank});
    else if (!seen_.insert(remote.rank * 3 + static_cast<std::uint32_t>(remote.buffer)))
      fault(diag::remote_buffer_repeats, {i, remote.rank, toString(remote.buffer)});
  }
}

void StructureChecker::checkSemaphores() {
  for (std::uint32_t i = 0; i < rank_->semaphores.size() && !full(); ++i)
    if (const std::uint32_t value = rank_->semaphores[i].initialValue; value > maxSemaphoreValue)
      fault(diag::semaphore_value, {i, value, maxSemaphoreValue});
}

void StructureChecker::checkBarriers() {
  std::ranges::sort(barriers_, {}, [](const BarrierUse &use) { return std::tuple(use.id, use.block, use.op); });
  for (std::size_t i = 0; i < barriers_.size() && !full();) {
    const BarrierUse &first = barriers_[i];
    std::uint32_t blocks = 0;
    bool agree = true;
    for (std::uint32_t last = ProgramPlace::none; i < barriers_.size() && barriers_[i].id == first.id; ++i) {
      const BarrierUse &use = barriers_[i];
      blocks += use.block != last;
      last = use.block;
      if (use.count != first.count && std::exchange(agree, false)) {
        const ProgramPlace place{at_.rank, use.block, use.op};
        faultAt(place, locOf(place), diag::barrier_counts_differ,
                {use.id, plural(use.count, "block"), plural(first.count, "block"), first.block});
      }
    }
    if (agree && blocks != first.count) {
      const ProgramPlace place{at_.rank, first.block, first.op};
      faultAt(place, locOf(place), diag::barrier_block_count,
              {first.id, plural(first.count, "block"), plural(blocks, "block")});
    }
  }
}

void StructureChecker::checkBlock() {
  checkTable(block_->channels, false, channelTable_);
  checkTable(block_->remoteBuffers, true, remoteTable_);
  pipelineEnd_ = 0;
  for (std::uint32_t i = 0; i < block_->ops.size() && !full(); ++i) {
    at_.op = i;
    checkOp(block_->ops[i]);
  }
  at_.op = ProgramPlace::none;
}

/// Checks the table of channels of the block or, if `remote`, the table of its remote buffers.
void StructureChecker::checkTable(std::span<const ResourceUse> uses, bool remote, StampSet (&tables)[4]) {
  for (StampSet &table : tables)
    table.clear();
  const std::string_view what = remote ? "remote-buffer" : "channel";
  const auto noun = [&](ChannelType type) {
    return remote ? std::string("remote buffer") : std::string(toString(type)) + " channel";
  };
  for (const ResourceUse &use : uses) {
    if (full())
      return;
    if (use.type == ChannelType::None || (remote && use.type == ChannelType::Switch)) {
      fault(diag::table_channel_type, {what, toString(use.type)});
    } else if (const std::size_t count = remote ? rank_->remoteBuffers.size() : numChannels(use.type);
               use.id >= count) {
      fault(diag::table_out_of_range, {what, noun(use.type), use.id, plural(count, noun(use.type))});
    } else if (!tables[static_cast<std::size_t>(use.type)].insert(use.id)) {
      fault(diag::table_repeats, {what, noun(use.type), use.id});
    } else if (remote) {
      const RemoteBuffer &buffer = rank_->remoteBuffers[use.id];
      if (!(use.type == ChannelType::Memory ? buffer.viaMemory : buffer.viaPort))
        fault(diag::remote_buffer_access, {use.id, toString(use.type)});
    }
  }
}

} // namespace mscclc::ir
