#include "frontend/lower/build_ir.h"

#include "frontend/diagnostics.h"
#include "frontend/limits.h"
#include "frontend/lower/check_calls.h"
#include "frontend/lower/declarations.h"
#include "frontend/lower/emit_moves.h"
#include "frontend/lower/emit_ops.h"

namespace mscclc::frontend {

namespace {

/// The search for errors stops after this many errors.
constexpr std::uint64_t errorCeiling = 10'000;
/// If a recording is unfinished, only this many bytes of it are checked. An endless loop only repeats its mistakes.
constexpr std::size_t unfinishedCeiling = std::size_t{256} << 20;

/// Walks through a recording twice. The first walk checks and counts, the second writes the program.
class Builder {
public:
  Builder(std::span<const std::byte> trace, std::span<const CallSite> sites, ir::DiagnosticEngine &diagnostics,
          std::span<const SourceText> texts)
      : trace_(trace), diagnostics_(diagnostics), declarations_(program_, diagnostics, sites),
        checker_(program_, declarations_, diagnostics), emitter_(program_, declarations_), moves_(program_.movement) {
    for (const SourceText &text : texts)
      program_.sources.setContents(program_.sources.addFile(text.file), text.text);
    diagnostics_.setSources(&program_.sources);
  }

  ~Builder() { diagnostics_.setSources(nullptr); }
  Builder(const Builder &) = delete;
  Builder &operator=(const Builder &) = delete;

  std::optional<ir::Program> build() {
    const std::uint64_t errorsBefore = diagnostics_.numErrors();
    check();
    if (diagnostics_.numErrors() != errorsBefore)
      return std::nullopt;
    emit();
    return std::move(program_);
  }
  void checkUnfinished() { walk(unfinishedCeiling); }

private:
  enum class Walk { Complete, Damaged, Full, GivenUp };
  /// Checks the records in the first `bytes` of the recording. Returns the reason why it stops.
  Walk walk(std::size_t bytes);
  void check();
  void emit();
  bool checkCall(const TraceReader &reader);
  void checkInLoop();
  void checkLoop(const TraceReader &reader);
  void checkLoopIsClosed();

