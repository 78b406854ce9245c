#include "frontend/eval/child.h"

#include "frontend/clang/clang_tool.h"
#include "frontend/clang/source_reporter.h"
#include "frontend/diagnostics.h"
#include "frontend/eval/arena.h"
#include "frontend/eval/evaluate.h"
#include "frontend/eval/instrument.h"
#include "frontend/eval/machine_code.h"
#include "frontend/eval/sandbox.h"
#include "frontend/trace/trace.h"

#include "clang/AST/Decl.h"
#include "llvm/Support/ErrorHandling.h"

#include <chrono>
#include <cmath>
#include <filesystem>

namespace mscclc::frontend {
namespace {

/// Address space for Clang, in addition to the algorithm's own memory.
constexpr std::uint64_t clangBytes = std::uint64_t{2} << 30;

ClangTool *theTool = nullptr;
llvm::StringMap<FileKind> theKinds;

FailurePlace whereReading() {
  return theTool ? theTool->reporter().placeReached() : FailurePlace{};
}
bool isUserFile(const char *file) {
  const auto kind = theKinds.find(file);
  return kind == theKinds.end() || kind->second == FileKind::User;
}
void gaveUp(void *, const char *reason, bool) {
  std::string_view text = reason ? reason : "?";
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  failRun(diag::clang_gave_up, {text}, whereReading());
}
std::string mebibytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20);
}

void heapIsFull() {
  failRun(diag::heap_full, {mebibytes(runtimeContext().memoryBytes)});
}
void badFree() {
  failRun(diag::bad_free);
}
void poisonedValue(const Place &place) {
  failRun(diag::poisoned_value, {}, {place.file, place.line, place.column});
}
/// Signals the parent that the recording is complete.
void finish(ReportHeader &header) {
  header.phase = static_cast<std::uint32_t>(Phase::Done);
  handOver();
}
/// Ends the run when a program of a faulty collective begins. The rest of the run would depend on wrong numbers, and
/// the recording so far is enough to report them.
void faultyProgram() {
  ReportHeader &header = runtimeContext().report->header();
  header.traceSize = finishRecording();
  finish(header);
  leave(0);
}
std::uint64_t traceBytes = 0;
void traceIsFull() {
  failRun(diag::recording_full, {mebibytes(traceBytes)});
}

/// Measures stages of the compilation. lap() adds the time since the last call to a stage, and enters the next phase.
class Stopwatch {
public:
  explicit Stopwatch(ReportHeader &header) : header_(header) {}
  void lap(double FrontendTimes::*stage, Phase next) {
    const auto now = std::chrono::steady_clock::now();
    header_.times.*stage += std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    header_.phase = static_cast<std::uint32_t>(next);
  }

private:
  ReportHeader &header_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Reports symbols that the code needs but may not use. True if there are none.
bool checkSymbols(const std::vector<MissingSymbol> &missing, const FrontendOptions &options, SourceReporter &reporter) {
  for (const MissingSymbol &symbol : missing) {
    if (symbol.needed.line != 0)
      reporter.report(diag::reached_without_definition, symbol.needed.file, symbol.needed.line, symbol.needed.column,
                      {symbol.name});
    else
      reporter.report(diag::reached_without_definition, options.inputPath, {symbol.name});
  }
  return missing.empty();
}

} // namespace

double compilingSeconds(const FrontendOptions &options) {
  constexpr double least = 10, bytesPerSecond = 16 << 10; // sources of plain calls compile several times as fast
  std::error_code error;
  const std::uint64_t bytes =
      options.stdinText ? options.stdinText->size() : std::filesystem::file_size(options.inputPath, error);
  return std::max(options.timeoutSeconds,
                  least + (error ? 0 : std::floor(static_cast<double>(bytes) / bytesPerSecond)));
}

int runChild(const ChildTask &task) {
  ChildReport report(task.report);
  const FrontendOptions &options = task.options;
  RuntimeContext &runtime = runtimeContext();
  runtime.report = &report;
  runtime.memoryBytes = options.memoryBytes;
  runtime.whereReading = whereReading;
  Stopwatch watch(report.header());
  limitProcess(task.compilingSeconds + options.timeoutSeconds, clangBytes);
  watchProcess(task.compilingSeconds);
  llvm::install_fatal_error_handler(gaveUp);
  llvm::install_bad_alloc_error_handler(gaveUp);

  ClangTool tool(options, report, task.dslDirectory);
  theTool = &tool;
  watch.lap(&FrontendTimes::start, Phase::Parsing);
  const bool parsed = tool.parse();
  watch.lap(&FrontendTimes::parse, Phase::Checking);
  if (!parsed)
    return 0;
  std::vector<Algorithm> algorithms = tool.check();
  const bool isListing = task.trace.empty();
  const Algorithm *chosen = isListing ? nullptr : chooseAlgorithm(algorithms, options, tool.reporter());
  watch.lap(&FrontendTimes::check, Phase::Generating);
  if (isListing) {
    std::vector<AlgorithmInfo> infos;
    for (Algorithm &a : algorithms)
      infos.push_back(std::move(a.info));
    report.add(infos);
    return 0;
  }
  if (!chosen || tool.reporter().hasErrors())
    return 0;

  std::optional<CompiledAlgorithm> compiled = tool.generate(*chosen);
  if (!compiled)
    return 0;
  theKinds = tool.fileKinds();
  std::vector<std::string> files;
  for (const auto &file : theKinds)
    if (file.second == FileKind::User)
      files.push_back(file.first().str());
  report.addFiles(files);
  const std::vector<MacroUse> macros = tool.reporter().macroUses();
  addEntry(*compiled);
  if (!checkSymbols(pruneModule(*compiled, theKinds), options, tool.reporter()))
    return 0;
  report.add(instrument(*compiled->module, theKinds));
  watch.lap(&FrontendTimes::generate, Phase::Linking);
  tool.reporter().reached(chosen->function->getLocation()); // from here on, errors concern the whole algorithm

  std::string error;
  void (*const entry)() = generateCode(std::move(*compiled), error);
  if (!entry) {
    tool.reporter().report(diag::clang_gave_up, options.inputPath, {error});
    return 0;
  }
  limitAddressSpace(std::uint64_t{1} << 46);
  runtime.memoryBytes = createArena(options.memoryBytes, heapIsFull, badFree);
  if (runtime.memoryBytes == 0)
    failRun(diag::no_address_space);
  limitAddressSpace(std::uint64_t{64} << 20);
  runtime.isUserFile = isUserFile;
  traceBytes = task.trace.size();
  watch.lap(&FrontendTimes::link, Phase::Running);
  setDeadline(options.timeoutSeconds);
  announceForeignCode();
  enterSandbox();
  startRecording(
      task.trace,
      {.onFaultyProgram = faultyProgram, .onFull = traceIsFull, .onPoison = poisonedValue, .macros = macros});
  runAlgorithm(entry);
  const bool isEmpty = !hasRecordedProgram();
  report.header().traceSize = finishRecording();
  if (isEmpty && report.header().traceSize <= sizeof(TraceHeader))
    tool.reporter().report(diag::no_program, chosen->function->getLocation());
  finish(report.header());
  return 0;
}

} // namespace mscclc::frontend
