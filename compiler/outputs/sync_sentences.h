// The syncs of a program in the words of --explain. Syncs of the same kind, statement and reason share one sentence.
#pragma once

#include "passes/prune/sync_reasons.h"

#include <string>
#include <tuple>
#include <vector>

namespace mscclc::driver {

/// One sentence, for one or more syncs.
struct SyncSentence {
  std::string where;  ///< the statement: "ring.cpp:21:7"
  std::string what;   ///< "signal of each rank to the next one (8 in all), waited for at line 24"
  std::string at;     ///< place of the access that would be wrong without the sync; if there is none, `where`
  std::string reason; ///< "rank 1 could read output[0] of rank 0 before rank 0 (line 20) has written it"
  std::string_view key;
  bool isNeeded = true;
  bool isExamined = true;  ///< false if it is not known whether the sync is needed
  bool isExample = false;  ///< the sentence is about several syncs, and `reason` is the reason of one of them
  bool isPart = false;     ///< `reason` holds if similar syncs at other statements are removed, too
  bool isTogether = false; ///< each of the syncs could be removed alone, but not all of them together
  std::size_t count = 0;   ///< number of syncs in the sentence
};

/// Returns the sentences about the syncs, in the order of the statements.
std::vector<SyncSentence> sentencesOf(const ir::Program &program,
                                      const std::vector<passes::prune::SyncReason> &reasons);

/// Returns the place where an operation was written: "ring.cpp:21:7", "plan.json: $.gpus[0].threadblocks[0].ops[1]", or
/// "rank 0, block 1, operation 2" for IR without places.
std::string statementOf(const ir::Program &program, const ir::OpRef &op);

/// The order of statements in outputs: by document, line and column. Statements without a line come last.
using StatementOrder = std::tuple<bool, std::string, std::uint32_t, std::uint32_t>;
/// Returns the position of the statement of `op` in this order.
StatementOrder orderOf(const ir::Program &program, const ir::OpRef &op);

} // namespace mscclc::driver
