// --explain
#include "backend-cuda/fused_hooks.h"
#include "compiler/diagnostics.h"
#include "compiler/outputs/blocks_by_size.h"
#include "compiler/outputs/choice_sentences.h"
#include "compiler/outputs/estimates.h"
#include "compiler/outputs/sync_sentences.h"
#include "passes/time/estimate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

namespace mscclc::driver {
namespace {

using passes::time::ParameterSet;

/// Returns the time of a launch of the final program. Most choices are compared before the last passes, so the compared
/// time may differ. Returns 0 if the choice was not timed.
passes::time::Time timeInTheEnd(const Job &job, const Chosen &chosen) {
  if (chosen.choice.nanoseconds == 0 || passes::time::cannotRun(job.program, chosen.machine))
    return chosen.choice.nanoseconds;
  return passes::time::launchFigures(job.program, chosen.machine, chosen.runner, chosen.bytes, {.ranks = true}).total;
}

/// Returns the sentence about the time of the chosen program and the number of candidates.
std::string timeText(const Job &job, const Chosen &chosen) {
  const passes::schedule::Choice &choice = chosen.choice;
  if (choice.nanoseconds == 0)
    return "the only schedule that was tried, so it was not timed";
  const std::string compared = shownTime(choice.nanoseconds), inTheEnd = shownTime(timeInTheEnd(job, chosen));
  return inTheEnd + " by the time model; " + ir::plural(choice.candidates, "schedule") +
         (choice.candidates == 1 ? " was" : " were") + " tried" +
         (compared == inTheEnd ? "" : ", and compared before the last passes, where this one takes " + compared) +
         (choice.finished.empty() ? "" : "; the best " + std::to_string(choice.finished.size()) + " also after them");
}

/// Returns the unmeasured parameters of the machine on which the time of the chosen schedule rests. Empty if they are
/// not known.
ParameterSet restsOf(const Chosen &chosen) {
  const passes::schedule::Candidate *taken = chosen.choice.taken();
  return taken ? taken->restsOn.value_or(ParameterSet()) : ParameterSet();
}

/// Returns the table of launch times for each limit on the thread blocks of a rank.
std::string blocksText(const Chosen &chosen) {
  if (chosen.byBlocks.empty())
    return "";
  std::string text = "\ntime with at most so many thread blocks of a rank (.blocks)\n";
  char line[128];
  for (const passes::schedule::TimeByBlocks &row : chosen.byBlocks) {
    std::snprintf(line, sizeof line, "%8u %12s, with %llu in all ranks\n", row.most, shownTime(row.nanoseconds).c_str(),
                  static_cast<unsigned long long>(row.threadBlocks));
    text += line;
  }
  return text;
}

/// Returns the paragraphs about the choices, and about the operations of each statement.
std::string choiceText(const Job &job, const Chosen &chosen) {
  const std::string goal = shownBytes(chosen.bytes) + (chosen.bytes % 1024 == 0 ? " on " : "B on ") +
                           chosen.machine.name + ", run by " + std::string(toString(chosen.runner)) + ": ";
  std::string text;
  if (chosen.choice.tried.empty()) {
    text = "nothing was chosen for " + goal + "no schedule that was tried could run there as it stood\n";
  } else {
    text = "chosen for " + goal + timeText(job, chosen) + "\n";
    if (const ParameterSet rests = restsOf(chosen); rests.any())
      text += "  " + restsOnWords(rests) + "\n";
    for (const ChoiceSentence &choice : sentencesOf(chosen, job.program))
      text += "  " + std::string(choice.key) + ": " + choice.chosen + "; " + comparedWith(choice, chosen) + "\n";
  }
  text += blocksText(chosen) + "\nwhat became of each statement\n";
  for (const StatementSentence &statement : statementsOf(job.program))
    text += statement.where + ": " + statement.words + "\n";
  return text + "\n";
}

/// Returns the sentence that says whether rows go once to each rank; empty if this was not compared.
std::string oncePerRankText(const Job &job) {
  if (!job.oncePerRank)
    return "";
  const auto &[without, with] = *job.oncePerRank;
  const bool isOn = job.program.oncePerRank == ir::OncePerRank::On;
  return "rows go once to each " + std::string(isOn ? "rank" : "expert") + ", in " + shownTime(isOn ? with : without) +
         " by the time model; once to each " + (isOn ? "expert" : "rank") + ", in " + shownTime(isOn ? without : with) +
         "\n\n";
}

/// Returns the beginning of the sentence that explains why a sync is needed.
std::string beginningOf(const SyncSentence &sync) {
  if (!sync.isNeeded)
    return "";
  if (sync.isTogether)
    return "each of them alone could go; without all of them, for example, ";
  if (sync.isPart)
    return "without it and those like it, for example, ";
  return sync.isExample ? "without it, for example, " : "without it, ";
}

/// Returns the paragraph about the hooks of a kernel: a line for each place that calls a hook's function, in the order
/// of the source.
std::string hooksText(const ir::Program &program) {
  struct Uses {
    std::uint64_t all = 0, fused = 0;
  };
  std::map<std::pair<std::string, std::string>, Uses> places;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::size_t b = 0; b < program.ranks[r].blocks.size(); ++b) {
      const ir::ThreadBlock &block = program.ranks[r].blocks[b];
      const std::vector<std::uint32_t> fused = cuda::fusedHooks(program, r, b);
      for (std::size_t o = 0; o < block.ops.size(); ++o) {
        if (block.ops[o].kind == ir::OpKind::Apply)
          ++places[{sourceOf(program, block.ops[o]), program.hooks[block.ops[o].imm].name}].all;
        if (fused[o] != 0) {
          const ir::Op &apply = block.ops[o + fused[o]];
          ++places[{sourceOf(program, apply), program.hooks[apply.imm].name}].fused;
        }
      }
    }
  std::string text = places.empty() ? "" : "how a kernel calls the functions of hooks\n";
  for (const auto &[place, uses] : places) {
    const std::uint64_t passes = uses.all - uses.fused;
    text += place.first + ": hook '" + place.second + "': ";
    if (uses.fused != 0)
      text += std::to_string(uses.fused) + " times in the operation that makes the value" + (passes != 0 ? ", " : "\n");
    if (passes != 0)
      text += std::to_string(passes) + " times in a pass of its own over local memory\n";
  }
  return places.empty() ? "" : text + "\n";
}

bool hasPackets(const ir::Program &program) {
  for (const ir::Rank &rank : program.ranks)
    for (const ir::ThreadBlock &block : rank.blocks)
      if (std::ranges::any_of(block.ops, [](const ir::Op &op) { return ir::isPacketOp(op.kind); }))
        return true;
  return false;
}

std::string syncText(const ir::Program &program, const std::vector<SyncSentence> &syncs) {
  std::string text = "why each sync is there\n";
  for (const SyncSentence &sync : syncs) {
    text += sync.where + ": " + sync.what + "\n";
    text += sync.at + ":   " + beginningOf(sync) + sync.reason + "\n";
  }
  if (syncs.empty())
    text += hasPackets(program) ? "there is none: whoever needs data waits for the packets that bring it\n"
                                : "there is none: no access has to wait for another\n";
  return text;
}

nlohmann::ordered_json document(const Job &job, const std::vector<SyncSentence> &syncs,
                                const std::vector<BlocksFrom> &bySize) {
  using Json = nlohmann::ordered_json;
  Json whole = {{"program", job.program.name}, {"ranks", job.program.ranks.size()}, {"proven", job.options.verify}};
  if (job.chosen) {
    const Chosen &chosen = *job.chosen;
    Json choices = Json::array();
    for (const ChoiceSentence &choice : sentencesOf(chosen, job.program)) {
      Json row = {{"choice", choice.key}, {"chosen", choice.chosen}, {"pinned", choice.isPinned}};
      if (!choice.runnerUp.empty())
        row.update({{"runner_up", choice.runnerUp}, {"runner_up_us", choice.other.nanoseconds / 1e3}});
      choices.push_back(std::move(row));
    }
    whole["bytes"] = chosen.bytes;
    whole["machine"] = chosen.machine.name;
    whole["us"] = timeInTheEnd(job, chosen) / 1e3;
    whole["compared_us"] = chosen.choice.nanoseconds / 1e3;
    whole["rests_on"] = passes::time::keysOf(restsOf(chosen));
    whole["choices"] = std::move(choices);
    Json byBlocks = Json::array();
    for (const passes::schedule::TimeByBlocks &row : chosen.byBlocks)
      byBlocks.push_back({{"most", row.most}, {"blocks", row.threadBlocks}, {"us", row.nanoseconds / 1e3}});
    whole["by_blocks"] = std::move(byBlocks);
    Json statements = Json::array();
    for (const StatementSentence &statement : statementsOf(job.program))
      statements.push_back({{"where", statement.where}, {"became", statement.words}});
    whole["statements"] = std::move(statements);
  }
  if (job.options.blocksBySize) {
    Json rows = Json::array();
    for (const BlocksFrom &row : bySize)
      rows.push_back({{"bytes", row.bytes},
                      {"instances", row.instances},
                      {"blocks", row.blocks},
                      {"us", row.together / 1e3},
                      {"one_instance_us", row.one / 1e3}});
    whole["blocks_by_size"] = std::move(rows);
  }
  if (job.oncePerRank)
    whole["once_per_rank"] = {{"chosen", job.program.oncePerRank == ir::OncePerRank::On},
                              {"us", job.oncePerRank->with / 1e3},
                              {"once_per_expert_us", job.oncePerRank->without / 1e3}};
  Json rows = Json::array();
  for (const SyncSentence &sync : syncs)
    rows.push_back({{"where", sync.where},
                    {"sync", sync.what},
                    {"count", sync.count},
                    {"needed", sync.isExamined ? Json(sync.isNeeded) : Json()},
                    {"reason", sync.key},
                    {"at", sync.at},
                    {"text", sync.reason}});
  whole["syncs"] = std::move(rows);
  return whole;
}

} // namespace

