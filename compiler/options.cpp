#include "compiler/options.h"

#include "backend-json/write_plan.h"
#include "compiler/allowable.h"
#include "compiler/pipeline.h"
#include "compiler/version.h"
#include "passes/target.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>

namespace mscclc::driver {
namespace {

constexpr const char *usageExamples = R"(EXAMPLES
  mscclc allreduce.cpp -P ranks=8 -o plan.json      compile an algorithm to a plan
  mscclc allreduce.cpp --list                       its algorithms and their parameters
  mscclc plan.json --verify                         prove a plan made elsewhere
  mscclc plan.json --run --size 1M --dtype f16      run it on the CPU
  mscclc allreduce.cpp --diff golden/plan.json      compare with a golden plan (CI)
  mscclc allreduce.cpp -P ranks=2..16 --verify      prove it at each size
  mscclc allreduce.cpp --passes=fuse --emit-ir      what one pass does
  mscclc allreduce.cpp --emit-cuda -o kernel.cu     bake a CUDA kernel

SEVERAL VALUES of parameters: -P ranks=2..16 -P lanes=1,2,4
  Integers take ranges, FIRST..LAST or FIRST..LAST:STEP, and lists of values and ranges; bools, enums and doubles take
  lists. In a std::string_view a comma is a comma. Each combination (4096 at most) has a row with its exit code; the
  exit code of the run is that of the worst. --diff DIR/ compares each with DIR/ALGORITHM.NAME=VALUE,NAME=VALUE.json,
  the parameters being those given by -P in their order (what is no letter, digit or one of _+-.: is %XX); --update
  writes these files.

EXIT CODES
  0 done
  1 the input is wrong or not proven, or differs from the golden; a file cannot be read or written
  2 the command line is wrong: its options, their values, or parameters that the algorithm does not have
  3 a fault of mscclc)";

/// What options take by name, from the tables that say what there is.
std::string namesToUse() {
  std::string text = "PASSES, for --passes, --print-before, --print-after (lists: a,b) and --stop-after\n";
  std::size_t width = 0;
  for (const passes::Pass &pass : passes::allPasses())
    width = std::max(width, pass.name.size());
  for (const passes::Pass &pass : passes::allPasses())
    text.append("  ").append(pass.name).append(width + 2 - pass.name.size(), ' ').append(pass.summary) += '\n';
  for (int level = 0; level <= maxOptLevel; ++level)
    text.append("  -O").append(std::to_string(level)).append(" runs ").append(pipelineOf(level)) += '\n';
  text += "\nTARGETS\n  " + passes::targetNames() + "\n\n";
  text += "FINDINGS TO ALLOW, for --allow (lists: a,b): warnings then, errors else\n";
  width = 0;
  for (const Allowable &finding : allAllowable())
    width = std::max(width, finding.name.size());
  for (const Allowable &finding : allAllowable())
    text.append("  ").append(finding.name).append(width + 2 - finding.name.size(), ' ').append(finding.summary) += '\n';
  return text + "\n";
}

[[noreturn]] void badValue(const std::string &option, const std::string &what) {
  throw CLI::ValidationError(option, what);
}

/// Options whose value is optional must be written with '=', so that a bare one does not swallow the input.
std::vector<std::string> normalise(int argc, const char *const *argv, std::vector<std::string> &clangArgs) {
  std::vector<std::string> args;
  bool forClang = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (forClang)
      clangArgs.push_back(arg);
    else if (arg == "--")
      forClang = true;
    else if (arg == "--print-before" || arg == "--print-after")
      args.push_back(arg + "=all");
    else if (arg == "--verify-each")
      args.push_back(arg + "=structure");
    else if (arg == "--passes=")
      args.push_back("--passes=none");
    else if (arg.starts_with("--") && arg.ends_with('=')) // CLI11 would take the next argument
      badValue(arg.substr(0, arg.size() - 1), "an empty value");
    else if (arg == "--color")
      args.push_back(arg + "=always");
    else
      args.push_back(arg);
  }
  std::reverse(args.begin(), args.end()); // as CLI11 takes them
  return args;
}

