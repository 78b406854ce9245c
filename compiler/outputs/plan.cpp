// --emit-json
#include "compiler/outputs/plan.h"

#include "backend-json/write_plan.h"
#include "compiler/diagnostics.h"

namespace mscclc::driver {

bool writePlanTo(Job &job, const std::string &path) {
  if (!job.program.hooks.empty()) {
    const ir::Hook &hook = job.program.hooks.front();
    if (hook.wire != ir::Wire::None)
      return job.diags.report(diag::plan_with_wire, hook.loc);
    return job.diags.report(diag::plan_with_hook, hook.loc, {hook.name});
  }
  if (job.program.protocol == ir::Protocol::Lamport)
    return job.diags.report(diag::plan_with_lamport, job.program.collective.loc);
  for (const ir::Op &op : ir::opsOf(job.program.ranks))
    if (op.firstAfter != 0)
      return job.diags.report(diag::plan_with_first_after, op.loc, {ir::wordOf(job.program, op), op.firstAfter});
  return job.writeFile(path, [&](std::ostream &stream) {
    json::writePlan(job.program, stream, {job.options.compact, {}, job.target.executor != nullptr});
  });
}

bool writePlan(Job &job) {
  return writePlanTo(job, job.options.outputPath);
}

} // namespace mscclc::driver
