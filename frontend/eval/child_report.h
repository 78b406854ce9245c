// The report of the child process to its parent, in shared memory.
//
// The child appends whole messages (diagnostics, algorithms, call sites) while it still runs only Clang. A failure of
// the algorithm itself is one fixed record, which a signal handler can fill in. The parent trusts no byte of the
// report, because foreign code has run in the child.
#pragma once

#include "frontend/frontend.h"
#include "frontend/lower/build_ir.h"
#include "frontend/trace/record_abi.h"

#include <atomic>
#include <cstddef>
#include <span>

namespace mscclc::frontend {

/// The step that the child executes.
enum class Phase : std::uint32_t { Starting, Parsing, Checking, Generating, Linking, Running, Done };

/// The reason why the child stopped, in a form that needs no memory.
struct Failure {
  static constexpr std::size_t maxArgs = 3;
  enum State : std::uint32_t { None, Begun, Complete };
  std::atomic<std::uint32_t> state;
  char diagnostic[48]; ///< DiagInfo::id
  char args[maxArgs][512];
  char file[1024]; ///< the place of the failure; empty: the innermost call site
  std::uint32_t line, column;
  std::uint32_t depth; ///< number of call sites in `sites`
  std::uint32_t sites[CallStack::capacity];
};

/// The head of the shared memory. Messages follow it.
struct ReportHeader {
  std::atomic<std::uint32_t> phase;
  std::atomic<std::uint64_t> lastPlace;
  std::atomic<std::uint64_t> used; ///< bytes of all messages
  std::uint64_t traceSize;
  FrontendTimes times;
  Failure failure;
};

/// The child's side of the report.
class ChildReport {
public:
  explicit ChildReport(std::span<std::byte> memory) : memory_(memory) {}

  ReportHeader &header() { return *reinterpret_cast<ReportHeader *>(memory_.data()); }
  void add(const ir::Diagnostic &diagnostic);
  void add(std::span<const AlgorithmInfo> algorithms);
  void add(std::span<const CallSite> sites);
  void addFiles(std::span<const std::string> files);
  bool hasErrors() const { return errors_ != 0; }

private:
  void append(const std::string &message);
  std::span<std::byte> memory_;
  std::size_t errors_ = 0;
};

/// The report as the parent reads it.
struct ReceivedReport {
  std::vector<ir::Diagnostic> diagnostics;
  std::vector<AlgorithmInfo> algorithms;
  std::vector<CallSite> sites;
  std::vector<std::string> files; ///< the user's files that were read
};

/// Reads the report in `memory`. Trusts none of its bytes.
ReceivedReport receive(std::span<const std::byte> memory);

/// Returns the front end's diagnostic with this id, or null.
const ir::DiagInfo *findDiagnostic(std::string_view id);

} // namespace mscclc::frontend
