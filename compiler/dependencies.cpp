#include "compiler/dependencies.h"

#include "compiler/outputs/outputs.h"

#include <algorithm>
#include <filesystem>

namespace mscclc::driver {
namespace {

/// Returns `path`, escaped for make and ninja.
std::string escaped(const std::string &path) {
  std::string out;
  for (const char c : path) {
    if (c == '$')
      out += '$';
    else if (c == ' ' || c == '#' || c == ':' || c == '\\')
      out += '\\';
    out += c;
  }
  return out;
}

/// Returns true if `path` is a file. The value of --machine may be a name instead.
bool isFile(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

} // namespace

std::string dependencyFile(const Options &options) {
  if (!options.dependencyPath.empty())
    return options.dependencyPath;
  return std::filesystem::path(options.outputPath).replace_extension(".d").string();
}

std::string dependencyRule(const Options &options, const std::vector<std::string> &files) {
  std::vector<std::string> all = {options.input};
  all.insert(all.end(), files.begin(), files.end());
  const std::string machine = options.machine.substr(0, options.machine.rfind('*'));
  all.insert(all.end(), {machine, machine.substr(machine.find('@') + 1)});
  if (!options.output->value.empty()) // the flag's value is a file: a golden, or a trace
    all.push_back(options.outputValue);
  std::string rule = escaped(options.outputPath) + ":";
  for (auto file = all.begin(); file != all.end(); ++file)
    if (isFile(*file) && std::find(all.begin(), file, *file) == file)
      rule += " \\\n  " + escaped(*file);
  return rule + "\n";
}

} // namespace mscclc::driver
