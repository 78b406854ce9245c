#include "frontend/clang/argument_advice.h"

#include "frontend/clang/language_names.h"
#include "frontend/diagnostics.h"

#include "ir/nearest_name.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Lex/Lexer.h"
#include "clang/Sema/Initialization.h"
#include "clang/Sema/Sema.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace mscclc::frontend {
namespace {

QualType plain(QualType type) {
  return type.getNonReferenceType().getUnqualifiedType();
}

/// Returns the name of a class or enum of the language; empty for any other type.
llvm::StringRef nameInLanguage(QualType type) {
  const TagDecl *tag = plain(type)->getAsTagDecl();
  return tag && tag->getIdentifier() && isOfLanguage(tag) ? tag->getName() : llvm::StringRef();
}

bool takesInteger(llvm::StringRef name) {
  return name == "Integer" || name == "AnyInteger" || name == "PlacedIndex" || name == "ListedInteger";
}
bool takesBlock(llvm::StringRef name) {
  return name == "On" || name == "ThreadBlock" || name == "AnyBlock" || name == "ThreadBlockGroup";
}
bool isInteger(QualType type) {
  return plain(type)->isIntegerType() && !plain(type)->isBooleanType() && !plain(type)->isEnumeralType();
}
bool isText(const Expr *e) {
  return isa<StringLiteral>(e->IgnoreParenImpCasts()) || plain(e->getType())->isPointerType();
}

std::string an(llvm::StringRef noun) {
  return (llvm::StringRef("AEIOaeio").contains(noun.front()) ? "an " : "a ") + noun.str();
}

/// Describes an argument in words.
std::string argumentInWords(const Expr *e) {
  const Expr *bare = e->IgnoreParenImpCasts();
  if (isa<InitListExpr>(bare))
    return "a braced list";
  if (isa<StringLiteral>(bare))
    return "text";
  if (isa<CharacterLiteral>(bare))
    return "a character";
  return inWords(e->getType());
}

} // namespace

