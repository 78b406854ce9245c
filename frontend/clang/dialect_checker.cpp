#include "frontend/clang/dialect_checker.h"

#include "frontend/clang/ast_visitor.h"
#include "frontend/clang/source_reporter.h"
#include "frontend/diagnostics.h"
#include "frontend/eval/arena.h"
#include "frontend/eval/runtime_checks.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Mangle.h"
#include "clang/Basic/Builtins.h"
#include "clang/Lex/PPCallbacks.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace mscclc::frontend {
namespace {

/// The kinds of names in dialect_rules.def.
enum class Refused : std::uint8_t { Header, Attribute, Builtin, Function };

struct Rule {
  Refused kind;
  std::string_view reason;
  std::vector<llvm::StringRef> names;
};

const Rule rules[] = {
#define REFUSE(kind, reason, ...) {Refused::kind, reason, {__VA_ARGS__}},
#include "frontend/clang/dialect_rules.def"
#undef REFUSE
};

/// Returns why `name` is refused, and what to write instead. Empty if it is not refused.
std::string_view reasonOf(Refused kind, llvm::StringRef name) {
  const auto isNamed = [&](llvm::StringRef refused) {
    return kind == Refused::Builtin ? name.starts_with(refused) : name == refused;
  };
  for (const Rule &rule : rules)
    if (rule.kind == kind && llvm::any_of(rule.names, isNamed))
      return rule.reason;
  return {};
}

class IncludeChecker : public PPCallbacks {
public:
  explicit IncludeChecker(SourceReporter &reporter) : reporter_(reporter) {}

  void InclusionDirective(SourceLocation hash, const Token &, StringRef name, bool, CharSourceRange nameRange,
                          OptionalFileEntryRef file, StringRef, StringRef, const Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    if (!reporter_.isUser(hash))
      return;
    if (const std::string_view reason = refusalOfHeader(name); !reason.empty())
      reporter_.report(diag::refused_header, nameRange.getBegin(), {name.str(), reason});
  }

private:
  SourceReporter &reporter_;
};

/// Returns true if `base` is itself an array or a vector, rather than a pointer to one.
bool isArray(const Expr *base) {
  base = base->IgnoreParens();
  if (const auto *cast = dyn_cast<ImplicitCastExpr>(base))
    if (cast->getCastKind() == CK_ArrayToPointerDecay)
      return true;
  return base->getType()->isArrayType() || base->getType()->isVectorType();
}

class DialectChecker : public AstVisitor<DialectChecker> {
public:
  DialectChecker(ASTContext &context, SourceReporter &reporter)
      : context_(context), reporter_(reporter), names_(context) {
    // Visit the instances of templates, which show how a template uses its types. A place is reported only once.
    ShouldVisitTemplateInstantiations = true;
  }

  void check() {
    for (Decl *d : context_.getTranslationUnitDecl()->noload_decls())
      if (reporter_.isUser(d->getLocation()) || reporter_.isUser(d->getBeginLoc()))
        TraverseDecl(d);
  }

  /// Does not visit the thrown expression, so that it causes no second error.
  bool TraverseCXXThrowExpr(CXXThrowExpr *e) { return refuse(diag::refused_exception, e->getBeginLoc()); }
  bool VisitCXXTryStmt(CXXTryStmt *s) { return refuse(diag::refused_exception, s->getBeginLoc()); }
  bool VisitCXXNewExpr(CXXNewExpr *e) { return refuse(diag::refused_new, e->getBeginLoc(), {"new"}); }
  bool VisitCXXDeleteExpr(CXXDeleteExpr *e) { return refuse(diag::refused_new, e->getBeginLoc(), {"delete"}); }
  bool VisitGCCAsmStmt(GCCAsmStmt *s) { return refuse(diag::refused_asm, s->getBeginLoc()); }
  bool VisitMSAsmStmt(MSAsmStmt *s) { return refuse(diag::refused_asm, s->getBeginLoc()); }
  bool VisitFileScopeAsmDecl(FileScopeAsmDecl *d) { return refuse(diag::refused_asm, d->getBeginLoc()); }
  bool VisitGotoStmt(GotoStmt *s) { return refuse(diag::refused_goto, s->getBeginLoc()); }
  bool VisitIndirectGotoStmt(IndirectGotoStmt *s) { return refuse(diag::refused_goto, s->getBeginLoc()); }
  bool VisitAddrLabelExpr(AddrLabelExpr *e) { return refuse(diag::refused_goto, e->getBeginLoc()); }
  bool VisitCoroutineBodyStmt(CoroutineBodyStmt *s) { return refuse(diag::refused_coroutine, s->getBeginLoc()); }
  bool VisitCoawaitExpr(CoawaitExpr *e) { return refuse(diag::refused_coroutine, e->getBeginLoc()); }
  bool VisitCoyieldExpr(CoyieldExpr *e) { return refuse(diag::refused_coroutine, e->getBeginLoc()); }
  bool VisitCoreturnStmt(CoreturnStmt *s) { return refuse(diag::refused_coroutine, s->getBeginLoc()); }
  bool VisitVAArgExpr(VAArgExpr *e) { return refuse(diag::refused_varargs, e->getBeginLoc()); }
  bool VisitCXXReinterpretCastExpr(CXXReinterpretCastExpr *e) {
    return refuse(diag::refused_reinterpret_cast, e->getBeginLoc(), {"reinterpret_cast"});
  }
  bool VisitAtomicExpr(AtomicExpr *e) {
    return refuse(diag::refused_builtin, e->getBeginLoc(), {"__atomic", REASON_THREADS});
  }

