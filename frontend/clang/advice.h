// Replaces Clang's errors by advice in the words of the language, one error for each cause.
#pragma once

namespace clang {
class CompilerInstance;
}

namespace mscclc::frontend {

class SourceReporter;

/// Processes the errors that `reporter` holds for a source that `compiler` has read. Errors about names, and about
/// arguments of the language's calls, become errors with the text to write instead. Errors that only follow from others
/// are removed.
void advise(clang::CompilerInstance &compiler, SourceReporter &reporter);

/// Called after the check of the dialect. Reports the errors that are held, without warnings at lines with errors, and
/// without calls that are refused only because their header is refused.
void settle(SourceReporter &reporter);

} // namespace mscclc::frontend
