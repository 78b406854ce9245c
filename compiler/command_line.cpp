#include "backend-cuda/emit_kernel.h"
#include "compiler/allowable.h"
#include "compiler/diagnostics.h"
#include "compiler/explain_error.h"
#include "compiler/files.h"
#include "compiler/findings.h"
#include "compiler/help.h"
#include "compiler/option_pages.h"
#include "compiler/option_values.h"
#include "compiler/options.h"
#include "compiler/outputs/outputs.h"
#include "compiler/session.h"
#include "compiler/synthesis.h"
#include "compiler/version.h"
#include "ir/nearest_name.h"
#include "passes/pipeline.h"
#include "passes/simulate/simulate.h"
#include "passes/time/machine.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <set>

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

/// Returns the names of rows of a table.
template <typename Rows> std::vector<std::string> namesOf(const Rows &rows) {
  std::vector<std::string> names;
  for (const auto &row : rows)
    names.emplace_back(row.name);
  return names;
}

/// Declares the options, group by group, and reads a command line into Options.
class CommandLine {
public:
  CommandLine();
  Options parse(int argc, const char *const *argv);
  int exit(const CLI::Success &success) { return app_.exit(success); }
  std::string otherOption(const std::string &unknown) const;
  void report(const CLI::ParseError &error, ir::DiagnosticEngine &diags) const;
  std::string textOf(const CLI::ParseError &error) const;
  std::vector<std::string> optionNames() const; ///< the long ones
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
  /// Returns the arguments in a form that CLI11 parses as intended. Otherwise it would use the next argument as the
  /// value of an option without one, and could take a value for a flag.
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
  /// Adds an option that prints `text` of its value, and ends the run.
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
  /// Marks an option that only has a meaning for C++ algorithms.
  CLI::Option *forAlgorithm(CLI::Option *option) { return forAlgorithm_.emplace_back(option); }
  /// Marks an option that only has a meaning for programs, not for their sources.
  CLI::Option *ofProgram(CLI::Option *option) { return ofPrograms_.emplace_back(option); }

  CLI::App app_{"mscclc compiles GPU collectives: a C++ algorithm in, an MSCCL++ plan or a CUDA kernel out.", "mscclc"};
  std::string group_;
  Options options_;
  std::vector<std::pair<const Output *, CLI::Option *>> outputs_;
  std::vector<CLI::Option *> forAlgorithm_, forXml_, ofPrograms_;
  std::map<const CLI::Option *, std::vector<std::string>> words_; ///< those that options take
  CLI::Option *path_ = nullptr, *compact_ = nullptr, *noVerify_ = nullptr, *dependencies_ = nullptr;
  std::vector<std::string> includes_, defines_, allowed_;
};

CommandLine::CommandLine() {
  options_.output = &allOutputs().front();
  app_.formatter(helpFormatter());
  app_.footer(helpFooter());
  app_.set_help_flag("-h,--help", "print this help");
  app_.set_version_flag("--version", std::string("mscclc ") + version(), "print the version");
  app_.add_option(
          "INPUT", options_.inputs,
          "algorithm (.cpp), plan (.json), MSCCL schedule (.xml) or IR text (.ir); - is standard input; several "
          "for outputs without a file; none with --synthesize")
      ->option_text(" ")
      ->check(notEmpty());
  addFiles();
  addOutputs();
  addOptionsOfOutputs();
  addAlgorithm();
  addXml();
  addSynthesis();
  addPasses();
  addProof();
  addMessages();
  relate();
  describeOptionsOfOutputs();
}

void CommandLine::addFiles() {
  group_ = "Files";
  path_ = add("-o", options_.outputPath, "FILE", "output file; - or absent: standard output")->check(notEmpty());
  addChoice<InputKind>(
      "-x", options_.inputKind,
      {{"cpp", InputKind::Algorithm}, {"json", InputKind::Plan}, {"xml", InputKind::Xml}, {"ir", InputKind::IR}},
      "KIND", "kind of input, instead of what its name and text indicate: cpp, json, xml or ir");
  compact_ = addFlag("--compact", options_.compact, "JSON without line breaks");
  ofProgram(add("--name", options_.name, "NAME", "name of the plan"))->check(planName());
  dependencies_ = addFlag("--MD", options_.writeDependencies,
                          "write the files that the output is made from, as a rule for make and ninja, beside it (.d)");
  dependencies_->needs(path_);
  add("--MF", options_.dependencyPath, "FILE", "file for that rule")->check(notEmpty())->needs(dependencies_);
}

