// Compares two programs by what their plans mean, and tells the differences.
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
  std::size_t limit = 20;  ///< differences kept, those alike being one; all are counted
};

struct PlanDifference {
  enum class Kind : std::uint8_t { Changed, OnlyLeft, OnlyRight };
  Kind kind = Kind::Changed;
  /// Where, in the left program; of OnlyRight, the operation of the right one.
  ir::ProgramPlace place;
  std::string operation; ///< mnemonic, where an operation differs
  std::string field;     ///< as a plan names it: "src_buff[0]"; empty for an operation on one side only
  std::string left, right;
  ir::LocId loc = ir::noLoc; ///< of the left program's operation
  std::uint64_t others =
      0; ///< how many more are alike: of the same line of source, or of the same place on other ranks
};

struct PlanComparison {
  std::vector<PlanDifference> differences; ///< the first ones, by rank, block and operation
  std::uint64_t total = 0;
  bool equal() const { return total == 0; }
};

/// Compares as tools do that read the plans: channels of signal, wait and flush, access types and ranks of a switch
/// group are sets, everything else counts as it stands. Operations of a block are aligned first, so that one inserted
/// operation is one difference; remote chunks are compared by rank and buffer. Both programs must be well formed.
PlanComparison comparePlans(const ir::Program &left, const ir::Program &right, const CompareOptions &options = {});

/// A difference in words: "rank 0, block 1, operation 2 (put): src_buff[0] is input[0:1], but input[2:3] in
/// golden.json", where `rightName` says what the right program is.
std::string describe(const PlanDifference &difference, std::string_view rightName);

} // namespace mscclc::json
