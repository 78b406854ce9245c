#include "compiler/overwrite.h"

#include "compiler/dependencies.h"
#include "compiler/diagnostics.h"
#include "compiler/files.h"
#include "compiler/outputs/outputs.h"

#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

namespace mscclc::driver {
namespace {

/// The identity of a regular file. It is the same for all names of the file. Devices and pipes have none, because they
/// cannot be overwritten.
struct FileIdentity {
  dev_t device;
  ino_t inode;
  friend bool operator==(const FileIdentity &, const FileIdentity &) = default;
};

/// Returns the identity of the file at `path`; nothing if it is not a regular file. `stream`: the descriptor that "-"
/// stands for.
std::optional<FileIdentity> identityOf(const std::string &path, int stream) {
  struct stat status{};
  const int result = path == "-" ? ::fstat(stream, &status) : ::stat(path.c_str(), &status);
  if (result != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

std::vector<std::string> outputsOf(const Options &options) {
  std::vector<std::string> outputs;
  switch (options.output->destination) {
  case Destination::Terminal:
    outputs.push_back("-");
    break;
  case Destination::File:
    outputs.push_back(options.outputPath);
    break;
  case Destination::OnlyNamed:
    if (options.hasOutputPath)
      outputs.push_back(options.outputPath);
    break;
  }
  if (options.update)
    outputs.push_back(options.outputValue);
  if (options.writeDependencies)
    outputs.push_back(dependencyFile(options));
  return outputs;
}

/// Returns the files that Clang's arguments include before the source.
std::vector<std::string> includedByArguments(const std::vector<std::string> &arguments) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const std::string_view option : {"-include", "-imacros"}) {
      if (arguments[i] == option && i + 1 < arguments.size())
        files.push_back(arguments[i + 1]);
      else if (arguments[i].starts_with(option) && arguments[i].size() > option.size())
        files.push_back(arguments[i].substr(option.size()));
    }
  return files;
}

bool check(const Options &options, const std::vector<std::string> &inputs, ir::DiagnosticEngine &diags) {
  for (const std::string &output : outputsOf(options)) {
    const auto written = identityOf(output, STDOUT_FILENO);
    if (!written)
      continue;
    for (const std::string &input : inputs)
      if (identityOf(input, STDIN_FILENO) == written)
        return diags.report(diag::output_is_input, {},
                            {output == "-" ? std::string("standard output") : "'" + output + "'",
                             input == "-" ? std::string("standard input") : "'" + input + "'"});
  }
  return true;
}

} // namespace

bool checkOutputs(const Options &options, ir::DiagnosticEngine &diags) {
  if (options.hasOutputPath && !options.outputValue.empty() && isSameFile(options.outputPath, options.outputValue))
    return diags.report(diag::output_is_golden, {}, {options.output->flag, options.outputValue});
  std::vector<std::string> inputs = includedByArguments(options.clangArgs);
  inputs.push_back(options.input);
  return check(options, inputs, diags);
}

bool checkIncluded(const Options &options, const std::vector<std::string> &files, ir::DiagnosticEngine &diags) {
  return check(options, files, diags);
}

} // namespace mscclc::driver
