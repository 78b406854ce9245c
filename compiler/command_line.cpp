#include "compiler/command_line.h"
#include "compiler/diagnostics.h"
#include "compiler/files.h"
#include "compiler/findings.h"
#include "compiler/help.h"
#include "compiler/session.h"
#include "ir/nearest_name.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

namespace mscclc::driver {
namespace {

/// The default values of options that may be given without a value.
const std::map<std::string, std::string, std::less<>> &wholeOptions() {
  static const std::map<std::string, std::string, std::less<>> whole = [] {
    std::map<std::string, std::string, std::less<>> whole = {
        {"--print-before", "--print-before=all"},
        {"--print-after", "--print-after=all"},
        {"--verify-each", "--verify-each=structure"},
        {"--color", "--color=always"},
        {"--passes=", "--passes=none"},
        {"--pad", "--pad=slots"},
    };
    for (const Output &output : allOutputs())
      if (!output.words.empty())
        whole.emplace(output.flag, std::string(output.flag) + "=" + std::string(output.words[0]));
    return whole;
  }();
  return whole;
}

/// Returns the option's name for messages: the short one if it has one.
std::string nameOf(const CLI::Option &option) {
  return option.get_snames().empty() ? withOneDash(option.get_name()) : "-" + option.get_snames().front();
}

} // namespace

std::vector<std::string> CommandLine::normalise(std::vector<std::string> args) const {
  for (std::string &arg : args) {
    if (const auto option = oneDashOptions().find(arg); option != oneDashOptions().end())
      arg = option->second;
    const std::string name = arg.substr(0, arg.find('='));
    const CLI::Option *option = arg.starts_with("--") ? app_.get_option_no_throw(name) : nullptr;
    if (const auto it = wholeOptions().find(arg); it != wholeOptions().end())
      arg = it->second;
    else if (option && name != arg && option->get_items_expected_max() == 0)
      throw CLI::ValidationError(name, "it takes no value");
    else if (arg.starts_with("--") && arg.ends_with('='))
      throw CLI::ValidationError(name, "an empty value");
  }
  std::ranges::reverse(args); // CLI11 reads the arguments from the back
  return args;
}

/// Reports an input that the user may have intended as the value of the option before it. An input that exists as a
/// file is not reported.
void CommandLine::checkInputs(const std::vector<std::string> &args) const {
  const auto isOutput = [](const std::string &arg) {
    return std::ranges::any_of(allOutputs(), [&](const Output &output) { return arg == output.flag; });
  };
  std::error_code ignored;
  for (std::size_t i = 0; i + 1 < args.size() && options_.inputs.size() > 1; ++i)
    if (wholeOptions().contains(args[i]) && !args[i + 1].starts_with('-') &&
        !std::filesystem::exists(args[i + 1], ignored))
      if (!isOutput(args[i]) || isWordOf(args[i], args[i + 1]))
        throw CLI::ValidationError(args[i], "write its value as in " + args[i] + "=" + args[i + 1]);
}

/// Returns true if `word` is a value that the option takes.
bool CommandLine::isWordOf(const std::string &option, const std::string &word) const {
  const auto words = words_.find(app_.get_option(option));
  return words != words_.end() && std::ranges::find(words->second, word) != words->second.end();
}

Options CommandLine::parse(int argc, const char *const *argv) {
  const std::vector<std::string> all(argv + 1, argv + argc);
  const auto dashes = std::ranges::find(all, "--");
  const std::vector<std::string> args(all.begin(), dashes);
  app_.parse(normalise(args));
  checkInputs(args);
  if (options_.synthesize.empty() && options_.inputs.empty())
    throw CLI::RequiredError("INPUT");
  options_.input = options_.inputs.empty() ? std::string() : options_.inputs.front();
  if (dashes != all.end())
    options_.clangArgs.assign(dashes + 1, all.end());
  for (const auto &[output, option] : outputs_)
    if (option->count() != 0)
      options_.output = output;
  options_.hasOutputPath = path_->count() != 0;
  options_.hasMachine = app_.get_option("--machine")->count() != 0;
  for (const std::string_view name : schedulingOptions)
    if (app_.get_option(std::string(name))->count() != 0 && !heeds(*options_.output, name, options_.verify))
      options_.forScheduling.emplace_back(
          name, flagsOf([&](const Output &other) { return heeds(other, name, true); }, "and"));
  options_.messageSize = options_.messageSizes.size() == 1 ? options_.messageSizes.front() : 0;
  options_.allowed.insert(allowed_.begin(), allowed_.end());
  checkOptionsOfOutput();
  for (auto type = options_.types.begin(); type != options_.types.end(); ++type)
    if (std::find(options_.types.begin(), type, *type) != type)
      throw CLI::ValidationError("--dtype", "'" + *type + "' is given twice");

  if (std::ranges::find(options_.clangArgs, "-o") != options_.clangArgs.end())
    throw CLI::ValidationError("--", "what follows it is for Clang, and Clang writes nothing: put '-o' before it");
  for (const CLI::Option *option : forAlgorithm_)
    if (option->count() != 0)
      options_.forAlgorithm.push_back(nameOf(*option));
  for (const CLI::Option *option : forXml_)
    if (option->count() != 0)
      options_.forXml.push_back(nameOf(*option));
  if (!options_.clangArgs.empty())
    options_.forAlgorithm.push_back("--");
  std::vector<std::string> preprocessor;
  for (const std::string &folder : includes_)
    preprocessor.push_back("-I" + folder);
  for (const std::string &macro : defines_)
    preprocessor.push_back("-D" + macro);
  options_.clangArgs.insert(options_.clangArgs.begin(), preprocessor.begin(), preprocessor.end());
  return std::move(options_);
}

std::vector<std::string> CommandLine::optionNames() const {
  std::vector<std::string> names;
  for (const CLI::Option *option : app_.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

/// Returns a suggestion for an unknown option: another option, or a parameter of the algorithm.
std::string CommandLine::otherOption(const std::string &unknown) const {
  const std::size_t equals = unknown.find('=');
  const std::vector<std::string> names = optionNames();
  if (equals == unknown.npos)
    return didYouMean(unknown, names);
  std::string joined = unknown; // --emit=json
  joined[equals] = '-';
  if (std::ranges::find(names, joined) != names.end())
    return "; did you mean '" + joined + "'?";
  const std::string parameter = unknown.substr(std::min(unknown.find_first_not_of('-'), unknown.size()));
  const std::optional<std::string> near = ir::nearestName(unknown.substr(0, equals), names);
  return near ? "; did you mean '" + *near + "', or -P " + parameter + ", a parameter of the algorithm?"
              : "; a parameter of the algorithm is given by -P " + parameter;
}

std::vector<OptionRow> CommandLine::rows() const {
  std::vector<OptionRow> rows;
  for (const CLI::Option *option : app_.get_options()) {
    if (option->get_positional())
      continue;
    OptionRow &row = rows.emplace_back();
    for (const std::string &name : option->get_snames())
      row.names.push_back("-" + name);
    for (const std::string &name : option->get_lnames())
      row.names.push_back(withOneDash("--" + name));
    row.group = option->get_group();
    row.value = option->get_option_text();
    row.help = option->get_description();
    if (const auto words = words_.find(option); words != words_.end())
      row.words = words->second;
  }
  return rows;
}

/// Returns the text of an error. Replaces CLI11's text if an option has too many or too few values.
std::string CommandLine::textOf(const CLI::ParseError &error) const {
  const std::string text = error.what();
  const CLI::Option *option = app_.get_option_no_throw(text.substr(0, text.find(':')));
  if (!option || !dynamic_cast<const CLI::ArgumentMismatch *>(&error))
    return withOneDash(text);
  const bool isTwice = option->get_expected_max() == 1 && option->count() > 1;
  return nameOf(*option) + (isTwice ? ": it is given more than once"
                                    : ": its value is missing: " + nameOf(*option) + " " + option->get_option_text());
}

void CommandLine::report(const CLI::ParseError &error, ir::DiagnosticEngine &diags) const {
  if (dynamic_cast<const CLI::RequiredError *>(&error)) { // the input is the only required argument
    diags.report(diag::no_input, {});
  } else if (dynamic_cast<const CLI::ExtrasError *>(&error)) { // an unknown option; other words are inputs
    const std::string unknown = app_.remaining().front();
    diags.report(diag::unknown_option, {}, {unknown, otherOption(unknown)});
  } else {
    diags.report(diag::bad_option, {}, {textOf(error)});
  }
}

ParsedCommandLine parseCommandLine(int argc, const char *const *argv) {
  CommandLine commandLine;
  try {
    return {commandLine.parse(argc, argv), 0};
  } catch (const Printed &e) {
    ir::DiagnosticEngine diags;
    const bool isDone = writeOut(e.text(), diags);
    std::cerr << diags.render(/*color=*/false);
    return {std::nullopt, isDone ? 0 : 1};
  } catch (const CLI::Success &e) { // the user asked for help or the version
    commandLine.exit(e);
    if (std::cout.flush())
      return {std::nullopt, 0};
    std::cerr << "mscclc: error: cannot write standard output\n";
    return {std::nullopt, 1};
  } catch (const CLI::ParseError &e) {
    ir::DiagnosticEngine diags;
    commandLine.report(e, diags);
    Options options;
    options.findingsForm = formAsked({argv + 1, argv + argc});
    Findings findings(options.findingsForm);
    findings.add(options, diags, "'mscclc --help' lists the options.\n");
    findings.finish(2);
    return {std::nullopt, 2};
  }
}

} // namespace mscclc::driver
