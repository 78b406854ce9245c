#include "frontend/clang/precompiled_dsl.h"

#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/Lexer.h"
#include "llvm/Support/xxhash.h"

using namespace clang;

namespace mscclc::frontend {

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
  rest = rest.ltrim(" \t");
  return rest.starts_with("<mscclc/dsl.hpp>") || rest.starts_with("<mscclc/chunks.hpp>");
}

} // namespace mscclc::frontend
