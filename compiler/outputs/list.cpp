// --list
#include "compiler/diagnostics.h"
#include "compiler/outputs/outputs.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#endif

namespace mscclc::driver {

bool writeList(Job &job) {
  if (job.input.kind != InputKind::Algorithm)
    return job.diags.report(diag::list_needs_algorithm, job.input.shownName);
#ifdef MSCCLC_WITH_FRONTEND
  const auto algorithms = listAlgorithms(job.options, job.input.text, job.diags);
  return algorithms && job.say(*algorithms);
#else
  return job.diags.report(diag::no_front_end, job.input.shownName);
#endif
}

} // namespace mscclc::driver
