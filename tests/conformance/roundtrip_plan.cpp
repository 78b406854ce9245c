// roundtrip_plan IN OUT [--compact]: reads a plan and writes it again.
#include "backend-json/read_plan.h"
#include "backend-json/write_plan.h"

#include <fstream>
#include <iostream>
#include <sstream>

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  std::ifstream in(argv[1], std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  mscclc::ir::DiagnosticEngine engine;
  const auto program = mscclc::json::readPlan(text.str(), argv[1], engine);
  std::cerr << engine.render(false);
  if (!program)
    return 1;
  std::ofstream out(argv[2], std::ios::binary);
  mscclc::json::WriteOptions options;
  options.compact = argc > 3;
  return mscclc::json::writePlan(*program, out, options) ? 0 : 1;
}
