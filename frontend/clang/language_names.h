// The names of the language, from its headers. Messages list these names, and suggest the nearest one for a misspelt
// name.
#pragma once

#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"

#include <string>
#include <vector>

namespace mscclc::frontend {

/// Returns the namespace mscclc as the source has read it, or null.
const clang::NamespaceDecl *languageOf(clang::ASTContext &context);

/// Returns true if `d` is declared in namespace mscclc, directly or nested.
bool isOfLanguage(const clang::Decl *d);

/// Returns the public members that users may name, of a class and its bases. Each name occurs once, in the order of
/// declaration.
std::vector<std::string> memberNames(const clang::CXXRecordDecl *record);
std::vector<std::string> enumeratorNames(const clang::EnumDecl *enumeration);
/// Returns the enumerators as a text: `ReduceOp::Sum, ReduceOp::Min or ReduceOp::Max`.
std::string enumeratorsOf(const clang::EnumDecl *enumeration);

/// Returns true if a class is a struct of options: `{.name = value, …}`.
bool isOptions(const clang::CXXRecordDecl *record);
/// Each returns the class or enum of the language with this name; null if there is none.
const clang::CXXRecordDecl *recordNamed(clang::ASTContext &context, llvm::StringRef name);
const clang::EnumDecl *enumNamed(clang::ASTContext &context, llvm::StringRef name);
/// Returns all structs of options of the language.
std::vector<const clang::CXXRecordDecl *> optionStructs(clang::ASTContext &context);
/// Returns the enums of the language that have an enumerator of this name.
std::vector<const clang::EnumDecl *> enumsWith(clang::ASTContext &context, llvm::StringRef enumerator);

/// Does the same as enumsWith(), but ignores upper and lower case.
std::vector<const clang::EnumDecl *> enumsWithAnyCase(clang::ASTContext &context, llvm::StringRef enumerator);

/// Returns this language's name for an option of another language, such as Python; empty if there is none.
std::string optionNamed(llvm::StringRef other);
/// Returns the advice for a name of another language; empty if it is not such a name.
std::string insteadOf(llvm::StringRef word);

} // namespace mscclc::frontend
