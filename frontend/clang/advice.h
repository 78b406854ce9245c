// What to write in place of what Clang refuses: in the words of the language, one error for each cause.
#pragma once

namespace clang {
class CompilerInstance;
}

namespace mscclc::frontend {

class SourceReporter;

/// Goes through the errors that `reporter` holds of a source that `compiler` has read. Errors about names and about
/// arguments of the language's calls become errors that say what to write instead. Errors that only follow from others
/// go.
void advise(clang::CompilerInstance &compiler, SourceReporter &reporter);

/// Once the dialect is checked as well: hands over what is held, without warnings at lines with errors, and without
/// calls that are refused for the reason that their header is.
void settle(SourceReporter &reporter);

} // namespace mscclc::frontend
