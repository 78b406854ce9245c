// The base of visitors of Clang's syntax trees.
#pragma once

#include "llvm/Config/llvm-config.h"

#if LLVM_VERSION_MAJOR >= 20
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#else
#include "clang/AST/RecursiveASTVisitor.h"
#endif

namespace mscclc::frontend {

/// What a visitor `class V : public AstVisitor<V>` derives from: Clang's visitor by virtual functions, which is
/// compiled once, in Clang; LLVM 19 has only the one that is compiled anew for each visitor.
#if LLVM_VERSION_MAJOR >= 20
template <typename> using AstVisitor = clang::DynamicRecursiveASTVisitor;
#else
template <typename Visitor> class AstVisitor : public clang::RecursiveASTVisitor<Visitor> {
public:
  bool ShouldVisitTemplateInstantiations = false;
  bool shouldVisitTemplateInstantiations() const { return ShouldVisitTemplateInstantiations; }
};
#endif

} // namespace mscclc::frontend
