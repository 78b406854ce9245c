// The parent's side of the front end. It checks the input, lets a child process do the work, and makes a program or
// errors from the results.
#include "frontend/frontend.h"

#include "frontend/clang/clang_tool.h"
#include "frontend/diagnostics.h"
#include "frontend/dsl/dsl_directory.h"
#include "frontend/eval/child.h"
#include "frontend/eval/sandbox.h"
#include "frontend/limits.h"
#include "frontend/lower/build_ir.h"
#include "frontend/trace/trace.h"

#include "ir/internal_error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mscclc::frontend {

namespace {

constexpr int internalErrorStatus = 70, outOfMemoryStatus = 71;
constexpr std::uint64_t reportBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t leastTraceBytes = std::uint64_t{1} << 20;

/// Returns true if the input can be read; otherwise reports why. Clang's own messages about this are poor.
bool checkInput(const FrontendOptions &options, ir::DiagnosticEngine &diagnostics) {
  const ir::Where where(options.sourceName());
  if (options.stdinText) {
    if (options.stdinText->size() <= maxSourceBytes)
      return true;
    return diagnostics.report(diag::source_too_large, where, {maxSourceBytes >> 20});
  }
  struct stat status{};
  if (stat(options.inputPath.c_str(), &status) != 0)
    return diagnostics.report(diag::cannot_read, where, {std::strerror(errno)});
  if (!S_ISREG(status.st_mode))
    return diagnostics.report(diag::cannot_read, where,
                              {S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file"});
  if (static_cast<std::uint64_t>(status.st_size) > maxSourceBytes)
    return diagnostics.report(diag::source_too_large, where, {maxSourceBytes >> 20});
  if (access(options.inputPath.c_str(), R_OK) != 0)
    return diagnostics.report(diag::cannot_read, where, {std::strerror(errno)});
  return true;
}

/// Returns the text in `field`. Foreign code may have overwritten it, so its NUL may be missing.
template <std::size_t n> std::string textOf(const char (&field)[n]) {
  return {field, strnlen(field, n)};
}

/// Reports the failure with its call chain.
void reportFailure(const Failure &failure, const std::vector<CallSite> &sites, const FrontendOptions &options,
                   ir::DiagnosticEngine &diagnostics) {
  const ir::DiagInfo *info = findDiagnostic(textOf(failure.diagnostic));
  if (!info)
    info = &diag::run_ended; // only foreign code writes an unknown id
  ir::SourceMap sources;
  ir::LocId where = ir::noLoc;
  const auto add = [&](const std::string &file, std::uint32_t line, std::uint32_t column) {
    const std::uint32_t index = sources.addFile(file);
    if (options.stdinText && file == "<stdin>" && !sources.contents(index))
      sources.setContents(index, *options.stdinText);
    where = sources.addPlace(index, line, column, where);
  };
  const std::uint32_t depth = std::min(failure.depth, CallStack::capacity);
  for (std::uint32_t i = 0; i < depth; ++i) {
    const std::uint32_t site = failure.sites[i];
    if (site != 0 && site < sites.size())
      add(sites[site].file, sites[site].line, sites[site].column);
  }
  if (failure.file[0] != '\0')
    add(textOf(failure.file), failure.line, failure.column);
  std::vector<ir::DiagArg> args;
  for (const auto &arg : failure.args)
    args.emplace_back(textOf(arg));
  diagnostics.setSources(&sources);
  diagnostics.report(*info, where != ir::noLoc ? ir::Where(where) : ir::Where(options.inputPath), args);
  diagnostics.setSources(nullptr);
}

/// Reports a child that ended without a failure record, before or during the run of the algorithm. Only the last stored
/// place is known.
void reportSilentEnd(const ReportHeader &header, const ChildEnd &end, bool isRunning,
                     const std::vector<CallSite> &sites, const FrontendOptions &options,
                     ir::DiagnosticEngine &diagnostics) {
  if (end.kind == ChildEnd::NotStarted) {
    diagnostics.report(diag::child_not_started, ir::Where(options.inputPath), {std::strerror(end.code)});
    return;
  }
  Failure failure{};
  const auto fill = [](char *to, std::size_t room, std::string_view text) {
    std::memcpy(to, text.data(), std::min(text.size(), room - 1));
  };
  const double limit = isRunning ? options.timeoutSeconds : compilingSeconds(options);
  const bool isLate = end.kind == ChildEnd::TimedOut;
  const ir::DiagInfo &info = isLate ? (isRunning ? diag::run_timeout : diag::source_timeout)
                             : end.kind == ChildEnd::Exited && isRunning ? diag::run_ended
                             : end.kind == ChildEnd::Signalled && end.code != SIGKILL && !isRunning
                                 ? diag::clang_crash
                                 : diag::child_killed;
  fill(failure.diagnostic, sizeof failure.diagnostic, info.id);
  std::string arg = std::to_string(limit);
  if (isLate) {
    while (arg.back() == '0')
      arg.pop_back();
    if (arg.back() == '.')
      arg.pop_back();
  } else {
    const char *name = end.kind == ChildEnd::Signalled ? sigabbrev_np(end.code) : nullptr;
    arg = name ? name : "status " + std::to_string(end.code);
  }
  fill(failure.args[0], sizeof failure.args[0], arg);
  if (isRunning) {
    failure.sites[0] = static_cast<std::uint32_t>(header.lastPlace.load());
    failure.depth = 1;
  }
  reportFailure(failure, sites, options, diagnostics);
}

/// Returns the texts of sources that are not on disk.
std::vector<SourceText> textsOf(const FrontendOptions &options) {
  std::vector<SourceText> texts;
  if (options.stdinText)
    texts.push_back({"<stdin>", *options.stdinText});
  return texts;
}

/// Sorts diagnostics by line within each file. Files stay in the order of their first diagnostic. Without this, Clang's
/// diagnostics would come before those of the dialect.
void sortByPlace(std::vector<ir::Diagnostic> &diagnostics) {
  std::map<std::string, std::size_t> files;
  for (const ir::Diagnostic &d : diagnostics)
    files.try_emplace(d.place.file, files.size());
  const auto key = [&](const ir::Diagnostic &d) {
    return std::make_tuple(files[d.place.file], d.place.line, d.place.column);
  };
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [&](const ir::Diagnostic &a, const ir::Diagnostic &b) { return key(a) < key(b); });
}

struct Shared {
  SharedMemory report;
  std::optional<SharedMemory> trace;
  ReportHeader &header() const { return *reinterpret_cast<ReportHeader *>(report.bytes().data()); }
};

/// Returns the folder with the DSL's headers; empty after an error.
std::string dslDirectoryOf(const FrontendOptions &options, ir::DiagnosticEngine &diagnostics) {
  const std::vector<std::string> directories =
      options.dslDirectory.empty() ? dslDirectories() : std::vector{options.dslDirectory};
  std::string found = findDslDirectory(directories);
  if (found.empty()) {
    std::string tried;
    for (const std::string &directory : directories)
      tried += (tried.empty() ? "" : " or ") + directory;
    diagnostics.report(diag::headers_missing, ir::Where(options.inputPath), {tried});
  }
  return found;
}

/// Lets a child read the source, and also run the algorithm if there is a trace to fill. Findings go to `diagnostics`.
/// The result is empty after an error. Afterwards the child may still exist, but it only ends.
std::optional<ReceivedReport> haveRead(const FrontendOptions &options, const Shared &shared,
                                       std::optional<Child> &child, ir::DiagnosticEngine &diagnostics) {
  const std::string dslDirectory = dslDirectoryOf(options, diagnostics);
  if (dslDirectory.empty())
    return std::nullopt;
  const ChildTask task{options, shared.report.bytes(), shared.trace ? shared.trace->bytes() : std::span<std::byte>(),
                       dslDirectory, compilingSeconds(options)};
  // The child limits its own processor time, so a busy machine causes no time-out. The time-out here is for a child
  // that can no longer do this, perhaps because of the algorithm.
  constexpr double busyMachine = 6, leastSpare = 10;
  const double seconds = busyMachine * (task.compilingSeconds + 1);
  const double runSeconds = options.timeoutSeconds + std::max(options.timeoutSeconds, leastSpare);
  child.emplace([&] {
    try {
      return runChild(task);
    } catch (const std::bad_alloc &) {
      return outOfMemoryStatus;
    } catch (const std::exception &e) {
      std::memcpy(shared.header().failure.args[0], e.what(),
                  std::min(std::strlen(e.what()), sizeof shared.header().failure.args[0] - 1));
      return internalErrorStatus;
    }
  });
  child->wait(seconds, runSeconds);
  ReportHeader &header = shared.header();
  const bool isRunning = child->runsForeignCode();
  header.times.run = child->foreignSeconds() * 1e3;
  // The parent does not wait for the end of a successful child.
  const bool isDone =
      isRunning && header.phase == static_cast<std::uint32_t>(Phase::Done) && header.failure.state == Failure::None;
  const ChildEnd end = isDone ? ChildEnd{ChildEnd::Exited, 0} : child->end();
  const bool isComplete = header.failure.state == Failure::Complete;
  const bool isOrderly = end.kind == ChildEnd::Exited && end.code == 0 && isDone == isRunning;
  if (!isRunning && !isComplete && end.kind == ChildEnd::Exited && end.code == internalErrorStatus)
    throw ir::InternalError(textOf(header.failure.args[0]));
  if (!isRunning && !isComplete && end.kind == ChildEnd::Exited && end.code == outOfMemoryStatus)
    throw std::bad_alloc();

  ReceivedReport received = receive(shared.report.bytes());
  const std::uint64_t errors = diagnostics.numErrors();
  sortByPlace(received.diagnostics);
  for (ir::Diagnostic &d : received.diagnostics)
    diagnostics.add(std::move(d));
  if (isComplete || !isOrderly) {
    // Mistakes before the failure may be its cause.
    if (shared.trace && isRunning)
      checkUnfinished(shared.trace->bytes(), received.sites, diagnostics, textsOf(options));
    if (isComplete)
      reportFailure(header.failure, received.sites, options, diagnostics);
    else
      reportSilentEnd(header, end, isRunning, received.sites, options, diagnostics);
  }
  if (diagnostics.numErrors() != errors)
    return std::nullopt;
  if (shared.trace && !isDone)
    throw ir::InternalError("the child ended without a result");
  return received;
}

} // namespace

std::optional<ir::Program> compileAlgorithm(const FrontendOptions &options, ir::DiagnosticEngine &diagnostics,
                                            FrontendTimes *times, std::vector<std::string> *files) {
  if (!checkInput(options, diagnostics))
    return std::nullopt;
  auto report = SharedMemory::create(reportBytes, leastTraceBytes);
  auto trace = SharedMemory::create(options.memoryBytes, leastTraceBytes);
  if (!report || !trace)
    return diagnostics.report(diag::child_not_started, ir::Where(options.inputPath), {std::strerror(ENOMEM)});
  const Shared shared{std::move(*report), std::move(trace)};
  std::optional<Child> child;
  const auto received = haveRead(options, shared, child, diagnostics);
  if (times)
    *times = shared.header().times;
  if (!received)
    return std::nullopt;

  const auto start = std::chrono::steady_clock::now();
  // The child could still write to the trace after the checks. A small trace is copied while the system ends the child.
  // For a large trace, the parent waits until the child has ended.
  constexpr std::uint64_t copiedBytes = std::uint64_t{1} << 20;
  std::span<const std::byte> bytes = shared.trace->bytes();
  bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), shared.header().traceSize));
  std::vector<std::byte> copy;
  if (bytes.size() <= copiedBytes)
    bytes = copy = std::vector<std::byte>(bytes.begin(), bytes.end());
  else
    child->end();
  auto program = buildProgram(bytes, received->sites, diagnostics, textsOf(options));
  if (files)
    *files = received->files;
  if (times)
    times->build = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return program;
}

