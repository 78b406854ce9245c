#include "frontend/clang/advice.h"

#include "frontend/clang/call_advice.h"
#include "frontend/clang/name_advice.h"
#include "frontend/clang/source_reporter.h"
#include "frontend/diagnostics.h"

#include "clang/Basic/DiagnosticLex.h"
#include "clang/Basic/DiagnosticParse.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Sema.h"

#include <algorithm>

using namespace clang;

namespace mscclc::frontend {
namespace {

/// Returns true if an error is about arguments or an initialiser that do not fit.
bool isOfCall(const Held &error) {
  switch (error.kind) {
  case clang::diag::err_ovl_no_viable_function_in_call:
  case clang::diag::err_ovl_no_viable_member_function_in_call:
  case clang::diag::err_ovl_no_viable_function_in_init:
  case clang::diag::err_ovl_ambiguous_call:
  case clang::diag::err_ovl_ambiguous_member_call:
  case clang::diag::err_ovl_ambiguous_init:
  case clang::diag::err_ovl_no_viable_conversion_in_cast:
  case clang::diag::err_ovl_no_viable_oper:
  case clang::diag::err_typecheck_nonviable_condition:
  case clang::diag::err_typecheck_call_too_few_args:
  case clang::diag::err_typecheck_call_too_few_args_one:
  case clang::diag::err_typecheck_call_too_few_args_at_least:
  case clang::diag::err_typecheck_call_too_few_args_at_least_one:
  case clang::diag::err_typecheck_call_too_few_args_suggest:
  case clang::diag::err_typecheck_call_too_few_args_at_least_suggest:
  case clang::diag::err_typecheck_call_too_many_args:
  case clang::diag::err_typecheck_call_too_many_args_one:
  case clang::diag::err_typecheck_call_too_many_args_at_most:
  case clang::diag::err_typecheck_call_too_many_args_at_most_one:
  case clang::diag::err_typecheck_call_too_many_args_suggest:
  case clang::diag::err_typecheck_call_too_many_args_at_most_suggest:
  case clang::diag::err_typecheck_convert_incompatible:
  case clang::diag::err_init_conversion_failed:
  case clang::diag::err_reference_bind_failed:
  case clang::diag::err_reference_bind_init_list:
  case clang::diag::err_field_designator_unknown:
  case clang::diag::err_field_designator_unknown_suggest:
  case clang::diag::err_excess_initializers:
    return true;
  default:
    return false;
  }
}

class Adviser {
public:
  Adviser(CompilerInstance &compiler, SourceReporter &reporter)
      : compiler_(compiler), reporter_(reporter), sources_(compiler.getSourceManager()), held_(reporter.held()) {}

  void run() {
    if (std::ranges::none_of(held_, &Held::isError))
      return;
    if (isWithoutLanguage())
      return;
    if (compiler_.hasSema() && !reporter_.hadFatalError())
      adviseOnCalls();
    for (Held &error : held_)
      if (error.isError() && error.kind != 0 && reporter_.isUser(error.where))
        if (const auto advice = adviceOnName(error, compiler_))
          replace(error, *advice);
    dropConsequences();
  }

private:
  /// Returns true if the source does not include the DSL's headers. Then one error says so, and all others are removed.
  bool isWithoutLanguage() {
    if (compiler_.getPreprocessor().isMacroDefined("MSCCLC_ALGORITHM") || reporter_.hadFatalError())
      return false;
    const auto isOfLanguage = [](const Held &error) {
      return error.kind == clang::diag::err_expected_namespace_name ||
             (isUndeclared(error) && (error.names[0] == "MSCCLC_ALGORITHM" || error.names[0] == "CollectiveProgram" ||
                                      error.names[0] == "mscclc"));
    };
    const auto first = std::ranges::find_if(held_, isOfLanguage);
    if (first == held_.end() || !first->isError())
      return false;
    Held one = std::move(*first);
    replace(one, {&diag::needs_language, one.where, {}});
    held_.clear();
    held_.push_back(std::move(one));
    return true;
  }

  void replace(Held &error, const Advice &advice) {
    error.shown = reporter_.shown(*advice.info, advice.where, advice.args);
    error.where = advice.where;
    error.kind = 0;
    error.isAdvice = true;
  }

  bool isWithin(SourceLocation where, SourceRange range) const {
    const SourceLocation at = sources_.getFileLoc(where), begin = sources_.getFileLoc(range.getBegin()),
                         end = sources_.getFileLoc(range.getEnd());
    return at.isValid() && begin.isValid() && end.isValid() && sources_.getFileID(at) == sources_.getFileID(begin) &&
           at.getRawEncoding() >= begin.getRawEncoding() && at.getRawEncoding() <= end.getRawEncoding();
  }

