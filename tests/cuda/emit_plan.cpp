// emit_plan PLAN.json | EXAMPLE:RANKS [MESSAGE_SIZE]: prints the kernel of a plan, or of a program of examples.h.
#include "backend-cuda/emit_kernel.h"
#include "backend-json/read_plan.h"
#include "examples.h"

#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

namespace {

std::optional<mscclc::ir::Program> load(const std::string &what, mscclc::ir::DiagnosticEngine &diagnostics) {
  const std::size_t colon = what.find(':');
  if (colon != std::string::npos) {
    const auto make = mscclc::test::examples().find(what.substr(0, colon));
    if (make == mscclc::test::examples().end())
      return std::nullopt;
    return make->second(static_cast<std::uint32_t>(std::stoul(what.substr(colon + 1))));
  }
  std::ifstream file(what);
  std::stringstream text;
  text << file.rdbuf();
  return mscclc::json::readPlan(text.str(), what.substr(what.find_last_of('/') + 1), diagnostics);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  mscclc::ir::DiagnosticEngine diagnostics;
  const std::string what(argv[1]);
  const auto program = load(what, diagnostics);
  mscclc::cuda::EmitOptions options;
  options.sourceName = what.substr(what.find_last_of('/') + 1);
  options.messageSize = argc > 2 ? std::stoull(argv[2]) : 0;
  std::string out;
  if (!program || !mscclc::cuda::emitKernel(*program, options, out, diagnostics)) {
    std::cerr << "emit_plan: no kernel of " << what << "\n" << diagnostics.render(false);
    return 1;
  }
  std::cout << out;
  return 0;
}
