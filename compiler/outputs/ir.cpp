// --emit-ir
#include "compiler/outputs/outputs.h"
#include "ir/text.h"

namespace mscclc::driver {

bool writeIR(Job &job) {
  std::string text;
  ir::print(job.program, text);
  return job.writeFile(job.options.outputPath, [&](std::ostream &stream) { stream << text; });
}

} // namespace mscclc::driver
