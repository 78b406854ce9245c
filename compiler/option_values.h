// What values of options must be, as CLI11 checks them, in words of our own.
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

/// A number of bytes as above, at least `least`; `tooSmall` is the error below that. The option gets plain digits.
CLI::Validator byteSize(std::uint64_t least = 0, std::string tooSmall = {});
/// A decimal number.
CLI::Validator wholeNumber(std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
/// A number that is not 0; `zero` is the error.
CLI::Validator notZero(std::string zero);
/// Seconds of processor time.
CLI::Validator seconds();
/// One of a few words.
/// `; did you mean 'h100x8'?` where `word` is near to one of `names`, else nothing.
std::string didYouMean(const std::string &word, const std::vector<std::string> &names);

CLI::Validator oneOf(std::vector<std::string> words);
/// A folder that is there.
CLI::Validator folder();
/// A text that is not empty.
CLI::Validator notEmpty();
/// A name that a plan can have.
CLI::Validator planName();
/// The name of a finding that --allow takes.
CLI::Validator allowableFinding();

} // namespace mscclc::driver
