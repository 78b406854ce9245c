#include "frontend/clang/codegen.h"

#include "frontend/clang/source_reporter.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <functional>
#include <vector>

using namespace clang;

namespace mscclc::frontend {

/// Records every call to a consumer, in order. After the replay, further calls are passed on at once, because Clang
/// reads much of a precompiled header only while it generates code.
class DeferredCodegen::Recorder : public ASTConsumer {
public:
  using Event = std::function<void(ASTConsumer &)>;

  explicit Recorder(const SourceReporter &parsing) : parsing_(parsing) {}

  bool HandleTopLevelDecl(DeclGroupRef d) override {
    note([this, d](ASTConsumer &to) {
      if (!d.isNull() && reporter_->isUser((*d.begin())->getLocation()))
        reporter_->reached((*d.begin())->getLocation());
      to.HandleTopLevelDecl(d);
    });
    return !parsing_.hadLongConstant();
  }
  void HandleInlineFunctionDefinition(FunctionDecl *d) override {
    note([d](ASTConsumer &to) { to.HandleInlineFunctionDefinition(d); });
  }
  void HandleTagDeclDefinition(TagDecl *d) override {
    note([d](ASTConsumer &to) { to.HandleTagDeclDefinition(d); });
  }
  void HandleTagDeclRequiredDefinition(const TagDecl *d) override {
    note([d](ASTConsumer &to) { to.HandleTagDeclRequiredDefinition(d); });
  }
  void CompleteTentativeDefinition(VarDecl *d) override {
    note([d](ASTConsumer &to) { to.CompleteTentativeDefinition(d); });
  }
  void HandleCXXStaticMemberVarInstantiation(VarDecl *d) override {
    note([d](ASTConsumer &to) { to.HandleCXXStaticMemberVarInstantiation(d); });
  }
  void HandleVTable(CXXRecordDecl *d) override {
    note([d](ASTConsumer &to) { to.HandleVTable(d); });
  }
  void AssignInheritanceModel(CXXRecordDecl *d) override {
    note([d](ASTConsumer &to) { to.AssignInheritanceModel(d); });
  }

  void replay(ASTConsumer &to, SourceReporter &reporter) {
    reporter_ = &reporter;
    for (std::size_t i = 0; i < events_.size(); ++i) { // a replayed call may add to the list
      const Event event = std::move(events_[i]);
      event(to);
    }
    target_ = &to;
  }

private:
  void note(Event event) {
    if (target_)
      event(*target_);
    else
      events_.push_back(std::move(event));
  }

  const SourceReporter &parsing_;
  std::vector<Event> events_;
  SourceReporter *reporter_ = nullptr;
  ASTConsumer *target_ = nullptr;
};

std::unique_ptr<ASTConsumer> DeferredCodegen::createConsumer(const SourceReporter &reporter) {
  auto recorder = std::make_unique<Recorder>(reporter);
  recorder_ = recorder.get();
  return recorder;
}

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
  recorder_->replay(*generator, reporter);
  name = generator->GetMangledName(GlobalDecl(function->getDefinition())).str();
  generator->HandleTranslationUnit(compiler.getASTContext());
  return std::unique_ptr<llvm::Module>(generator->ReleaseModule());
}

} // namespace mscclc::frontend
