// Generates LLVM IR from a checked syntax tree.
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

/// Collects the output of the parser. Generates code for all of it later, when the source is known to be in the
/// dialect.
class DeferredCodegen {
public:
  /// Returns the consumer for the parser; may be called once. The consumer must live until generate(), and passes
  /// nothing on before this call. After a constant that takes too many steps, it stops the parser.
  std::unique_ptr<clang::ASTConsumer> createConsumer(const SourceReporter &reporter);

  /// Generates code for everything that the consumer received. Stores in `name` the name of `function` in the module.
  /// Null if Clang reported an error meanwhile.
  std::unique_ptr<llvm::Module> generate(clang::CompilerInstance &compiler, llvm::LLVMContext &context,
                                         const clang::FunctionDecl *function, std::string &name,
                                         SourceReporter &reporter);

private:
  class Recorder;
  Recorder *recorder_ = nullptr;
};

} // namespace mscclc::frontend
