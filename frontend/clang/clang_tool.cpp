#include "frontend/clang/clang_tool.h"

#include "frontend/clang/call_places.h"
#include "frontend/clang/codegen.h"
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
#include "clang/Frontend/Utils.h"
#if __has_include("clang/Driver/CreateInvocationFromArgs.h")
#include "clang/Driver/CreateInvocationFromArgs.h"
#endif
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <filesystem>

using namespace clang;

namespace mscclc::frontend {
namespace {

/// Parses, and leaves everything in place behind.
class ParseAction : public ASTFrontendAction {
public:
  /// `aheadPath` is the file of the DSL's headers, read ahead, or empty.
  ParseAction(SourceReporter &reporter, DeferredCodegen &codegen, std::string aheadPath)
      : reporter_(reporter), codegen_(codegen), aheadPath_(std::move(aheadPath)) {}

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &, llvm::StringRef) override {
    return codegen_.createConsumer();
  }
  bool BeginSourceFileAction(CompilerInstance &compiler) override {
    SourceManager &sources = compiler.getSourceManager();
    reporter_.setSources(&sources);
    const auto source = sources.getBufferOrNone(sources.getMainFileID());
    if (!source)
      return false; // text in another encoding; reported, and Clang would go on without it
    Preprocessor &preprocessor = compiler.getPreprocessor();
    preprocessor.addPPCallbacks(createIncludeChecker(reporter_));
    preprocessor.setTokenWatcher([this](const Token &token) { reporter_.reached(token.getLocation()); });
    if (!aheadPath_.empty() && beginsWithDsl(source->getBuffer())) {
      // Said this late, Clang opens it and has nothing included in its stead.
      compiler.getPreprocessorOpts().ImplicitPCHInclude = aheadPath_;
      reporter_.setMuted(true); // what it does not fit is read as it is
    }
    return true;
  }

private:
  SourceReporter &reporter_;
  DeferredCodegen &codegen_;
  const std::string aheadPath_;
};

/// Clang's own headers: where they were at build time, or beside Clang's library.
std::string resourceDirectory() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string version = std::to_string(LLVM_VERSION_MAJOR);
  for (const std::string &dir :
       {std::string(MSCCLC_CLANG_RESOURCE_DIR), "/usr/lib/llvm-" + version + "/lib/clang/" + version,
        "/usr/lib/clang/" + version, "/usr/lib64/clang/" + version})
    if (fs::exists(dir + "/include/stddef.h", ignored))
      return dir;
  return MSCCLC_CLANG_RESOURCE_DIR;
}

/// What evaluation relies on, whatever the user's arguments say.
constexpr const char *fixedArguments[] = {
    // Exactly what is written, checked.
    "-O0",
    "-fno-exceptions",
    "-ffp-contract=off",
    "-fno-fast-math",
    "-fno-math-errno",
    "-fsigned-char",
    "-ftrivial-auto-var-init=zero",
    "-Wdate-time",
    // All that is undefined without pointer arithmetic or casts of pointers.
    "-fno-sanitize=all",
    "-fsanitize=array-bounds,bool,builtin,enum,float-cast-overflow,integer-divide-by-zero,null,return,shift,"
    "signed-integer-overflow,unreachable,vla-bound",
    "-fno-sanitize-recover=all",
    "-fno-sanitize-trap=all",
    "-D_GLIBCXX_ASSERTIONS",
    "-U_GLIBCXX_DEBUG",
    "-U_FORTIFY_SOURCE",
    // Code for the linker in memory, and no more than it needs. DWARF 5 would want a checksum of each file.
    "-fPIC",
    "-fno-asynchronous-unwind-tables",
    "-gdwarf-4",
    "-gline-tables-only",
    "-gcolumn-info",
    "-fdebug-compilation-dir=/",
    "-fno-stack-protector",
    "-fno-threadsafe-statics",
    "-fno-c++-static-destructors",
    "-fcf-protection=none",
    "-fno-modules",
    "-fno-coverage-mapping",
    "-fno-profile-instr-generate",
    "-fno-profile-generate",
    "-fdiagnostics-format=clang",
    "-Qunused-arguments",
};

/// What Clang sees to be undefined while it reads. The user's own arguments come later and may allow it.
constexpr const char *undefinedWhenRead[] = {
    "-Werror=uninitialized",        "-Wno-error=sometimes-uninitialized",
    "-Werror=return-stack-address", "-Werror=dangling",
    "-Werror=unsequenced",          "-Werror=fortify-source",
};

