// Clang's diagnostics of a source, kept until all of it is read.
#pragma once

#include "ir/diagnostics.h"

#include "clang/AST/Type.h"
#include "clang/Basic/SourceLocation.h"

#include <array>
#include <string>

namespace clang {
class DeclContext;
}

namespace mscclc::frontend {

/// A diagnostic that waits for the end of the source, because the syntax tree around it may give a better text.
struct Held {
  ir::Diagnostic shown;
  unsigned kind = 0; ///< Clang's number of this kind; 0 for a diagnostic of mscclc
  clang::SourceLocation where = {};
  bool isAdvice = false;                     ///< it replaces one of Clang's
  std::array<std::string, 3> names = {};     ///< the first arguments, as far as they are names or text
  const clang::DeclContext *owner = nullptr; ///< the class, enum or namespace that an argument names, or null
  clang::QualType type = {};                 ///< the type that an argument names, or null

  bool isError() const { return shown.severity == ir::Severity::Error; }
};

} // namespace mscclc::frontend
