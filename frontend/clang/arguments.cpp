#include "frontend/clang/arguments.h"

#include "frontend/clang/source_files.h"
#include "frontend/dsl/dsl_directory.h"

#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendOptions.h"
#include "clang/Lex/HeaderSearchOptions.h"

#include <filesystem>
#include <iterator>

using namespace clang;

namespace mscclc::frontend {
namespace {

/// Returns the folder of Clang's own headers: the one in the package, the one known at build time, or one beside
/// Clang's library.
std::string resourceDirectory() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string version = std::to_string(LLVM_VERSION_MAJOR);
  for (const std::string &dir : {packagedClangDirectory(), std::string(MSCCLC_CLANG_RESOURCE_DIR),
                                 "/usr/lib/llvm-" + version + "/lib/clang/" + version, "/usr/lib/clang/" + version,
                                 "/usr/lib64/clang/" + version})
    if (fs::exists(dir + "/include/stddef.h", ignored))
      return dir;
  return MSCCLC_CLANG_RESOURCE_DIR;
}

/// The evaluation relies on these arguments. The user's arguments cannot change them.
constexpr const char *fixedArguments[] = {
    // Generate code that does exactly what is written, with checks.
    "-O0",
    "-fno-exceptions",
    "-ffp-contract=off",
    "-fno-fast-math",
    "-fno-math-errno",
    "-fsigned-char",
    "-ftrivial-auto-var-init=zero",
    "-Wdate-time",
    // Check for all undefined behaviour, except in pointer arithmetic and in casts of pointers.
    "-fno-sanitize=all",
    ("-fsanitize=array-bounds,bool,builtin,enum,float-cast-overflow,integer-divide-by-zero,null,return,shift,"
     "signed-integer-overflow,unreachable,vla-bound"),
    "-fno-sanitize-recover=all",
    "-fno-sanitize-trap=all",
    "-D_GLIBCXX_ASSERTIONS",
    "-U_GLIBCXX_DEBUG",
    "-U_FORTIFY_SOURCE",
    // Generate only what the linker in memory needs. DWARF 5 would also need a checksum of each file.
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

/// Makes Clang report undefined behaviour that it finds while it reads, mostly as an error. Options in braces may be in
/// any order. The user's arguments come later and may change this.
constexpr const char *undefinedWhenRead[] = {
    "-Wno-reorder-init-list",       "-Werror=uninitialized",     "-Wno-error=sometimes-uninitialized",
    "-Werror=return-stack-address", "-Werror=dangling",          "-Werror=unsequenced",
    "-Werror=fortify-source",       "-Werror=string-conversion",
};

} // namespace

std::vector<std::string> commandLine(const mscclc::frontend::FrontendOptions &options, const ProjectFlags &project,
                                     const std::string &input) {
  std::vector<std::string> args = {MSCCLC_LLVM_PREFIX "/bin/clang++", "-fsyntax-only", "-xc++", "-std=c++20",
                                   "-fbracket-depth=256"};
  const auto add = [&](const auto &more) { args.insert(args.end(), std::begin(more), std::end(more)); };
  add(undefinedWhenRead);
  add(project.language);
  add(options.clangArgs);
  add(project.includes);
  args.insert(args.end(), {"-isystem", dslMount, "-resource-dir", resourceDirectory(), "-include",
                           std::string(dslMount) + "/mscclc/detail/library_settings.hpp"});
  add(fixedArguments);
  // The `--` ends the options, so `input` may begin with a dash.
  args.insert(args.end(), {"--", input});
  return args;
}

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
  // With modules on, Clang would create all its built-in functions before it reads the source. Precompiled headers
  // contain only the used ones.
  invocation.getLangOpts().Modules = false;
  // Check all files of a precompiled header for changes. Only their contents count, not their dates, so a copied file
  // still fits.
  HeaderSearchOptions &search = invocation.getHeaderSearchOpts();
  search.ModulesValidateSystemHeaders = true;
  search.ValidateASTInputFilesContent = true;
}

} // namespace mscclc::frontend
