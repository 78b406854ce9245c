#include "frontend/clang/clang_tool.h"

#include "frontend/clang/advice.h"
#include "frontend/clang/arguments.h"
#include "frontend/clang/call_places.h"
#include "frontend/clang/codegen.h"
#include "frontend/clang/compile_commands.h"
#include "frontend/clang/dialect_checker.h"
#include "frontend/clang/precompiled_dsl.h"
#include "frontend/clang/source_files.h"
#include "frontend/clang/source_reporter.h"
#include "frontend/diagnostics.h"
#include "frontend/dsl/dsl_directory.h"

#include "clang/Basic/TargetInfo.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <functional>

using namespace clang;

namespace mscclc::frontend {
namespace {

/// Parses the source and keeps the result for the next steps.
class ParseAction : public ASTFrontendAction {
public:
  ParseAction(SourceReporter &reporter, DeferredCodegen &codegen) : reporter_(reporter), codegen_(codegen) {}

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &, llvm::StringRef) override {
    return codegen_.createConsumer(reporter_);
  }
  bool BeginSourceFileAction(CompilerInstance &compiler) override {
    SourceManager &sources = compiler.getSourceManager();
    reporter_.setSources(&sources);
    if (!sources.getBufferOrNone(sources.getMainFileID()))
      return false; // the encoding is unsupported: Clang reports this, but would continue
    // After a constant that takes too many steps, Clang parses the declaration to its end, but evaluates no more
    // constants.
    reporter_.onLongConstant([&compiler] { compiler.getLangOpts().ConstexprStepLimit = 1; });
    Preprocessor &preprocessor = compiler.getPreprocessor();
    preprocessor.addPPCallbacks(createIncludeChecker(reporter_));
    preprocessor.setTokenWatcher([this](const Token &token) { reporter_.reached(token.getLocation()); });
    return true;
  }

private:
  SourceReporter &reporter_;
  DeferredCodegen &codegen_;
};

using InvocationBody = std::function<bool(std::shared_ptr<CompilerInvocation>)>;

/// Calls a function with the invocation that Clang's tooling makes from a command line.
class ToolBody : public tooling::ToolAction {
public:
  explicit ToolBody(const InvocationBody &body) : body_(body) {}
  bool runInvocation(std::shared_ptr<CompilerInvocation> invocation, FileManager *,
                     std::shared_ptr<PCHContainerOperations>, DiagnosticConsumer *) override {
    return body_(std::move(invocation));
  }

private:
  const InvocationBody &body_;
};

std::unique_ptr<CompilerInstance> makeCompiler(std::shared_ptr<CompilerInvocation> invocation, FileManager &files,
                                               DiagnosticConsumer &consumer) {
#if LLVM_VERSION_MAJOR >= 21
  auto compiler = std::make_unique<CompilerInstance>(std::move(invocation));
#else
  auto compiler = std::make_unique<CompilerInstance>();
  compiler->setInvocation(std::move(invocation));
#endif
#if LLVM_VERSION_MAJOR >= 22
  compiler->setVirtualFileSystem(files.getVirtualFileSystemPtr());
  compiler->setFileManager(&files);
  compiler->createDiagnostics(&consumer, /*ShouldOwnClient=*/false);
#else
  compiler->setFileManager(&files);
#if LLVM_VERSION_MAJOR >= 20
  compiler->createDiagnostics(files.getVirtualFileSystem(), &consumer, /*ShouldOwnClient=*/false);
#else
  compiler->createDiagnostics(&consumer, /*ShouldOwnClient=*/false);
#endif
#endif
  return compiler;
}

} // namespace

struct ClangTool::State {
  State(const mscclc::frontend::FrontendOptions &o, ChildReport &report, const std::string &directory)
      : options(o), dslDirectory(directory), input(o.stdinText ? stdinName : o.inputPath),
        files(llvm::makeIntrusiveRefCnt<FileManager>(FileSystemOptions(), sourceFiles(o, directory, readable))),
        reporter(report, directory, readable) {}

