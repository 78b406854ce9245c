// The findings of the verifier, in groups: a cause that appears on many ranks is one finding with a count.
#pragma once

#include "ir/program_index.h"
#include "passes/verify/verify_diagnostics.h"

#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace mscclc::passes::proof {

using ir::none;
using ir::ProgramIndex;

/// The findings in the order in which they were made. They are reported once, at the end, with their counts.
class Findings {
public:
  Findings(const ProgramIndex &index, ir::DiagnosticEngine &diags) : index_(index), diags_(diags) {}

  struct Note {
    const ir::DiagInfo *info;
    ir::Where where;
    std::vector<ir::DiagArg> args;
  };
  struct Finding {
    const ir::DiagInfo *info;
    ir::Where where;
    std::vector<ir::DiagArg> args;
    std::vector<Note> notes;
    std::uint64_t alike = 0;
    bool otherRanks = false, otherBlocks = false;
    ir::OpRef place; ///< place of the first such finding
  };

  /// Returns "rank 1, block 0, operation 3", or its source line.
  ir::Where where(ir::OpRef place) const;
  ir::Where rankWhere(std::uint32_t rank) const { return {"rank " + std::to_string(rank)}; }

  /// Adds a finding at `place`. `other` is the second place, if there is one. If a finding of the same kind is at the
  /// same places of the source, counts the new one there, once for each set of exact places. Returns a new finding to
  /// fill in; null if it was counted.
  Finding *add(const ir::DiagInfo &info, ir::OpRef place, ir::OpRef other = nowhere);
  /// Does the same as add(), and fills in the arguments of a new finding.
  void report(const ir::DiagInfo &info, ir::OpRef place, std::vector<ir::DiagArg> args) {
    if (Finding *found = add(info, place))
      found->args = std::move(args);
  }
  /// Does the same as add() for a finding without an operation. It is grouped only by kind and `group`.
  Finding *addOnRank(const ir::DiagInfo &info, std::uint32_t rank, std::uint32_t group = 0);

  /// Does the same as addOnRank() for a finding about all ranks.
  Finding *addOnProgram(const ir::DiagInfo &info);

  /// The current findings. restore() brings them back later.
  struct State {
    std::vector<Finding> findings;
    std::unordered_map<std::uint64_t, std::size_t> groups;
    std::unordered_set<std::uint64_t> seen;
    std::uint64_t errors = 0, warnings = 0;
  };
  const State &state() const { return state_; }
  void restore(State state) { state_ = std::move(state); }

  std::uint64_t errors() const { return state_.errors; }
  std::uint64_t warnings() const { return state_.warnings; }
  std::vector<Finding> &all() { return state_.findings; }
  void dropWarnings();
  void flush();

  static constexpr ir::OpRef nowhere{none, none, none};

private:
  Finding *addKeyed(const ir::DiagInfo &info, std::uint64_t group, std::uint64_t identity, ir::OpRef place);
  std::uint64_t key(ir::OpRef place, bool exact) const;

  const ProgramIndex &index_;
  ir::DiagnosticEngine &diags_;
  State state_;
};

} // namespace mscclc::passes::proof
