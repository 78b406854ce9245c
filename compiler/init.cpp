#include "compiler/init.h"

#include "compiler/diagnostics.h"
#include "compiler/driver.h"
#include "compiler/files.h"
#include "compiler/guard.h"
#include "compiler/options.h"

#include <filesystem>
#include <iostream>
#include <string_view>

namespace mscclc::driver {
namespace {

constexpr std::string_view initHelp = R"(Usage: mscclc init [DIR]

Lays out a project in DIR, by default the current folder: an algorithm, its golden plan, a Makefile, a workflow file for
GitHub, a hook for pre-commit and tasks for VS Code. No file is replaced.
)";

struct ProjectFile {
  std::string_view path, text;
};

constexpr ProjectFile projectFiles[] = {
#include "compiler/project_files.inc"
};

bool write(const std::string &path, std::string_view text, ir::DiagnosticEngine &diags) {
  OutputFile output(path);
  if (output.error().empty()) {
    output.stream() << text;
    if (output.commit())
      return true;
  }
  return diags.report(diag::cannot_write, {}, {output.error()});
}

ExitCode layOut(const std::vector<std::string> &arguments) {
  ir::DiagnosticEngine diags;
  const auto failed = [&] {
    std::cerr << diags.render(/*color=*/false) << std::flush;
    return exitCodeOf(false, diags);
  };
  if (arguments.size() > 1 || (!arguments.empty() && arguments[0].starts_with('-'))) {
    diags.report(diag::no_option_of_init, {}, {arguments.back()});
    return failed();
  }
  const std::filesystem::path folder = arguments.empty() ? "." : arguments[0];
  for (const ProjectFile &file : projectFiles)
    if (std::error_code ignored; std::filesystem::exists(folder / file.path, ignored))
      diags.report(diag::file_is_there, {}, {(folder / file.path).string()});
  if (diags.hasErrors())
    return failed();
  std::string written;
  for (const ProjectFile &file : projectFiles) {
    if (!write((folder / file.path).string(), file.text, diags))
      return failed();
    written += (folder / file.path).string() + "\n";
  }
  return writeOut(written, diags) ? exitDone : failed();
}

} // namespace

int initProject(const std::vector<std::string> &arguments) {
  for (const std::string &argument : arguments)
    if (argument == "--help" || argument == "-h") {
      std::cout << initHelp << std::flush;
      return std::cout ? exitDone : exitInputWrong;
    }
  if (const int code = guarded([&] { return layOut(arguments); }); code != exitDone)
    return code;
  const std::filesystem::path folder = arguments.empty() ? "." : arguments[0];
  const std::string source = (folder / "allreduce.cpp").string(), golden = (folder / "golden" / "").string();
  const char *command[] = {"mscclc", source.c_str(), "--diff", golden.c_str(), "--update"};
  const ParsedCommandLine parsed = parseCommandLine(std::size(command), command);
  const int code = parsed.options ? run(*parsed.options) : parsed.exitCode;
  if (code == exitDone)
    std::cout << golden << "allreduce.json\n" << std::flush;
  return code;
}

} // namespace mscclc::driver
