#include "frontend/clang/language_names.h"

#include "ir/diagnostics.h"

#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"

#include <initializer_list>

using namespace clang;

namespace mscclc::frontend {
namespace {

/// Calls `visit` for each T that namespace mscclc declares, including those in precompiled headers.
template <typename T, typename Visit> void eachOf(ASTContext &context, Visit &&visit) {
  if (const NamespaceDecl *language = languageOf(context))
    for (const NamespaceDecl *part : language->redecls())
      for (const Decl *d : part->decls())
        if (const auto *of = dyn_cast<T>(d))
          visit(of);
}

void addMembers(const CXXRecordDecl *record, std::vector<std::string> &names) {
  record = record->getDefinition();
  if (!record)
    return;
  for (const Decl *d : record->decls()) {
    const auto *named = dyn_cast<NamedDecl>(d);
    if (!named || named->isImplicit() || named->getAccess() != AS_public || !named->getIdentifier() ||
        isa<CXXRecordDecl>(named))
      continue;
    if (const std::string name = named->getName().str(); !llvm::is_contained(names, name))
      names.push_back(name);
  }
  for (const CXXBaseSpecifier &base : record->bases())
    if (const CXXRecordDecl *of = base.getType()->getAsCXXRecordDecl())
      addMembers(of, names);
}

/// Returns the definition of the class or enum `name`; null if there is none.
template <class Tag> const Tag *definitionNamed(ASTContext &context, llvm::StringRef name) {
  const Tag *found = nullptr;
  eachOf<Tag>(context, [&](const Tag *tag) {
    if (tag->isThisDeclarationADefinition() && tag->getIdentifier() && tag->getName() == name)
      found = tag;
  });
  return found;
}

/// Returns the enums in which `matches` is true for the name of some enumerator.
std::vector<const EnumDecl *> enumsWhere(ASTContext &context, const auto &matches) {
  std::vector<const EnumDecl *> enums;
  eachOf<EnumDecl>(context, [&](const EnumDecl *e) {
    if (llvm::any_of(enumeratorNames(e), matches))
      enums.push_back(e);
  });
  return enums;
}

} // namespace

const NamespaceDecl *languageOf(ASTContext &context) {
  const DeclarationName name(&context.Idents.get("mscclc"));
  for (const NamedDecl *found : context.getTranslationUnitDecl()->lookup(name))
    if (const auto *space = dyn_cast<NamespaceDecl>(found))
      return space;
  return nullptr;
}

bool isOfLanguage(const Decl *d) {
  for (const DeclContext *at = d->getDeclContext(); at; at = at->getParent())
    if (const auto *space = dyn_cast<NamespaceDecl>(at); space && space->getDeclName().isIdentifier() &&
                                                         space->getName() == "mscclc" &&
                                                         space->getParent()->isTranslationUnit())
      return true;
  return false;
}

std::vector<std::string> memberNames(const CXXRecordDecl *record) {
  std::vector<std::string> names;
  addMembers(record, names);
  return names;
}

std::vector<std::string> enumeratorNames(const EnumDecl *enumeration) {
  std::vector<std::string> names;
  for (const EnumConstantDecl *value : enumeration->enumerators())
    names.push_back(value->getName().str());
  return names;
}

bool isOptions(const CXXRecordDecl *record) {
  return record->getIdentifier() && record->getName().ends_with("Options") && isOfLanguage(record) &&
         record->hasDefinition();
}

const CXXRecordDecl *recordNamed(ASTContext &context, llvm::StringRef name) {
  return definitionNamed<CXXRecordDecl>(context, name);
}

const EnumDecl *enumNamed(ASTContext &context, llvm::StringRef name) {
  return definitionNamed<EnumDecl>(context, name);
}

std::vector<const CXXRecordDecl *> optionStructs(ASTContext &context) {
  std::vector<const CXXRecordDecl *> structs;
  eachOf<CXXRecordDecl>(context, [&](const CXXRecordDecl *record) {
    if (record->isThisDeclarationADefinition() && isOptions(record))
      structs.push_back(record);
  });
  return structs;
}

std::vector<const EnumDecl *> enumsWith(ASTContext &context, llvm::StringRef enumerator) {
  return enumsWhere(context, [&](llvm::StringRef one) { return one == enumerator; });
}

std::vector<const EnumDecl *> enumsWithAnyCase(ASTContext &context, llvm::StringRef enumerator) {
  return enumsWhere(context, [&](llvm::StringRef one) { return one.equals_insensitive(enumerator); });
}

// StringSwitch::Cases of LLVM 19 limits the length of the list, so it is not used here.
std::string optionNamed(llvm::StringRef other) {
#define OPTION(ours, ...)                                                                                              \
  if (llvm::is_contained(std::initializer_list<llvm::StringRef>{__VA_ARGS__}, other))                                  \
    return ours;
#include "frontend/clang/other_words.def"
  return {};
}

std::string insteadOf(llvm::StringRef word) {
#define WORD(instead, ...)                                                                                             \
  if (llvm::is_contained(std::initializer_list<llvm::StringRef>{__VA_ARGS__}, word))                                   \
    return instead;
#include "frontend/clang/other_words.def"
  return {};
}

std::string enumeratorsOf(const EnumDecl *enumeration) {
  std::vector<std::string> names = enumeratorNames(enumeration);
  for (std::string &name : names)
    name = enumeration->getName().str() + "::" + name;
  return ir::enumerate(names, "or");
}

} // namespace mscclc::frontend
