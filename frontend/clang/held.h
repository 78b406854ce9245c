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
  unsigned kind = 0; ///< Clang's number of this diagnostic; 0 for one of mscclc
  clang::SourceLocation where = {};
  bool isAdvice = false;                     ///< true for an error that replaces an error of Clang
  std::array<std::string, 3> names = {};     ///< the first arguments that are names or text
  const clang::DeclContext *owner = nullptr; ///< a class, enum or namespace among the arguments, or null
  clang::QualType type = {};                 ///< the first type among the arguments, or null

  bool isError() const { return shown.severity == ir::Severity::Error; }
};

} // namespace mscclc::frontend
