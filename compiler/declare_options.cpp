// Declares the options, group by group, with the exclusions and descriptions that follow from the table of outputs.
#include "backend-cuda/emit_kernel.h"
#include "compiler/allowable.h"
#include "compiler/command_line.h"
#include "compiler/explain_error.h"
#include "compiler/help.h"
#include "compiler/synthesis.h"
#include "compiler/version.h"
#include "passes/pipeline.h"
#include "passes/simulate/simulate.h"
#include "passes/time/machine.h"

#include <limits>
#include <set>

namespace mscclc::driver {
namespace {

/// Returns the names in the rows of a table.
template <typename Rows> std::vector<std::string> namesOf(const Rows &rows) {
  std::vector<std::string> names;
  for (const auto &row : rows)
    names.emplace_back(row.name);
  return names;
}

} // namespace

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
  ofProgram(
      repeated(add("--message-size", options_.messageSizes, "BYTES",
                   "message size to schedule for [--estimate and --emit-html: each --size; else 1M]; a kernel is for "
                   "it alone; with --estimate and --emit-html a list")))
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
          "trace; else that of --message-size, 4M without it, or the nearest that the program takes]"))
      ->delimiter(',')
      ->transform(byteSize());
  const std::vector<std::string> types(passes::dataTypeNames().begin(), passes::dataTypeNames().end());
  completed(repeated(add("--dtype", options_.types, "TYPE,...",
                         "types of elements, to run with [f32] or to bake a kernel for [" +
                             CLI::detail::join(cuda::usualTypes, " ") + "]: " + CLI::detail::join(types, " "))),
            types)
      ->delimiter(',')
      ->check(oneOf(types));
  addFlag("--blocks-by-size", options_.blocksBySize,
          "launches take as many thread blocks as pay for their size, by the time model");
  add("--schedules", options_.runSchedules, "N", "schedules to try [100; fewer over 1M]")
      ->transform(wholeNumber(std::numeric_limits<std::uint32_t>::max()))
      ->check(notZero("at least one schedule is needed"));
  add("--seed", options_.seed, "N", "seed of the schedules [1]")->transform(wholeNumber());
  add("--counts", options_.counts, "COUNTS",
      "how many rows go from rank to rank: zero, full, over, random:SEED, uniform:N, zipf:S, or a file with a line of "
      "counts for each sender [mixtures of these, which differ from launch to launch; --estimate: full]")
      ->check(notEmpty());
  add("--rows", options_.rows, "BYTES[:N]",
      "how long a row of a collective of rows is, and to how many experts it goes, for estimates [the unit of "
      "alignment, and 8; then counting an index takes no time]")
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

/// Adds the flags of the outputs that use an option to the option's description, at its beginning.
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

/// Checks that the output takes each given option. CLI11's needs() would require all outputs that take an option, but
/// one of them is enough.
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

} // namespace mscclc::driver
