// The simulator: runs a program with real data under random schedules, and compares with the collective.
//
// Blocks are two threads each, which stand for those of a GPU (simulate/machine.h) and take turns at every legal point:
// between elements of one operation, between operations that no nop separates, with port puts done later by an engine
// of their own, with plain stores that others see only once they must, and with ranks that are a launch ahead of
// others. Before each launch a rank's user writes new inputs, and after it reads the outputs and uses both buffers for
// something else: all at the rank's own pace. Launches are of one size, then of several sizes in a row.
// Requires: a program that ir::checkStructure accepts, with thread blocks (ir::requireBlocks).
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::passes {

/// The types that kernels compute with.
enum class DataType : std::uint8_t {
#define MSCCLC_DTYPE(id, ...) id,
#include "runtime-min/include/mscclc/dtypes.def"
};
/// Their names, in their order: "f32".
std::span<const std::string_view> dataTypeNames();
std::string_view toString(DataType type);                      ///< "f32"
std::optional<DataType> parseDataType(std::string_view words); ///< nothing if it names none
std::uint32_t sizeOf(DataType type);                           ///< bytes

struct SimulateOptions {
  /// Message sizes in bytes: of the input, or for an AllGather of the output. Empty: small ones that fit, more of them
  /// where groups slice chunks, and where there are pipelines one that makes them go round (run under few schedules if
  /// it is long). Several are run one by one, then in a row where the program keeps something from launch to launch.
  /// A size of 0 beside others is no launch: the row of several has some of them in between.
  std::vector<std::uint64_t> sizes;
  DataType type = DataType::F32;
  /// For each row. None: 100, or fewer where a message is longer than 1 MiB or nobody asked for the many sizes.
  std::optional<std::uint32_t> schedules;
  std::uint32_t launches = 0; ///< in each schedule; 0: one more than scratch takes to come round
  std::uint64_t seed = 1;
  bool inTurn = true;        ///< launches of several sizes in a row, too
  bool relaxedShows = false; ///< a relaxed signal shows what was stored before it, as a strong one does
  /// A rank's user leaves its buffers alone until its ports have sent what they were given.
  bool userAwaitsPorts = false;
  /// Sets these three as what --allow permits the verifier's findings would have it.
  void allow(const ir::AllowedNames &names);
  /// Told how far it is, from 0 to 1, after each schedule and some milliseconds within one. Returning false stops.
  std::function<bool(double)> progress;
};

struct SimulateRow {
  std::uint64_t size = 0;
  bool inTurn = false;         ///< launches of all sizes before, drawn at random
  std::uint32_t schedules = 0; ///< run, up to and with the first that failed; 0: the size is refused
  double maxError = 0;
  bool ok = false;
};

struct SimulateResult {
  std::vector<SimulateRow> rows;
  bool ok = false;       ///< all sizes ran, and right
  bool compared = false; ///< with something: the program promises what some output ends as
  /// A table of rows: size or "in turn", schedules, max error, ok ("ran" where nothing was compared).
  std::string table() const;
  /// "right: 2 sizes, 200 schedules", or the first size that is not: one line for a user.
  std::string summary() const;
};

/// Runs; a hang, a wrong element or a size that cannot be run is an error in `diags`.
SimulateResult simulate(const ir::Program &program, ir::DiagnosticEngine &diags, const SimulateOptions &options = {});

} // namespace mscclc::passes