void CommandLine::addOutputs() {
  group_ = "Outputs, one in a run";
  for (const Output &output : allOutputs()) {
    const std::string flag(output.flag), help(output.help), value(output.value);
    const std::vector<std::string> words(output.words.begin(), output.words.end());
    CLI::Option *option =
        !words.empty() ? completed(add(flag.c_str(), options_.outputValue, "[=WHAT]", help), words)->check(oneOf(words))
        : value.empty() ? place(app_.add_flag(flag)->description(help), "")
                        : add(flag.c_str(), options_.outputValue, value.c_str(), help)->check(notEmpty());
    outputs_.emplace_back(&output, option);
  }
}

void CommandLine::addOptionsOfOutputs() {
  group_ = "Options of these outputs";
  ofProgram(repeated(add("--message-size", options_.messageSizes, "BYTES",
                         "message size to schedule for [--estimate: each --size; else 1M]; a kernel is for it alone; "
                         "with --estimate a list")))
      ->delimiter(',')
      ->transform(byteSize(1, "a message has at least one byte"));
  const std::vector<std::string> machines = passes::time::builtInMachines();
  completed(ofProgram(add("--machine", options_.machine, "NAME[*N]",
                          "machine to prove, to estimate or to schedule for, N nodes of it; a file that describes one, "
                          "or one of " +
                              CLI::detail::join(machines, " ") + " [" + options_.machine + "]")),
            machines)
      ->check(notEmpty());
  addFlag("--json", options_.json, "for programs instead of people");
  repeated(
      add("--size", options_.runSizes, "BYTES,...",
          "message sizes [--run: a few small ones; --estimate and --critical-path: 1K to 1G; --trace-diff: that of the "
          "trace; else 4M, or the nearest that the program takes]"))
      ->delimiter(',')
      ->transform(byteSize());
  const std::vector<std::string> types(passes::dataTypeNames().begin(), passes::dataTypeNames().end());
  completed(repeated(add("--dtype", options_.types, "TYPE,...",
                         "types of elements, to run with [f32] or to bake a kernel for [" +
                             CLI::detail::join(cuda::usualTypes, " ") + "]: " + CLI::detail::join(types, " "))),
            types)
      ->delimiter(',')
      ->check(oneOf(types));
  add("--schedules", options_.runSchedules, "N", "schedules to try [100; fewer over 1M]")
      ->transform(wholeNumber(std::numeric_limits<std::uint32_t>::max()))
      ->check(notZero("at least one schedule is needed"));
  add("--seed", options_.seed, "N", "seed of the schedules [1]")->transform(wholeNumber());
  add("--counts", options_.counts, "COUNTS",
      "how many rows go from rank to rank: zero, full, over, random:SEED, uniform:N, zipf:S, or a file with a line of "
      "counts for each sender [mixtures of these, which differ from launch to launch; --estimate: full]")
      ->check(notEmpty());
  addChoice<Pad>("--pad", options_.pad, {{"slots", Pad::Slots}, {"counts", Pad::Counts}}, "[=WHAT]",
                 "write the plan of a program of rows that moves whole slots; with =counts, the one that exchanges the "
                 "counts");
  add("--rank", options_.rank, "N", "one rank, and what other ranks have to do with it [all]")
      ->transform(wholeNumber(std::numeric_limits<std::uint32_t>::max()));
  addFlag("--update", options_.update, "rewrite the golden");
}

void CommandLine::addAlgorithm() {
  group_ = "Algorithm";
  const auto isSet = [this](const std::string &name) {
    return std::ranges::any_of(options_.parameters, [&](const auto &setting) { return setting.first == name; });
  };
  const auto set = [this, isSet](const std::vector<std::string> &settings) {
    for (const std::string &setting : settings) {
      const auto equals = setting.find('=');
      if (equals == std::string::npos || equals == 0)
        throw CLI::ValidationError("-P", "'" + setting + "' is not NAME=VALUE");
      if (isSet(setting.substr(0, equals)))
        throw CLI::ValidationError("-P", "'" + setting.substr(0, equals) + "' is given twice");
      options_.parameters.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
    }
  };
  ofProgram(forAlgorithm(
      repeated(addFunction<std::vector<std::string>>("-P,--param", set, "NAME=VALUE",
                                                     "set a parameter of the algorithm; with " + flagsOfCombinations() +
                                                         " to several values: 2..16, 2..16:2, 1,2,4 (see below)"))));
  ofProgram(forAlgorithm(add("--algorithm", options_.algorithm, "NAME", "which algorithm of several")))
      ->check(notEmpty());
  forAlgorithm(repeated(add("-I", includes_, "DIR", "include folder, for Clang")))->check(notEmpty());
  forAlgorithm(repeated(add("-D", defines_, "NAME[=VALUE]", "macro, for Clang")))->check(notEmpty());
  forAlgorithm(repeated(add("--allow-include", options_.allowedFolders, "DIR",
                            "folder of files to include or embed, besides the source's own and -I's")))
      ->check(folder());
  forAlgorithm(add("--trace-timeout", options_.traceTimeout, "SECONDS",
                   "processor seconds the algorithm may run; compiling it may take as many, at least 10 [10]"))
      ->check(seconds());
  forAlgorithm(add("--trace-memory", options_.traceMemory, "BYTES", "memory the algorithm may use [4G]"))
      ->transform(byteSize(std::uint64_t{1} << 20, "at least 1M is needed"));
}