/// The command line for Clang's driver.
std::vector<std::string> commandLine(const FrontendOptions &options) {
  std::vector<std::string> args = {MSCCLC_LLVM_PREFIX "/bin/clang++", "-xc++", "-std=c++20", "-fbracket-depth=256"};
  args.insert(args.end(), std::begin(undefinedWhenRead), std::end(undefinedWhenRead));
  args.insert(args.end(), options.clangArgs.begin(), options.clangArgs.end());
  args.insert(args.end(), {"-isystem", dslMount, "-resource-dir", resourceDirectory(), "-include",
                           std::string(dslMount) + "/mscclc/detail/library_settings.hpp"});
  args.insert(args.end(), std::begin(fixedArguments), std::end(fixedArguments));
  // Behind this, a name that begins with a dash is a name still.
  args.insert(args.end(), {"--", options.stdinText ? stdinName : options.inputPath});
  return args;
}

/// Arguments as Clang takes them.
std::vector<const char *> pointersTo(const std::vector<std::string> &args) {
  std::vector<const char *> pointers;
  for (const std::string &arg : args)
    pointers.push_back(arg.c_str());
  return pointers;
}

/// Nothing is written and nothing loaded, whatever the arguments say.
void harden(CompilerInvocation &invocation) {
  clang::FrontendOptions &frontend = invocation.getFrontendOpts();
  frontend.Plugins.clear();
  frontend.AddPluginActions.clear();
  frontend.ActionName.clear();
  frontend.ProgramAction = clang::frontend::ParseSyntaxOnly;
  frontend.OutputFile.clear();
  frontend.LLVMArgs.clear();
  frontend.StatsFile.clear();
  frontend.DisableFree = true;
  invocation.getDependencyOutputOpts() = DependencyOutputOptions();
  DiagnosticOptions &diagnostics = invocation.getDiagnosticOpts();
  diagnostics.DiagnosticLogFile.clear();
  diagnostics.DiagnosticSerializationFile.clear();
  diagnostics.ErrorLimit = 20;
  CodeGenOptions &codegen = invocation.getCodeGenOpts();
  codegen.DisableO0ImplyOptNone = true;
  codegen.OffloadObjects.clear();
  // With it, Clang would name all its built-in functions before it reads; headers read ahead name those of use.
  invocation.getLangOpts().Modules = false;
}

IntrusiveRefCntPtr<DiagnosticsEngine> makeDiagnostics(DiagnosticConsumer &consumer) {
#if LLVM_VERSION_MAJOR >= 21
  static DiagnosticOptions options;
  return llvm::makeIntrusiveRefCnt<DiagnosticsEngine>(llvm::makeIntrusiveRefCnt<DiagnosticIDs>(), options, &consumer,
                                                      /*ShouldOwnClient=*/false);
#else
  return llvm::makeIntrusiveRefCnt<DiagnosticsEngine>(new DiagnosticIDs, new DiagnosticOptions, &consumer,
                                                      /*ShouldOwnClient=*/false);
#endif
}

std::unique_ptr<CompilerInstance> makeCompiler(std::shared_ptr<CompilerInvocation> invocation,
                                               IntrusiveRefCntPtr<llvm::vfs::FileSystem> files,
                                               DiagnosticConsumer &consumer) {
#if LLVM_VERSION_MAJOR >= 21
  auto compiler = std::make_unique<CompilerInstance>(std::move(invocation));
#else
  auto compiler = std::make_unique<CompilerInstance>();
  compiler->setInvocation(std::move(invocation));
#endif
#if LLVM_VERSION_MAJOR >= 22
  compiler->setVirtualFileSystem(files);
  compiler->createDiagnostics(&consumer, /*ShouldOwnClient=*/false);
  compiler->createFileManager();
#elif LLVM_VERSION_MAJOR >= 20
  compiler->createDiagnostics(*files, &consumer, /*ShouldOwnClient=*/false);
  compiler->createFileManager(files);
#else
  compiler->createDiagnostics(&consumer, /*ShouldOwnClient=*/false);
  compiler->createFileManager(files);
#endif
  return compiler;
}

} // namespace

struct ClangTool::State {
  State(const mscclc::frontend::FrontendOptions &o, ChildReport &report, const std::string &directory)
      : options(o), dslDirectory(directory), aheadDirectory(o.clangArgs.empty() ? precompiledDslDirectory() : ""),
        files(sourceFiles(o, directory, readable)), reporter(report, directory, readable) {}

