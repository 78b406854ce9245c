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
  std::size_t limit = 20;  ///< the most differences that are kept; similar ones count as one (`total` counts all)
};

struct PlanDifference {
  enum class Kind : std::uint8_t { Changed, OnlyLeft, OnlyRight };
  Kind kind = Kind::Changed;
  /// The place in the left program. For OnlyRight, the place in the right program.
  ir::ProgramPlace place;
  std::string operation; ///< mnemonic of the operation that differs
  std::string field;     ///< field name in a plan: "src_buff[0]"; empty if the operation is on one side only
  std::string left, right;
  ir::LocId loc = ir::noLoc; ///< location of the operation in the left program
  /// Number of similar differences: of the same source line, or of the same place on other ranks.
  std::uint64_t others = 0;
};

struct PlanComparison {
  std::vector<PlanDifference> differences; ///< the first differences, by rank, block and operation
  std::uint64_t total = 0;
  bool equal() const { return total == 0; }
};

/// Compares plans in the way in which tools read them. The channels of signal, wait and flush, access types, and the
/// ranks of a switch group are sets. For everything else, the order counts. Operations of a block are aligned first, so
/// that one inserted operation is one difference. Remote chunks are compared by rank and buffer. Both programs must be
/// well formed.
PlanComparison comparePlans(const ir::Program &left, const ir::Program &right, const CompareOptions &options = {});

/// Returns a difference in words: "rank 0, block 1, operation 2 (put): src_buff[0] is input[0:1], but input[2:3] in
/// golden.json". `rightName`: the name of the right program in this text.
std::string describe(const PlanDifference &difference, std::string_view rightName);

} // namespace mscclc::json
