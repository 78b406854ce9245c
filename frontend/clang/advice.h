// Replaces Clang's errors by advice in the words of the language, one error for each cause.
#pragma once

namespace clang {
class CompilerInstance;
}

namespace mscclc::frontend {

class SourceReporter;

/// Improves the errors that `reporter` holds for the source that `compiler` has read. Errors about names, and about
/// arguments of the language's calls, get a text with advice. Consequences of other errors are removed.
void advise(clang::CompilerInstance &compiler, SourceReporter &reporter);

/// Reports the held errors, after the check of the dialect. Leaves out warnings at lines with errors. Leaves out errors
/// about functions of a header that is itself refused.
void settle(SourceReporter &reporter);

} // namespace mscclc::frontend
