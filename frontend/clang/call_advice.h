// Finds out what is wrong with a call of the language that Clang could not resolve.
#pragma once

#include "frontend/clang/argument_advice.h"

#include "clang/AST/Expr.h"

#include <functional>
#include <vector>

namespace clang {
class Sema;
}

namespace mscclc::frontend {

/// A call or an initialiser that failed, as the syntax tree keeps it.
struct FailedCall {
  clang::SourceRange range;
  bool hasOtherErrors = false;  ///< true if an argument has an error of its own, the cause of this one
  std::optional<Advice> advice; ///< nothing if no advice is known
};

/// Returns the failed calls of the user's code; inner calls come before outer ones.
std::vector<FailedCall> failedCalls(clang::Sema &sema, const std::function<bool(clang::SourceLocation)> &isUser);

/// Returns the call that makes a value of a class of the language: `AllReduce(ranks, chunkFactor, inplace)`.
std::string usageOf(const clang::CXXRecordDecl *record);

} // namespace mscclc::frontend