bool writeExplanation(Job &job) {
  const auto reasons = passes::prune::reasonsOfSync(job.program, job.options.allowed);
  job.times.lap("explain");
  if (!reasons)
    return job.diags.report(diag::not_explained, ir::Where(job.options.input));
  const std::vector<SyncSentence> syncs = sentencesOf(job.program, *reasons);
  const std::vector<BlocksFrom> bySize = job.options.blocksBySize ? blocksBySize(job) : std::vector<BlocksFrom>();
  std::string text;
  if (job.options.json) {
    text = textOf(document(job, syncs, bySize));
  } else {
    std::size_t blocks = 0;
    for (const ir::Rank &rank : job.program.ranks)
      blocks += rank.blocks.size();
    text = ir::printable(job.program.name) + ": " + ir::plural(job.program.ranks.size(), "rank") + ", " +
           ir::plural(blocks, "thread block") + (job.options.verify ? "" : "; not proven") + "\n\n" +
           (job.chosen ? choiceText(job, *job.chosen) : "") + oncePerRankText(job) +
           (job.options.blocksBySize ? shownBlocks(bySize) : "") + hooksText(job.program) +
           syncText(job.program, syncs);
  }
  return job.writeFile(job.options.outputPath, [&](std::ostream &out) { out << text; });
}

} // namespace mscclc::driver
