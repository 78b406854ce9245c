#include "frontend/clang/compile_commands.h"

#include "frontend/clang/source_reporter.h"
#include "frontend/diagnostics.h"

#include "clang/Basic/LangStandard.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#if __has_include("clang/Options/Options.h")
#include "clang/Options/Options.h"
namespace options = clang::options;
using clang::getDriverOptTable;
#else // before LLVM 22
#include "clang/Driver/Options.h"
namespace options = clang::driver::options;
using clang::driver::getDriverOptTable;
#endif

#include <algorithm>

namespace path = llvm::sys::path;
using clang::tooling::CompileCommand;
using clang::tooling::JSONCommandLineSyntax;
using clang::tooling::JSONCompilationDatabase;

namespace mscclc::frontend {
namespace {

std::string inFolder(llvm::StringRef name, llvm::StringRef folder) {
  llvm::SmallString<128> full(folder);
  if (path::is_absolute(name))
    full = name;
  else
    path::append(full, name);
  path::remove_dots(full);
  return std::string(full);
}

/// Returns true if JSON contains the file's name without escapes. Only then does a failed search show that it is
/// absent.
bool isPlain(llvm::StringRef name) {
  return llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || llvm::StringRef("._-+").contains(c); });
}

/// Returns true if algorithms cannot be written in this standard. A project may still use it for its other sources.
bool isUnfit(llvm::StringRef standard) {
  const clang::LangStandard *known = clang::LangStandard::getLangStandardForName(standard);
  return known != nullptr && (known->getLanguage() != clang::Language::CXX || !known->isCPlusPlus20());
}

ProjectFlags takeFlags(const CompileCommand &command, const std::string &folder, llvm::vfs::FileSystem &files) {
  std::vector<const char *> args;
  for (const std::string &arg : llvm::ArrayRef(command.CommandLine).drop_front())
    args.push_back(arg.c_str());
  unsigned missingIndex = 0, missingCount = 0;
  const llvm::opt::InputArgList parsed = getDriverOptTable().ParseArgs(args, missingIndex, missingCount);
  const std::string directory = inFolder(command.Directory, folder);
  ProjectFlags flags;
  flags.folder = folder;
  const auto addPath = [&](const llvm::opt::Arg &arg, std::string name) {
    if (flags.paths.insert(name).second)
      flags.includes.insert(flags.includes.end(), {arg.getOption().getPrefixedName().str(), std::move(name)});
  };
  for (const llvm::opt::Arg *arg : parsed)
    switch (arg->getOption().getID()) {
    case options::OPT_std_EQ:
      if (isUnfit(arg->getValue()))
        break;
      [[fallthrough]];
    case options::OPT_D:
    case options::OPT_U:
      flags.language.push_back(arg->getOption().getPrefixedName().str() + arg->getValue());
      break;
    case options::OPT_I:
    case options::OPT_iquote:
    case options::OPT_isystem:
    case options::OPT_idirafter:
      addPath(*arg, inFolder(arg->getValue(), directory));
      break;
    case options::OPT_include:
    case options::OPT_imacros: {
      const std::string name = inFolder(arg->getValue(), directory);
      addPath(*arg, files.exists(name) ? name : arg->getValue()); // otherwise Clang searches the folders of headers
      break;
    }
    default: // of Clang's thousand options
      break;
    }
  return flags;
}

} // namespace

ProjectFlags findProjectFlags(const std::string &source, llvm::vfs::FileSystem &files, SourceReporter &reporter) {
  llvm::SmallString<128> full(source);
  if (files.makeAbsolute(full))
    return {};
  path::remove_dots(full, /*remove_dot_dot=*/true);
  std::string folder, database;
  for (llvm::StringRef above = path::parent_path(full); !above.empty(); above = path::parent_path(above)) {
    folder = above.str();
    database = inFolder("compile_commands.json", folder);
    if (files.exists(database))
      break;
    database.clear();
  }
  if (database.empty())
    return {};

  const auto text = files.getBufferForFile(database);
  if (!text) {
    reporter.report(diag::bad_compile_commands, database, {text.getError().message()});
    return {};
  }
  const llvm::StringRef name = path::filename(full);
  const bool isWhole = (*text)->getBuffer().rtrim().ends_with("]");
  if (isWhole && isPlain(name) && !(*text)->getBuffer().contains(name))
    return {}; // saves parsing the file, which may be large
  std::string error;
  const auto commands =
      JSONCompilationDatabase::loadFromBuffer((*text)->getBuffer(), error, JSONCommandLineSyntax::Gnu);
  if (!commands) {
    reporter.report(diag::bad_compile_commands, database, {error});
    return {};
  }
  const std::vector<CompileCommand> found = commands->getCompileCommands(full);
  return found.empty() || found.front().CommandLine.empty() ? ProjectFlags() : takeFlags(found.front(), folder, files);
}

} // namespace mscclc::frontend
