// --verify
#include "compiler/outputs/outputs.h"

namespace mscclc::driver {

ExitCode writeProof(Job &job) {
  return job.say(ir::printable(job.program.name) + ": " + job.result + "\n");
}

} // namespace mscclc::driver
