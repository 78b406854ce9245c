// The command line: declares its options and parses it into Options.
#pragma once

#include "compiler/help.h"
#include "compiler/option_pages.h"
#include "compiler/option_values.h"
#include "compiler/options.h"
#include "compiler/outputs/outputs.h"
#include "ir/diagnostics.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::driver {

/// Declares the options, group by group, and reads a command line into Options.
class CommandLine {
public:
  CommandLine();
  Options parse(int argc, const char *const *argv);
  int exit(const CLI::Success &success) { return app_.exit(success); }
  std::string otherOption(const std::string &unknown) const;
  void report(const CLI::ParseError &error, ir::DiagnosticEngine &diags) const;
  std::string textOf(const CLI::ParseError &error) const;
  std::vector<std::string> optionNames() const; ///< Returns the long names of all options.
  /// Returns the table of options, in the order of --help.
  std::vector<OptionRow> rows() const;

private:
  void addFiles();
  void addOutputs();
  void addOptionsOfOutputs();
  void addAlgorithm();
  void addXml();
  void addSynthesis();
  void addPasses();
  void addProof();
  void addMessages();
  void relate();
  void describeOptionsOfOutputs();
  void checkOptionsOfOutput() const;
  /// Returns the arguments in a form that CLI11 parses as intended. Without this step, CLI11 would use the next
  /// argument as the value of an option that has none. It could also accept a value for a flag.
  std::vector<std::string> normalise(std::vector<std::string> args) const;
  void checkInputs(const std::vector<std::string> &args) const;
  bool isWordOf(const std::string &option, const std::string &word) const;

  /// Adds an option with a value, shown as `value`, to the current group.
  template <typename T> CLI::Option *add(const char *names, T &to, const char *value, std::string help) {
    return place(app_.add_option(names, to, std::move(help)), value);
  }
  template <typename T>
  CLI::Option *addFunction(const char *names, const std::function<void(const T &)> &to, const char *value,
                           std::string help) {
    return place(app_.add_option_function<T>(names, to, std::move(help)), value);
  }
  /// Adds an option that takes one of a few words. (CLI11's CheckedTransformer would also take the numbers of
  /// `choices`.)
  template <typename T>
  CLI::Option *addChoice(const char *names, T &to, const std::vector<std::pair<std::string, T>> &choices,
                         const char *value, std::string help) {
    using Choice = std::pair<std::string, T>;
    std::vector<std::string> words;
    for (const auto &[word, meaning] : choices)
      words.push_back(word);
    CLI::Option *option = addFunction<std::string>(
        names,
        [&to, choices](const std::string &word) { to = std::ranges::find(choices, word, &Choice::first)->second; },
        value, std::move(help));
    return completed(option, words)->check(oneOf(words));
  }
  /// Adds an option that prints the result of `text` for its value, and ends the run.
  CLI::Option *addPrinted(const char *names, std::function<std::string(const std::string &)> text, const char *value,
                          std::string help) {
    return addFunction<std::string>(
        names, [text = std::move(text)](const std::string &word) { throw Printed(text(word)); }, value,
        std::move(help));
  }
  /// Sets the words that shells complete for the option's value.
  CLI::Option *completed(CLI::Option *option, std::vector<std::string> words) {
    words_[option] = std::move(words);
    return option;
  }
  CLI::Option *addFlag(const char *names, bool &to, std::string help) {
    return place(app_.add_flag(names, to, std::move(help)), "");
  }
  CLI::Option *addFlag(const char *names, std::function<void()> then, std::string help) {
    return place(app_.add_flag_callback(names, std::move(then), std::move(help)), "");
  }
  CLI::Option *place(CLI::Option *option, const char *value) {
    return option->type_name(value)->option_text(value)->group(group_);
  }
  /// Marks an option that may be given several times. It takes one argument each time.
  static CLI::Option *repeated(CLI::Option *option) { return option->allow_extra_args(false); }
  /// Marks an option that only has an effect on C++ algorithms.
  CLI::Option *forAlgorithm(CLI::Option *option) { return forAlgorithm_.emplace_back(option); }
  /// Marks an option that needs a loaded program. An output of the unchanged source excludes it.
  CLI::Option *ofProgram(CLI::Option *option) { return ofPrograms_.emplace_back(option); }

  CLI::App app_{"mscclc compiles GPU collectives: a C++ algorithm in, an MSCCL++ plan or a CUDA kernel out.", "mscclc"};
  std::string group_;
  Options options_;
  std::vector<std::pair<const Output *, CLI::Option *>> outputs_;
  std::vector<CLI::Option *> forAlgorithm_, forXml_, ofPrograms_;
  std::map<const CLI::Option *, std::vector<std::string>> words_; ///< the words that each option takes
  CLI::Option *path_ = nullptr, *compact_ = nullptr, *noVerify_ = nullptr, *dependencies_ = nullptr;
  std::vector<std::string> includes_, defines_, allowed_;
};

} // namespace mscclc::driver
