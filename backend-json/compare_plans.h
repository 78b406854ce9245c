// Compares the meaning of two plans, and lists the differences.
#pragma once

#include "ir/program.h"
#include "ir/structure.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::json {

struct CompareOptions {
  bool ignoreName = false; ///< the plan's name may differ
  std::size_t limit = 20;  ///< number of differences that are kept (similar ones count as one); all are counted
};

struct PlanDifference {
  enum class Kind : std::uint8_t { Changed, OnlyLeft, OnlyRight };
  Kind kind = Kind::Changed;
  /// The place in the left program. For OnlyRight it is the place in the right one.
  ir::ProgramPlace place;
  std::string operation; ///< mnemonic of the operation that differs
  std::string field;     ///< the name in a plan: "src_buff[0]"; empty if the operation is on one side only
  std::string left, right;
  ir::LocId loc = ir::noLoc; ///< location of the left program's operation
  std::uint64_t others = 0; ///< number of similar ones: of the same line of source, or at the same place on other ranks
};

struct PlanComparison {
  std::vector<PlanDifference> differences; ///< the first ones, by rank, block and operation
  std::uint64_t total = 0;
  bool equal() const { return total == 0; }
};

/// Compares plans as tools do that read them. Channels of signal, wait and flush, access types, and ranks of a switch
/// group are sets; the order of everything else counts. Operations of a block are aligned first, so that one inserted
/// operation is one difference. Remote chunks are compared by rank and buffer. Both programs must be well formed.
PlanComparison comparePlans(const ir::Program &left, const ir::Program &right, const CompareOptions &options = {});

/// Returns a difference in words: "rank 0, block 1, operation 2 (put): src_buff[0] is input[0:1], but input[2:3] in
/// golden.json". `rightName` is the name of the right program there.
std::string describe(const PlanDifference &difference, std::string_view rightName);

} // namespace mscclc::json
