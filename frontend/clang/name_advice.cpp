#include "frontend/clang/name_advice.h"

#include "frontend/clang/call_advice.h"
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

  /// Returns the last character before the error, skipping spaces and tabs. It is a line break if the error begins its
  /// line.
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
  /// Returns the token after the one at the error.
  std::string next() const { return spelling(Lexer::findNextToken(where_, sources_, options_)); }
  /// Returns the second token after the one at the error.
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

/// Returns `type` as a T; null if it is null or another type.
template <typename T> const T *typeAs(QualType type) {
  return type.isNull() ? nullptr : type->getAs<T>();
}
const CXXRecordDecl *recordOf(QualType type) {
  return type.isNull() ? nullptr : type->getAsCXXRecordDecl();
}

/// Returns `token`, which is the value of a named argument. Returns `…` unless it is a word, a number or a text.
std::string valueOf(const std::string &token) {
  return !token.empty() && (isalnum(static_cast<unsigned char>(token[0])) || token[0] == '"') ? token : "…";
}

std::string headerOf(llvm::StringRef scope, llvm::StringRef name) {
  const auto symbol = tooling::stdlib::Symbol::named(scope, name);
  const auto header = symbol ? symbol->header() : std::nullopt;
  return header ? header->name().str() : std::string();
}

/// Returns true if only the header of the chunk language declares the name.
bool isOfChunkLanguage(llvm::StringRef name) {
  return name == "chunk" || name == "ChunkRef" || name == "ChunkOptions" || name == "ChannelType";
}

/// Advises on a name before `=`, where an argument or an option belongs.
std::optional<Advice> adviceOnNamedArgument(const Held &error, const Around &around, ASTContext &context) {
  const std::string &name = error.names[0];
  if (around.next() != "=")
    return std::nullopt;
  const std::string value = valueOf(around.afterNext());
  const char before = around.before();
  if (llvm::StringRef(error.shown.place.excerpt).contains("MSCCLC_ALGORITHM"))
    return Advice{&diag::write_instead, error.where, {"int " + name + " = " + value + ": a parameter has a type"}};
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

/// Advises on a name of the standard library: what to write instead, or which header to include.
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

/// Returns `ReduceOp::Max` for `max`; empty if no enumerator has this name.
std::string withEnum(const EnumDecl *e, llvm::StringRef name) {
  for (const std::string &one : enumeratorNames(e))
    if (name.equals_insensitive(one))
      return e->getNameAsString() + "::" + one;
  return {};
}

/// True if the source declares a function with this undeclared name. Such a declaration can only come after the error.
bool isDeclaredBelow(const Held &error, ASTContext &context) {
  const DeclarationName name(&context.Idents.get(error.names[0]));
  return llvm::any_of(context.getTranslationUnitDecl()->lookup(name), [&](const NamedDecl *d) {
    return isa<FunctionDecl, FunctionTemplateDecl>(d) && context.getSourceManager().isInMainFile(d->getLocation());
  });
}

/// Advises on a name that is declared nowhere.
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
  const Around around(error.where, compiler);
  if (around.before() == '=')
    for (const EnumDecl *e : enumsWithAnyCase(context, name))
      return Advice{&diag::enumerator_without_enum, error.where, {name, withEnum(e, name)}};
  if (isDeclaredBelow(error, context))
    return Advice{&diag::declared_below, error.where, {name}};
  if (isOfChunkLanguage(name))
    return Advice{&diag::needs_header, error.where, {name, "<mscclc/chunks.hpp>"}};
  const std::vector<std::string> marks = {"MSCCLC_ALGORITHM"};
  if (name.size() > 8 && ir::nearestName(name, marks))
    return Advice{&diag::name_near, error.where, {name, marks[0]}};
  if (const auto enums = enumsWith(context, name); !enums.empty()) {
    std::vector<std::string> all;
    for (const EnumDecl *e : enums)
      all.push_back(e->getNameAsString() + "::" + name);
    return Advice{&diag::enumerator_without_enum, error.where, {name, ir::enumerate(all, "or")}};
  }
  if (error.names[1].empty())
    return adviceOnLibrary(error, name, true);
  static constexpr std::array<llvm::StringRef, 5> types{"'char'", "'int'", "'long'", "'bool'", "'auto'"};
  if (llvm::is_contained(types, error.names[1])) // Clang took the name for a variable
    return Advice{&diag::not_declared, error.where, {name}};
  return std::nullopt;
}

