// --run
#include "compiler/outputs/outputs.h"
#include "compiler/progress.h"
#include "passes/simulate/simulate.h"
#include "passes/verify/verify.h"

#include <unistd.h>

namespace mscclc::driver {

bool writeRun(Job &job) {
  bool ok = true;
  const std::vector<std::string> &asked = job.options.types;
  for (const std::string &name : asked.empty() ? std::vector<std::string>{"f32"} : asked) {
    passes::SimulateOptions options;
    options.sizes = job.options.runSizes;
    options.type = *passes::parseDataType(name);
    options.schedules = job.options.runSchedules;
    options.seed = job.options.seed;
    if (job.proof && job.proof->ofRows)
      options.rows = &job.proof->rows;
    options.counts = job.counts.value_or(passes::RowCounts());
    options.allow(job.options.allowed);
    options.sums = job.outputSums ? &*job.outputSums : nullptr;
    ProgressBar bar("running " + name, !job.options.quiet && isatty(STDERR_FILENO) != 0);
    options.progress = [&bar](double share) {
      bar.show(share);
      return true;
    };
    const passes::SimulateResult result = passes::simulate(job.program, job.diags, options);
    bar.clear();
    ok &= result.ok;
    job.result += (job.result.empty() ? "" : "; ") + name + " " + result.summary();
    if (!job.say(ir::printable(job.program.name) + ", " + name + ", seed " + std::to_string(job.options.seed) + "\n" +
                 result.table()))
      return false;
  }
  job.times.lap("run on the CPU");
  return ok;
}

} // namespace mscclc::driver
