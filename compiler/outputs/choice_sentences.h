// The choices made for a program of statements, in the words of --explain.
#pragma once

#include "compiler/outputs/outputs.h"

#include <optional>
#include <string>
#include <vector>

namespace mscclc::driver {

/// One choice, and the best alternative in which this choice differs.
struct ChoiceSentence {
  std::string_view key;              ///< "protocol"
  std::string chosen;                ///< "packets, which signal their own arrival"
  bool isPinned = false;             ///< the program, or the default of its option, fixes the value
  std::string toOpen;                ///< the option that makes the choice automatic; empty if it always is
  bool isSole = false;               ///< no alternative, because the target accepts no other value
  std::string runnerUp;              ///< the value of the best alternative in words; empty if there was none
  passes::schedule::Candidate other; ///< the best alternative
};

/// Returns a sentence for the protocol, one for the instances, and one for each other choice for which an alternative
/// was tried. `program`: the program after scheduling.
std::vector<ChoiceSentence> sentencesOf(const Chosen &chosen, const ir::Program &program);

/// Returns the comparison with the best alternative: "next best: plain data, …, in 25.1 us (+17.3 %)". If there is
/// none, returns the reason: "the program leaves no choice; .instances = automatic does", "blocks that mscclc would
/// choose exceed the target's limits", or "nothing else was tried". If the alternative is not slower, also returns why
/// it was not chosen.
std::string comparedWith(const ChoiceSentence &choice, const Chosen &chosen);

/// Returns a text like "its time rests on fence and barrier, without a measurement" for these parameters of a machine.
std::string restsOnWords(const passes::time::ParameterSet &parameters);

/// The operations that execute a statement, in words.
struct StatementSentence {
  std::string where;
  std::string words; ///< "put through memory channels (56 times)"
};

/// Returns a sentence for each statement that moves data, in the order of the statements.
std::vector<StatementSentence> statementsOf(const ir::Program &program);

} // namespace mscclc::driver