/// Returns advice for a name that a class, an enum or a namespace does not have.
std::optional<Advice> adviceOnMember(const Held &error, ASTContext &context) {
  const std::string &name = error.names[0];
  const CXXRecordDecl *record = recordOf(error.type);
  if (!record && error.owner)
    record = dyn_cast<CXXRecordDecl>(error.owner);
  const auto *enumeration = dyn_cast_or_null<EnumDecl>(error.owner);
  if (const auto *type = typeAs<EnumType>(error.type); type && !enumeration)
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
  if (tag->getName() == "Rank")
    for (const char *channel : {"MemoryChannel", "PortChannel"})
      if (const CXXRecordDecl *of = recordNamed(context, channel); of && llvm::is_contained(memberNames(of), name))
        return Advice{&diag::call_of_channel, error.where, {tag->getName().str(), name, channel}};
  if (const CXXRecordDecl *options = recordNamed(context, "ProgramOptions");
      tag->getName() == "CollectiveProgram" && options && llvm::is_contained(memberNames(options), name))
    return Advice{
        &diag::options_at_begin, error.where, {"program", "CollectiveProgram program(name, collective", name}};
  const std::string ours = optionNamed(name);
  const auto near = llvm::is_contained(names, ours) ? std::optional(ours) : ir::nearestName(name, names);
  if (near)
    return Advice{&diag::member_near, error.where, {tag->getName().str(), name, *near}};
  return Advice{&diag::member_listed, error.where, {tag->getName().str(), name, ir::enumerate(names)}};
}

/// Advises on `tb=0` as an argument, which C++ reads as an assignment to the function tb(): `tb(0)` is meant.
std::optional<Advice> adviceOnAssignedFunction(const Held &error, const Around &around) {
  const auto *function = typeAs<FunctionProtoType>(error.type);
  if (!function || inWords(function->getReturnType()) != "a thread block")
    return std::nullopt;
  return Advice{&diag::argument_named, error.where, {"tb(" + valueOf(around.next()) + ")"}};
}

/// Advises on `.name = auto`. If the compiler may choose this option, the advice is `automatic`, or `Auto` of an enum.
std::optional<Advice> adviceOnAuto(const Held &error, ASTContext &context) {
  llvm::StringRef text = error.shown.place.excerpt;
  text = text.take_front(error.shown.place.column == 0 ? 0 : error.shown.place.column - 1).rtrim();
  if (!text.consume_back("auto"))
    return std::nullopt;
  text = text.rtrim();
  text.consume_back("=");
  const llvm::StringRef name = text.rtrim().rsplit('.').second;
  std::string write = "a value";
  for (const CXXRecordDecl *options : optionStructs(context))
    for (const FieldDecl *field : options->fields())
      if (field->getName() == name) {
        const auto *type = field->getType()->getAs<EnumType>();
        const CXXRecordDecl *record = field->getType()->getAsCXXRecordDecl();
        if (type && llvm::is_contained(enumeratorNames(type->getDecl()), "Auto"))
          write = type->getDecl()->getName().str() + "::Auto";
        else if (record && record->getName().starts_with("Any"))
          write = "automatic";
      }
  return Advice{&diag::auto_no_value, error.where, {write}};
}

/// True if the character at the error is `c`.
bool isAt(const Held &error, char c) {
  const ir::ShownPlace &place = error.shown.place;
  return place.column != 0 && place.excerpt.size() >= place.column && place.excerpt[place.column - 1] == c;
}

/// Returns the source from the error to the end of its line, without blanks before it.
llvm::StringRef restOf(const Held &error) {
  const ir::ShownPlace &place = error.shown.place;
  return llvm::StringRef(place.excerpt)
      .drop_front(std::min<std::size_t>(std::max(place.column, 1u) - 1, place.excerpt.size()))
      .ltrim();
}

