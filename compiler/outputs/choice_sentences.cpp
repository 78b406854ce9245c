#include "compiler/outputs/choice_sentences.h"

#include "compiler/outputs/estimates.h"
#include "compiler/outputs/sync_sentences.h"
#include "ir/diagnostics.h"
#include "ir/op_semantics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace mscclc::driver {

using passes::schedule::Candidate;
using passes::schedule::ScheduleChoices;
using passes::schedule::TakenFor;

namespace {

std::string protocolWords(const ScheduleChoices &choices) {
  switch (choices.protocol) {
  case ir::Protocol::Simple:
    return "plain data, and signals that it is there";
  case ir::Protocol::LL:
    return "packets, which signal their own arrival";
  case ir::Protocol::Lamport:
    return "packets without flags, whose data shows that it has come, with -0.0 as +0.0";
  }
  return "";
}
std::string instancesWords(const ScheduleChoices &choices) {
  return choices.instances == 1 ? "one, which moves all data"
                                : std::to_string(choices.instances) + ", each of which moves its share of the data";
}
std::string reductionWords(const ScheduleChoices &choices) {
  return choices.pull ? "ranks read what they reduce from the others"
                      : "ranks put what others reduce into their scratch";
}
std::string switchWords(const ScheduleChoices &choices) {
  return choices.throughSwitch ? "what the switch of a node can do" : "what the program says";
}
std::string blocksWords(const ScheduleChoices &choices) {
  return (choices.blocks == 1 ? "one" : std::to_string(choices.blocks)) +
         (choices.step != 0 ? " for each stage of the pipeline and instance" : " for each rank and instance");
}
std::string pipelineWords(const ScheduleChoices &choices) {
  return choices.step == 0 ? "none, each chunk moves as a whole"
                           : "units of " + shownBytes(choices.step) + " one after the other";
}
std::string relayWords(const ScheduleChoices &choices) {
  return choices.relayBlocks ? "blocks without data have those that others have too many of" : "each block has its own";
}

/// One kind of choice: its name, a function that puts its value into words, and one that compares two values.
struct Dimension {
  std::string_view key;
  std::string (*words)(const ScheduleChoices &);
  bool (*same)(const ScheduleChoices &, const ScheduleChoices &);
};
constexpr Dimension dimensions[] = {
    {"protocol", protocolWords,
     [](const ScheduleChoices &a, const ScheduleChoices &b) { return a.protocol == b.protocol; }},
    {"instances", instancesWords,
     [](const ScheduleChoices &a, const ScheduleChoices &b) { return a.instances == b.instances; }},
    {"reductions", reductionWords, [](const ScheduleChoices &a, const ScheduleChoices &b) { return a.pull == b.pull; }},
    {"through the switch", switchWords,
     [](const ScheduleChoices &a, const ScheduleChoices &b) { return a.throughSwitch == b.throughSwitch; }},
    {"thread blocks", blocksWords,
     [](const ScheduleChoices &a, const ScheduleChoices &b) {
       return a.blocks == b.blocks && (a.step == 0) == (b.step == 0);
     }},
    {"pipeline", pipelineWords, [](const ScheduleChoices &a, const ScheduleChoices &b) { return a.step == b.step; }},
    {"channels", relayWords,
     [](const ScheduleChoices &a, const ScheduleChoices &b) { return a.relayBlocks == b.relayBlocks; }},
};

std::string_view throughWords(ir::ChannelType type) {
  switch (type) {
  case ir::ChannelType::None:
    return " inside the rank";
  case ir::ChannelType::Memory:
    return " through a memory channel";
  case ir::ChannelType::Port:
    return " through a port";
  case ir::ChannelType::Switch:
    return " through the switch";
  }
  return "";
}

bool sendsPackets(const ir::Program &program) {
  return std::ranges::any_of(ir::opsOf(program.ranks), [](const ir::Op &op) { return ir::isPacketOp(op.kind); });
}

std::uint64_t bytesOf(double figure) {
  return static_cast<std::uint64_t>(std::llround(figure));
}

} // namespace