std::optional<std::vector<AlgorithmInfo>> listAlgorithms(const FrontendOptions &options,
                                                         ir::DiagnosticEngine &diagnostics) {
  if (!checkInput(options, diagnostics))
    return std::nullopt;
  auto report = SharedMemory::create(reportBytes, leastTraceBytes);
  if (!report)
    return diagnostics.report(diag::child_not_started, ir::Where(options.inputPath), {std::strerror(ENOMEM)});
  const Shared shared{std::move(*report), std::nullopt};
  std::optional<Child> child;
  auto received = haveRead(options, shared, child, diagnostics);
  if (!received)
    return std::nullopt;
  if (received->algorithms.empty())
    return diagnostics.report(diag::no_algorithm, ir::Where(options.sourceName()));
  return std::move(received->algorithms);
}

bool precompileDsl(const FrontendOptions &options, const std::string &directory, ir::DiagnosticEngine &diagnostics) {
  const std::string dslDirectory = dslDirectoryOf(options, diagnostics);
  auto memory = SharedMemory::create(reportBytes, leastTraceBytes);
  if (dslDirectory.empty() || !memory)
    return false;
  ChildReport report(memory->bytes());
  ClangTool tool(options, report, dslDirectory);
  const bool isDone = tool.precompileDsl(directory);
  for (ir::Diagnostic &d : receive(memory->bytes()).diagnostics)
    diagnostics.add(std::move(d));
  return isDone && !diagnostics.hasErrors();
}

} // namespace mscclc::frontend