/// Returns true if `rest` is like `// n;`, the end of a division in Python.
bool isDivision(llvm::StringRef rest) {
  if (!rest.consume_front("//"))
    return false;
  rest = rest.trim();
  return rest.consume_back(";") && !rest.empty() &&
         llvm::all_of(rest, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::optional<Advice> adviceOnSyntax(const Held &error, const Around &around) {
  const auto write = [&](const char *what) { return Advice{&diag::write_instead, error.where, {what}}; };
  constexpr const char *loop = "for (int i = 0; i < n; ++i) { … }";
  switch (error.kind) {
  case clang::diag::err_redefinition:
    return llvm::StringRef(error.shown.place.excerpt).ltrim().starts_with("for") && around.before() == ','
               ? std::optional(write(loop))
               : std::nullopt;
  case clang::diag::err_expected_semi_for:
  case clang::diag::err_for_range_invalid:
    return write(loop);
  case clang::diag::err_expected_semi_declaration:
    return isDivision(restOf(error)) ? std::optional(write("'/' to divide, as '//' begins a comment")) : std::nullopt;
  case clang::diag::err_missing_type_specifier:
  case clang::diag::err_expected_unqualified_id:
    if (llvm::StringRef(error.shown.place.excerpt).contains("MSCCLC_ALGORITHM"))
      return write("MSCCLC_ALGORITHM void name(int ranks = 8) { … }");
    return std::nullopt;
  case clang::diag::err_function_definition_not_allowed:
    return write("this function outside of the other, or as auto name = [&](int rank) { … };");
  case clang::diag::err_pp_invalid_directive:
    return llvm::StringRef(error.shown.message).contains("did you mean")
               ? std::nullopt
               : std::optional(write("// where a comment begins"));
  case clang::diag::err_typecheck_indirection_requires_pointer:
    return around.before() == '*' ? std::optional(write("1 << n for a power of two, as there is no '**'"))
                                  : std::nullopt;
  case clang::diag::err_character_not_allowed:
    return write("\" and ' as plain characters, and letters of ASCII alone outside of texts");
  case clang::diag::err_expected:
    if (error.shown.message == "expected ']'" && isAt(error, ':'))
      return Advice{&diag::slice_by_colon, error.where, {}};
    if (error.shown.message == "expected '}'" && isAt(error, ';') && around.next() == ".")
      return Advice{&diag::options_by_comma, error.where, {}};
    return std::nullopt;
  case clang::diag::err_expected_expression:
    if (isAt(error, ':') && around.before() == '[')
      return Advice{&diag::slice_by_colon, error.where, {}};
    if (isAt(error, '.') && around.before() == ',')
      return Advice{&diag::options_unbraced, error.where, {around.next()}};
    if (isAt(error, '"'))
      return write("\" at the end of the text, too");
    return std::nullopt;
  case clang::diag::err_expected_lparen_after:
    return error.names[0] == "for" ? std::optional(write(loop)) : std::nullopt;
  case clang::diag::err_expected_semi_after_attribute_list:
    return write("';' at the end of what stands before this");
  case clang::diag::err_expected_capture:
    return write("a list in braces: {0, 1}");
  case clang::diag::err_expected_equal_designator:
    return write("'=' between an option and its value: {.name = value}");
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
  case clang::diag::err_access:
    return adviceOnMember(error, compiler.getASTContext());
  case clang::diag::err_typecheck_non_object_not_modifiable_lvalue:
    return adviceOnAssignedFunction(error, around);
  case clang::diag::err_typecheck_decl_incomplete_type:
    if (const CXXRecordDecl *record = recordOf(error.type);
        record && record->getIdentifier() && isOfChunkLanguage(record->getName()) && isOfLanguage(record))
      return Advice{&diag::needs_header, error.where, {record->getName().str(), "<mscclc/chunks.hpp>"}};
    return std::nullopt;
  case clang::diag::err_ref_non_value: {
    const std::string &name = error.names[0];
    ASTContext &context = compiler.getASTContext();
    if (const CXXRecordDecl *record = recordNamed(context, name))
      return Advice{&diag::type_not_value, error.where, {name, name == "Rank" ? "Rank(i)" : usageOf(record)}};
    const EnumDecl *e = enumNamed(context, name);
    if (!e)
      return std::nullopt;
    std::string write = name + "::, as in " + name + "::…";
    if (const auto near = ir::nearestName(around.afterNext(), enumeratorNames(e)); near && around.next() == ".")
      write = name + "::" + *near;
    return Advice{&diag::type_not_value, error.where, {name, write}};
  }
  case clang::diag::err_ovl_no_viable_literal_operator: {
    const llvm::StringRef name = error.names[0];
    return Advice{&diag::bytes_by_suffix, error.where, {name.substr(name.find('_')).str()}};
  }
  case clang::diag::err_bound_member_function:
    return Advice{&diag::not_called, error.where, {around.here()}};
  case clang::diag::err_field_designator_unknown:
  case clang::diag::err_field_designator_unknown_suggest:
    if (const CXXRecordDecl *record = recordOf(error.type); record && isOptions(record))
      return adviceOnOption(error.where, record, error.names[0]);
    return std::nullopt;
  case clang::diag::err_ovl_no_viable_subscript:
  case clang::diag::err_typecheck_ambiguous_condition:
    if (llvm::StringRef(error.shown.message).contains("PlacedIndex") || inWords(error.type) == "a buffer")
      return Advice{&diag::index_of_buffer, error.where, {}};
    return std::nullopt;
  case clang::diag::err_init_conversion_failed:
    if (const auto *type = typeAs<EnumType>(error.type); type && isOfLanguage(type->getDecl()))
      return Advice{&diag::write_instead, error.where, {enumeratorsOf(type->getDecl())}};
    return std::nullopt;
  case clang::diag::err_typecheck_invalid_operands:
    if (inWords(error.type) == "a rank")
      return Advice{&diag::write_instead, error.where, {".id() of a rank where its number is needed"}};
    if (inWords(error.type) == "a chunk" || inWords(error.type) == "a buffer")
      return Advice{&diag::chunk_arithmetic, error.where, {}};
    return std::nullopt;
  case clang::diag::err_subscript_function_type:
    if (around.here() == "tb")
      return Advice{&diag::write_instead, error.where, {"tb(" + valueOf(around.afterNext()) + ")"}};
    return std::nullopt;
  case clang::diag::warn_uninit_var:
    return Advice{&diag::no_value_yet, error.where, {error.names[0]}};
  case clang::diag::ext_init_list_type_narrowing:
    if (error.type.isNull() || !(error.type->isArrayType() || error.type->isPointerType()))
      return std::nullopt;
    return Advice{&diag::text_is_true, error.where, {}};
  case clang::diag::warn_impcast_string_literal_to_bool:
    return Advice{&diag::text_is_true, error.where, {}};
  case clang::diag::err_expected_lparen_after_type:
    return adviceOnAuto(error, compiler.getASTContext());
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