QualType elementOf(QualType type) {
  const auto *of = dyn_cast_or_null<ClassTemplateSpecializationDecl>(plain(type)->getAsCXXRecordDecl());
  if (!of || of->getTemplateArgs().size() == 0 || of->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
    return {};
  const llvm::StringRef name = of->getName();
  const bool isList = name == "ElementList" || name == "initializer_list" || name == "List" || name == "vector" ||
                      name == "array" || name == "span";
  return isList ? of->getTemplateArgs()[0].getAsType() : QualType();
}

std::string inWords(QualType type) {
  if (type.isNull())
    return {};
  type = plain(type);
  if (const QualType element = elementOf(type); !element.isNull()) {
    const llvm::StringRef name = nameInLanguage(element);
    return takesInteger(name) || isInteger(element) ? "a list of integers"
           : name == "Chunk"                        ? "a list of chunks"
           : name == "Buffer"                       ? "a list of buffers"
                                                    : "a list";
  }
  if (const llvm::StringRef name = nameInLanguage(type); !name.empty())
    return llvm::StringSwitch<std::string>(name)
        .Case("Chunk", "a chunk")
        .Case("Buffer", "a buffer")
        .Case("Rank", "a rank")
        .Cases("ThreadBlock", "On", "AnyBlock", "a thread block")
        .Case("ThreadBlockGroup", "a thread-block group")
        .Case("IntegerList", "a list of integers")
        .Cases("Integer", "AnyInteger", "PlacedIndex", "ListedInteger", "an integer")
        .Case("AnyFlag", "true or false")
        .Case("AnyChannel", "a ChannelType")
        .Case("Text", "text")
        .Case("NoteFormat", "text")
        .Case("Collective", "a collective")
        .Default(an(name));
  if (type->isBooleanType())
    return "a bool";
  if (isInteger(type))
    return "an integer";
  if (type->isFloatingType())
    return "a floating-point number";
  PrintingPolicy policy{LangOptions()};
  policy.adjustForCPlusPlus();
  policy.SuppressTagKeyword = true;
  return "a '" + type.getAsString(policy) + "'";
}

bool ArgumentAdvice::fits(Expr *argument, ParmVarDecl *parameter) const {
  if (parameter->getType()->isDependentType() || argument->isTypeDependent())
    return true;
  const InitializedEntity entity = InitializedEntity::InitializeParameter(sema_.Context, parameter);
  const InitializationKind kind = InitializationKind::CreateCopy(argument->getBeginLoc(), SourceLocation());
  // Clang reports a repeated option only when it compares overloads, so it is checked here.
  const auto *list = dyn_cast<InitListExpr>(argument->IgnoreParenImpCasts());
  const CXXRecordDecl *record = plain(parameter->getType())->getAsCXXRecordDecl();
  if (list && record && isOptions(record))
    if (const auto advice = ofOptions(list, record); advice && advice->info == &diag::option_twice)
      return false;
  return !InitializationSequence(sema_, entity, kind, argument).Failed();
}

std::string ArgumentAdvice::text(const Expr *e) const {
  const llvm::StringRef text =
      Lexer::getSourceText(CharSourceRange::getTokenRange(e->getSourceRange()), sema_.SourceMgr, sema_.getLangOpts());
  constexpr std::size_t longest = 60;
  return text.empty() || text.size() > longest || text.contains('\n') ? "…" : text.str();
}

/// Returns `{.name = value}` for the one option whose type fits `argument`; empty if there are none or several.
std::string ArgumentAdvice::option(const Expr *argument, const CXXRecordDecl *options) const {
  const FieldDecl *one = nullptr;
  for (const FieldDecl *field : options->fields()) {
    const bool isSame =
        sema_.Context.hasSameUnqualifiedType(plain(field->getType()), plain(argument->getType())) ||
        (takesBlock(nameInLanguage(field->getType())) && takesBlock(nameInLanguage(argument->getType())));
    if (isSame && one)
      return {};
    if (isSame)
      one = field;
  }
  return one ? "{." + one->getNameAsString() + " = " + text(argument) + "}" : std::string();
}

/// Returns what to write instead of `argument` to get a value of type `wanted`; empty if no advice is known.
std::string ArgumentAdvice::toWrite(const Expr *argument, QualType wanted) const {
  const llvm::StringRef want = nameInLanguage(wanted), given = nameInLanguage(argument->getType());
  const QualType element = elementOf(wanted);
  const bool wantsChunks = want == "Chunk" || (!element.isNull() && nameInLanguage(element) == "Chunk");
  if (wantsChunks) {
    if (given == "Chunk")
      return "{" + text(argument) + "}";
    if (given == "Buffer")
      return text(argument) + "[i] for one chunk, or " + text(argument) + ".slice(first, last)";
    if (given == "Rank")
      return text(argument) + ".input()[i], or " + text(argument) + ".output()[i]";
    if (isInteger(argument->getType()))
      return "Rank(r).input()[" + text(argument) + "], say";
    return {};
  }
  if (takesBlock(want)) {
    if (const auto *list = dyn_cast<InitListExpr>(argument->IgnoreParenImpCasts()); list && list->getNumInits() > 1)
      return "ThreadBlockGroup({0, 1})";
    if (isInteger(argument->getType()))
      return want == "ThreadBlockGroup" ? "{" + text(argument) + "}" : "tb(" + text(argument) + ")";
    return {};
  }
  if (takesInteger(want) || isInteger(wanted)) {
    if (given == "Rank")
      return text(argument) + ".id()";
    if (given == "ThreadBlock")
      return text(argument) + ".id";
    if (plain(argument->getType())->isFloatingType())
      return "static_cast<int>(" + text(argument) + ")";
    return isText(argument) || !given.empty() ? "a number" : "";
  }
  if (want == "IntegerList" || (!element.isNull() && nameInLanguage(element) == "ListedInteger"))
    return isInteger(argument->getType()) ? "{" + text(argument) + ", …}"
           : given == "Rank"              ? "{0, 1}, the numbers"
                                          : "";
  if (want == "Text" || want == "NoteFormat")
    return isa<CharacterLiteral>(argument->IgnoreParenImpCasts()) ? "it in double quotes" : "\"…\"";
  if (want == "MemoryChannel" || want == "PortChannel")
    return want.str() + "(dst, src)";
  if (want == "Collective")
    return "a collective, such as AllReduce(ranks, 1, true)";
  if (const auto *e = plain(wanted)->getAs<EnumType>(); e && isOfLanguage(e->getDecl()))
    return enumeratorsOf(e->getDecl());
  if (const CXXRecordDecl *record = plain(wanted)->getAsCXXRecordDecl(); record && isOptions(record))
    return option(argument, record).empty() ? "{.name = value}" : option(argument, record);
  if (plain(wanted)->isBooleanType() || want == "AnyFlag")
    return "true or false";
  return {};
}

Advice ArgumentAdvice::ofValue(const Expr *argument, QualType wanted, const ir::DiagInfo &withAdvice,
                               const ir::DiagInfo &plainly, std::vector<ir::DiagArg> args) const {
  args.emplace_back(inWords(wanted));
  args.emplace_back(argumentInWords(argument));
  const std::string write = toWrite(argument, wanted);
  if (!write.empty())
    args.emplace_back(write);
  return {write.empty() ? &plainly : &withAdvice, argument->getBeginLoc(), std::move(args), !write.empty()};
}

std::optional<Advice> ArgumentAdvice::whyValue(const Expr *value, QualType wanted, const ir::DiagInfo &info,
                                               std::vector<ir::DiagArg> of) const {
  if (nameInLanguage(wanted).empty())
    return std::nullopt;
  Advice advice = ofValue(value, wanted, info, info, std::move(of));
  return advice.saysWhatToWrite ? std::optional(std::move(advice)) : std::nullopt;
}

Advice ArgumentAdvice::why(const Expr *argument, const ParmVarDecl *parameter) const {
  const QualType wanted = plain(parameter->getType());
  if (const auto *list = dyn_cast<InitListExpr>(argument->IgnoreParenImpCasts())) {
    if (const CXXRecordDecl *record = wanted->getAsCXXRecordDecl(); record && isOptions(record))
      if (auto advice = ofOptions(list, record))
        return *advice;
    // If one element has a wrong type, the error is about this element.
    if (const QualType element = elementOf(wanted); !element.isNull())
      for (const Expr *given : list->inits())
        if (!sema_.Context.hasSameUnqualifiedType(plain(given->getType()), plain(element)) &&
            !(takesInteger(nameInLanguage(element)) && isInteger(given->getType())))
          return ofValue(given, element, diag::element_type, diag::element_type_plain,
                         {parameter->getName().str(), callee_});
  }
  return ofValue(argument, wanted, diag::argument_type, diag::argument_type_plain,
                 {parameter->getName().str(), callee_});
}

Advice adviceOnOption(SourceLocation where, const CXXRecordDecl *options, llvm::StringRef name) {
  const std::vector<std::string> names = memberNames(options);
  if (const std::string ours = optionNamed(name); llvm::is_contained(names, ours))
    return {&diag::no_option, where, {name.str(), ours}};
  if (const auto near = ir::nearestName(name.str(), names))
    return {&diag::no_option, where, {name.str(), *near}};
  return {&diag::no_such_option, where, {name.str(), options->getName().str(), ir::enumerate(names)}};
}

std::optional<Advice> ArgumentAdvice::ofOptions(const InitListExpr *list, const CXXRecordDecl *options) const {
  if (const InitListExpr *written = list->getSyntacticForm())
    list = written;
  llvm::SmallVector<llvm::StringRef> names;
  for (const Expr *element : list->inits()) {
    const auto *given = dyn_cast<DesignatedInitExpr>(element);
    if (!given) {
      const std::string named = option(element, options);
      return Advice{&diag::option_unnamed, element->getBeginLoc(), {named.empty() ? "{.name = value}" : named}};
    }
    if (!given->getDesignator(0)->isFieldDesignator() || !given->getDesignator(0)->getFieldName())
      continue;
    const llvm::StringRef name = given->getDesignator(0)->getFieldName()->getName();
    const auto fields = options->fields();
    const auto field = llvm::find_if(fields, [&](const FieldDecl *f) { return f->getName() == name; });
    if (llvm::is_contained(names, name))
      return Advice{&diag::option_twice, given->getDesignator(0)->getFieldLoc(), {name.str()}};
    names.push_back(name);
    if (field == fields.end())
      return adviceOnOption(given->getDesignator(0)->getFieldLoc(), options, name);
    Expr *value = given->getInit();
    const InitializationKind kind = InitializationKind::CreateCopy(value->getBeginLoc(), SourceLocation());
    const InitializedEntity entity = InitializedEntity::InitializeMember(*field);
    if (!value->isTypeDependent() && InitializationSequence(sema_, entity, kind, value).Failed())
      return ofValue(value, field->getType(), diag::option_type, diag::option_type_plain, {name.str()});
  }
  return std::nullopt;
}

} // namespace mscclc::frontend