  bool VisitCStyleCastExpr(CStyleCastExpr *e) { return checkCast(e, "a cast that reinterprets memory"); }
  bool VisitCXXFunctionalCastExpr(CXXFunctionalCastExpr *e) { return checkCast(e, "a cast that reinterprets memory"); }

  bool VisitBinaryOperator(BinaryOperator *e) {
    if (!e->isAdditiveOp() && e->getOpcode() != BO_AddAssign && e->getOpcode() != BO_SubAssign)
      return true;
    if (const auto isText = [](const Expr *side) { return isa<StringLiteral>(side->IgnoreParenImpCasts()); };
        e->getOpcode() == BO_Add && (isText(e->getLHS()) || isText(e->getRHS())))
      refuse(diag::text_joined, e->getOperatorLoc());
    else if (isObjectPointer(e->getLHS()) || isObjectPointer(e->getRHS()))
      refuse(diag::refused_pointer_arithmetic, e->getOperatorLoc());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *e) {
    if (e->isIncrementDecrementOp() && isObjectPointer(e->getSubExpr()))
      refuse(diag::refused_pointer_arithmetic, e->getOperatorLoc());
    return true;
  }
  bool VisitArraySubscriptExpr(ArraySubscriptExpr *e) {
    if (!e->isTypeDependent() && isObjectPointer(e->getBase()) && !isArray(e->getBase()))
      refuse(diag::refused_pointer_arithmetic, e->getExprLoc());
    return true;
  }

  bool VisitVarDecl(VarDecl *v) {
    checkAttributes(v);
    if (v->hasLocalStorage())
      checkSize(v);
    if (!v->hasGlobalStorage() || v->isInvalidDecl() || !reporter_.isUser(v->getLocation()))
      return true;
    const std::string name = v->getQualifiedNameAsString();
    if (v->getTLSKind() != VarDecl::TLS_None)
      return refuse(diag::refused_thread_local, v->getLocation(), {name});
    const QualType type = v->getType();
    if (type->isDependentType() || v->isConstexpr())
      return true;
    const char *what = v->isStaticLocal()        ? "static local variable"
                       : v->isStaticDataMember() ? "static member"
                                                 : "global variable";
    if (v->isStaticDataMember() && v->getTemplateSpecializationKind() == TSK_ImplicitInstantiation &&
        !v->getDefinition())
      return true; // never used
    const CXXRecordDecl *record = context_.getBaseElementType(type)->getAsCXXRecordDecl();
    const bool isMutable = record && record->hasDefinition() && record->hasMutableFields();
    if ((!type->isReferenceType() && !context_.getBaseElementType(type).isConstQualified()) || isMutable)
      return refuse(diag::mutable_global, v->getLocation(), {name, what});
    const VarDecl *definition = v->getDefinition();
    if (!definition)
      return v->isStaticDataMember() || !v->isUsed() ? true : refuse(diag::no_definition, v->getLocation(), {name});
    if (definition != v || (definition->getInit() && definition->getInit()->isValueDependent()))
      return true;
    // A constant outside functions may be computed before the algorithm runs. A static constant of a function would
    // keep its value of the first call.
    if (v->isStaticLocal() && definition->getInit() && !definition->hasConstantInitialization())
      return refuse(diag::static_not_constant, v->getLocation(), {name});
    return true;
  }

