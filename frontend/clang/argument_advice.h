// Explains why an argument does not fit a parameter of the language, and advises what to write.
#pragma once

#include "ir/diagnostics.h"

#include "clang/AST/Expr.h"

#include <optional>
#include <string>
#include <vector>

namespace clang {
class Sema;
}

namespace mscclc::frontend {

/// An error that is reported instead of an error of Clang.
struct Advice {
  const ir::DiagInfo *info;
  clang::SourceLocation where;
  std::vector<ir::DiagArg> args;
  bool saysWhatToWrite = true;
};

class ArgumentAdvice {
public:
  ArgumentAdvice(clang::Sema &sema, const std::string &callee) : sema_(sema), callee_(callee) {}

  /// Returns true if `argument` can initialise `parameter`.
  bool fits(clang::Expr *argument, clang::ParmVarDecl *parameter) const;
  /// Explains why `argument` cannot initialise `parameter`.
  Advice why(const clang::Expr *argument, const clang::ParmVarDecl *parameter) const;
  /// Explains why `value` cannot initialise a variable of type `wanted`. Returns nothing unless `wanted` is a type of
  /// the language and the advice can say what to write. `of`: the first arguments of the message `info`.
  std::optional<Advice> whyValue(const clang::Expr *value, clang::QualType wanted, const ir::DiagInfo &info,
                                 std::vector<ir::DiagArg> of) const;
  /// Returns what is wrong with a braced list of options; nothing if it is right.
  std::optional<Advice> ofOptions(const clang::InitListExpr *list, const clang::CXXRecordDecl *options) const;

  /// Returns an expression as it is written; `…` if it is long or has several lines.
  std::string text(const clang::Expr *e) const;

private:
  Advice ofValue(const clang::Expr *argument, clang::QualType wanted, const ir::DiagInfo &withAdvice,
                 const ir::DiagInfo &plain, std::vector<ir::DiagArg> args) const;
  std::string toWrite(const clang::Expr *argument, clang::QualType wanted) const;
  std::string option(const clang::Expr *argument, const clang::CXXRecordDecl *options) const;

  clang::Sema &sema_;
  const std::string &callee_;
};

/// Returns the error for an option that a struct of options does not have.
Advice adviceOnOption(clang::SourceLocation where, const clang::CXXRecordDecl *options, llvm::StringRef name);

/// Returns the element type of a list of the language or the library; null for other types.
clang::QualType elementOf(clang::QualType type);

/// Returns a type in the words of the language: "a chunk", "a list of chunks", "an integer". Empty for a null type.
std::string inWords(clang::QualType type);

} // namespace mscclc::frontend
