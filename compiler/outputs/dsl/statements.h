// The lines of a movement program, before loops replace repeated lines.
#pragma once

#include "compiler/outputs/dsl/node.h"
#include "ir/program.h"

#include <vector>

namespace mscclc::dsl {

/// [rank]: the lines of the rank.
using RankLines = std::vector<std::vector<Node>>;

/// Returns the statements of `program` as calls, divided into sections. The source executes one section after the
/// other. In a section, lines of different ranks do not depend on each other, so loops over ranks are possible. The
/// rank of a statement is either the rank whose share is moved, or the rank of the first destination. The choice that
/// makes fewer sections is used for all statements. Throws NoSource if the language cannot express a statement.
std::vector<RankLines> statementSections(const ir::Program &program, Templates &templates);

} // namespace mscclc::dsl
