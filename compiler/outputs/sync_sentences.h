// The syncs of a program in the words of --explain: those of one kind at one statement, with one reason, are told once.
#pragma once

#include "passes/prune/sync_reasons.h"

#include <string>
#include <tuple>
#include <vector>

namespace mscclc::driver {

/// Syncs that are told together.
struct SyncSentence {
  std::string where;  ///< the statement: "ring.cpp:21:7"
  std::string what;   ///< "signal of each rank to the next one (8 in all), waited for at line 24"
  std::string at;     ///< where the access is that would go wrong; else as `where`
  std::string reason; ///< "rank 1 could read output[0] of rank 0 before rank 0 (line 20) has written it"
  std::string_view key;
  bool isNeeded = true;
  bool isExamined = true;  ///< if not, it is not known whether it is needed
  bool isExample = false;  ///< `reason` is told of one of several
  bool isPart = false;     ///< `reason` is what would go wrong without those like it at other statements, too
  bool isTogether = false; ///< each alone could go, but not all
  std::size_t count = 0;   ///< of syncs
};

/// In the order of the statements.
std::vector<SyncSentence> sentencesOf(const ir::Program &program,
                                      const std::vector<passes::prune::SyncReason> &reasons);

/// Where an operation was written: "ring.cpp:21:7", "plan.json: $.gpus[0].threadblocks[0].ops[1]", or "rank 0, block 1,
/// operation 2" of IR without places.
std::string statementOf(const ir::Program &program, const ir::OpRef &op);

/// Orders statements as outputs tell of them: by document, line and column; those without line come last.
using StatementOrder = std::tuple<bool, std::string, std::uint32_t, std::uint32_t>;
StatementOrder orderOf(const ir::Program &program, const ir::OpRef &op);

} // namespace mscclc::driver
