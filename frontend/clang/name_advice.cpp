#include "frontend/clang/name_advice.h"

#include "frontend/clang/dialect_checker.h"
#include "frontend/clang/language_names.h"
#include "frontend/diagnostics.h"

#include "ir/nearest_name.h"

#include "clang/AST/ASTContext.h"
#include "clang/Basic/DiagnosticLex.h"
#include "clang/Basic/DiagnosticParse.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Lexer.h"
#include "clang/Tooling/Inclusions/StandardLibrary.h"

using namespace clang;

namespace mscclc::frontend {
namespace {

/// The source around an error.
class Around {
public:
  Around(SourceLocation where, CompilerInstance &compiler)
      : sources_(compiler.getSourceManager()), options_(compiler.getLangOpts()), where_(sources_.getFileLoc(where)) {}

  /// The last character before it that is no space; a line break where it is the first of its line.
  char before() const {
    const auto [file, offset] = sources_.getDecomposedLoc(where_);
    bool invalid = false;
    const llvm::StringRef text = sources_.getBufferData(file, &invalid);
    if (invalid)
      return '\n';
    const std::size_t at = text.take_front(offset).find_last_not_of(" \t");
    return at == llvm::StringRef::npos ? '\n' : text[at];
  }
  std::string here() const {
    Token token;
    return Lexer::getRawToken(where_, token, sources_, options_) ? std::string() : spelling(token);
  }
  /// The token after the one that stands there.
  std::string next() const { return spelling(Lexer::findNextToken(where_, sources_, options_)); }
  /// The one after that.
  std::string afterNext() const {
    const auto token = Lexer::findNextToken(where_, sources_, options_);
    return token ? spelling(Lexer::findNextToken(token->getLocation(), sources_, options_)) : std::string();
  }

private:
  std::string spelling(const std::optional<Token> &token) const {
    return token ? Lexer::getSpelling(*token, sources_, options_) : std::string();
  }

