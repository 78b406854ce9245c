// For any text, the IR parser reports errors, or returns a program whose text parses back to the same text.
#include "ir/text.h"

#include <cstdlib>

using namespace mscclc::ir;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  DiagnosticEngine engine;
  const auto program = parse({reinterpret_cast<const char *>(data), size}, "x.ir", engine);
  if (program.has_value() == engine.hasErrors())
    std::abort();
  engine.render(false);
  if (!program)
    return 0;
  std::string text, again;
  print(*program, text);
  const auto back = parse(text, "x.ir", engine);
  if (!back)
    std::abort();
  print(*back, again);
  if (text != again)
    std::abort();
  return 0;
}
