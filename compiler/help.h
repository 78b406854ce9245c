// The text of --help besides the options.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <string>

namespace mscclc::driver {

/// Returns the names that options take, examples, several values of parameters, exit codes.
std::string helpFooter();

/// Returns the formatter of --help.
std::shared_ptr<CLI::Formatter> helpFormatter();

/// Returns the options that compilers write with one dash (-MD), and their names in CLI11 (--MD). CLI11 accepts only
/// one letter behind one dash.
const std::map<std::string, std::string, std::less<>> &oneDashOptions();

/// Returns `text` with such options as users write them.
std::string withOneDash(std::string text);

/// Ends the run after a text was printed, as --help does.
class Printed : public CLI::Success {
public:
  explicit Printed(std::string text) : CLI::Success("Printed", CLI::ExitCodes::Success), text_(std::move(text)) {}
  const std::string &text() const { return text_; }

private:
  std::string text_;
};

} // namespace mscclc::driver
