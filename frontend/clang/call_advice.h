// What is wrong with a call of the language that Clang could not make sense of.
#pragma once

#include "frontend/clang/argument_advice.h"

#include "clang/AST/Expr.h"

#include <functional>
#include <vector>

namespace clang {
class Sema;
}

namespace mscclc::frontend {

/// A call that failed, as the syntax tree keeps it, or an initialiser.
struct FailedCall {
  clang::SourceRange range;
  bool hasOtherErrors = false;  ///< in its arguments: they are the cause
  std::optional<Advice> advice; ///< nothing where the call is none of the language's, or nothing is found
};

/// The failed calls of the user's code, inner ones before those that they are in.
std::vector<FailedCall> failedCalls(clang::Sema &sema, const std::function<bool(clang::SourceLocation)> &isUser);

/// How a value of a class of the language is made: `AllReduce(ranks, chunkFactor, inplace)`.
std::string usageOf(const clang::CXXRecordDecl *record);

} // namespace mscclc::frontend