  std::span<const std::byte> trace_;
  ir::DiagnosticEngine &diagnostics_;
  ir::Program program_;
  Declarations declarations_;
  CallChecker checker_;
  OpEmitter emitter_;
  MoveEmitter moves_;
  CheckedCall call_;
  std::uint32_t loopDepth_ = 0;
  ir::LocId loopLoc_ = ir::noLoc;
  std::uint64_t opsBeforeLoop_ = 0;
  std::uint64_t numCalls_ = 0;
  std::size_t offset_ = 0; ///< offset of the record that was read last
};

Builder::Walk Builder::walk(std::size_t bytes) {
  TraceReader reader(trace_);
  bool damaged = false;
  while (!damaged && reader.next()) {
    if (reader.offset() >= bytes)
      return Walk::GivenUp;
    if (reader.isCall()) {
      damaged = !checkCall(reader);
      if (emitter_.bytes() + moves_.bytes() + declarations_.bytes() + checker_.bytes() > maxProgramBytes) {
        diagnostics_.report(diag::program_too_large, call_.loc, {maxProgramBytes >> 30});
        return Walk::GivenUp;
      }
    } else if (reader.kind() == RecordKind::LoopBegin || reader.kind() == RecordKind::LoopEnd) {
      checkLoop(reader);
    } else if (reader.kind() == RecordKind::Ref) {
      checker_.takeRef(reader);
    } else {
      if (reader.kind() == RecordKind::ProgramEnd && declarations_.phase() == ProgramPhase::Open)
        checkLoopIsClosed();
      damaged = !declarations_.take(reader);
    }
    if (diagnostics_.numErrors() > errorCeiling)
      return Walk::GivenUp;
  }
  offset_ = reader.offset();
  if (damaged || reader.damaged())
    return Walk::Damaged;
  return reader.full() ? Walk::Full : Walk::Complete;
}

void Builder::check() {
  switch (walk(trace_.size())) {
  case Walk::Damaged:
    diagnostics_.report(diag::recording_damaged, ir::Where{}, {offset_});
    return;
  case Walk::Full:
    diagnostics_.report(diag::recording_full, declarations_.programLoc(), {trace_.size() >> 20});
    return;
  case Walk::GivenUp:
    return;
  case Walk::Complete:
    break;
  }
  checker_.finish();
  declarations_.finish();
  if (numCalls_ == 0 && declarations_.phase() == ProgramPhase::After && !diagnostics_.hasErrors())
    diagnostics_.report(diag::no_operations, declarations_.programLoc());
}

/// Returns false if the call cannot come from the recorder.
bool Builder::checkCall(const TraceReader &reader) {
  if (declarations_.phase() == ProgramPhase::Open)
    ++numCalls_;
  switch (checker_.check(reader, call_)) {
  case CallChecker::Result::Good:
    if (loopDepth_ != 0 && call_.call == detail::Call::Apply)
      checkInLoop();
    if (call_.info->family == CallFamily::Movement)
      moves_.count(call_);
    else
      emitter_.count(call_);
    return true;
  case CallChecker::Result::Nothing:
  case CallChecker::Result::Faulty:
    return true;
  case CallChecker::Result::Damaged:
    return false;
  }
  return false;
}

/// Reports an apply in a loop if its hook takes more than one element at once.
void Builder::checkInLoop() {
  const ir::Hook &hook = program_.hooks[call_.hook];
  if (hook.granularity != ir::Granularity::Element)
    diagnostics_.report(diag::apply_in_pipeline, call_.loc,
                        {hook.name, ir::granularityNames[static_cast<std::size_t>(hook.granularity)]});
}

void Builder::checkLoop(const TraceReader &reader) {
  if (declarations_.phase() == ProgramPhase::Skipping)
    return;
  if (reader.kind() == RecordKind::LoopEnd) {
    if (loopDepth_ == 0 || --loopDepth_ != 0)
      return;
    emitter_.endLoop();
    if (numCalls_ == opsBeforeLoop_)
      diagnostics_.report(diag::empty_pipeline, loopLoc_);
    return;
  }
  const auto [head, unit, iterations] = reader.as<PairRecord>();
  const ir::LocId at = declarations_.places[head.place];
  if (!declarations_.inManualProgram("'PipelineLoop'", "leave it out, as the compiler makes the loops", at))
    return;
  if (unit < 1)
    diagnostics_.report(diag::unit_out_of_range, at, {unit});
  if (iterations < 1 || iterations > 0xffffffff)
    diagnostics_.report(diag::iterations_out_of_range, at, {iterations});
  if (loopDepth_++ != 0) {
    diagnostics_.report(diag::nested_pipeline, at).note(diag::pipeline_begins_here, loopLoc_);
    return;
  }
  loopLoc_ = at;
  opsBeforeLoop_ = numCalls_;
  emitter_.beginLoop({static_cast<std::uint64_t>(unit), static_cast<std::uint32_t>(iterations), at});
}

void Builder::checkLoopIsClosed() {
  if (loopDepth_ != 0)
    diagnostics_.report(diag::unfinished_pipeline, loopLoc_);
  loopDepth_ = 0;
}

void Builder::emit() {
  emitter_.allocate();
  moves_.allocate();
  declarations_.reopen();
  checker_.restart();
  TraceReader reader(trace_);
  while (reader.next()) {
    if (reader.isCall()) {
      if (checker_.check(reader, call_) != CallChecker::Result::Good)
        continue;
      if (call_.info->family == CallFamily::Movement)
        moves_.emit(call_);
      else
        emitter_.emit(call_);
    } else if (reader.kind() == RecordKind::Ref) {
      checker_.takeRef(reader);
    } else if (reader.kind() == RecordKind::LoopBegin) {
      const auto [head, unit, iterations] = reader.as<PairRecord>();
      emitter_.beginLoop(
          {static_cast<std::uint64_t>(unit), static_cast<std::uint32_t>(iterations), declarations_.places[head.place]});
    } else if (reader.kind() == RecordKind::LoopEnd) {
      emitter_.endLoop();
    }
  }
}

} // namespace

std::optional<ir::Program> buildProgram(std::span<const std::byte> trace, std::span<const CallSite> sites,
                                        ir::DiagnosticEngine &diagnostics, std::span<const SourceText> texts) {
  return Builder(trace, sites, diagnostics, texts).build();
}

void checkUnfinished(std::span<const std::byte> trace, std::span<const CallSite> sites,
                     ir::DiagnosticEngine &diagnostics, std::span<const SourceText> texts) {
  Builder(trace, sites, diagnostics, texts).checkUnfinished();
}

} // namespace mscclc::frontend
