// Findings about the statements of a movement program.
#pragma once

#include "ir/program.h"
#include "passes/schedule/schedule_diagnostics.h"

#include <set>

namespace mscclc::passes::schedule {

/// Reports each kind of finding only once at each statement. After 100 errors, full() is true. At most 100 warnings are
/// reported.
class StatementFindings {
public:
  StatementFindings(const ir::Program &program, ir::DiagnosticEngine &diags) : program_(program), diags_(diags) {}

  /// Returns the statement's source location, or "statement 3".
  ir::Where where(std::uint32_t statement) const {
    return {program_.movement.statements[statement].loc, "statement " + std::to_string(statement)};
  }
  /// True if `info` has to be reported: it was not reported at `statement` before, and there are not too many warnings.
  /// Then counts `info` as reported there.
  bool isNew(const ir::DiagInfo &info, std::uint32_t statement) {
    const bool warns = info.severity == ir::Severity::Warning;
    if ((warns && warnings_ == most) || !seen_.emplace(info.id, statement).second)
      return false;
    ++(warns ? warnings_ : errors_);
    return true;
  }
  ir::DiagBuilder report(const ir::DiagInfo &info, std::uint32_t statement, const std::vector<ir::DiagArg> &args) {
    return diags_.report(info, where(statement), args);
  }
  /// Reports a finding that no statement causes: at the collective if it has a source location, else at the program.
  void reportOnProgram(const ir::DiagInfo &info, const std::vector<ir::DiagArg> &args) {
    diags_.report(info, {program_.collective.loc, "program '" + program_.name + "'"}, args);
    ++errors_;
  }
  std::uint64_t errors() const { return errors_; }
  bool full() const { return errors_ >= most; }

private:
  static constexpr std::uint64_t most = 100;
  const ir::Program &program_;
  ir::DiagnosticEngine &diags_;
  std::set<std::pair<std::string_view, std::uint32_t>> seen_;
  std::uint64_t errors_ = 0, warnings_ = 0;
};

} // namespace mscclc::passes::schedule