void CommandLine::addXml() {
  group_ = "MSCCL schedule";
  forXml_.push_back(
      add("--ranks-per-node", options_.ranksPerNode, "N", "ranks of one node, which the XML does not contain [all]")
          ->transform(wholeNumber(std::numeric_limits<std::uint32_t>::max()))
          ->check(notZero("a node has at least one rank")));
  forXml_.push_back(addFlag("--keep-blocks", options_.keepBlocks, "leave each step in its thread block"));
}

void CommandLine::addSynthesis() {
  group_ = "Synthesis";
  CLI::Option *synthesize =
      completed(ofProgram(add("--synthesize", options_.synthesize, "COLLECTIVE",
                              "make the fastest algorithm for all GPUs of --machine, without an input: " +
                                  CLI::detail::join(synthesizedNames(), " "))),
                synthesizedNames());
  synthesize->check(oneOf(synthesizedNames()))->excludes(app_.get_option("INPUT"));
  add("--root", options_.root, "N", "root of a broadcast or reduce [0]")
      ->transform(wholeNumber(std::numeric_limits<std::uint32_t>::max()))
      ->needs(synthesize);
}

void CommandLine::addPasses() {
  group_ = "Passes";
  using VerifyEach = Options::VerifyEach;
  completed(add("-O", options_.optLevel, "LEVEL",
                "0: as written [of plans]  1: as the MSCCL++ DSL does [of algorithms]  2: all that can be proven [of "
                "kernels, and of movement programs]"),
            {"0", "1", "2"})
      ->transform(wholeNumber(passes::maxOptLevel));
  const auto setPasses = [this](const std::string &list) {
    options_.hasPasses = true;
    options_.passes = list == "none" ? "" : list;
  };
  const std::vector<std::string> passNames = namesOf(passes::allPasses());
  completed(addFunction<std::string>("--passes", setPasses, "A,B,...", "run these instead of -O's; none: none"),
            passNames);
  completed(
      add("--print-before", options_.printBefore, "[=A,B,...]", "print the IR before these passes, or before each"),
      passNames);
  completed(add("--print-after", options_.printAfter, "[=A,B,...]", "print the IR after these passes, or after each"),
            passNames);
  addFlag("--print-before-all", [this] { options_.printBefore = "all"; }, "print the IR before each pass");
  addFlag("--print-after-all", [this] { options_.printAfter = "all"; }, "print the IR after each pass");
  completed(add("--stop-after", options_.stopAfter, "PASS", "run no pass after this one"), passNames)
      ->check(notEmpty());
  add("--pass-limit", options_.passLimit, "N",
      "run only the first N passes that the program is right without; to bisect")
      ->transform(wholeNumber(std::numeric_limits<std::uint32_t>::max()));
  addChoice<VerifyEach>("--verify-each", options_.verifyEach,
                        {{"structure", VerifyEach::Structure}, {"proof", VerifyEach::Proof}, {"off", VerifyEach::Off}},
                        "[=WHAT]", "check the IR after each pass: structure, proof or off");
  addFlag("--time-passes", options_.timePasses, "print how long each stage took");
  addFlag("--stats", options_.stats, "print what each pass did");
  const std::string_view usual = options_.output->target;
  add("--target", options_.target, "TARGET",
      "executor whose limits hold: mscclpp, mscclpp-VERSION or none [" + std::string(usual) + "; for " +
          flagsOf([&](const Output &output) { return output.target != usual; }) + ": none]");
}

void CommandLine::addProof() {
  group_ = "Proof";
  noVerify_ = addFlag("--no-verify", [this] { options_.verify = false; }, "write without proof");
  completed(repeated(add("--allow", allowed_, "NAME,...", "take these findings for warnings; they are listed below")),
            namesOf(allAllowable()))
      ->delimiter(',')
      ->check(allowableFinding());
}

