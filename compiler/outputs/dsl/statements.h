// The lines of a movement program, before they are folded into loops.
#pragma once

#include "compiler/outputs/dsl/node.h"
#include "ir/program.h"

#include <vector>

namespace mscclc::dsl {

/// Lines for each rank: [rank].
using RankLines = std::vector<std::vector<Node>>;

/// Returns the statements of `program` as calls, in sections that are executed one after the other. In a section, lines
/// of different ranks do not depend on each other, so it may be written as loops over ranks. The rank of a statement is
/// the rank of the moved share, or of the first destination. The choice with fewer sections is taken. If the language
/// cannot express a statement, throws NoSource.
std::vector<RankLines> statementSections(const ir::Program &program, Templates &templates);

} // namespace mscclc::dsl
