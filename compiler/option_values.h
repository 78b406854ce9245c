// Checks of option values for CLI11, with mscclc's messages.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::driver {

/// A number of bytes: digits with an optional K, M, G or T (powers of 1024; "KiB", "KB" and the like too).
std::optional<std::uint64_t> parseByteSize(const std::string &text);

/// A number of bytes as above, at least `least`. `tooSmall` is the error for smaller ones. The option receives plain
/// digits.
CLI::Validator byteSize(std::uint64_t least = 0, std::string tooSmall = {});
/// A decimal number.
CLI::Validator wholeNumber(std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
/// A number that is not 0; `zero` is the error.
CLI::Validator notZero(std::string zero);
/// Seconds of processor time.
CLI::Validator seconds();
/// One of a few words. Returns `; did you mean 'h100x8'?` if `word` is near to one of `names`, else nothing.
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
/// The name of a warning or error, or `all`. Underscores may be in place of `-`.
CLI::Validator diagnosticName();

} // namespace mscclc::driver
