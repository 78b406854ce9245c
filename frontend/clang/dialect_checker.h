// Checks that a source is in the dialect: C++ that computes, and does nothing else.
//
// Only the user's own code is checked (SourceReporter::kindOf). Other code, for example in a library's header, is not.
// It can do no harm: it has no symbols to link with, and cannot make system calls.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string_view>
#include <vector>

namespace clang {
class ASTContext;
class Decl;
class PPCallbacks;
class SourceManager;
} // namespace clang

namespace mscclc::frontend {

class SourceReporter;

/// Each returns why a header or a library function is not part of the language, and what to write instead. Empty if it
/// is part of the language.
std::string_view refusalOfHeader(llvm::StringRef name);
std::string_view refusalOfFunction(llvm::StringRef name);

/// Returns callbacks that refuse includes while Clang reads them.
std::unique_ptr<clang::PPCallbacks> createIncludeChecker(SourceReporter &reporter);

/// Refuses all other uses of C++ outside the language, once the source is parsed.
void checkDialect(clang::ASTContext &context, SourceReporter &reporter);

} // namespace mscclc::frontend
