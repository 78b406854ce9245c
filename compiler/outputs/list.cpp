// --list
#include "compiler/diagnostics.h"
#include "compiler/outputs/outputs.h"
#include "compiler/session.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#endif

namespace mscclc::driver {

ExitCode writeList(Job &job) {
  if (job.input.kind != InputKind::Algorithm) {
    job.diags.report(diag::list_needs_algorithm, job.input.shownName);
    return exitUsage;
  }
#ifdef MSCCLC_WITH_FRONTEND
  const auto algorithms = listAlgorithms(job.options, job.input.text, job.diags);
  return algorithms ? job.say(*algorithms) : exitAfterLoading(job.input.kind, job.diags);
#else
  job.diags.report(diag::no_front_end, job.input.shownName);
  return exitInputWrong;
#endif
}

} // namespace mscclc::driver