  /// What the command line means to Clang's driver, which looks around for compilers and libraries; null and an error
  /// if it means nothing. `frontendArguments`, if wanted, are what the driver makes of it.
  std::shared_ptr<CompilerInvocation> createInvocation(std::vector<std::string> *frontendArguments = nullptr);
  /// The same without asking the driver again, where its answer has been kept and holds; null otherwise.
  std::shared_ptr<CompilerInvocation> recallInvocation();
  /// Makes an invocation safe and sets its input.
  void complete(CompilerInvocation &invocation);
  /// Opens the source, with the DSL's headers read ahead before it if there are any and it begins with them.
  enum class Begun { Failed, Plainly, WithDsl, UnfitDsl }; ///< UnfitDsl: they do not fit; it has to be opened anew
  Begun begin(const std::shared_ptr<CompilerInvocation> &invocation, bool mayUseDsl = true);
  /// All of that, in the quickest way that holds.
  bool open();
  /// From now on, only what the source may read is there. Before, it is the user's arguments that have files read.
  void confine();

  const mscclc::frontend::FrontendOptions &options;
  const std::string dslDirectory;
  std::optional<ir::ReadableFiles> readable;
  const std::string aheadDirectory; ///< empty where arguments for Clang may change what was read ahead
  IntrusiveRefCntPtr<llvm::vfs::FileSystem> files;
  SourceReporter reporter;
  DeferredCodegen codegen;
  std::unique_ptr<CompilerInstance> compiler;
  std::unique_ptr<ParseAction> action;
};

ClangTool::ClangTool(const FrontendOptions &options, ChildReport &report, const std::string &dslDirectory)
    : state_(std::make_unique<State>(options, report, dslDirectory)) {}

