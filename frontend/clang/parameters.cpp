#include "frontend/clang/parameters.h"

#include "frontend/clang/ast_visitor.h"
#include "frontend/clang/source_reporter.h"
#include "frontend/diagnostics.h"

#include "ir/nearest_name.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Comment.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Expr.h"
#include "clang/AST/RawCommentList.h"
#include "llvm/ADT/StringExtras.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

using namespace clang;

namespace mscclc::frontend {
namespace {

constexpr llvm::StringLiteral marker = "mscclc::algorithm";

bool isMarked(const Decl *d) {
  for (const auto *annotation : d->specific_attrs<AnnotateAttr>())
    if (annotation->getAnnotation() == marker)
      return true;
  return false;
}

/// Finds marked declarations in the user's code, at any depth.
class MarkedFinder : public AstVisitor<MarkedFinder> {
public:
  MarkedFinder(std::vector<const Decl *> &found) : found_(found) {}
  bool VisitDecl(Decl *d) {
    if (isMarked(d))
      found_.push_back(d);
    return true;
  }
  bool TraverseStmt(Stmt *) { return true; } // a body cannot contain a marked declaration

private:
  std::vector<const Decl *> &found_;
};

/// Returns what a marked function would have to be; empty if it can be an algorithm.
std::string_view unfit(const FunctionDecl *f) {
  if (isa<CXXMethodDecl>(f))
    return "a function outside a class";
  if (f->isTemplated() || f->getTemplateSpecializationKind() != TSK_Undeclared)
    return "a function, not a template";
  if (!f->getReturnType()->isVoidType())
    return "a function that returns nothing (void)";
  if (f->isVariadic())
    return "a function with named parameters only";
  if (f->isConsteval())
    return "a function that runs (not consteval)";
  if (!f->isDefined())
    return "a function that is defined here";
  return {};
}

bool isStringView(QualType type) {
  const auto *record = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
  if (!record || record->getName() != "basic_string_view" || !record->isInStdNamespace())
    return false;
  const TemplateArgument &character = record->getTemplateArgs()[0];
  return character.getKind() == TemplateArgument::Type &&
         character.getAsType()->isSpecificBuiltinType(BuiltinType::Char_S);
}

std::optional<ParameterType> typeOf(QualType type, const ASTContext &context) {
  ParameterType result;
  type = type.getCanonicalType();
  if (type->isBooleanType()) {
    result.kind = ParameterType::Bool;
    result.bits = 1;
    return result;
  }
  if (const auto *e = type->getAs<EnumType>()) {
    const EnumDecl *definition = e->getDecl()->getDefinition();
    if (!definition || context.getTypeSize(type) > 64)
      return std::nullopt;
    result.kind = ParameterType::Enum;
    result.bits = static_cast<unsigned>(context.getTypeSize(type));
    result.isSigned = definition->getIntegerType()->isSignedIntegerOrEnumerationType();
    for (const EnumConstantDecl *value : definition->enumerators())
      result.enumerators.emplace_back(value->getNameAsString(), value->getInitVal().extOrTrunc(64).getZExtValue());
    return result;
  }
  if (type->isIntegerType() && context.getTypeSize(type) <= 64 && !type->isBitIntType()) {
    result.bits = static_cast<unsigned>(context.getTypeSize(type));
    result.isSigned = type->isSignedIntegerType();
    return result;
  }
  if (type->isSpecificBuiltinType(BuiltinType::Double)) {
    result.kind = ParameterType::Double;
    return result;
  }
  if (isStringView(type)) {
    result.kind = ParameterType::Text;
    return result;
  }
  return std::nullopt;
}

/// Returns the characters of a constant std::string_view.
std::optional<std::string> constantText(const APValue &value) {
  if (!value.isStruct())
    return std::nullopt;
  std::optional<std::uint64_t> length;
  const APValue *pointer = nullptr;
  for (unsigned i = 0; i < value.getStructNumFields(); ++i) {
    const APValue &field = value.getStructField(i);
    if (field.isInt())
      length = field.getInt().getZExtValue();
    else if (field.isLValue())
      pointer = &field;
  }
  if (!length || !pointer)
    return std::nullopt;
  if (*length == 0)
    return std::string();
  const auto *literal = dyn_cast_or_null<StringLiteral>(pointer->getLValueBase().dyn_cast<const Expr *>());
  if (!literal || literal->getCharByteWidth() != 1)
    return std::nullopt;
  const auto offset = static_cast<std::uint64_t>(pointer->getLValueOffset().getQuantity());
  if (offset + *length > literal->getByteLength())
    return std::nullopt;
  return literal->getBytes().substr(offset, *length).str();
}

std::optional<Argument> constantValue(const Expr *e, const ParameterType &type, const ASTContext &context) {
  Expr::EvalResult result;
  if (!e || e->isValueDependent() || e->containsErrors() || !e->EvaluateAsRValue(result, context) ||
      result.HasSideEffects)
    return std::nullopt;
  Argument argument;
  argument.isSigned = type.isSigned;
  switch (type.kind) {
  case ParameterType::Integer:
  case ParameterType::Bool:
  case ParameterType::Enum:
    if (!result.Val.isInt())
      return std::nullopt;
    argument.bits = result.Val.getInt().extOrTrunc(64).getZExtValue();
    return argument;
  case ParameterType::Double:
    if (!result.Val.isFloat())
      return std::nullopt;
    argument.kind = Argument::Double;
    argument.number = result.Val.getFloat().convertToDouble();
    return argument;
  case ParameterType::Text:
    argument.kind = Argument::Text;
    if (auto text = constantText(result.Val)) {
      argument.text = std::move(*text);
      return argument;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

std::string shown(const Argument &value, const ParameterType &type) {
  switch (type.kind) {
  case ParameterType::Bool:
    return value.bits != 0 ? "true" : "false";
  case ParameterType::Enum:
    for (const auto &[name, bits] : type.enumerators)
      if (bits == value.bits)
        return name;
    [[fallthrough]];
  case ParameterType::Integer:
    return type.isSigned ? std::to_string(static_cast<std::int64_t>(value.bits)) : std::to_string(value.bits);
  case ParameterType::Double: {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value.number);
    char shorter[40];
    std::snprintf(shorter, sizeof shorter, "%g", value.number);
    return std::strtod(shorter, nullptr) == value.number ? shorter : text;
  }
  case ParameterType::Text:
    return value.text;
  }
  return {};
}

std::string range(const ParameterType &type) {
  const std::uint64_t most = type.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << type.bits) - 1;
  if (!type.isSigned)
    return "0 to " + std::to_string(most);
  const auto half = static_cast<std::int64_t>(most / 2);
  return std::to_string(-half - 1) + " to " + std::to_string(half);
}

/// Reads an integer of the given type, decimal or 0x…. If `text` is not such an integer, returns nothing and sets
/// `reason`.
std::optional<std::uint64_t> readInteger(const std::string &text, const ParameterType &type, std::string &reason) {
  const bool negative = text.starts_with('-');
  const std::string digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  llvm::StringRef rest = digits;
  if (hex)
    rest = rest.drop_front(2);
  std::uint64_t magnitude = 0;
  const bool isNumber =
      !rest.empty() && llvm::all_of(rest, [&](char c) { return hex ? llvm::isHexDigit(c) : llvm::isDigit(c); });
  if (!isNumber) {
    reason = "it takes an integer";
    return std::nullopt;
  }
  const std::uint64_t half = std::uint64_t{1} << (type.bits - 1);
  const std::uint64_t most = type.isSigned ? (negative ? half : half - 1) : (negative ? 0 : half - 1 + half);
  if (rest.getAsInteger(hex ? 16 : 10, magnitude) || magnitude > most) {
    reason = "its values are " + range(type);
    return std::nullopt;
  }
  return negative ? ~magnitude + 1 : magnitude;
}

std::optional<Argument> readValue(const std::string &text, const ParameterType &type, std::string &reason) {
  Argument argument;
  argument.isSigned = type.isSigned;
  switch (type.kind) {
  case ParameterType::Integer: {
    const auto value = readInteger(text, type, reason);
    if (!value)
      return std::nullopt;
    argument.bits = *value;
    return argument;
  }
  case ParameterType::Bool:
    if (text == "true" || text == "1" || text == "false" || text == "0") {
      argument.bits = text == "true" || text == "1";
      return argument;
    }
    reason = "it takes true or false";
    return std::nullopt;
  case ParameterType::Enum: {
    const std::size_t scope = text.rfind("::");
    const std::string name = scope == std::string::npos ? text : text.substr(scope + 2);
    std::string names;
    for (const auto &[enumerator, bits] : type.enumerators) {
      if (enumerator == name) {
        argument.bits = bits;
        return argument;
      }
      names += (names.empty() ? "" : ", ") + enumerator;
    }
    reason = "it takes one of " + names;
    return std::nullopt;
  }
  case ParameterType::Double: {
    char *end = nullptr;
    argument.kind = Argument::Double;
    argument.number = std::strtod(text.c_str(), &end);
    const bool startsRight = !text.empty() && !std::isspace(static_cast<unsigned char>(text[0]));
    if (startsRight && *end == '\0' && std::isfinite(argument.number))
      return argument;
    reason = "it takes a number";
    return std::nullopt;
  }
  case ParameterType::Text:
    argument.kind = Argument::Text;
    argument.text = text;
    return argument;
  }
  return std::nullopt;
}

std::string docComment(const FunctionDecl *f, const ASTContext &context) {
  for (const FunctionDecl *declaration : f->redecls())
    if (const RawComment *comment = context.getRawCommentForDeclNoCache(declaration))
      return llvm::StringRef(comment->getFormattedText(context.getSourceManager(), context.getDiagnostics()))
          .trim()
          .str();
  return {};
}

/// Fills in the parameters of `algorithm`. If a parameter is not possible, reports errors and returns false.
bool addParameters(Algorithm &algorithm, const ASTContext &context, SourceReporter &reporter) {
  bool good = true;
  PrintingPolicy policy(context.getLangOpts());
  policy.SuppressTagKeyword = true;
  for (const ParmVarDecl *p : algorithm.function->parameters()) {
    if (p->isInvalidDecl()) { // already reported by Clang
      good = false;
      continue;
    }
    const std::string name = p->getNameAsString();
    const SourceLocation where = p->getLocation().isValid() ? p->getLocation() : p->getBeginLoc();
    const auto type = typeOf(p->getType(), context);
    const auto value = type && p->hasDefaultArg() ? constantValue(p->getDefaultArg(), *type, context) : std::nullopt;
    if (value && !name.empty()) {
      ParameterInfo &info = algorithm.info.parameters.emplace_back();
      info.name = name;
      info.kind = type->kind;
      info.type = p->getType().getUnqualifiedType().getAsString(policy);
      info.defaultValue = shown(*value, *type);
      for (const auto &enumerator : type->enumerators)
        info.enumerators.push_back(enumerator.first);
      algorithm.types.push_back(*type);
      algorithm.arguments.push_back(*value);
      continue;
    }
    good = false;
    if (name.empty())
      reporter.report(diag::parameter_unnamed, where);
    else if (!type)
      reporter.report(diag::parameter_type, where, {name, p->getType().getAsString(policy)});
    else if (!p->hasDefaultArg())
      reporter.report(diag::parameter_without_default, where, {name});
    else
      reporter.report(diag::parameter_default_not_constant, p->getDefaultArg()->getExprLoc(), {name});
  }
  return good;
}

std::string namesOf(const std::vector<Algorithm> &algorithms) {
  std::string names;
  for (const Algorithm &a : algorithms)
    names += (names.empty() ? "" : ", ") + a.info.name;
  return names;
}

/// Returns `; did you mean 'ranks'?` if there is a similar name.
template <typename T> std::string nearName(const std::string &name, const std::vector<T> &all) {
  std::vector<std::string> names;
  for (const T &one : all)
    if constexpr (requires { one.info; })
      names.push_back(one.info.name);
    else
      names.push_back(one.name);
  const auto near = ir::nearestName(name, names);
  return near ? "; did you mean '" + *near + "'?" : std::string();
}

bool setParameters(Algorithm &algorithm, const FrontendOptions &options, SourceReporter &reporter) {
  bool good = true;
  const SourceLocation where = algorithm.function->getLocation();
  for (const auto &[name, text] : options.parameters) {
    const auto &parameters = algorithm.info.parameters;
    const auto it = llvm::find_if(parameters, [&, &name = name](const ParameterInfo &p) { return p.name == name; });
    if (it == parameters.end()) {
      std::string names;
      for (const ParameterInfo &p : parameters)
        names += (names.empty() ? "it has " : ", ") + p.name;
      reporter.report(diag::unknown_parameter, where,
                      {algorithm.info.name, name, names.empty() ? "it has none" : names + nearName(name, parameters)});
      good = false;
      continue;
    }
    const auto index = static_cast<std::size_t>(it - parameters.begin());
    std::string reason;
    if (auto value = readValue(text, algorithm.types[index], reason)) {
      algorithm.arguments[index] = std::move(*value);
    } else {
      reporter.report(diag::parameter_value,
                      algorithm.function->getParamDecl(static_cast<unsigned>(index))->getLocation(),
                      {text, name, it->type, reason});
      good = false;
    }
  }
  return good;
}

} // namespace

std::vector<Algorithm> findAlgorithms(ASTContext &context, SourceReporter &reporter) {
  std::vector<const Decl *> marked;
  MarkedFinder finder(marked);
  for (Decl *d : context.getTranslationUnitDecl()->noload_decls())
    if (reporter.isUser(d->getLocation()) || reporter.isUser(d->getBeginLoc()))
      finder.TraverseDecl(d);

  std::vector<Algorithm> algorithms;
  for (const Decl *d : marked) {
    const auto *f = dyn_cast<FunctionDecl>(d);
    if (!f) {
      const auto *named = dyn_cast<NamedDecl>(d);
      // A using directive has the mark if its `;` is missing, which Clang reports.
      if (!named || !isa<FunctionTemplateDecl, UsingDirectiveDecl>(d))
        reporter.report(diag::algorithm_not_function, d->getLocation(),
                        {named ? named->getNameAsString() : "this", "a function"});
      continue;
    }
    if (f->isInvalidDecl()) // already reported by Clang
      continue;
    if (const std::string_view reason = unfit(f); !reason.empty()) {
      reporter.report(diag::algorithm_not_function, f->getLocation(), {f->getNameAsString(), reason});
      continue;
    }
    // The latest declaration also has the mark and the default values of earlier declarations.
    const FunctionDecl *latest = f->getMostRecentDecl();
    if (llvm::any_of(algorithms, [&](const Algorithm &a) { return a.function == latest; }))
      continue;
    const std::string name = f->getNameAsString();
    const auto same = llvm::find_if(algorithms, [&](const Algorithm &a) { return a.info.name == name; });
    if (same != algorithms.end()) {
      reporter.report(diag::algorithm_twice, f->getLocation(), {name},
                      {{diag::first_definition_here, same->function->getLocation()}});
      continue;
    }
    Algorithm algorithm;
    algorithm.function = latest;
    algorithm.info.name = name;
    algorithm.info.doc = docComment(f, context);
    if (addParameters(algorithm, context, reporter))
      algorithms.push_back(std::move(algorithm));
  }
  return algorithms;
}

const Algorithm *chooseAlgorithm(std::vector<Algorithm> &algorithms, const FrontendOptions &options,
                                 SourceReporter &reporter) {
  if (algorithms.empty()) {
    if (!reporter.hasErrors())
      reporter.report(diag::no_algorithm, options.sourceName(), {});
    return nullptr;
  }
  Algorithm *chosen = nullptr;
  if (options.algorithm.empty()) {
    if (algorithms.size() > 1) {
      reporter.report(diag::several_algorithms, algorithms[1].function->getLocation(), {namesOf(algorithms)});
      return nullptr;
    }
    chosen = &algorithms.front();
  } else {
    const auto it = llvm::find_if(algorithms, [&](const Algorithm &a) { return a.info.name == options.algorithm; });
    if (it == algorithms.end()) {
      if (!reporter.hasErrors()) // the list has no algorithms with errors
        reporter.report(diag::unknown_algorithm, options.sourceName(),
                        {options.algorithm, namesOf(algorithms) + nearName(options.algorithm, algorithms)});
      return nullptr;
    }
    chosen = &*it;
  }
  return setParameters(*chosen, options, reporter) ? chosen : nullptr;
}

} // namespace mscclc::frontend
