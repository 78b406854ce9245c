// The base of visitors of Clang's syntax trees.
#pragma once

#include "llvm/Config/llvm-config.h"

#if LLVM_VERSION_MAJOR >= 20
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#else
#include "clang/AST/RecursiveASTVisitor.h"
#endif

namespace mscclc::frontend {

/// The base class of a visitor `class V : public AstVisitor<V>`. It is Clang's visitor with virtual functions, which is
/// compiled once, as a part of Clang. LLVM 19 only has a visitor that is compiled again for each class.
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