  /// Makes an invocation for `name` from the arguments, makes it safe, and calls `body` with it. Reports wrong
  /// arguments. Returns false after an error, or if `body` returns false.
  bool invoke(const std::string &name, const InvocationBody &body);
  /// Opens the source for Clang. False if that is not possible.
  bool open(std::shared_ptr<CompilerInvocation> invocation);
  /// Opens the source after the precompiled DSL. False if there is no precompiled DSL that fits.
  bool openWithDsl(const CompilerInvocation &invocation);
  /// Hides all files except those that the source may read. Before this call, Clang may read any file that the user's
  /// arguments name.
  void confine();
  /// Returns true if no argument of the user or the project could change the DSL's headers.
  bool isPlain() const { return options.clangArgs.empty() && project.empty(); }

  const mscclc::frontend::FrontendOptions &options;
  const std::string dslDirectory;
  const std::string input; ///< the source's name for Clang
  std::optional<ir::ReadableFiles> readable;
  IntrusiveRefCntPtr<FileManager> files;
  ProjectFlags project;
  SourceReporter reporter;
  DeferredCodegen codegen;
  std::unique_ptr<CompilerInstance> compiler;
  std::unique_ptr<ParseAction> action;
};

ClangTool::ClangTool(const FrontendOptions &options, ChildReport &report, const std::string &dslDirectory)
    : state_(std::make_unique<State>(options, report, dslDirectory)) {}

ClangTool::~ClangTool() {
  // The process ends soon, so destroying the parts of Clang would only take time.
  state_->action.release();
  state_->compiler.release();
  state_.release();
}

SourceReporter &ClangTool::reporter() {
  return state_->reporter;
}
llvm::StringMap<FileKind> ClangTool::fileKinds() const {
  return state_->reporter.fileKinds();
}

bool ClangTool::State::invoke(const std::string &name, const InvocationBody &body) {
  if (llvm::is_contained(options.clangArgs, "-###")) {
    reporter.report(diag::bad_clang_arguments, "", {"nothing is compiled with them"});
    return false;
  }
  const InvocationBody safeBody = [&](std::shared_ptr<CompilerInvocation> invocation) {
    if (reporter.hasErrors())
      return false; // an argument is wrong, which is already reported
    const llvm::Triple target(invocation->getTargetOpts().Triple), host(llvm::sys::getProcessTriple());
    if (target.getArch() != host.getArch() || target.getOS() != host.getOS()) {
      reporter.report(diag::bad_clang_arguments, "", {"algorithms run on this machine, not on " + target.str()});
      return false;
    }
    if (!invocation->getLangOpts().CPlusPlus20) {
      reporter.report(diag::old_standard, "", {});
      return false;
    }
    harden(*invocation);
    return body(std::move(invocation));
  };
  ToolBody action(safeBody);
  tooling::ToolInvocation tool(commandLine(options, project, name), &action, files.get(),
                               std::make_shared<PCHContainerOperations>());
  tool.setDiagnosticConsumer(&reporter);
  const bool isDone = tool.run();
  reporter.flush();
  return isDone;
}

bool ClangTool::State::open(std::shared_ptr<CompilerInvocation> invocation) {
  compiler = makeCompiler(std::move(invocation), *files, reporter);
  action = std::make_unique<ParseAction>(reporter, codegen);
  return compiler->createTarget() && action->BeginSourceFile(*compiler, compiler->getFrontendOpts().Inputs[0]);
}

bool ClangTool::State::openWithDsl(const CompilerInvocation &invocation) {
  const std::string directory = precompiledDslDirectory();
  if (!isPlain() || directory.empty())
    return false;
  const std::string precompiled = precompiledDslPath(invocation, directory);
  llvm::vfs::FileSystem &all = files->getVirtualFileSystem();
  const auto source = all.getBufferForFile(input);
  if (!all.exists(precompiled) || !source || !beginsWithDsl((*source)->getBuffer()))
    return false;
  auto with = std::make_shared<CompilerInvocation>(invocation);
  with->getPreprocessorOpts().ImplicitPCHInclude = precompiled; // has the effect of -include-pch
  reporter.setMuted(true);                                      // a precompiled DSL that does not fit is no error
  const bool fits = open(std::move(with));
  reporter.setMuted(false);
  return fits;
}