std::vector<ChoiceSentence> sentencesOf(const Chosen &chosen, const ir::Program &program) {
  std::vector<ChoiceSentence> sentences;
  const ScheduleChoices &taken = chosen.choice.choices;
  for (const Dimension &dimension : dimensions) {
    const Candidate *best = nullptr;
    for (const Candidate &one : chosen.choice.tried)
      if (!one.refused && !dimension.same(one.choices, taken) && (!best || one.nanoseconds < best->nanoseconds))
        best = &one;
    // Protocol and instances always get a sentence. Other choices get one only if an alternative was tried.
    const bool isProtocol = dimension.key == "protocol", isInstances = dimension.key == "instances";
    if (!best && !isProtocol && !isInstances)
      continue;
    ChoiceSentence &sentence = sentences.emplace_back();
    sentence.key = dimension.key;
    sentence.chosen = isProtocol && ir::usesPackets(taken.protocol) && !sendsPackets(program)
                          ? "plain data, because no rank can receive packets"
                          : dimension.words(taken);
    sentence.isPinned = (isProtocol && !chosen.anyProtocol) || (isInstances && !chosen.anyInstances);
    sentence.toOpen = isProtocol ? ".protocol = Protocol::Auto" : isInstances ? ".instances = automatic" : "";
    if (best) {
      sentence.runnerUp = dimension.words(best->choices);
      sentence.other = *best;
    }
  }
  if (chosen.keepsBlocks) {
    ChoiceSentence &sentence = sentences.emplace_back();
    sentence.key = "thread blocks";
    sentence.chosen = "those of the schedule";
    sentence.isSole = true;
  }
  return sentences;
}

std::string comparedWith(const ChoiceSentence &choice, const Chosen &chosen) {
  if (choice.isPinned)
    return chosen.input == InputKind::Xml ? "as the schedule says"
                                          : "the program leaves no choice; " + choice.toOpen + " does";
  if (choice.isSole)
    return "blocks that mscclc would choose exceed the target's limits";
  if (choice.runnerUp.empty())
    return "nothing else was tried";
  // If the alternative is among the best candidates, the times after all passes are compared.
  const auto &finished = chosen.choice.finished;
  const bool isFinished = std::ranges::find(finished, choice.other.choices, &Candidate::choices) != finished.end();
  const auto &among = isFinished ? finished : chosen.choice.tried;
  const auto taken = std::ranges::find(among, chosen.choice.choices, &Candidate::choices);
  const Candidate &other = *std::ranges::find(among, choice.other.choices, &Candidate::choices);
  const double percent =
      100 * (other.nanoseconds / (taken == among.end() ? chosen.choice.nanoseconds : taken->nanoseconds) - 1);
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", percent);
  const std::string words =
      "next best: " + choice.runnerUp + ", in " + shownTime(other.nanoseconds) + " (" + text + ")";
  if (percent >= 0.05 || taken == among.end())
    return words;
  const auto but = [&](const std::string &what, std::uint64_t instead) {
    return words + ", but with " + what + " instead of " + std::to_string(instead);
  };
  switch (passes::schedule::takenFor(among, *taken, other)) {
  case TakenFor::Time:
    return words;
  case TakenFor::Measurements:
    return words + ", but " + restsOnWords(*other.restsOn & ~*taken->restsOn);
  case TakenFor::LinkBytes:
    return but(ir::plural(bytesOf(other.linkBytes), "byte") + " on the busiest link", bytesOf(taken->linkBytes));
  case TakenFor::Syncs:
    return but(ir::plural(other.syncs, "sync"), taken->syncs);
  case TakenFor::ThreadBlocks:
    return but(ir::plural(other.threadBlocks, "thread block"), taken->threadBlocks);
  case TakenFor::Order:
    return words + ", which counts as equal, and was tried later";
  }
  return words;
}

std::string restsOnWords(const passes::time::ParameterSet &parameters) {
  return "its time rests on " + ir::enumerate(passes::time::keysOf(parameters)) + ", without a measurement";
}

std::vector<StatementSentence> statementsOf(const ir::Program &program) {
  struct Ways {
    std::pair<StatementOrder, std::size_t> order; ///< position of the statement in the program
    std::map<std::string, std::size_t> times;     ///< number of operations for each way: "put through memory channels"
  };
  std::map<std::string, Ways> statements;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b)
      for (std::uint32_t o = 0; const ir::Op &op : program.ranks[r].blocks[b].ops) {
        const ir::OpRef at{r, b, o++};
        if (ir::info(op.kind).step != ir::OpStep::Data)
          continue;
        Ways &ways =
            statements.try_emplace(statementOf(program, at), Ways{{orderOf(program, at), statements.size()}, {}})
                .first->second;
        ++ways.times[std::string(ir::info(op.kind).call) + std::string(throughWords(op.channelType))];
      }
  std::vector<const std::pair<const std::string, Ways> *> order;
  for (const auto &statement : statements)
    order.push_back(&statement);
  std::ranges::sort(order, {}, [](const auto *s) { return s->second.order; });
  std::vector<StatementSentence> sentences;
  for (const auto *statement : order) {
    StatementSentence &sentence = sentences.emplace_back(StatementSentence{statement->first, ""});
    for (const auto &[way, times] : statement->second.times)
      sentence.words += (sentence.words.empty() ? "" : ", and ") + way + " (" + ir::plural(times, "time") + ")";
  }
  return sentences;
}

} // namespace mscclc::driver
