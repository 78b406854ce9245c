// The choices for a program of statements, in the words of --explain.
#pragma once

#include "compiler/outputs/outputs.h"

#include <optional>
#include <string>
#include <vector>

namespace mscclc::driver {

/// One choice, and the best alternative with another value.
struct ChoiceSentence {
  std::string_view key;              ///< "protocol"
  std::string chosen;                ///< "packets, which signal their own arrival"
  bool isPinned = false;             ///< set by the program, or by the default of an option
  std::string toOpen;                ///< the option that leaves it open; empty if it is always open
  bool isSole = false;               ///< the target accepts nothing else
  std::string runnerUp;              ///< the best alternative, in the same words; empty if nothing else was tried
  passes::schedule::Candidate other; ///< the runner-up
};

/// Returns the protocol and the instances in any case, and other choices if there was an alternative. `program` is what
/// was made of them.
std::vector<ChoiceSentence> sentencesOf(const Chosen &chosen, const ir::Program &program);

/// Returns "next best: plain data, …, in 25.1 us (+17.3 %)", "the program leaves no choice; .instances = automatic
/// does", "blocks that mscclc would choose exceed the target's limits", or "nothing else was tried". If the runner-up
/// is not slower, also says why it was not taken.
std::string comparedWith(const ChoiceSentence &choice, const Chosen &chosen);

/// Returns "its time rests on fence and barrier, without a measurement" for parameters of a machine.
std::string restsOnWords(const passes::time::ParameterSet &parameters);

/// The way in which a statement is done.
struct StatementSentence {
  std::string where;
  std::string words; ///< "put through memory channels (56 times)"
};

/// Returns a sentence for each statement whose data a rank moves, in the order of statements.
std::vector<StatementSentence> statementsOf(const ir::Program &program);

} // namespace mscclc::driver