/// CLI11's help with a usage line of our own.
class HelpFormatter : public CLI::Formatter {
public:
  HelpFormatter() { column_width(34); }
  std::string make_usage(const CLI::App *, std::string) const override {
    return "Usage: mscclc [options] INPUT [-- CLANG-ARGS]\n";
  }
};

std::uint64_t byteSize(const std::string &option, const std::string &text) {
  const auto bytes = parseByteSize(text);
  if (!bytes)
    badValue(option, "'" + text + "' is not a size in bytes; write digits with an optional K, M or G");
  return *bytes;
}

std::uint64_t wholeNumber(const std::string &option, const std::string &text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    badValue(option, "'" + text + "' is no number from 0 to " + std::to_string(UINT64_MAX));
  return value;
}

} // namespace

std::optional<std::uint64_t> parseByteSize(const std::string &text) {
  std::size_t end = 0;
  std::uint64_t value = 0;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') {
    const auto digit = static_cast<std::uint64_t>(text[end] - '0');
    if (value > (UINT64_MAX - digit) / 10)
      return std::nullopt;
    value = value * 10 + digit;
    ++end;
  }
  if (end == 0)
    return std::nullopt;
  const std::string unit = text.substr(end);
  if (unit.empty() || unit == "B")
    return value;
  const std::string_view letters = "KMGT";
  const auto power = letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
  const std::string rest = unit.substr(1);
  if (power == std::string_view::npos || (!rest.empty() && rest != "B" && rest != "iB"))
    return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (value > (UINT64_MAX >> shift))
    return std::nullopt;
  return value << shift;
}

