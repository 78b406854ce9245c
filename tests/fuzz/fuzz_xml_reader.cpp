// For any text, the reader of schedules in XML reports errors, or returns a well-formed program.
#include "frontend/xml/read_xml.h"
#include "ir/structure.h"

#include <cstdlib>

using namespace mscclc;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  for (const bool keepBlocks : {false, true}) {
    ir::DiagnosticEngine engine;
    const auto program =
        xml::readXml({reinterpret_cast<const char *>(data), size}, "x.xml", {.keepBlocks = keepBlocks}, engine);
    if (program.has_value() == engine.hasErrors())
      std::abort();
    engine.render(false);
    if (program && (program->movement.statements.empty() || !ir::checkStructure(*program, engine)))
      std::abort();
  }
  return 0;
}
