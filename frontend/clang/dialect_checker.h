// Holds a source against the dialect: C++ that computes, and nothing else.
//
// Only the user's own code is checked (SourceReporter::kindOf). What slips through, say inside a library's header, has
// no symbols to link with and no system calls to make.
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

/// Why a header, or a function of the library, is not part of the language, and what to write; empty where it is.
std::string_view refusalOfHeader(llvm::StringRef name);
std::string_view refusalOfFunction(llvm::StringRef name);

/// Refuses includes as they are met.
std::unique_ptr<clang::PPCallbacks> createIncludeChecker(SourceReporter &reporter);

/// Refuses everything else, once all is parsed.
void checkDialect(clang::ASTContext &context, SourceReporter &reporter);

} // namespace mscclc::frontend
