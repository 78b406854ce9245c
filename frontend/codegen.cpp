#include "frontend/codegen.h"

#include "frontend/source_reporter.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <functional>
#include <vector>

using namespace clang;

namespace mscclc::frontend {

/// Every call to a consumer that the code generator listens to, in order.
class DeferredCodegen::Recorder : public ASTConsumer {
public:
  using Event = std::function<void(ASTConsumer &)>;

  bool HandleTopLevelDecl(DeclGroupRef d) override {
    events_.push_back([this, d](ASTConsumer &to) {
      if (!d.isNull())
        reporter_->reached((*d.begin())->getLocation());
      to.HandleTopLevelDecl(d);
    });
    return true;
  }
  void HandleInlineFunctionDefinition(FunctionDecl *d) override {
    events_.push_back([d](ASTConsumer &to) { to.HandleInlineFunctionDefinition(d); });
  }
  void HandleTagDeclDefinition(TagDecl *d) override {
    events_.push_back([d](ASTConsumer &to) { to.HandleTagDeclDefinition(d); });
  }
  void HandleTagDeclRequiredDefinition(const TagDecl *d) override {
    events_.push_back([d](ASTConsumer &to) { to.HandleTagDeclRequiredDefinition(d); });
  }
  void CompleteTentativeDefinition(VarDecl *d) override {
    events_.push_back([d](ASTConsumer &to) { to.CompleteTentativeDefinition(d); });
  }
  void HandleCXXStaticMemberVarInstantiation(VarDecl *d) override {
    events_.push_back([d](ASTConsumer &to) { to.HandleCXXStaticMemberVarInstantiation(d); });
  }
  void HandleVTable(CXXRecordDecl *d) override {
    events_.push_back([d](ASTConsumer &to) { to.HandleVTable(d); });
  }
  void AssignInheritanceModel(CXXRecordDecl *d) override {
    events_.push_back([d](ASTConsumer &to) { to.AssignInheritanceModel(d); });
  }

  void replay(ASTConsumer &to, SourceReporter &reporter) {
    reporter_ = &reporter;
    for (const Event &event : events_)
      event(to);
  }

private:
  std::vector<Event> events_;
  SourceReporter *reporter_ = nullptr;
};

std::unique_ptr<ASTConsumer> DeferredCodegen::createConsumer() {
  auto recorder = std::make_unique<Recorder>();
  recorder_ = recorder.get();
  return recorder;
}

namespace {

/// The DSL's own functions need no checks of undefined behaviour, and are too many and too short to be called.
class DslMarker : public RecursiveASTVisitor<DslMarker> {
public:
  explicit DslMarker(ASTContext &context) : context_(context) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }
  bool VisitFunctionDecl(FunctionDecl *f) {
    if (!f->isUsed() && !f->isReferenced())
      return true;
    llvm::StringRef all = "undefined";
    f->addAttr(NoSanitizeAttr::CreateImplicit(context_, &all, 1));
    if (f->isInlined())
      f->addAttr(AlwaysInlineAttr::CreateImplicit(context_));
    return true;
  }
  bool TraverseStmt(Stmt *) { return true; }

private:
  ASTContext &context_;
};

} // namespace

std::unique_ptr<llvm::Module> DeferredCodegen::generate(CompilerInstance &compiler, llvm::LLVMContext &context,
                                                        const FunctionDecl *function, std::string &name,
                                                        SourceReporter &reporter) {
#if LLVM_VERSION_MAJOR >= 22
  const std::unique_ptr<CodeGenerator> generator = CreateLLVMCodeGen(compiler, "algorithm", context);
#else
  const std::unique_ptr<CodeGenerator> generator(CreateLLVMCodeGen(
      compiler.getDiagnostics(), "algorithm", &compiler.getVirtualFileSystem(), compiler.getHeaderSearchOpts(),
      compiler.getPreprocessorOpts(), compiler.getCodeGenOpts(), context));
#endif
  generator->Initialize(compiler.getASTContext());
  DslMarker marker(compiler.getASTContext());
  for (Decl *d : compiler.getASTContext().getTranslationUnitDecl()->decls())
    if (reporter.kindOf(d->getLocation()) == FileKind::Dsl)
      marker.TraverseDecl(d);
  recorder_->replay(*generator, reporter);
  name = generator->GetMangledName(GlobalDecl(function->getDefinition())).str();
  generator->HandleTranslationUnit(compiler.getASTContext());
  return std::unique_ptr<llvm::Module>(generator->ReleaseModule());
}

} // namespace mscclc::frontend
