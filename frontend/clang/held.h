// What Clang has to say of a source, kept until all of it is read.
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

/// A diagnostic that waits for the end of the source: what is around it in the syntax tree may say more.
struct Held {
  ir::Diagnostic shown;
  unsigned kind = 0; ///< Clang's number of this kind; 0 of a diagnostic of ours
  clang::SourceLocation where = {};
  bool isAdvice = false;                     ///< it stands in place of one of Clang's
  std::array<std::string, 3> names = {};     ///< of its first arguments those that are names or text
  const clang::DeclContext *owner = nullptr; ///< the class, enum or namespace that an argument is, or null
  clang::QualType type = {};                 ///< the type that an argument is, or null

  bool isError() const { return shown.severity == ir::Severity::Error; }
};

} // namespace mscclc::frontend
