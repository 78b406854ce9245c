#include "frontend/clang/precompiled_dsl.h"

#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/Lexer.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>
#include <fstream>

using namespace clang;

namespace mscclc::frontend {

namespace {
constexpr const char *argumentsFile = "/clang.arguments";
}

std::string precompiledDslPath(const CompilerInvocation &invocation, llvm::StringRef directory) {
  const HeaderSearchOptions &search = invocation.getHeaderSearchOpts();
  std::string key = search.ResourceDir + "\n" + search.Sysroot + "\n";
  for (const HeaderSearchOptions::Entry &entry : search.UserEntries)
    key += std::to_string(static_cast<int>(entry.Group)) + entry.Path + "\n";
  return (directory + "/dsl-" + llvm::utohexstr(llvm::xxh3_64bits(key), /*LowerCase=*/true) + ".pch").str();
}

bool beginsWithDsl(llvm::StringRef source) {
  LangOptions language;
  language.LineComment = true;
  Lexer lexer(SourceLocation(), language, source.begin(), source.begin(), source.end());
  Token token;
  if (lexer.LexFromRawLexer(token) || token.isNot(tok::hash))
    return false;
  if (lexer.LexFromRawLexer(token) || token.isNot(tok::raw_identifier) || token.getRawIdentifier() != "include")
    return false;
  llvm::StringRef rest(lexer.getBufferLocation(), static_cast<std::size_t>(source.end() - lexer.getBufferLocation()));
  return rest.ltrim(" \t").starts_with("<mscclc/dsl.hpp>");
}

bool keepFrontendArguments(const std::string &directory, const std::vector<std::string> &arguments) {
  std::ofstream file(directory + argumentsFile);
  for (const std::string &argument : arguments)
    file << argument << '\0';
  file.close();
  return file.good();
}

std::vector<std::string> recallFrontendArguments(const std::string &directory) {
  std::vector<std::string> arguments;
  std::ifstream file(directory + argumentsFile);
  for (std::string argument; std::getline(file, argument, '\0');)
    arguments.push_back(argument);
  return arguments;
}

bool driverEnvironmentIsSet() {
  for (const char *name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS", "COMPILER_PATH",
                           "SOURCE_DATE_EPOCH", "SDKROOT"})
    if (std::getenv(name))
      return true;
  return false;
}

void checkPrecompiledSources(CompilerInvocation &invocation) {
  HeaderSearchOptions &search = invocation.getHeaderSearchOpts();
  search.ModulesValidateSystemHeaders = true;
  search.ValidateASTInputFilesContent = true; // a file that was only copied is the same file
}

} // namespace mscclc::frontend