void ClangTool::State::confine() {
  const auto named = [&](llvm::StringRef name) {
    llvm::SmallString<128> path(name);
    files->makeAbsolutePath(path);
    return path.str().str();
  };
  ir::ReadableFiles may;
  may.addFolder(dslDirectory);
  for (const std::string &folder : options.allowedFolders)
    may.addFolder(folder);
  may.addFolder(options.stdinText ? named(".") : ir::folderOf(named(options.inputPath)));
  may.addFile(named(options.inputPath));
  if (!project.folder.empty())
    may.addFolder(project.folder);
  const HeaderSearch &search = compiler->getPreprocessor().getHeaderSearchInfo();
  // If a folder of the project occurs only once, the user's arguments do not name it.
  const auto isOfProject = [&](const std::string &name, auto times) {
    return times == 1 && project.paths.contains(name);
  };
  const auto &entries = compiler->getHeaderSearchOpts().UserEntries;
  for (const DirectoryLookup &lookup : search.search_dir_range())
    if (const std::string name = lookup.getName().str();
        !isOfProject(name, std::ranges::count(entries, name, &HeaderSearchOptions::Entry::Path)))
      may.addFolder(named(name));
  const PreprocessorOptions &preprocessor = compiler->getPreprocessorOpts();
  for (const std::string &folder : preprocessor.EmbedEntries)
    may.addFolder(named(folder));
  for (const auto *includes : {&preprocessor.Includes, &preprocessor.MacroIncludes})
    for (const std::string &file : *includes)
      if (!isOfProject(file, std::ranges::count(*includes, file)))
        may.addFolder(ir::folderOf(named(file)));
  if (!preprocessor.ImplicitPCHInclude.empty() && !isPlain()) {
    // Diagnostics may show the files that the user's precompiled header is made of.
    llvm::SmallVector<OptionalFileEntryRef, 0> known;
    files->GetUniqueIDMapping(known);
    for (const OptionalFileEntryRef &file : known)
      if (file)
        may.addFile(file->getName().str());
  }
  readable = std::move(may);
  reporter.setProjectFolders(project.paths);
}

bool ClangTool::parse() {
  State &state = *state_;
  SourceReporter &reporter = state.reporter;
  if (!state.options.stdinText)
    state.project = findProjectFlags(state.input, state.files->getVirtualFileSystem(), reporter);
  const bool isRead = state.invoke(state.input, [&](std::shared_ptr<CompilerInvocation> invocation) {
    if (!state.openWithDsl(*invocation) && !state.open(std::move(invocation)))
      return false;
    state.confine();
    reporter.hold();
    if (llvm::Error error = state.action->Execute())
      reporter.report(diag::clang_gave_up, state.options.inputPath, {llvm::toString(std::move(error))});
    reporter.flush();
    advise(*state.compiler, reporter);
    return true;
  });
  const bool isParsed = isRead && !reporter.hadFatalError() && state.compiler->hasASTContext();
  if (!isParsed)
    settle(reporter);
  return isParsed;
}

bool ClangTool::precompileDsl(const std::string &directory) {
  State &state = *state_;
  const std::string header = std::string(dslMount) + "/mscclc/dsl.hpp";
  return state.invoke(header, [&](std::shared_ptr<CompilerInvocation> invocation) {
    clang::FrontendOptions &frontend = invocation->getFrontendOpts();
    frontend.Inputs = {FrontendInputFile(header, InputKind(Language::CXX).getHeader())};
    frontend.ProgramAction = clang::frontend::GeneratePCH;
    frontend.OutputFile = precompiledDslPath(*invocation, directory);
    state.compiler = makeCompiler(std::move(invocation), *state.files, state.reporter);
    GeneratePCHAction generate;
    return state.compiler->ExecuteAction(generate);
  });
}

std::vector<Algorithm> ClangTool::check() {
  ASTContext &context = state_->compiler->getASTContext();
  checkDialect(context, state_->reporter);
  placeCallsAtTheirNames(context);
  std::vector<Algorithm> algorithms = findAlgorithms(context, state_->reporter);
  settle(state_->reporter);
  return algorithms;
}

std::optional<CompiledAlgorithm> ClangTool::generate(const Algorithm &algorithm) {
  CompiledAlgorithm compiled;
  compiled.context = std::make_unique<llvm::LLVMContext>();
  compiled.module = state_->codegen.generate(*state_->compiler, *compiled.context, algorithm.function,
                                             compiled.function, state_->reporter);
  compiled.arguments = algorithm.arguments;
  state_->reporter.flush();
  if (!compiled.module || state_->reporter.hasErrors())
    return std::nullopt;
  return compiled;
}

} // namespace mscclc::frontend