ParsedCommandLine parseCommandLine(int argc, const char *const *argv) {
  Options o;
  CLI::App app{"mscclc compiles GPU collectives: a C++ algorithm in, an MSCCL++ plan or a CUDA kernel out.", "mscclc"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(namesToUse() + usageExamples);
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", std::string("mscclc ") + version());

  app.add_option("INPUT", o.input, "algorithm (.cpp), plan (.json) or IR text (.ir); - is standard input")
      ->required()
      ->type_name("");

  const char *general = "Input and output";
  std::string kind;
  auto *output =
      app.add_option("-o", o.output, "output file; - or absent: standard output")->type_name("FILE")->group(general);
  app.add_option("-x", kind, "kind of input, whatever its name and its text tell: cpp, json or ir")
      ->check(CLI::IsMember({"cpp", "json", "ir"}))
      ->type_name("KIND")
      ->group(general);
  auto *emitJson = app.add_flag("--emit-json")->description("write an MSCCL++ plan (default)")->group(general);
  auto *emitIR = app.add_flag("--emit-ir")->description("write IR text")->group(general);
  auto *emitCuda = app.add_flag("--emit-cuda")->description("write a CUDA kernel")->group(general);
  auto *compact = app.add_flag("--compact", o.compact, "JSON without line breaks")->group(general);
  std::string messageSize;
  auto *sizeToBake = app.add_option("--message-size", messageSize, "--emit-cuda: bake this message size in")
                         ->type_name("BYTES")
                         ->group(general);

  const char *algorithm = "Algorithm";
  std::vector<std::string> parameters;
  auto *parameter = app.add_option("-P,--param", parameters,
                                   "set a parameter of the algorithm; with --verify, --run and --diff DIR/ to several "
                                   "values: 2..16, 2..16:2, 1,2,4 (see below)")
                        ->type_name("NAME=VALUE")
                        ->allow_extra_args(false)
                        ->group(algorithm);
  auto *algorithmName =
      app.add_option("--algorithm", o.algorithm, "which algorithm of several")->type_name("NAME")->group(algorithm);
  auto *list = app.add_flag("--list")->description("list algorithms and their parameters")->group(algorithm);
  auto *nameOption = app.add_option("--name", o.name, "name of the plan")->type_name("NAME")->group(algorithm);
  std::vector<std::string> includes, defines;
  auto *include = app.add_option("-I", includes, "include folder, for Clang")
                      ->type_name("DIR")
                      ->allow_extra_args(false)
                      ->group(algorithm);
  auto *define = app.add_option("-D", defines, "macro, for Clang")
                     ->type_name("NAME[=VALUE]")
                     ->allow_extra_args(false)
                     ->group(algorithm);
  auto *allowInclude = app.add_option("--allow-include", o.allowedFolders,
                                      "folder of files to include or embed, besides the source's own and -I's")
                           ->check(CLI::ExistingDirectory)
                           ->type_name("DIR")
                           ->allow_extra_args(false)
                           ->group(algorithm);
  auto *timeout =
      app.add_option("--trace-timeout", o.traceTimeout,
                     "processor seconds the algorithm may run; compiling it may take as many, at least 10 [10]")
          ->type_name("SECONDS")
          ->group(algorithm);
  std::string traceMemory;
  auto *memoryOption = app.add_option("--trace-memory", traceMemory, "memory the algorithm may use [4G]")
                           ->type_name("BYTES")
                           ->group(algorithm);

  const char *passes = "Passes";
  app.add_option("-O", o.optLevel,
                 "0: as written [of plans]  1: as the MSCCL++ DSL does [of algorithms]  2: all that can be proven")
      ->check(CLI::Range(0, maxOptLevel))
      ->type_name("LEVEL")
      ->group(passes);
  auto *passesOption =
      app.add_option("--passes", o.passes, "run these instead of -O's; none: none")->type_name("A,B,…")->group(passes);
  auto *printAfterAll = app.add_flag("--print-after-all")->description("print the IR after each pass")->group(passes);
  app.add_option("--print-before", o.printBefore, "print the IR before these passes, or before each")
      ->type_name("[=A,B,…]")
      ->group(passes);
  app.add_option("--print-after", o.printAfter, "print the IR after these passes, or after each")
      ->type_name("[=A,B,…]")
      ->group(passes);
  auto *stopAfter =
      app.add_option("--stop-after", o.stopAfter, "run no pass behind this one")->type_name("PASS")->group(passes);
  std::string verifyEach;
  app.add_option("--verify-each", verifyEach, "check the IR after each pass: structure, proof or off")
      ->check(CLI::IsMember({"structure", "proof", "off"}))
      ->type_name("[=WHAT]")
      ->group(passes);
  app.add_flag("--time-passes", o.timePasses, "print how long each stage took")->group(passes);
  app.add_flag("--stats", o.stats, "print what each pass did")->group(passes);
  app.add_option("--target", o.target,
                 "executor whose limits hold: mscclpp, mscclpp-VERSION or none [mscclpp; for --verify, --run and "
                 "--emit-cuda: none]")
      ->type_name("TARGET")
      ->group(passes);

  const char *proof = "Proof and comparison";
  auto *verify = app.add_flag("--verify")->description("prove only; print a summary of what was proven")->group(proof);
  auto *noVerify = app.add_flag("--no-verify")->description("write without proof")->group(proof);
  std::vector<std::string> allowed;
  auto *allow = app.add_option("--allow", allowed, "take these findings for warnings; they are listed below")
                    ->type_name("NAME,…")
                    ->delimiter(',')
                    ->allow_extra_args(false)
                    ->group(proof);
  auto *run = app.add_flag("--run")->description("run on the CPU under random schedules")->group(proof);
  std::vector<std::string> sizes;
  auto *sizeOption = app.add_option("--size", sizes, "--run: message sizes [a few small ones]")
                         ->type_name("BYTES,…")
                         ->delimiter(',')
                         ->allow_extra_args(false)
                         ->group(proof);
  auto *typeOption = app.add_option("--dtype", o.runTypes, "--run: f32 f16 bf16 i32 u32 u8 [f32]")
                         ->check(CLI::IsMember({"f32", "f16", "bf16", "i32", "u32", "u8"}))
                         ->type_name("TYPE,…")
                         ->delimiter(',')
                         ->allow_extra_args(false)
                         ->group(proof);
  auto *schedulesOption = app.add_option("--schedules", o.runSchedules, "--run: schedules to try [100; fewer over 1M]")
                              ->type_name("N")
                              ->group(proof);
  std::string seed;
  auto *seedOption = app.add_option("--seed", seed, "--run: seed of the schedules [1]")->type_name("N")->group(proof);
  auto *diff = app.add_option("--diff", o.golden, "compare with a golden plan, or one in a folder, by meaning")
                   ->type_name("GOLDEN.json|DIR/")
                   ->group(proof);
  app.add_flag("--update", o.update, "--diff: rewrite the golden")->group(proof);

  const char *messages = "Messages";
  std::string color;
  app.add_option("--color", color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("[=WHEN]")
      ->group(messages);
  app.add_flag("-q", o.quiet, "errors only")->group(messages);
  std::string maxErrors;
  auto *maxErrorsOption =
      app.add_option("--max-errors", maxErrors, "errors to print; 0: all [10]")->type_name("N")->group(messages);

  try {
    app.parse(normalise(argc, argv, o.clangArgs));

    const auto exclusive = [](std::initializer_list<CLI::Option *> options) {
      CLI::Option *first = nullptr;
      for (CLI::Option *option : options) {
        if (option->count() == 0)
          continue;
        if (first)
          throw CLI::ExcludesError(first->get_name(), option->get_name());
        first = option;
      }
    };
    exclusive({emitJson, emitIR, emitCuda, list, diff, run, verify});
    exclusive({verify, noVerify});
    for (CLI::Option *silent : {list, run, verify}) // these write no file
      exclusive({output, silent});
    exclusive({allow, list});
    for (CLI::Option *other : {emitIR, emitCuda, list, run, verify}) // these write no JSON
      exclusive({compact, other});
    if (o.compact && diff->count() != 0 && output->count() == 0 && !o.update)
      throw CLI::RequiresError("--compact with --diff", "-o or --update");
    for (CLI::Option *option : {sizeOption, typeOption, schedulesOption, seedOption})
      if (option->count() != 0 && run->count() == 0)
        throw CLI::RequiresError(option->get_name(), "--run");
    if (o.update && diff->count() == 0)
      throw CLI::RequiresError("--update", "--diff");
    if (sizeToBake->count() != 0 && emitCuda->count() == 0)
      throw CLI::RequiresError("--message-size", "--emit-cuda");

    o.action = list->count()       ? Action::List
               : run->count()      ? Action::Run
               : diff->count()     ? Action::Diff
               : emitIR->count()   ? Action::EmitIR
               : emitCuda->count() ? Action::EmitCuda
               : verify->count()   ? Action::Verify
                                   : Action::EmitJson;
    o.verify = noVerify->count() == 0;
    o.hasOutput = output->count() != 0;
    o.hasPasses = passesOption->count() != 0;
    if (o.passes == "none")
      o.passes.clear();
    if (printAfterAll->count() != 0)
      o.printAfter = "all";
    if (verifyEach == "structure")
      o.verifyEach = Options::VerifyEach::Structure;
    else if (verifyEach == "proof")
      o.verifyEach = Options::VerifyEach::Proof;
    else if (verifyEach == "off")
      o.verifyEach = Options::VerifyEach::Off;
    o.inputKind = kind == "cpp"    ? InputKind::Algorithm
                  : kind == "json" ? InputKind::Plan
                  : kind == "ir"   ? InputKind::IR
                                   : InputKind::Auto;
    o.color = color == "always" ? ColorMode::Always : color == "never" ? ColorMode::Never : ColorMode::Auto;

    for (const std::string &name : allowed) {
      if (!isAllowable(name))
        badValue("--allow", "'" + name + "' is no finding to allow; known: " + allowableNames());
      o.allowed.insert(name);
    }
    for (const std::string &parameter : parameters) {
      const auto equals = parameter.find('=');
      if (equals == std::string::npos || equals == 0)
        badValue("-P", "'" + parameter + "' is not NAME=VALUE");
      o.parameters.emplace_back(parameter.substr(0, equals), parameter.substr(equals + 1));
    }
    for (const std::string &argument : o.clangArgs)
      if (argument == "-o")
        badValue("--", "what follows it is for Clang, and Clang writes nothing: put '-o' before it");
    for (CLI::Option *option : {parameter, algorithmName, include, define, allowInclude, timeout, memoryOption})
      if (option->count() != 0)
        o.forAlgorithm.push_back(option == parameter ? "-P" : option->get_name());
    if (!o.clangArgs.empty())
      o.forAlgorithm.push_back("--");
    std::vector<std::string> clangArgs;
    for (const std::string &dir : includes)
      clangArgs.push_back("-I" + dir);
    for (const std::string &macro : defines)
      clangArgs.push_back("-D" + macro);
    o.clangArgs.insert(o.clangArgs.begin(), clangArgs.begin(), clangArgs.end());
    if (sizeToBake->count() != 0) {
      o.messageSize = byteSize("--message-size", messageSize);
      if (o.messageSize == 0)
        badValue("--message-size", "a message has at least one byte");
    }
    if (memoryOption->count() != 0)
      o.traceMemory = byteSize("--trace-memory", traceMemory);
    if (o.traceMemory < (std::uint64_t{1} << 20))
      badValue("--trace-memory", "at least 1M is needed");
    if (!std::isfinite(o.traceTimeout) || o.traceTimeout <= 0 || o.traceTimeout > 86400)
      badValue("--trace-timeout", "seconds must lie in (0, 86400]");
    for (const std::string &size : sizes)
      o.runSizes.push_back(byteSize("--size", size));
    if (o.runTypes.empty())
      o.runTypes.push_back("f32");
    if (o.runSchedules == 0u)
      badValue("--schedules", "at least one schedule is needed");
    if (seedOption->count() != 0)
      o.seed = wholeNumber("--seed", seed);
    if (maxErrorsOption->count() != 0)
      o.maxErrors = wholeNumber("--max-errors", maxErrors);
    const std::pair<const CLI::Option *, const std::string *> names[] = {
        {app.get_option("INPUT"), &o.input}, {output, &o.output},       {diff, &o.golden},
        {algorithmName, &o.algorithm},       {stopAfter, &o.stopAfter},
    };
    for (const auto &[option, value] : names)
      if (option->count() != 0 && value->empty())
        badValue(option->get_name(), "an empty name");
    for (const std::string &dir : includes)
      if (dir.empty()) // Clang would take the next argument
        badValue("-I", "an empty name");
    for (const std::string &macro : defines)
      if (macro.empty())
        badValue("-D", "an empty name");
    if (nameOption->count() != 0 && (o.name.empty() || !json::isUtf8(o.name)))
      badValue("--name", "a name is UTF-8, and not empty");
  } catch (const CLI::CallForHelp &e) {
    app.exit(e);
    return {std::nullopt, 0};
  } catch (const CLI::CallForVersion &e) {
    app.exit(e);
    return {std::nullopt, 0};
  } catch (const CLI::ParseError &e) {
    std::cerr << "mscclc: error: " << e.what() << "\n'mscclc --help' lists the options.\n";
    return {std::nullopt, 2};
  }
  return {std::move(o), 0};
}

} // namespace mscclc::driver
