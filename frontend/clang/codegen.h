// From a checked syntax tree to LLVM IR.
#pragma once

#include <memory>
#include <string>

namespace clang {
class ASTConsumer;
class ASTContext;
class CompilerInstance;
class FunctionDecl;
} // namespace clang
namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mscclc::frontend {

class SourceReporter;

/// Collects what the parser hands out, and generates code for all of it on demand: only once the source is known to be
/// in the dialect.
class DeferredCodegen {
public:
  /// The consumer to feed, once; it passes nothing on before generate(), and must live until then.
  /// Where a constant took too many steps, nothing more is parsed.
  std::unique_ptr<clang::ASTConsumer> createConsumer(const SourceReporter &reporter);

  /// Code for everything that was consumed. `name` receives the module's name of `function`. Null if Clang reported an
  /// error on the way.
  std::unique_ptr<llvm::Module> generate(clang::CompilerInstance &compiler, llvm::LLVMContext &context,
                                         const clang::FunctionDecl *function, std::string &name,
                                         SourceReporter &reporter);

private:
  class Recorder;
  Recorder *recorder_ = nullptr;
};

} // namespace mscclc::frontend
