// Checks of option values for CLI11, with mscclc's messages.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::driver {

/// Reads a number of bytes: digits with an optional K, M, G or T (powers of 1024). "KiB", "KB" and the like are
/// allowed, too.
std::optional<std::uint64_t> parseByteSize(const std::string &text);

/// A number of bytes in the form of parseByteSize(), at least `least`. `tooSmall` is the error for a smaller number.
/// The option receives plain digits.
CLI::Validator byteSize(std::uint64_t least = 0, std::string tooSmall = {});
/// A decimal number.
CLI::Validator wholeNumber(std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
/// A number that is not 0; `zero` is the error message for 0.
CLI::Validator notZero(std::string zero);
/// Seconds of processor time.
CLI::Validator seconds();
/// Returns `; did you mean 'h100x8'?` if `word` is similar to one of `names`, else an empty text.
std::string didYouMean(const std::string &word, const std::vector<std::string> &names);

CLI::Validator oneOf(std::vector<std::string> words);
/// An existing folder.
CLI::Validator folder();
/// A text that is not empty.
CLI::Validator notEmpty();
/// A name that a plan may have.
CLI::Validator planName();
/// The name of a finding that --allow takes.
CLI::Validator allowableFinding();
/// The name of a warning or error, or `all`. It may contain `_` in place of `-`.
CLI::Validator diagnosticName();

} // namespace mscclc::driver