  const SourceManager &sources_;
  const LangOptions &options_;
  const SourceLocation where_;
};

/// A value of one token that an argument is given by name, or `…`.
std::string valueOf(const std::string &token) {
  return !token.empty() && (isalnum(static_cast<unsigned char>(token[0])) || token[0] == '"') ? token : "…";
}

std::string headerOf(llvm::StringRef scope, llvm::StringRef name) {
  const auto symbol = tooling::stdlib::Symbol::named(scope, name);
  const auto header = symbol ? symbol->header() : std::nullopt;
  return header ? header->name().str() : std::string();
}

/// The header of the chunk language declares what the other header does not.
bool isOfChunkLanguage(llvm::StringRef name) {
  return name == "chunk" || name == "ChunkRef" || name == "ChunkOptions" || name == "ChannelType";
}

/// A name that is followed by `=` where an argument or an option stands.
std::optional<Advice> adviceOnNamedArgument(const Held &error, const Around &around, ASTContext &context) {
  const std::string &name = error.names[0];
  if (around.next() != "=")
    return std::nullopt;
  const std::string value = valueOf(around.afterNext());
  const char before = around.before();
  if (before == '{' || before == '(' || before == ',') {
    const std::string ours = optionNamed(name).empty() ? name : optionNamed(name);
    for (const CXXRecordDecl *options : optionStructs(context)) {
      const std::vector<std::string> names = memberNames(options);
      if (llvm::is_contained(names, ours) && before != '{')
        return Advice{&diag::argument_named, error.where, {"{." + ours + " = " + value + "}, as it is an option"}};
      const auto near = llvm::is_contained(names, ours) ? std::optional(ours) : ir::nearestName(ours, names);
      if (near && before == '{')
        return Advice{&diag::option_unnamed, error.where, {"{." + *near + " = " + value + "}"}};
    }
    return Advice{&diag::argument_named, error.where, {"its value alone, " + value + ", in its place"}};
  }
  if (before == '\n' || before == ';' || before == '{' || before == '}')
    return Advice{&diag::not_declared, error.where, {name}};
  return std::nullopt;
}

/// A name of the standard library whose header is not included.
std::optional<Advice> adviceOnLibrary(const Held &error, const std::string &name, bool isPlain) {
  if (const std::string instead = insteadOf(name); !instead.empty())
    return Advice{&diag::word_instead, error.where, {name, instead}};
  if (const std::string_view reason = refusalOfFunction(name); !reason.empty())
    return Advice{&diag::word_instead, error.where, {name, reason}};
  const std::string inStd = headerOf("std::", name);
  const std::string header = inStd.empty() && isPlain ? headerOf("", name) : inStd;
  if (header.empty())
    return std::nullopt;
  const llvm::StringRef bare = llvm::StringRef(header).drop_front().drop_back();
  if (const std::string_view reason = refusalOfHeader(bare); !reason.empty())
    return Advice{&diag::word_instead, error.where, {isPlain ? name : "std::" + name, reason}};
  if (isPlain && !inStd.empty())
    return Advice{&diag::needs_std, error.where, {name, header}};
  return Advice{&diag::needs_header, error.where, {isPlain ? name : "std::" + name, header}};
}

/// A name that is declared nowhere.
std::optional<Advice> adviceOnUndeclared(const Held &error, CompilerInstance &compiler) {
  const std::string &name = error.names[0];
  ASTContext &context = compiler.getASTContext();
  const bool isSuggested = error.names[1].starts_with("'mscclc::");
  if (isSuggested && llvm::StringRef(error.names[1]).count("::") == 1 && error.names[1] == "'mscclc::" + name + "'")
    return Advice{&diag::needs_namespace, error.where, {name}};
  if (auto advice = adviceOnNamedArgument(error, Around(error.where, compiler), context))
    return advice;
  if (const std::string instead = insteadOf(name); !instead.empty())
    return Advice{&diag::word_instead, error.where, {name, instead}};
  if (isOfChunkLanguage(name))
    return Advice{&diag::needs_header, error.where, {name, "<mscclc/chunks.hpp>"}};
  const std::vector<std::string> marks = {"MSCCLC_ALGORITHM"};
  if (name.size() > 8 && ir::nearestName(name, marks))
    return Advice{&diag::name_near, error.where, {name, marks[0]}};
  if (const auto enums = enumsWith(context, name); !enums.empty()) {
    std::vector<std::string> all;
    for (const EnumDecl *e : enums)
      all.push_back(e->getNameAsString() + "::" + name);
    return Advice{&diag::enumerator_without_enum, error.where, {name, listed(all, "or")}};
  }
  if (error.names[1].empty())
    return adviceOnLibrary(error, name, true);
  static constexpr std::array<llvm::StringRef, 5> types{"'char'", "'int'", "'long'", "'bool'", "'auto'"};
  if (llvm::is_contained(types, error.names[1])) // Clang's guess at a variable
    return Advice{&diag::not_declared, error.where, {name}};
  return std::nullopt;
}

/// A name that a class, an enum or a namespace does not have.
std::optional<Advice> adviceOnMember(const Held &error) {
  const std::string &name = error.names[0];
  const CXXRecordDecl *record = error.type.isNull() ? nullptr : error.type->getAsCXXRecordDecl();
  if (!record && error.owner)
    record = dyn_cast<CXXRecordDecl>(error.owner);
  const auto *enumeration = dyn_cast_or_null<EnumDecl>(error.owner);
  if (!enumeration && !error.type.isNull())
    if (const auto *type = error.type->getAs<EnumType>())
      enumeration = type->getDecl();
  if (const auto *space = dyn_cast_or_null<NamespaceDecl>(error.owner); space && space->isStdNamespace())
    return adviceOnLibrary(error, name, false);
  if (const auto *space = dyn_cast_or_null<NamespaceDecl>(error.owner);
      space && space->getIdentifier() && space->getName() == "mscclc" && !insteadOf(name).empty())
    return Advice{&diag::word_instead, error.where, {name, insteadOf(name)}};
  const auto *tag = record ? static_cast<const TagDecl *>(record) : enumeration;
  if (!tag || !tag->getIdentifier() || !isOfLanguage(tag))
    return std::nullopt;
  const std::vector<std::string> names = record ? memberNames(record) : enumeratorNames(enumeration);
  if (names.empty())
    return std::nullopt;
  if (const std::string instead = insteadOf(name); record && !instead.empty())
    return Advice{&diag::word_instead, error.where, {name, instead}};
  const std::string ours = optionNamed(name);
  const auto near = llvm::is_contained(names, ours) ? std::optional(ours) : ir::nearestName(name, names);
  if (near)
    return Advice{&diag::member_near, error.where, {tag->getName().str(), name, *near}};
  return Advice{&diag::member_listed, error.where, {tag->getName().str(), name, listed(names)}};
}

/// `tb=0`: an assignment to a function of the language.
std::optional<Advice> adviceOnAssignedFunction(const Held &error, const Around &around) {
  const auto *function = error.type.isNull() ? nullptr : error.type->getAs<FunctionProtoType>();
  if (!function || inWords(function->getReturnType()) != "a thread block")
    return std::nullopt;
  return Advice{&diag::argument_named, error.where, {"tb(" + valueOf(around.next()) + ")"}};
}

std::optional<Advice> adviceOnSyntax(const Held &error, const Around &around) {
  switch (error.kind) {
  case clang::diag::err_expected:
    if (error.shown.message == "expected ']'" && error.shown.place.excerpt.size() >= error.shown.place.column &&
        error.shown.place.column != 0 && error.shown.place.excerpt[error.shown.place.column - 1] == ':')
      return Advice{&diag::slice_by_colon, error.where, {}};
    return std::nullopt;
  case clang::diag::err_expected_expression:
    if (error.shown.place.column != 0 && error.shown.place.excerpt.size() >= error.shown.place.column &&
        error.shown.place.excerpt[error.shown.place.column - 1] == ':' && around.before() == '[')
      return Advice{&diag::slice_by_colon, error.where, {}};
    return std::nullopt;
  case clang::diag::err_expected_lparen_after:
    if (error.names[0] == "for")
      return Advice{&diag::write_instead, error.where, {"for (int i = 0; i < n; ++i) { … }"}};
    return std::nullopt;
  case clang::diag::err_expected_capture:
    return Advice{&diag::write_instead, error.where, {"a list in braces: {0, 1}"}};
  case clang::diag::err_expected_equal_designator:
    return Advice{&diag::write_instead, error.where, {"'=' between an option and its value: {.name = value}"}};
  case clang::diag::err_invalid_suffix_constant:
    return Advice{&diag::bytes_by_suffix, error.where, {error.names[0]}};
  case clang::diag::err_lambda_impcap:
    return Advice{&diag::lambda_without_capture, error.where, {error.names[0]}};
  default:
    return std::nullopt;
  }
}

} // namespace

bool isUndeclared(const Held &error) {
  switch (error.kind) {
  case clang::diag::err_undeclared_var_use:
  case clang::diag::err_undeclared_var_use_suggest:
  case clang::diag::err_undeclared_use:
  case clang::diag::err_undeclared_use_suggest:
  case clang::diag::err_unknown_typename:
  case clang::diag::err_unknown_typename_suggest:
  case clang::diag::err_no_template:
  case clang::diag::err_no_template_suggest:
    return true;
  default:
    return false;
  }
}

std::optional<Advice> adviceOnName(const Held &error, CompilerInstance &compiler) {
  if (isUndeclared(error))
    return adviceOnUndeclared(error, compiler);
  const Around around(error.where, compiler);
  switch (error.kind) {
  case clang::diag::err_no_member:
  case clang::diag::err_no_member_suggest:
  case clang::diag::err_no_member_template:
    return adviceOnMember(error);
  case clang::diag::err_typecheck_non_object_not_modifiable_lvalue:
    return adviceOnAssignedFunction(error, around);
  case clang::diag::err_typecheck_decl_incomplete_type:
    if (const CXXRecordDecl *record = error.type.isNull() ? nullptr : error.type->getAsCXXRecordDecl();
        record && record->getIdentifier() && isOfChunkLanguage(record->getName()) && isOfLanguage(record))
      return Advice{&diag::needs_header, error.where, {record->getName().str(), "<mscclc/chunks.hpp>"}};
    return std::nullopt;
  case clang::diag::err_ref_non_value: {
    const std::string &name = error.names[0];
    if (name != "BufferType" && name != "Sync" && name != "ReduceOp" && name != "Protocol" && name != "Via" &&
        name != "Replication" && name != "Schedule" && name != "Rank" && name != "ChannelType")
      return std::nullopt;
    return Advice{
        &diag::type_not_value, error.where, {name, name == "Rank" ? "Rank(i)" : name + "::, as in " + name + "::…"}};
  }
  case clang::diag::err_ovl_no_viable_literal_operator: {
    const llvm::StringRef name = error.names[0];
    return Advice{&diag::bytes_by_suffix, error.where, {name.substr(name.find('_')).str()}};
  }
  case clang::diag::err_bound_member_function:
    return Advice{&diag::not_called, error.where, {around.here()}};
  case clang::diag::err_field_designator_unknown:
  case clang::diag::err_field_designator_unknown_suggest:
    if (const CXXRecordDecl *record = error.type.isNull() ? nullptr : error.type->getAsCXXRecordDecl();
        record && isOptions(record))
      return adviceOnOption(error.where, record, error.names[0]);
    return std::nullopt;
  case clang::diag::err_ovl_no_viable_subscript:
  case clang::diag::err_typecheck_ambiguous_condition:
    if (llvm::StringRef(error.shown.message).contains("PlacedIndex") ||
        (!error.type.isNull() && inWords(error.type) == "a buffer"))
      return Advice{&diag::index_of_buffer, error.where, {}};
    return std::nullopt;
  case clang::diag::err_init_conversion_failed:
    if (const auto *type = error.type.isNull() ? nullptr : error.type->getAs<EnumType>();
        type && isOfLanguage(type->getDecl())) {
      std::vector<std::string> names = enumeratorNames(type->getDecl());
      for (std::string &name : names)
        name = type->getDecl()->getName().str() + "::" + name;
      return Advice{&diag::write_instead, error.where, {listed(names, "or")}};
    }
    return std::nullopt;
  case clang::diag::err_typecheck_invalid_operands:
    if (!error.type.isNull() && inWords(error.type) == "a rank")
      return Advice{&diag::write_instead, error.where, {".id() of a rank where its number is wanted"}};
    return std::nullopt;
  case clang::diag::err_pp_file_not_found: {
    const llvm::StringRef name = error.names[0];
    if (name.contains("mscclc") || name.contains("mscclpp") || name.ends_with("dsl.hpp") ||
        name.ends_with("chunks.hpp"))
      return Advice{&diag::header_of_language, error.where, {name.str()}};
    if (const std::string_view reason = refusalOfHeader(name); !reason.empty())
      return Advice{&diag::refused_header, error.where, {name.str(), reason}};
    return std::nullopt;
  }
  default:
    return adviceOnSyntax(error, around);
  }
}

} // namespace mscclc::frontend
