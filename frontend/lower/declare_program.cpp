// Reads the declarations of collectives, and of programs with their options.
#include "frontend/diagnostics.h"
#include "frontend/limits.h"
#include "frontend/lower/declarations.h"
#include "frontend/lower/wide_integer.h"
#include "ir/hooks.h"

#include <llvm/Support/ConvertUTF.h>

#include <algorithm>
#include <bit>

namespace mscclc::frontend {

using ir::plural;

namespace {

bool isUtf8(std::string_view text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  return llvm::isLegalUTF8String(&begin, begin + text.size());
}

} // namespace

void Declarations::checkName(std::string_view name, std::string_view owner, ir::LocId at) {
  if (name.empty())
    diagnostics_.report(diag::empty_name, at, {owner});
  else if (!isUtf8(name))
    diagnostics_.report(diag::name_not_utf8, at, {owner});
}

void Declarations::collective(const TraceReader &reader) {
  const auto record = reader.as<CollectiveRecord>();
  const ir::LocId at = locOf(reader);
  CollectiveDecl &decl = collectives_.emplace_back();
  const ir::CollectiveKind kind = collectiveOf(record.kind);
  decl.collective.kind = kind;
  decl.collective.name = toString(kind);
  decl.collective.inplace = record.head.flags != 0;
  decl.collective.loc = at;
  decl.ranks = record.ranks;
  bool good = true;
  const auto fail = [&](const ir::DiagInfo &info, const std::vector<ir::DiagArg> &args) {
    diagnostics_.report(info, at, args);
    good = false;
  };

  if (record.ranks < 1 || record.ranks > maxRanks)
    fail(diag::ranks_out_of_range, {record.ranks, maxRanks});
  if (!ir::hasChunkFactor(kind)) {
    const auto isSize = [](std::int64_t size) { return size >= 0 && size <= maxChunks; };
    if (!isSize(record.first))
      fail(diag::bad_buffer_size, {"an input", record.first, maxChunks});
    if (!isSize(record.second))
      fail(diag::bad_buffer_size, {"an output", record.second, maxChunks});
  } else if (ir::info(kind).hasExperts) {
    if (record.first < 0 ||
        !ir::expertsFit(static_cast<std::uint64_t>(record.ranks), static_cast<std::uint64_t>(record.first)))
      fail(diag::bad_experts, {record.first, ir::maxExperts, record.ranks});
    decl.collective.experts = static_cast<std::uint32_t>(record.first);
  } else if (record.first < 1) {
    fail(diag::bad_chunk_factor, {record.first});
  } else {
    decl.collective.chunkFactor = static_cast<std::uint32_t>(record.first);
  }
  if (ir::info(kind).hasRoot) {
    if (record.second < 0 || record.second >= record.ranks)
      fail(diag::root_out_of_range, {record.second, record.ranks - 1});
    decl.collective.root = static_cast<std::uint32_t>(record.second);
  }
  if (ir::info(kind).hasExperts) {
    if (record.second < 0 || record.second >= static_cast<std::int64_t>(std::size(ir::expertLayoutNames)))
      fail(diag::no_enumerator, {toString(kind), "a layout", "the enumerators of ExpertLayout"});
    else
      decl.collective.expertLayout = static_cast<ir::ExpertLayout>(record.second);
  } else if (ir::info(kind).hasRows) {
    if (record.second < 0 || record.second >= static_cast<std::int64_t>(std::size(ir::rowLayoutNames)))
      fail(diag::no_enumerator, {toString(kind), "a layout", "the enumerators of RowLayout"});
    else
      decl.collective.rows = static_cast<ir::RowLayout>(record.second);
  }
  const auto sizes = bufferSizes(kind, record.ranks, record.first, record.second);
  if (good && !sizes)
    fail(diag::buffers_too_large, {record.ranks, record.first, maxChunks});
  if (ir::info(kind).promise == ir::Promise::Stated) {
    const std::string_view name = reader.text();
    checkName(name, "collective", at);
    if (ir::namedCollective(name, false))
      diagnostics_.report(diag::custom_name_taken, at, {name});
    decl.collective.name = name;
  }
  decl.valid = good;
  if (good)
    decl.sizes = *sizes;
}

bool Declarations::collectiveSizes(const TraceReader &reader) {
  const auto record = reader.as<CollectiveSizesRecord>();
  if (record.collective >= collectives_.size())
    return false;
  CollectiveDecl &decl = collectives_[record.collective];
  if (!decl.valid)
    return true;
  if (reader.extraCount() != static_cast<std::uint64_t>(decl.ranks))
    return false;
  for (std::size_t rank = 0; rank < reader.extraCount(); ++rank) {
    const auto sizes = reader.extra<std::array<WideInteger, 2>>(rank);
    for (std::size_t side = 0; side < 2; ++side)
      if (!inRange(sizes[side], 0, static_cast<std::uint64_t>(maxChunks))) {
        diagnostics_.report(diag::bad_rank_buffer_size, locOf(reader),
                            {side == 0 ? "an input" : "an output", textOf(sizes[side]), rank, maxChunks});
        decl.valid = false;
      }
    decl.rankSizes.push_back({static_cast<std::int64_t>(sizes[0].bits), static_cast<std::int64_t>(sizes[1].bits)});
  }
  return true;
}

bool Declarations::expectation(const TraceReader &reader) {
  const auto record = reader.as<ExpectationRecord>();
  const ir::LocId at = locOf(reader);
  if (record.collective >= collectives_.size())
    return false;
  CollectiveDecl &decl = collectives_[record.collective];
  if (!decl.valid)
    return true;
  bool good = true;
  const auto fail = [&](const ir::DiagInfo &info, const std::vector<ir::DiagArg> &args) {
    diagnostics_.report(info, at, args);
    good = false;
  };
  const bool isRank = record.rank >= 0 && record.rank < decl.ranks;
  if (!isRank)
    fail(diag::expected_rank_out_of_range, {record.rank, decl.ranks - 1});
  if (isRank || decl.rankSizes.empty())
    if (const std::int64_t output = decl.sizesOf(static_cast<std::size_t>(record.rank)).output;
        record.outputChunk < 0 || record.outputChunk >= output)
      fail(diag::expected_chunk_out_of_range,
           {record.outputChunk, plural(static_cast<std::uint64_t>(output), "chunk")});
  if (reader.extraCount() == 0)
    fail(diag::empty_expectation, {});

  ir::Expectation made{static_cast<std::uint32_t>(record.rank), static_cast<std::uint32_t>(record.outputChunk), {}, at};
  made.contributions.reserve(reader.extraCount());
  for (std::size_t i = 0; i < reader.extraCount(); ++i) {
    const auto [rank, chunk] = reader.extra<std::array<WideInteger, 2>>(i);
    if (!inRange(rank, 0, static_cast<std::uint64_t>(decl.ranks - 1)))
      fail(diag::contribution_rank_out_of_range, {textOf(rank), decl.ranks - 1});
    else if (const auto input = static_cast<std::uint64_t>(decl.sizesOf(rank.bits).input);
             chunk.negative != 0 || chunk.bits >= input)
      fail(diag::contribution_chunk_out_of_range, {textOf(chunk), plural(input, "chunk")});
    else
      made.contributions.push_back({static_cast<std::uint32_t>(rank.bits), static_cast<std::uint32_t>(chunk.bits)});
  }
  if (!good)
    return true;

  std::vector<ir::Contribution> sorted = made.contributions;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    diagnostics_.report(diag::contribution_twice, at, {twice->rank, twice->chunk});
  const auto [first, isNew] = decl.expected.try_emplace({made.rank, made.outputChunk}, at);
  if (!isNew)
    diagnostics_.report(diag::expected_twice, at, {made.rank, made.outputChunk})
        .note(diag::expectation_here, first->second);
  decl.collective.expectations.push_back(std::move(made));
  return true;
}

bool Declarations::then(const TraceReader &reader) {
  const auto record = reader.as<ThenRecord>();
  if (record.collective >= collectives_.size())
    return false;
  CollectiveDecl &decl = collectives_[record.collective];
  if (decl.then != ir::noLoc)
    diagnostics_.report(diag::then_twice, locOf(reader)).note(diag::then_here, decl.then);
  decl.collective.then = reader.text();
  decl.then = locOf(reader);
  return true;
}

void Declarations::hook(const TraceReader &reader) {
  const auto record = reader.as<HookRecord>();
  const ir::LocId at = locOf(reader);
  HookDecl &decl = hooks.emplace_back();
  if (!inProgram("'Hook'", at))
    return;
  checkName(reader.text(), "hook", at);
  if (record.head.flags >= std::size(ir::granularityNames))
    diagnostics_.report(diag::no_enumerator, at, {"Hook", "a .granularity", "the enumerators of Granularity"});
  else if (!inRange(record.block, 0, maxChunks))
    diagnostics_.report(diag::hook_block_out_of_range, at, {textOf(record.block), maxChunks});
  else
    decl = {true, static_cast<std::uint32_t>(program_.hooks.size())};
  if (!decl.valid)
    return;
  ir::Hook &made = program_.hooks.emplace_back();
  made.name = reader.text();
  made.granularity = static_cast<ir::Granularity>(record.head.flags);
  made.block = static_cast<std::uint32_t>(record.block.bits);
  made.loc = at;
}

bool Declarations::hookText(const TraceReader &reader) {
  if (hooks.empty())
    return false;
  if (!hooks.back().valid)
    return true;
  ir::Hook &hook = program_.hooks[hooks.back().number];
  const auto array = [&](std::vector<std::string> &list) {
    checkName(reader.text(), "array", locOf(reader));
    list.emplace_back(reader.text());
  };
  switch (static_cast<HookField>(reader.head().flags)) {
  case HookField::Reads:
    array(hook.reads);
    return true;
  case HookField::Writes:
    array(hook.writes);
    return true;
  case HookField::Equal:
    array(hook.equal);
    return true;
  case HookField::Function:
    hook.function = reader.text();
    return true;
  case HookField::Header:
    hook.header = reader.text();
    return true;
  }
  return false;
}

/// Checks the hooks when all their arrays are known. Checks that the promised hook exists.
void Declarations::checkHooks() {
  const std::vector<ir::Hook> &all = program_.hooks;
  for (auto hook = all.begin(); hook != all.end(); ++hook) {
    if (const std::string words = faultOf(*hook); !words.empty() && hook->wire == ir::Wire::None)
      diagnostics_.report(diag::hook_bad, hook->loc, {hook->name, words});
    if (const auto shared = ir::sharedArray(all, static_cast<std::size_t>(hook - all.begin())))
      diagnostics_.report(diag::hook_shares, hook->loc, {hook->name, shared->name, shared->other->name})
          .note(diag::hook_here, shared->other->loc);
    if (const auto first = std::ranges::find(all, hook->name, &ir::Hook::name); first != hook)
      diagnostics_.report(diag::hook_twice, hook->loc, {hook->name}).note(diag::hook_here, first->loc);
  }
  const std::string &then = program_.collective.then;
  if (const ir::LocId at = collectives_[usedCollective_].then;
      at != ir::noLoc && std::ranges::find(all, then, &ir::Hook::name) == all.end())
    diagnostics_.report(diag::then_unknown, at, {then});
}

/// Keeps the tags of the first program only. Further programs are errors.
void Declarations::tag(const TraceReader &reader) {
  if (phase_ != ProgramPhase::Before)
    return;
  const auto record = reader.as<TagRecord>();
  std::string tag(reader.text());
  if (record.value.negative != 0 || record.value.bits != 1)
    tag += "=" + textOf(record.value);
  if (!ir::isTag(tag) || reader.text().find('=') != std::string_view::npos)
    diagnostics_.report(diag::bad_tag, locOf(reader), {isUtf8(reader.text()) ? reader.text() : "?"});
  else if (std::ranges::find(program_.tags, tag) != program_.tags.end())
    diagnostics_.report(diag::tag_twice, locOf(reader), {tag});
  else
    program_.tags.push_back(std::move(tag));
}

bool Declarations::programBegin(const TraceReader &reader) {
  const auto record = reader.as<ProgramRecord>();
  const ir::LocId at = locOf(reader);
  if (phase_ == ProgramPhase::Open || phase_ == ProgramPhase::Skipping) {
    if (phase_ == ProgramPhase::Open) {
      diagnostics_.report(diag::nested_program, at, {reader.text(), program_.name})
          .note(diag::first_program_here, programLoc_);
      resume_ = ProgramPhase::Open;
    }
    phase_ = ProgramPhase::Skipping;
    ++skipped_;
    return true;
  }
  if (phase_ == ProgramPhase::After) {
    diagnostics_.report(diag::second_program, at).note(diag::first_program_here, programLoc_);
    resume_ = ProgramPhase::After;
    phase_ = ProgramPhase::Skipping;
    skipped_ = 1;
    return true;
  }
  if (record.collective >= collectives_.size())
    return false;
  CollectiveDecl &decl = collectives_[record.collective];
  programLoc_ = at;
  program_.name = reader.text();
  checkName(program_.name, "program", at);
  takeOptions(record, at);
  if (record.schedule == 0)
    refuseChoices(record, at);
  else
    takeSchedule(record, at);
  takeNodes(record, decl.ranks, at);
  usedCollective_ = record.collective;
  if (program_.oncePerRank != ir::OncePerRank::Off && decl.collective.kind != ir::CollectiveKind::Dispatch)
    diagnostics_.report(diag::once_per_rank_of_dispatch, at, {toString(decl.collective.kind)});
  if (!decl.valid) { // then the ranks of the program are unknown
    resume_ = ProgramPhase::After;
    phase_ = ProgramPhase::Skipping;
    skipped_ = 1;
    return true;
  }
  phase_ = ProgramPhase::Open;
  program_.collective.kind = decl.collective.kind; // places of chunks depend on it; the other parts are set at the end
  program_.collective.inplace = decl.collective.inplace;
  program_.ranks.resize(static_cast<std::size_t>(decl.ranks));
  for (std::size_t r = 0; r < program_.ranks.size(); ++r) {
    program_.ranks[r].inputChunks = static_cast<std::uint32_t>(decl.sizesOf(r).input);
    program_.ranks[r].outputChunks = static_cast<std::uint32_t>(decl.sizesOf(r).output);
  }
  return true;
}

void Declarations::takeOptions(const ProgramRecord &record, ir::LocId at) {
  const auto check = [&](bool good, const ir::DiagInfo &info, const std::vector<ir::DiagArg> &args) {
    if (!good)
      diagnostics_.report(info, at, args);
  };
  check(record.automaticInstances != 0 || inRange(record.instances, 1, maxInstances), diag::instances_out_of_range,
        {textOf(record.instances), maxInstances});
  check(inRange(record.threadsPerBlock, 1, 1024), diag::threads_out_of_range, {textOf(record.threadsPerBlock)});
  check(inRange(record.bufferAlignment, 1, std::uint64_t{1} << 31) && std::has_single_bit(record.bufferAlignment.bits),
        diag::bad_alignment, {textOf(record.bufferAlignment)});
  constexpr std::uint64_t mostReady = (std::uint64_t{1} << 31) - 1; // a message has no more rows
  check(inRange(record.readyRows, 0, mostReady), diag::ready_rows_out_of_range, {textOf(record.readyRows), mostReady});
  const ir::CollectiveKind kind = collectives_[record.collective].collective.kind;
  check(record.readyRows.bits == 0 || ir::info(kind).hasExperts, diag::ready_rows_of_no_experts, {toString(kind)});
  check(record.minMessageSize.negative == 0, diag::negative_message_size, {"smallest", textOf(record.minMessageSize)});
  check(record.maxMessageSize.negative == 0, diag::negative_message_size, {"largest", textOf(record.maxMessageSize)});
  check(record.maxMessageSize.negative != 0 || record.maxMessageSize.bits != 0, diag::no_message_size, {});
  check(record.minMessageSize.negative != 0 || record.maxMessageSize.negative != 0 || record.maxMessageSize.bits == 0 ||
            record.minMessageSize.bits <= record.maxMessageSize.bits,
        diag::message_sizes_crossed, {textOf(record.minMessageSize), textOf(record.maxMessageSize)});
  program_.protocol = record.protocol == static_cast<std::uint8_t>(Protocol::LL)        ? ir::Protocol::LL
                      : record.protocol == static_cast<std::uint8_t>(Protocol::Lamport) ? ir::Protocol::Lamport
                                                                                        : ir::Protocol::Simple;
  program_.fuse = record.fuse != 0;
  program_.autoSync = record.autoSync != 0;
  program_.instances = record.automaticInstances != 0 ? 1 : static_cast<std::uint32_t>(record.instances.bits);
  program_.replication = record.replication != 0 ? ir::Replication::None : ir::Replication::Interleaved;
  program_.reuseResources = record.reuseResources != 0;
  const bool isManual = record.schedule == static_cast<std::uint8_t>(Schedule::Manual);
  program_.doubleScratch = record.doubleScratch != 0 || (isManual && program_.protocol == ir::Protocol::Lamport);
  program_.latePacketsApart = record.latePacketsApart != 0;
  program_.split = record.split != 0;
  program_.readyRows = static_cast<std::uint32_t>(record.readyRows.bits);
  program_.oncePerRank = static_cast<ir::OncePerRank>(std::min<std::uint8_t>(record.oncePerRank, 2));
  check(record.accumulate <= static_cast<std::uint8_t>(Accumulate::Wide), diag::no_enumerator,
        {"CollectiveProgram", "an .accumulate", "the enumerators of Accumulate"});
  program_.movement.accumulate = record.accumulate != 0 ? ir::Accumulate::Wide : ir::Accumulate::Narrow;
  check(record.wire < std::size(ir::wireNames), diag::no_enumerator,
        {"CollectiveProgram", "a .wire", "the enumerators of Wire::Form"});
  if (record.wire != 0 && record.wire < std::size(ir::wireNames))
    takeWire(record, at);
  program_.threadsPerBlock = static_cast<std::uint32_t>(record.threadsPerBlock.bits);
  program_.bufferAlignment = static_cast<std::uint32_t>(record.bufferAlignment.bits);
  program_.minMessageSize = record.minMessageSize.bits;
  program_.maxMessageSize = record.maxMessageSize.bits;
}

/// Checks a wire format, and adds it to the program as a hook.
void Declarations::takeWire(const ProgramRecord &record, ir::LocId at) {
  constexpr std::uint64_t step = 8, most = 256; // ir::faultOf
  if (!inRange(record.wireBlock, step, most) || record.wireBlock.bits % step != 0)
    diagnostics_.report(diag::wire_block_out_of_range, at, {textOf(record.wireBlock), step, most});
  std::string others;
  const auto refuse = [&](bool isGiven, std::string_view option) {
    if (isGiven)
      others.append(others.empty() ? "" : ", ").append(option);
  };
  refuse(program_.protocol == ir::Protocol::Lamport,
         ".protocol = Protocol::" + std::string(ir::toString(program_.protocol)));
  refuse(program_.movement.accumulate != ir::Accumulate::Narrow, ".accumulate = Accumulate::Wide");
  refuse(program_.reuseResources, ".reuseResources");
  if (!others.empty())
    diagnostics_.report(diag::wire_with_others, at, {others});
  ir::Hook &wire = program_.hooks.emplace_back();
  wire.name = "wire";
  wire.granularity = ir::Granularity::Block;
  wire.block = static_cast<std::uint32_t>(record.wireBlock.bits);
  wire.wire = static_cast<ir::Wire>(record.wire);
  wire.function = ir::functionOf(wire.wire, wire.block);
  wire.header = ir::info(wire.wire).header;
  wire.loc = at;
}

/// Reads options that only programs of Schedule::Auto have.
void Declarations::takeSchedule(const ProgramRecord &record, ir::LocId at) {
  ir::Movement &movement = program_.movement;
  program_.schedule = ir::Schedule::Auto;
  if (record.reassociate != 0)
    diagnostics_.report(diag::reassociate_renamed, at);
  movement.order = record.reassociate != 0 ? ir::Order::Any : ir::Order::Written;
  if (record.order > static_cast<std::uint8_t>(Order::Tree))
    diagnostics_.report(diag::no_enumerator, at, {"CollectiveProgram", "an .order", "the enumerators of Order"});
  else if (record.order != 0)
    movement.order = static_cast<ir::Order>(record.order);
  movement.chooseProtocol = record.protocol == static_cast<std::uint8_t>(Protocol::Auto);
  movement.chooseInstances = record.automaticInstances != 0;
  if (record.doubleScratch != 0)
    diagnostics_.report(diag::double_scratch_in_auto, at);
  if (!program_.autoSync)
    diagnostics_.report(diag::auto_sync_in_auto, at);
  if (program_.replication == ir::Replication::None)
    diagnostics_.report(diag::replication_in_auto, at);
  if (!inRange(record.blocks, 0, maxBlocks))
    diagnostics_.report(diag::blocks_out_of_range, at, {textOf(record.blocks), maxBlocks});
  else
    movement.mostBlocks = static_cast<std::uint32_t>(record.blocks.bits);
}

/// Reads the number of ranks of a node. `ranks`: the number of ranks of the collective, which may be out of range.
void Declarations::takeNodes(const ProgramRecord &record, std::int64_t ranks, ir::LocId at) {
  if (ranks < 1 || ranks > maxRanks)
    return;
  if (!inRange(record.ranksPerNode, 0, static_cast<std::uint64_t>(ranks)))
    diagnostics_.report(diag::node_out_of_range, at, {textOf(record.ranksPerNode), ranks});
  else if (record.ranksPerNode.bits != 0 && static_cast<std::uint64_t>(ranks) % record.ranksPerNode.bits != 0)
    diagnostics_.report(diag::nodes_differ, at, {ranks, record.ranksPerNode.bits});
  else
    program_.movement.ranksPerNode = static_cast<std::uint32_t>(record.ranksPerNode.bits);
}

/// Refuses `automatic` in a program of Schedule::Manual, where the compiler chooses nothing.
void Declarations::refuseChoices(const ProgramRecord &record, ir::LocId at) {
  std::string options, instead;
  const auto refuse = [&](bool isGiven, std::string_view option, std::string_view other) {
    if (!isGiven)
      return;
    options.append(options.empty() ? "'" : ", '").append(option) += '\'';
    instead.append(instead.empty() ? "" : ", ").append(other);
  };
  refuse(record.automaticInstances != 0, ".instances = automatic", "write a number of instances");
  refuse(record.protocol == static_cast<std::uint8_t>(Protocol::Auto), ".protocol = Protocol::Auto",
         "write Protocol::Simple or Protocol::LL");
  refuse(record.blocks.bits != 0, ".blocks", "leave .blocks out");
  refuse(record.order != 0, ".order", "leave .order out");
  refuse(record.reassociate != 0, ".reassociate", "leave .reassociate out");
  if (!options.empty())
    diagnostics_.report(diag::choice_in_manual, at, {options, instead});
}

void Declarations::programEnd() {
  if (phase_ == ProgramPhase::Open) {
    phase_ = ProgramPhase::After;
    // To find the second half of another rank's scratch, an executor uses the size of its own scratch. So all sizes are
    // equal.
    for (ir::Rank &rank : program_.ranks)
      if (program_.doubleScratch)
        rank.scratchChunks = std::max(rank.scratchChunks, grownScratch_);
  } else if (phase_ == ProgramPhase::Skipping && --skipped_ == 0) {
    phase_ = resume_;
  }
}

void Declarations::finish() {
  if (phase_ == ProgramPhase::Before && !diagnostics_.hasErrors())
    diagnostics_.report(diag::no_program, ir::Where{});
  // The recording stops when a program of a faulty collective begins.
  const bool isCut = usedCollective_ < collectives_.size() && !collectives_[usedCollective_].valid;
  if ((phase_ == ProgramPhase::Open || phase_ == ProgramPhase::Skipping) && !isCut)
    diagnostics_.report(diag::unfinished_program, programLoc_);
  if (usedCollective_ < collectives_.size()) {
    program_.collective = std::move(collectives_[usedCollective_].collective);
    checkHooks();
  }
}

} // namespace mscclc::frontend
