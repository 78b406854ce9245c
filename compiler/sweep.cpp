#include "compiler/sweep.h"

#include "compiler/diagnostics.h"
#include "compiler/files.h"
#include "compiler/guard.h"
#include "compiler/outputs/outputs.h"
#include "compiler/parameter_values.h"
#include "compiler/session.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

namespace mscclc::driver {
namespace {

using Setting = std::pair<std::string, std::string>;

bool isFolder(const std::string &path) {
  std::error_code error;
  return path.ends_with('/') || std::filesystem::is_directory(path, error);
}

/// Returns true if the output writes or compares a file for each combination. The flag of the output names their
/// folder.
bool isInFolder(const Options &options) {
  return options.output->combinations == Combinations::RowsOfFolder && isFolder(options.outputValue);
}

/// The values of one parameter, and its index in Options::parameters.
struct Axis {
  std::size_t at = 0;
  ParameterValues values;
};

/// Returns true if the parameter may have several values. Otherwise reports why not.
bool mayVary(const Options &options, const Setting &setting, ir::DiagnosticEngine &diags) {
  const std::string shown = "-P " + setting.first + "=" + setting.second;
  const Output &output = *options.output;
  switch (output.combinations) {
  case Combinations::Refused:
    return diags.report(diag::several_values, {}, {shown, flagsOfCombinations()});
  case Combinations::Rows:
    return true;
  case Combinations::RowsOfFolder:
    break;
  }
  if (!isFolder(options.outputValue))
    return diags.report(diag::several_need_folder, {}, {shown, output.flag, options.outputValue});
  if (options.hasOutputPath)
    return diags.report(diag::several_one_output, {}, {shown, options.outputPath});
  return true;
}

std::string goldenIn(const Options &options, const std::string &algorithm) {
  return (std::filesystem::path(options.outputValue) / goldenName(algorithm, options.parameters)).string();
}

/// Makes the folder for goldens if it does not exist. If that fails, reports an error and returns false.
bool makeFolder(const std::string &folder, ir::DiagnosticEngine &diags) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error || std::filesystem::is_directory(folder))
    return true;
  return diags.report(diag::no_folder, {}, {folder, error.message()});
}

} // namespace

bool mayBeSweep(const Options &options) {
  return isInFolder(options) ||
         std::ranges::any_of(options.parameters, [](const Setting &s) { return mayBeSeveral(s.second); });
}

std::string goldenName(const std::string &algorithm, const std::vector<Setting> &parameters) {
  std::string name;
  const auto add = [&](std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF", plain = "_+-.:";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80 && (std::isalnum(byte) || plain.find(c) != plain.npos))
        name += c;
      else
        name.append(1, '%').append(1, digits[byte >> 4]) += digits[byte & 15];
    }
  };
  add(algorithm);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    name += i == 0 ? '.' : ',';
    add(parameters[i].first);
    name += '=';
    add(parameters[i].second);
  }
  return name + ".json";
}

std::optional<Sweep> Sweep::plan(const Options &options, const frontend::AlgorithmInfo &algorithm,
                                 ir::DiagnosticEngine &diags) {
  Sweep sweep;
  std::vector<Axis> axes;
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < options.parameters.size(); ++i) {
    const auto &[name, text] = options.parameters[i];
    const auto parameter = std::ranges::find(algorithm.parameters, name, &frontend::ParameterInfo::name);
    if (parameter == algorithm.parameters.end()) // there is no such parameter, which loading reports
      continue;
    Axis axis{i, parameterValues(text, parameter->kind)};
    if (!axis.values.isSeveral)
      continue;
    if (!mayVary(options, options.parameters[i], diags))
      return std::nullopt;
    if (!axis.values.error.empty())
      return diags.report(diag::bad_values, {}, {name, text, axis.values.error});
    std::size_t width = name.size();
    for (const std::string &value : axis.values.values)
      width = std::max(width, value.size());
    sweep.varying_.push_back(name);
    sweep.widths_.push_back(width);
    count *= axis.values.values.size(); // cannot overflow: at most mostCombinations squared here
    if (count > mostCombinations)
      return diags.report(diag::too_many_combinations, {}, {mostCombinations});
    axes.push_back(std::move(axis));
  }
  const bool inFolder = isInFolder(options);
  if (inFolder && options.update && !makeFolder(options.outputValue, diags))
    return std::nullopt;
  for (std::uint64_t n = 0; n < count; ++n) {
    Combination &one = sweep.combinations_.emplace_back();
    one.options = options;
    one.values.resize(axes.size());
    std::uint64_t rest = n;
    for (std::size_t a = axes.size(); a-- != 0;) {
      const auto &values = axes[a].values.values;
      one.values[a] = values[rest % values.size()];
      one.options.parameters[axes[a].at].second = one.values[a];
      rest /= values.size();
    }
    if (inFolder)
      one.options.outputValue = goldenIn(one.options, algorithm.name);
  }
  return sweep;
}

std::string Sweep::row(const std::vector<std::string> &values, const std::string &code,
                       const std::string &result) const {
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i)
    line.append(values[i]).append(widths_[i] + 2 - values[i].size(), ' ');
  return line.append(code).append(6 - code.size(), ' ').append(result) + "\n";
}

/// Returns the combination's row as JSON.
std::string Sweep::document(const Combination &combination, const Outcome &outcome) const {
  nlohmann::ordered_json row = {{"parameters", nlohmann::ordered_json::object()},
                                {"exit", static_cast<int>(outcome.code)}};
  for (std::size_t i = 0; i < varying_.size(); ++i)
    row["parameters"][varying_[i]] = combination.values[i];
  row["result"] = outcome.document ? *outcome.document : nlohmann::ordered_json(outcome.result);
  return textOf(row);
}

std::string Sweep::words(const Combination &combination) const {
  std::string text;
  for (std::size_t i = 0; i < varying_.size(); ++i)
    text += (i == 0 ? "" : ", ") + varying_[i] + "=" + combination.values[i];
  return text;
}

ExitCode Sweep::run(const Input &input, const passes::Target &target, Findings &findings) const {
  ir::DiagnosticEngine output;
  const auto failed = [&] {
    findings.add(first(), output);
    return exitCodeOf(false, output);
  };
  ExitCode worst = exitDone;
  std::size_t tried = 0, wrong = 0;
  const bool json = first().json;
  std::string before = json ? "[" : row(varying_, "exit", "result");
  for (const Combination &one : combinations_) {
    Outcome outcome;
    outcome.result = "fault";
    std::optional<Session> session;
    const ExitCode code = guarded([&] {
      session.emplace(one.options, target, /*inTable=*/true);
      outcome = session->run(input);
      return outcome.code;
    });
    outcome.code = code;
    const std::string line =
        json ? document(one, outcome) : row(one.values, std::to_string(code), ir::printable(outcome.result));
    if (!writeOut(std::exchange(before, json ? "," : "") + line, output))
      return failed();
    if (session && code != exitInternal)
      findings.add(one.options, session->diagnostics(), session->report(), words(one));
    worst = std::max(worst, code);
    ++tried;
    wrong += code != exitDone;
    if (code == exitUsage)
      break;
  }
  if (json && !writeOut("]\n", output))
    return failed();
  const std::size_t untried = combinations_.size() - tried;
  if (wrong != 0)
    findings.say(std::to_string(wrong) + " of " + ir::plural(tried, "combination") + " failed" +
                 (untried == 0
                      ? std::string()
                      : "; " + std::to_string(untried) + " more were not tried, as the command line is wrong") +
                 ".\n");
  return worst;
}

} // namespace mscclc::driver