  bool VisitFunctionDecl(FunctionDecl *f) {
    checkAttributes(f);
    if (f->isInvalidDecl() || !reporter_.isUser(f->getLocation()))
      return true;
    if (f->isMain())
      return refuse(diag::refused_main, f->getLocation());
    if (f->isVariadic() && f->doesThisDeclarationHaveABody())
      return refuse(diag::refused_varargs, f->getLocation());
    if (f->doesThisDeclarationHaveABody() && reporter_.kindOf(f->getFirstDecl()->getLocation()) == FileKind::Dsl)
      return refuse(diag::refused_name, f->getLocation(), {f->getQualifiedNameAsString()});
    if (f->doesThisDeclarationHaveABody() && !f->isTemplated() &&
        f->getDeclContext()->getRedeclContext()->isFileContext()) {
      const std::string symbol = names_.getName(f);
      if (isAllowedSymbol(symbol) || llvm::StringRef(symbol).starts_with("__ubsan") ||
          llvm::StringRef(symbol).starts_with("__mscclc"))
        return refuse(diag::refused_name, f->getLocation(), {f->getQualifiedNameAsString()});
    }
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr *e) { return checkReference(e->getDecl(), e->getLocation()); }
  bool VisitMemberExpr(MemberExpr *e) { return checkReference(e->getMemberDecl(), e->getMemberLoc()); }
  bool VisitCXXConstructExpr(CXXConstructExpr *e) {
    checkArguments(e->getConstructor(), {e->getArgs(), e->getNumArgs()});
    return checkReference(e->getConstructor(), e->getLocation());
  }
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *e) {
    const auto *index = e->getOperator() == OO_Subscript && e->getNumArgs() == 2 && e->getDirectCallee() &&
                                reporter_.kindOf(e->getDirectCallee()->getLocation()) == FileKind::Dsl
                            ? dyn_cast<BinaryOperator>(e->getArg(1)->IgnoreUnlessSpelledInSource())
                            : nullptr;
    return index && index->getOpcode() == BO_Comma ? refuse(diag::index_of_buffer, index->getOperatorLoc()) : true;
  }
  bool VisitCallExpr(CallExpr *e) {
    if (const FunctionDecl *callee = e->getDirectCallee(); callee && !isa<CXXOperatorCallExpr>(e))
      checkArguments(callee, {e->getArgs(), e->getNumArgs()});
    return true;
  }

  bool VisitAttributedStmt(AttributedStmt *s) {
    for (const Attr *attr : s->getAttrs())
      checkAttribute(attr);
    return true;
  }
  bool VisitCXXRecordDecl(CXXRecordDecl *d) {
    checkAttributes(d);
    return true;
  }

private:
  /// Always returns true, so that the visit continues.
  bool refuse(const ir::DiagInfo &info, SourceLocation where, const std::vector<ir::DiagArg> &args = {},
              const std::vector<SourceReporter::Note> &notes = {}) {
    if (reporter_.isUser(where))
      reporter_.report(info, where, args, notes);
    return true;
  }

  static bool isObjectPointer(const Expr *e) {
    const QualType type = e->getType();
    return !type.isNull() && !e->isTypeDependent() && type->isPointerType();
  }

  bool checkCast(const ExplicitCastExpr *e, const char *what) {
    switch (e->getCastKind()) {
    case CK_BitCast:
    case CK_LValueBitCast:
    case CK_PointerToIntegral:
    case CK_IntegralToPointer:
    case CK_ReinterpretMemberPointer:
      return refuse(diag::refused_reinterpret_cast, e->getBeginLoc(), {what});
    default:
      return true;
    }
  }

  void checkSize(const VarDecl *v) {
    const QualType type = v->getType();
    if (v->isInvalidDecl() || type->isDependentType() || type->isIncompleteType() || type->isUndeducedType())
      return;
    const auto bytes = static_cast<std::uint64_t>(context_.getTypeSizeInChars(type).getQuantity());
    if (bytes > arenaStackBytes)
      refuse(diag::huge_variable, v->getLocation(),
             {v->getNameAsString(), std::to_string(bytes >> 20), std::to_string(arenaStackBytes >> 20)});
  }

  void checkAttribute(const Attr *attr) {
    if (attr->isImplicit())
      return;
    const llvm::StringRef spelling = attr->getSpelling();
    if (const std::string_view reason = reasonOf(Refused::Attribute, spelling); !reason.empty()) {
      refuse(diag::refused_attribute, attr->getLocation(), {spelling.str(), reason});
    } else if (const auto *label = dyn_cast<AsmLabelAttr>(attr)) {
      refuse(diag::refused_attribute, label->getLocation(), {"asm", "call the function by its name"});
    }
  }
  void checkAttributes(const Decl *d) {
    for (const Attr *attr : d->attrs())
      checkAttribute(attr);
  }

  /// Reports `true` or `false` where a call of the language takes an integer. C++ would convert it, but the arguments
  /// are probably in the wrong order.
  void checkArguments(const FunctionDecl *callee, llvm::ArrayRef<const Expr *> arguments) {
    if (reporter_.kindOf(callee->getLocation()) != FileKind::Dsl)
      return;
    for (std::size_t i = 0; i < std::min<std::size_t>(arguments.size(), callee->getNumParams()); ++i) {
      const ParmVarDecl *parameter = callee->getParamDecl(static_cast<unsigned>(i));
      const QualType type = parameter->getType();
      if (type->isIntegerType() && !type->isBooleanType() &&
          isa<CXXBoolLiteralExpr>(arguments[i]->IgnoreParenImpCasts()))
        refuse(diag::argument_type, arguments[i]->getBeginLoc(),
               {parameter->getNameAsString(), calledName(callee), "an integer", "a bool", "a number"});
    }
  }
  static std::string calledName(const FunctionDecl *callee) {
    const auto *constructor = dyn_cast<CXXConstructorDecl>(callee);
    return constructor ? constructor->getParent()->getNameAsString() : callee->getNameAsString();
  }