ClangTool::~ClangTool() {
  // The process ends soon, and taking all of this apart would only cost time.
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

std::shared_ptr<CompilerInvocation> ClangTool::State::createInvocation(std::vector<std::string> *frontendArguments) {
  const std::vector<std::string> args = commandLine(options);
  CreateInvocationOptions how;
  how.Diags = makeDiagnostics(reporter);
  how.VFS = files;
  how.CC1Args = frontendArguments;
  std::shared_ptr<CompilerInvocation> invocation = clang::createInvocation(pointersTo(args), std::move(how));
  if (!invocation || reporter.hasErrors()) {
    reporter.flush();
    if (!reporter.hasErrors())
      reporter.report(diag::bad_clang_arguments, "", {"nothing is compiled with them"});
    return nullptr;
  }
  const llvm::Triple target(invocation->getTargetOpts().Triple), host(llvm::sys::getProcessTriple());
  if (target.getArch() != host.getArch() || target.getOS() != host.getOS()) {
    reporter.report(diag::bad_clang_arguments, "", {"algorithms run on this machine, not on " + target.str()});
    return nullptr;
  }
  complete(*invocation);
  return invocation;
}

std::shared_ptr<CompilerInvocation> ClangTool::State::recallInvocation() {
  if (aheadDirectory.empty() || driverEnvironmentIsSet())
    return nullptr;
  const std::vector<std::string> args = recallFrontendArguments(aheadDirectory);
  auto invocation = std::make_shared<CompilerInvocation>();
  IgnoringDiagConsumer ignored;
  if (args.empty() || !CompilerInvocation::CreateFromArgs(*invocation, pointersTo(args), *makeDiagnostics(ignored)))
    return nullptr;
  complete(*invocation);
  return invocation;
}

void ClangTool::State::complete(CompilerInvocation &invocation) {
  harden(invocation);
  checkPrecompiledSources(invocation);
  const std::string &name = options.stdinText ? stdinName : options.inputPath;
  invocation.getFrontendOpts().Inputs = {FrontendInputFile(name, InputKind(Language::CXX))};
  invocation.getCodeGenOpts().MainFileName = llvm::sys::path::filename(name).str();
}

ClangTool::State::Begun ClangTool::State::begin(const std::shared_ptr<CompilerInvocation> &invocation, bool mayUseDsl) {
  compiler = makeCompiler(invocation, files, reporter);
  if (!compiler->createTarget())
    return Begun::Failed;
  std::string path;
  if (mayUseDsl && !aheadDirectory.empty())
    path = precompiledDslPath(*invocation, aheadDirectory);
  if (!path.empty() && !files->exists(path))
    path.clear();
  action = std::make_unique<ParseAction>(reporter, codegen, path);
  const bool hasBegun = action->BeginSourceFile(*compiler, compiler->getFrontendOpts().Inputs[0]);
  reporter.setMuted(false);
  if (!path.empty() && compiler->getPreprocessorOpts().ImplicitPCHInclude == path)
    return hasBegun ? Begun::WithDsl : Begun::UnfitDsl;
  return hasBegun ? Begun::Plainly : Begun::Failed;
}

bool ClangTool::State::open() {
  if (const auto recalled = recallInvocation())
    switch (begin(recalled)) {
    case Begun::WithDsl:
      return true; // it fits only where the driver would say the same
    case Begun::Failed:
      return false; // for a reason that lies in the source
    case Begun::Plainly:
    case Begun::UnfitDsl:
      break;
    }
  const auto invocation = createInvocation();
  if (!invocation)
    return false;
  Begun begun = begin(invocation);
  if (begun == Begun::UnfitDsl) {
    invocation->getPreprocessorOpts().ImplicitPCHInclude.clear();
    begun = begin(invocation, /*mayUseDsl=*/false);
  }
  return begun != Begun::Failed;
}

void ClangTool::State::confine() {
  FileManager &manager = compiler->getFileManager();
  const auto named = [&](llvm::StringRef name) {
    llvm::SmallString<128> path(name);
    manager.makeAbsolutePath(path);
    return path.str().str();
  };
  ir::ReadableFiles may;
  may.addFolder(dslDirectory);
  for (const std::string &folder : options.allowedFolders)
    may.addFolder(folder);
  may.addFolder(options.stdinText ? named(".") : ir::folderOf(named(options.inputPath)));
  may.addFile(named(options.inputPath));
  const HeaderSearch &search = compiler->getPreprocessor().getHeaderSearchInfo();
  for (const DirectoryLookup &lookup : search.search_dir_range())
    may.addFolder(named(lookup.getName()));
  const PreprocessorOptions &preprocessor = compiler->getPreprocessorOpts();
  for (const std::string &folder : preprocessor.EmbedEntries)
    may.addFolder(named(folder));
  for (const auto *includes : {&preprocessor.Includes, &preprocessor.MacroIncludes})
    for (const std::string &file : *includes)
      may.addFolder(ir::folderOf(named(file)));
  if (!preprocessor.ImplicitPCHInclude.empty() && aheadDirectory.empty()) {
    // What the user's precompiled header was made of may be shown.
    llvm::SmallVector<OptionalFileEntryRef, 0> known;
    manager.GetUniqueIDMapping(known);
    for (const OptionalFileEntryRef &file : known)
      if (file)
        may.addFile(file->getName().str());
  }
  readable = std::move(may);
}

bool ClangTool::parse() {
  SourceReporter &reporter = state_->reporter;
  if (!state_->open()) {
    reporter.flush();
    return false;
  }
  state_->confine();
  if (llvm::Error error = state_->action->Execute())
    reporter.report(diag::clang_gave_up, state_->options.inputPath, {llvm::toString(std::move(error))});
  reporter.flush();
  return !reporter.hadFatalError() && state_->compiler->hasASTContext();
}

bool ClangTool::precompileDsl(const std::string &directory) {
  SourceReporter &reporter = state_->reporter;
  std::vector<std::string> arguments;
  const std::shared_ptr<CompilerInvocation> invocation = state_->createInvocation(&arguments);
  if (!invocation)
    return false;
  clang::FrontendOptions &frontend = invocation->getFrontendOpts();
  frontend.Inputs = {
      FrontendInputFile(std::string(dslMount) + "/mscclc/dsl.hpp", InputKind(Language::CXX).getHeader())};
  frontend.ProgramAction = clang::frontend::GeneratePCH;
  frontend.OutputFile = precompiledDslPath(*invocation, directory);
  state_->compiler = makeCompiler(invocation, state_->files, reporter);
  GeneratePCHAction generate;
  const bool isDone = state_->compiler->ExecuteAction(generate);
  reporter.flush();
  return isDone && keepFrontendArguments(directory, arguments);
}

std::vector<Algorithm> ClangTool::check() {
  ASTContext &context = state_->compiler->getASTContext();
  checkDialect(context, state_->reporter);
  placeCallsAtTheirNames(context);
  return findAlgorithms(context, state_->reporter);
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