void CommandLine::addMessages() {
  group_ = "Messages";
  addChoice<ColorMode>("--color", options_.color,
                       {{"auto", ColorMode::Auto}, {"always", ColorMode::Always}, {"never", ColorMode::Never}},
                       "[=WHEN]", "auto, always or never");
  addChoice<FindingsForm>("--diagnostics", options_.findingsForm,
                          {{"text", FindingsForm::Text}, {"json", FindingsForm::Json}, {"sarif", FindingsForm::Sarif}},
                          "FORM", "form of errors and warnings on standard error: text, json or sarif (2.1.0) [text]");
  completed(addPrinted("--explain-error", pageOf, "NAME",
                       "print what an error or warning means, an example, and how to mend it; NAME is in the brackets "
                       "at its end; all: of all"),
            diagnosticNames())
      ->check(diagnosticName());
  addFlag("--Werror", options_.warningsAreErrors, "take warnings for errors, except those of --allow");
  addFlag("-q", options_.quiet, "errors only");
  add("--max-errors", options_.maxErrors, "N", "errors to print; 0: all [10]")->transform(wholeNumber());
  group_ = "Shells";
  completed(addPrinted(
                "--completion", [this](const std::string &shell) { return completionFor(shell, rows()); }, "SHELL",
                "print a script that completes options: bash, zsh or fish"),
            completionShells())
      ->check(oneOf(completionShells()));
  addFlag("--man", [this] { throw Printed(manPage(rows(), helpFooter())); }, "print the man page");
}

/// Sets the exclusions that follow from the table of outputs. Passes and the proof need a program.
void CommandLine::relate() {
  for (CLI::Option *option : app_.get_options())
    if (option->get_group() == "Passes" || option->get_group() == "Proof")
      ofProgram(option);
  for (const auto &[output, option] : outputs_) {
    for (const auto &[other, otherOption] : outputs_)
      if (other != output)
        option->excludes(otherOption);
    if (output->destination == Destination::Terminal)
      path_->excludes(option);
    if (!output->isPlan)
      compact_->excludes(option);
    if (output->subject == Subject::Source)
      for (CLI::Option *ofProgram : ofPrograms_)
        ofProgram->excludes(option);
    if (output->proof == Proof::IsOutput)
      noVerify_->excludes(option);
  }
}

/// Adds to each option of outputs the outputs that take it, in front of its description.
void CommandLine::describeOptionsOfOutputs() {
  std::set<std::string_view> names;
  for (const Output &output : allOutputs())
    names.insert(output.options.begin(), output.options.end());
  for (const std::string_view name : names) {
    CLI::Option *option = app_.get_option(std::string(name));
    option->description(flagsOf([&](const Output &output) { return heeds(output, name, true); }) +
                        (isForScheduling(name) ? ", and movement programs: " : ": ") + option->get_description());
  }
}

/// CLI11's needs() would require all outputs that an option names, but one of them is enough.
void CommandLine::checkOptionsOfOutput() const {
  for (const Output &output : allOutputs())
    for (const std::string_view name : output.options)
      if (app_.get_option(std::string(name))->count() != 0 && !takes(*options_.output, name) && !isForScheduling(name))
        throw CLI::RequiresError(std::string(name),
                                 flagsOf([&](const Output &other) { return takes(other, name); }, "or"));
  if (options_.messageSizes.size() > 1 && (!options_.output->schedulesEach || !options_.runSizes.empty()))
    throw CLI::ValidationError("--message-size", "several sizes are for " +
                                                     flagsOf([](const Output &o) { return o.schedulesEach; }, "or") +
                                                     ", without --size");
  if (options_.compact && options_.output->destination == Destination::OnlyNamed && !options_.hasOutputPath &&
      !options_.update)
    throw CLI::RequiresError("--compact with " + std::string(options_.output->flag), "-o or --update");
}

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
  std::ranges::reverse(args); // CLI11 takes the last one first
  return args;
}

/// An input behind an option may be intended as its value. It is one only if it is no file.
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

/// Returns the text of an error, in our own words if those of CLI11 say less.
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
  if (dynamic_cast<const CLI::RequiredError *>(&error)) { // only the input is required
    diags.report(diag::no_input, {});
  } else if (dynamic_cast<const CLI::ExtrasError *>(&error)) { // an input is no extra
    const std::string unknown = app_.remaining().front();
    diags.report(diag::unknown_option, {}, {unknown, otherOption(unknown)});
  } else {
    diags.report(diag::bad_option, {}, {textOf(error)});
  }
}

} // namespace

ParsedCommandLine parseCommandLine(int argc, const char *const *argv) {
  CommandLine commandLine;
  try {
    return {commandLine.parse(argc, argv), 0};
  } catch (const Printed &e) {
    ir::DiagnosticEngine diags;
    const bool isDone = writeOut(e.text(), diags);
    std::cerr << diags.render(/*color=*/false);
    return {std::nullopt, isDone ? 0 : 1};
  } catch (const CLI::Success &e) { // help or the version
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
