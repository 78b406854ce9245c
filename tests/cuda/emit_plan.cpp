// emit_plan PLAN.json [MESSAGE_SIZE]: the baked kernel of a plan on standard output.
#include "backend-cuda/emit_kernel.h"
#include "backend-json/read_plan.h"

#include <fstream>
#include <iostream>
#include <sstream>

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  mscclc::ir::DiagnosticEngine diagnostics;
  std::string source(argv[1]), out;
  source.erase(0, source.find_last_of('/') + 1);
  const auto program = mscclc::json::readPlan(text.str(), source, diagnostics);
  mscclc::cuda::EmitOptions options;
  options.sourceName = source;
  options.messageSize = argc > 2 ? std::stoull(argv[2]) : 0;
  if (!program || !mscclc::cuda::emitKernel(*program, options, out, diagnostics)) {
    std::cerr << diagnostics.render(false);
    return 1;
  }
  std::cout << out;
  return 0;
}