  void adviseOnCalls() {
    reporter_.setMuted(true); // checking arguments with Clang must not print anything
    const std::vector<FailedCall> calls =
        failedCalls(compiler_.getSema(), [&](SourceLocation where) { return reporter_.isUser(where); });
    reporter_.setMuted(false);
    for (const FailedCall &call : calls) {
      const auto isOfThis = [&](const Held &error) { return isOfCall(error) && isWithin(error.where, call.range); };
      const auto first = std::ranges::find_if(held_, isOfThis);
      if (first == held_.end())
        continue;
      if (call.advice) {
        replace(*first, *call.advice);
        held_.erase(std::remove_if(first + 1, held_.end(), isOfThis), held_.end());
      } else if (call.hasOtherErrors) {
        const bool isTheCauseShown = std::ranges::any_of(held_, [&](const Held &error) {
          return error.isError() && !isOfCall(error) && isWithin(error.where, call.range);
        });
        if (isTheCauseShown)
          std::erase_if(held_, isOfThis);
      }
    }
  }

  /// Returns true if `line` contains `name` as a word.
  static bool names(llvm::StringRef line, llvm::StringRef name) {
    const auto isLetter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t at = line.find(name); at != llvm::StringRef::npos; at = line.find(name, at + 1))
      if ((at == 0 || !isLetter(line[at - 1])) &&
          (at + name.size() == line.size() || !isLetter(line[at + name.size()])))
        return true;
    return false;
  }

  /// Returns true if both errors advise the same text.
  static bool isAlike(const Held &a, const Held &b) {
    return a.isAdvice && b.isAdvice && a.shown.id == b.shown.id &&
           (a.shown.message == b.shown.message || a.shown.id == diag::needs_namespace.id);
  }
  /// True if an error is only a consequence of an earlier one. This holds for an extra closing brace after any error,
  /// because Clang may have closed a brace too early. It holds for every error after a comment without an end.
  static bool isLeftOver(const Held &error, const Held &earlier) {
    return (error.kind == clang::diag::err_extraneous_closing_brace && earlier.isError()) ||
           earlier.kind == clang::diag::err_unterminated_block_comment;
  }
  /// True if a name is unknown because the line that declares it is faulty.
  static bool declares(const Held &faulty, const Held &error) {
    return isUndeclared(error) && faulty.shown.place.line < error.shown.place.line &&
           names(faulty.shown.place.excerpt, error.names[0]);
  }

  /// Drops errors that are consequences of earlier ones. After an error, Clang guesses how to continue. A second error
  /// in the same line is mostly about this guess. A name may be unknown because the line that declares it is faulty.
  void dropConsequences() {
    std::vector<Held> kept;
    for (Held &held : held_) {
      const ir::ShownPlace &place = held.shown.place;
      const auto cause = std::ranges::find_if(kept, [&](const Held &other) {
        return other.isError() && place.line != 0 && other.shown.place.file == place.file &&
               ((other.shown.place.line == place.line && (held.kind != 0 || held.isAdvice || other.isAdvice)) ||
                isAlike(other, held) || declares(other, held) || isLeftOver(held, other));
      });
      if (cause == kept.end())
        kept.push_back(std::move(held));
      else if (isAlike(*cause, held) && cause->shown.place.line != place.line)
        ++cause->shown.similar;
    }
    held_ = std::move(kept);
  }

  CompilerInstance &compiler_;
  SourceReporter &reporter_;
  const SourceManager &sources_;
  std::vector<Held> &held_;
};

} // namespace

void advise(CompilerInstance &compiler, SourceReporter &reporter) {
  Adviser(compiler, reporter).run();
}

void settle(SourceReporter &reporter) {
  std::vector<Held> &held = reporter.held();
  const std::vector<Held> all = held;
  const auto reason = [](const Held &h) {
    return h.shown.message.substr(std::min(h.shown.message.find(": "), h.shown.message.size()));
  };
  std::erase_if(held, [&](const Held &one) {
    return std::ranges::any_of(all, [&](const Held &error) {
      if (!one.isError() && error.isError())
        return error.shown.place.file == one.shown.place.file && error.shown.place.line == one.shown.place.line;
      return one.shown.id == diag::no_definition_hint.id && error.shown.id == diag::refused_header.id &&
             reason(one) == reason(error);
    });
  });
  reporter.release();
}

} // namespace mscclc::frontend
