// The text of --help besides the options.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <string>

namespace mscclc::driver {

/// Returns the end of --help: the names that options take, examples, the form of several parameter values, and the exit
/// codes.
std::string helpFooter();

/// Returns the formatter of --help.
std::shared_ptr<CLI::Formatter> helpFormatter();

/// Returns the options that compilers write with one dash (-MD), each with its name in CLI11 (--MD). CLI11 accepts one
/// dash only before a single letter.
const std::map<std::string, std::string, std::less<>> &oneDashOptions();

/// Returns `text`, in which each CLI11 name of these options (--MD) is replaced by the name that users write (-MD).
std::string withOneDash(std::string text);

/// Thrown to print a text and end the run, as --help does.
class Printed : public CLI::Success {
public:
  explicit Printed(std::string text) : CLI::Success("Printed", CLI::ExitCodes::Success), text_(std::move(text)) {}
  const std::string &text() const { return text_; }

private:
  std::string text_;
};

} // namespace mscclc::driver
