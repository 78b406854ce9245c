#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Refuses programs that the executor accepts but executes wrongly. Warns if the plan may be right all the same.
///
/// Requires: lowered data sync and a single instance, because it checks the operations of the final plan.
/// Provides: nothing; it only reports.
Pass createCheckExecutorPass();

/// Reports an error and returns false if a statement or operation applies a hook, because an executor calls no
/// functions of users. Also refuses wire formats. The driver calls this before it schedules for an executor.
bool checkCallsNoFunctions(const ir::Program &program, const std::string &executor, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes
