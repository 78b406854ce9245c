#include "frontend/clang/call_advice.h"

#include "frontend/clang/ast_visitor.h"
#include "frontend/clang/language_names.h"
#include "frontend/diagnostics.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Lex/Lexer.h"
#include "clang/Sema/Sema.h"

#include <algorithm>
#include <tuple>

using namespace clang;

namespace mscclc::frontend {
namespace {

/// A function that a call may mean, and the reasons why it does not fit.
struct Candidate {
  const FunctionDecl *function = nullptr;
  std::vector<unsigned> misfits; ///< indices of the arguments that do not fit
};

/// Returns the number of parameters that the user writes in a call. A last parameter of type Place is not one of them.
unsigned written(const FunctionDecl *f) {
  unsigned count = f->getNumParams();
  if (count != 0)
    if (const CXXRecordDecl *last = f->getParamDecl(count - 1)->getType()->getAsCXXRecordDecl();
        last && last->getIdentifier() && last->getName() == "Place")
      --count;
  return count;
}

/// Returns the form of the call: `put(dst, src, on)`, without optional arguments.
std::string usage(const FunctionDecl *f, const std::string &name) {
  std::vector<std::string> parameters;
  for (unsigned i = 0; i < std::min(written(f), f->getMinRequiredArguments()); ++i) {
    const ParmVarDecl *p = f->getParamDecl(i);
    const bool isBlock = inWords(p->getType()) == "a thread block";
    const bool isList = inWords(p->getType()).starts_with("a list");
    parameters.push_back(isBlock                  ? "tb(i)"
                         : isList                 ? "{" + p->getName().str() + "}"
                         : p->getName() == "body" ? "[&] { … }"
                                                  : p->getName().str());
  }
  std::string out = name + "(";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    out += (i == 0 ? "" : ", ") + parameters[i];
  return out + ")";
}

class CallVisitor : public AstVisitor<CallVisitor> {
public:
  CallVisitor(Sema &sema, std::vector<FailedCall> &failed) : sema_(sema), failed_(failed) {
    ShouldVisitTemplateInstantiations = true;
  }
  bool shouldTraversePostOrder() const { return true; }

  bool VisitVarDecl(VarDecl *v) {
    const CXXRecordDecl *record = v->getType()->getAsCXXRecordDecl();
    Expr *init = v->getInit();
    if (!record || !init || !record->getIdentifier() || !init->containsErrors())
      return true;
    std::vector<Expr *> arguments;
    if (auto *recovery = dyn_cast<RecoveryExpr>(init))
      arguments.assign(recovery->subExpressions().begin(), recovery->subExpressions().end());
    else
      arguments.push_back(init);
    if (!isOfLanguage(record)) {
      fill(v, arguments);
      return true;
    }
    construct(v->getType(), arguments, v->getSourceRange(), v->getInitStyle() == VarDecl::CInit ? v : nullptr);
    return true;
  }

  bool VisitRecoveryExpr(RecoveryExpr *e) {
    const llvm::ArrayRef<Expr *> parts = e->subExpressions();
    const CXXRecordDecl *record = e->getType()->getAsCXXRecordDecl();
    if (parts.empty()) {
      if (record && record->getIdentifier() && isOfLanguage(record))
        construct(e->getType(), parts, e->getSourceRange(), nullptr);
    } else if (const auto *lookup = dyn_cast<OverloadExpr>(parts[0]->IgnoreParens())) {
      call(std::vector<NamedDecl *>(lookup->decls_begin(), lookup->decls_end()), lookup->getName().getAsString(),
           parts.drop_front(), e);
    } else if (const auto *member = dyn_cast<MemberExpr>(parts[0]->IgnoreParens());
               member && isa<CXXMethodDecl>(member->getMemberDecl())) {
      call(std::vector<NamedDecl *>{member->getMemberDecl()}, member->getMemberDecl()->getNameAsString(),
           parts.drop_front(), e);
    } else if (const auto *name = dyn_cast<DeclRefExpr>(parts[0]->IgnoreParenImpCasts());
               name && isa<FunctionDecl>(name->getDecl())) {
      call(std::vector<NamedDecl *>{const_cast<ValueDecl *>(name->getDecl())}, name->getDecl()->getNameAsString(),
           parts.drop_front(), e);
    } else if (record && record->getIdentifier() && isOfLanguage(record)) {
      construct(e->getType(), parts, e->getSourceRange(), nullptr);
    } else {
      failed_.push_back({e->getSourceRange(), hasErrors(parts), ofAssignment(parts)});
    }
    return true;
  }

private:
  static bool hasErrors(llvm::ArrayRef<Expr *> arguments) {
    return llvm::any_of(arguments, [](const Expr *e) { return e->containsErrors(); });
  }

  void construct(QualType type, llvm::ArrayRef<Expr *> arguments, SourceRange range, const VarDecl *assigned) {
    FailedCall failed{range, hasErrors(arguments), std::nullopt};
    const std::string name = type->getAsCXXRecordDecl()->getName().str();
    const CXXRecordDecl *record = type->getAsCXXRecordDecl()->getDefinition();
    if (record && !failed.hasOtherErrors) {
      std::vector<NamedDecl *> constructors;
      for (CXXConstructorDecl *c : record->ctors())
        if (!c->isCopyOrMoveConstructor() && !c->isDeleted())
          constructors.push_back(c);
      const auto *list = arguments.size() == 1 ? dyn_cast<InitListExpr>(arguments[0]) : nullptr;
      if (list && isOptions(record))
        failed.advice = ArgumentAdvice(sema_, name).ofOptions(list, record);
      else
        failed.advice = ofCall(constructors, name, arguments, range.getEnd());
      if (!failed.advice && arguments.size() == 1) {
        const std::string text = assigned ? "'" + assigned->getName().str() + "'" : "the value needed here";
        failed.advice = ArgumentAdvice(sema_, name).whyValue(arguments[0], type, diag::value_type, {text});
      }
      if (!failed.advice && assigned && arguments.size() == 1)
        failed.advice = Advice{
            &diag::write_instead,
            assigned->getLocation(),
            {name + " " + assigned->getName().str() + "(" + ArgumentAdvice(sema_, name).text(arguments[0]) + ")"}};
    }
    failed_.push_back(std::move(failed));
  }

  void call(llvm::ArrayRef<NamedDecl *> functions, const std::string &name, llvm::ArrayRef<Expr *> arguments,
            const RecoveryExpr *e) {
    FailedCall failed{e->getSourceRange(), hasErrors(arguments), std::nullopt};
    if (!failed.hasOtherErrors)
      failed.advice = llvm::any_of(functions, [](const NamedDecl *f) { return isOfLanguage(f); })
                          ? ofCall(functions, name, arguments, e->getEndLoc())
                          : ofOtherCall(functions, name, arguments);
    failed_.push_back(std::move(failed));
  }

  /// Records the failed initialiser of a list of the library. Advises on an element that should have a type of the
  /// language.
  void fill(const VarDecl *list, llvm::ArrayRef<Expr *> values) {
    const QualType element = elementOf(list->getType());
    FailedCall failed{list->getSourceRange(), hasErrors(values), std::nullopt};
    for (Expr *value : values) {
      const auto *braced = dyn_cast<InitListExpr>(value);
      for (Expr *one : braced ? braced->inits() : llvm::ArrayRef(value))
        if (const QualType given = one->getType(); !failed.advice && !element.isNull() && !one->containsErrors() &&
                                                   !sema_.Context.hasSameUnqualifiedType(given, element))
          failed.advice = ArgumentAdvice(sema_, "").whyValue(one, element, diag::value_type,
                                                             {"an element of '" + list->getName().str() + "'"});
    }
    failed_.push_back(std::move(failed));
  }

  /// Advises on `a = b` if `a` is a chunk or a buffer.
  std::optional<Advice> ofAssignment(llvm::ArrayRef<Expr *> operands) const {
    if (operands.size() != 2 || hasErrors(operands))
      return std::nullopt;
    const auto equals = Lexer::findNextToken(operands[0]->getEndLoc(), sema_.SourceMgr, sema_.getLangOpts());
    const std::string to = inWords(operands[0]->getType());
    if (!equals || equals->isNot(tok::equal) || (to != "a chunk" && to != "a buffer"))
      return std::nullopt;
    const ArgumentAdvice advice(sema_, "");
    if (inWords(operands[1]->getType()) == to)
      return Advice{
          &diag::assignment_moves_nothing, equals->getLocation(), {advice.text(operands[0]), advice.text(operands[1])}};
    return advice.whyValue(operands[1], operands[0]->getType(), diag::value_type,
                           {"'" + advice.text(operands[0]) + "'"});
  }

  /// Advises on a call of a function outside the language, if an argument does not fit a parameter with a type of the
  /// language.
  std::optional<Advice> ofOtherCall(llvm::ArrayRef<NamedDecl *> functions, const std::string &name,
                                    llvm::ArrayRef<Expr *> arguments) const {
    const ArgumentAdvice advice(sema_, name);
    for (NamedDecl *d : functions)
      if (const FunctionDecl *f = d->getAsFunction())
        for (unsigned i = 0; i < std::min<std::size_t>(arguments.size(), f->getNumParams()); ++i)
          if (const auto *p = f->getParamDecl(i); !advice.fits(arguments[i], const_cast<ParmVarDecl *>(p)))
            if (auto why = advice.whyValue(arguments[i], p->getType(), diag::value_type, {"what '" + name + "' takes"}))
              return why;
    return std::nullopt;
  }

  std::optional<Advice> ofCall(llvm::ArrayRef<NamedDecl *> functions, const std::string &name,
                               llvm::ArrayRef<Expr *> arguments, SourceLocation end) {
    const ArgumentAdvice advice(sema_, name);
    // Take the candidate with the fewest misfits and the most specific advice.
    std::optional<Advice> best;
    std::tuple<std::size_t, int, bool> least;
    for (NamedDecl *d : functions) {
      if (!isOfLanguage(d))
        continue;
      FunctionDecl *f = d->getAsFunction();
      if (!f || (f->getNumParams() == 0 && isa<CXXConstructorDecl>(f)))
        continue;
      const std::size_t count = arguments.size();
      std::vector<unsigned> misfits;
      for (unsigned i = 0; i < std::min<std::size_t>(count, written(f)); ++i)
        if (!advice.fits(arguments[i], f->getParamDecl(i)))
          misfits.push_back(i);
      const std::size_t tooMany = count > written(f) ? count - written(f) : 0;
      const std::size_t missing = count < f->getMinRequiredArguments() ? f->getMinRequiredArguments() - count : 0;
      if (misfits.empty() && tooMany + missing == 0)
        continue;
      Advice one = !misfits.empty() ? advice.why(arguments[misfits[0]], f->getParamDecl(misfits[0]))
                   : tooMany != 0   ? ofTooMany(f, name, arguments)
                                    : ofMissing(f, name, count, end);
      const int farther = misfits.empty() ? 0 : !one.saysWhatToWrite;
      if (!one.saysWhatToWrite && one.info == &diag::argument_type_plain) {
        one.info = &diag::argument_type;
        one.args.emplace_back(usage(f, name));
      }
      const std::tuple rank(misfits.size() + tooMany + missing, farther, misfits.empty());
      if (!best || rank < least) {
        best = std::move(one);
        least = rank;
      }
    }
    return best;
  }

  static Advice ofMissing(const FunctionDecl *f, const std::string &name, std::size_t given, SourceLocation end) {
    const ParmVarDecl *p = f->getParamDecl(static_cast<unsigned>(given));
    return {&diag::argument_missing, end, {p->getName().str(), name, usage(f, name)}};
  }
  static Advice ofTooMany(const FunctionDecl *f, const std::string &name, llvm::ArrayRef<Expr *> arguments) {
    return {&diag::argument_too_many,
            arguments[written(f)]->getBeginLoc(),
            {name, ir::plural(written(f), "argument"), arguments.size(), usage(f, name)}};
  }

  Sema &sema_;
  std::vector<FailedCall> &failed_;
};

} // namespace

std::string usageOf(const CXXRecordDecl *record) {
  for (const CXXConstructorDecl *c : record->ctors())
    if (!c->isCopyOrMoveConstructor() && !c->isDeleted() && written(c) != 0)
      return usage(c, record->getNameAsString());
  return record->getNameAsString() + "()";
}

std::vector<FailedCall> failedCalls(Sema &sema, const std::function<bool(SourceLocation)> &isUser) {
  std::vector<FailedCall> failed;
  CallVisitor visitor(sema, failed);
  for (Decl *d : sema.Context.getTranslationUnitDecl()->noload_decls())
    if (isUser(d->getLocation()) || isUser(d->getBeginLoc()))
      visitor.TraverseDecl(d);
  std::ranges::stable_sort(failed, [&](const FailedCall &a, const FailedCall &b) {
    // Sorts by length, so inner calls come before the calls that contain them.
    const SourceManager &sources = sema.SourceMgr;
    const auto begins = [&](const FailedCall &c) { return sources.getFileLoc(c.range.getBegin()).getRawEncoding(); };
    const auto ends = [&](const FailedCall &c) { return sources.getFileLoc(c.range.getEnd()).getRawEncoding(); };
    return std::pair(ends(a) - begins(a), begins(a)) < std::pair(ends(b) - begins(b), begins(b));
  });
  return failed;
}

} // namespace mscclc::frontend
