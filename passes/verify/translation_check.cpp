#include "passes/verify/translation_check.h"

#include "ir/internal_error.h"
#include "passes/verify/verify.h"

#include <string>

namespace mscclc::passes {
namespace {

/// Returns the findings against `program`; empty if it is proven.
std::string faultsOf(const ir::Program &program, const ir::AllowedNames &allowed) {
  ir::DiagnosticEngine findings;
  findings.allow(allowed);
  findings.setSources(&program.sources);
  VerifyOptions options;
  options.warnings = false;
  return verify(program, findings, options).proven ? std::string() : findings.render(false);
}

/// Returns false if the program has statements of the movement form. The proof can say nothing about them yet.
bool hasBlocks(const ir::Program &program) {
  return program.movement.statements.empty();
}

} // namespace

std::function<bool(std::string_view, const ir::Program &, ir::DiagnosticEngine &)>
checkTranslation(const ir::Program &program, const ir::AllowedNames &allowed) {
  return [proven = hasBlocks(program) && faultsOf(program, allowed).empty(),
          allowed](std::string_view pass, const ir::Program &after, ir::DiagnosticEngine &) mutable {
    if (!hasBlocks(after))
      return true;
    const std::string faults = faultsOf(after, allowed);
    if (proven && !faults.empty())
      throw ir::InternalError("pass '" + std::string(pass) + "' broke a program that was proven before it:\n" + faults);
    proven = faults.empty();
    return true;
  };
}

} // namespace mscclc::passes
