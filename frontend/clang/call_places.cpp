#include "frontend/clang/call_places.h"

#include "frontend/clang/ast_visitor.h"

#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace mscclc::frontend {

#if LLVM_VERSION_MAJOR >= 22

void placeCallsAtTheirNames(ASTContext &) {}

#else

namespace {

class Placer : public AstVisitor<Placer> {
public:
  explicit Placer(ASTContext &context) : context_(context) { ShouldVisitTemplateInstantiations = true; }

  bool VisitCXXMemberCallExpr(CXXMemberCallExpr *call) {
    const auto *callee = dyn_cast<MemberExpr>(call->getCallee()->IgnoreParens());
    for (unsigned i = 0; callee && i < call->getNumArgs(); ++i)
      if (auto *argument = dyn_cast<CXXDefaultArgExpr>(call->getArg(i)))
        call->setArg(i, CXXDefaultArgExpr::Create(context_, callee->getMemberLoc(), argument->getParam(),
                                                  argument->getRewrittenExpr(), argument->getUsedContext()));
    return true;
  }

private:
  ASTContext &context_;
};

} // namespace

void placeCallsAtTheirNames(ASTContext &context) {
  // Skips precompiled declarations, which do not belong to the source.
  for (Decl *d : context.getTranslationUnitDecl()->noload_decls())
    if (!d->isFromASTFile())
      Placer(context).TraverseDecl(d);
}

#endif

} // namespace mscclc::frontend
