// --list
#include "compiler/diagnostics.h"
#include "compiler/outputs/outputs.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#endif

namespace mscclc::driver {

bool writeList(Job &job) {
  if (job.input.kind != InputKind::Algorithm) {
    job.diags.report(diag::list_needs_algorithm, job.input.shownName);
    return false;
  }
#ifdef MSCCLC_WITH_FRONTEND
  const auto algorithms = listAlgorithms(job.options, job.input.text, job.diags);
  return algorithms && job.say(*algorithms);
#else
  job.diags.report(diag::no_front_end, job.input.shownName);
  return false;
#endif
}

} // namespace mscclc::driver
