// What was chosen for a program of statements, in the words of --explain.
#pragma once

#include "compiler/outputs/outputs.h"

#include <optional>
#include <string>
#include <vector>

namespace mscclc::driver {

/// One choice, and the best of all that was tried with another.
struct ChoiceSentence {
  std::string_view key;              ///< "protocol"
  std::string chosen;                ///< "packets, which say themselves that they are there"
  bool isPinned = false;             ///< by the program, or by the default of an option
  std::string toOpen;                ///< the option that leaves it open; empty if it always is
  bool isSole = false;               ///< the target takes nothing else
  std::string runnerUp;              ///< in the same words; empty where nothing else was tried
  passes::schedule::Candidate other; ///< the runner-up
};

/// The protocol and the instances in any case, everything else where there was a choice.
std::vector<ChoiceSentence> sentencesOf(const Chosen &chosen);

/// "next best: plain data, …, in 25.1 us (+17.3 %)", "the program leaves no choice; .instances = automatic does",
/// "blocks that mscclc would choose exceed the target's limits", or "nothing else was tried". Of a runner-up that is
/// not slower, also why it was not taken.
std::string comparedWith(const ChoiceSentence &choice, const Chosen &chosen);

/// How a statement was carried out.
struct StatementSentence {
  std::string where;
  std::string words; ///< "put through memory channels (56 times)"
};

/// Of each statement whose data a rank moves, in the order of statements.
std::vector<StatementSentence> statementsOf(const ir::Program &program);

} // namespace mscclc::driver