  /// Returns true if the declaration at `where` comes from a refused header, which is already reported.
  bool comesByRefusedHeader(SourceLocation where) const {
    const SourceManager &sources = context_.getSourceManager();
    FileID file = sources.getFileID(sources.getExpansionLoc(where));
    for (SourceLocation from = sources.getIncludeLoc(file); from.isValid(); from = sources.getIncludeLoc(file)) {
      if (const OptionalFileEntryRef entry = sources.getFileEntryRefForID(file); entry && reporter_.isUser(from))
        return !refusalOfHeader(llvm::sys::path::filename(entry->getName())).empty();
      file = sources.getFileID(from);
    }
    return false;
  }

  /// Checks a function or variable that the user's code names. It must be defined in the source or be allowed.
  bool checkReference(const ValueDecl *named, SourceLocation where) {
    if (!reporter_.isUser(where) || named->isInvalidDecl())
      return true;
    if (const auto *v = dyn_cast<VarDecl>(named)) {
      if (v->hasGlobalStorage() && !v->isTemplated() && !v->getType()->isDependentType() && !v->getDefinition() &&
          !v->isConstexpr() && !reporter_.isUser(v->getLocation()) && !comesByRefusedHeader(v->getLocation()))
        refuse(diag::no_definition, where, {v->getQualifiedNameAsString()});
      return true;
    }
    const auto *f = dyn_cast<FunctionDecl>(named);
    if (!f || f->isTemplated() || f->isPureVirtual() || f->isDeleted())
      return true;
    const llvm::StringRef plain = f->getIdentifier() ? f->getName() : llvm::StringRef();
    if (plain.starts_with("__mscclc_"))
      return refuse(diag::refused_name, where, {plain.str()});
    if (const unsigned builtin = f->getBuiltinID(); builtin != 0 && plain.starts_with("__")) {
      if (const std::string_view reason = reasonOf(Refused::Builtin, plain); !reason.empty())
        return refuse(diag::refused_builtin, where, {plain.str(), reason});
      if (context_.BuiltinInfo.isTSBuiltin(builtin))
        return refuse(diag::refused_builtin, where, {plain.str(), REASON_MACHINE});
      return true;
    }
    if (f->isReplaceableGlobalAllocationFunction())
      return refuse(diag::refused_new, where, {f->getNameAsString()});
    if (f->isDefined() || f->isDefaulted() || f->isImplicit() ||
        reporter_.kindOf(f->getFirstDecl()->getLocation()) == FileKind::Dsl || isAllowedSymbol(names_.getName(f)))
      return true;
    if (const FunctionDecl *pattern = f->getTemplateInstantiationPattern(); pattern && pattern->isDefined())
      return true;
    if (f->getBuiltinID() != 0 && isAllowedSymbol(plain))
      return true;
    if (comesByRefusedHeader(f->getFirstDecl()->getLocation()))
      return true;
    const std::vector<SourceReporter::Note> notes =
        reporter_.isUser(f->getLocation()) ? std::vector<SourceReporter::Note>{{diag::declared_here, f->getLocation()}}
                                           : std::vector<SourceReporter::Note>{};
    if (const std::string_view hint = refusalOfFunction(plain);
        !hint.empty() && f->getDeclContext()->getRedeclContext()->isFileContext())
      return refuse(diag::no_definition_hint, where, {plain.str(), hint}, notes);
    return refuse(diag::no_definition, where, {f->getQualifiedNameAsString()}, notes);
  }

  ASTContext &context_;
  SourceReporter &reporter_;
  ASTNameGenerator names_;
};

} // namespace

std::string_view refusalOfHeader(llvm::StringRef name) {
  if (name.starts_with("sys/") || name.starts_with("linux/") || name.starts_with("netinet/") ||
      name.starts_with("arpa/"))
    return REASON_ENVIRONMENT;
  return reasonOf(Refused::Header, name);
}
std::string_view refusalOfFunction(llvm::StringRef name) {
  return reasonOf(Refused::Function, name);
}

std::unique_ptr<PPCallbacks> createIncludeChecker(SourceReporter &reporter) {
  return std::make_unique<IncludeChecker>(reporter);
}

void checkDialect(ASTContext &context, SourceReporter &reporter) {
  DialectChecker(context, reporter).check();
}

} // namespace mscclc::frontend
