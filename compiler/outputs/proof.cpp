// --verify
#include "compiler/outputs/outputs.h"

namespace mscclc::driver {

bool writeProof(Job &job) {
  return job.say(ir::printable(job.program.name) + ": " + job.result + "\n");
}

} // namespace mscclc::driver
