// The simulator runs a program with real data under random schedules, and compares the outputs with the collective.
//
// A block has two threads, which represent those of a GPU (simulate/machine.h). Schedules switch between threads at
// every legal point: between elements of one operation, and between operations that no nop separates. An engine of its
// own does port puts later. Other blocks see plain stores only when they must. Ranks may be a launch ahead of others.
// Before each launch a rank's user writes new inputs. After it, the user reads the outputs and uses both buffers for
// something else, at the rank's own pace. Launches are of one size, then of several sizes in a row.
// Requires: a program that ir::checkStructure accepts, with thread blocks (ir::requireBlocks).
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "ir/rows.h"
#include "passes/row_counts.h"
#include "passes/verify/sum_steps.h"

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
/// Returns their names, in their order: "f32".
std::span<const std::string_view> dataTypeNames();
std::string_view toString(DataType type);                      ///< "f32"
std::optional<DataType> parseDataType(std::string_view words); ///< nothing if it is no name of a type
std::uint32_t sizeOf(DataType type);                           ///< bytes

struct SimulateOptions {
  /// Message sizes in bytes: of the input, or for an AllGather of the output. Empty: small sizes that fit. Then there
  /// are more sizes if groups slice chunks, and one at which pipelines run several iterations (with few schedules if it
  /// is long). Several sizes run one by one. If the program keeps data from launch to launch, they also run in a row. A
  /// size of 0 among others means that nothing is launched; the row of several sizes contains such gaps, too.
  std::vector<std::uint64_t> sizes;
  DataType type = DataType::F32;
  /// The number of schedules for each row. Absent: 100, or fewer if a message is longer than 1 MiB, or if there are
  /// many sizes that were not asked for.
  std::optional<std::uint32_t> schedules;
  std::uint32_t launches = 0; ///< launches in each schedule; 0: one more than the number until scratch is reused
  std::uint64_t seed = 1;
  bool inTurn = true;        ///< also runs launches of several sizes in a row
  bool relaxedShows = false; ///< a relaxed signal shows earlier stores, like a strong one
  /// A rank's user does not touch its buffers until its ports have sent their requests.
  bool userAwaitsPorts = false;
  /// Sets these three options according to the findings of the verifier that --allow permits.
  void allow(const ir::AllowedNames &names);
  /// The reduction trees of outputs. With them, floats have rows in which inputs have whole mantissas, signs and
  /// exponents, so that sums are not exact. There each element must end with the bits of its tree. Chunks without a
  /// tree are not compared there.
  const OutputSums *sums = nullptr;
  /// The slots that operands hold, as the proof has found them, and the counts. Only programs of rows have both. A row
  /// has the length of the program's unit of alignment.
  const ir::RowSlots *rows = nullptr;
  RowCounts counts = {};
  /// Called with the completed share, 0 to 1, after each schedule and some milliseconds within one. Returning false
  /// stops.
  std::function<bool(double)> progress;
};

struct SimulateRow {
  std::uint64_t size = 0;
  bool inTurn = false; ///< launches of all sizes above, at random
  bool bits = false;   ///< compared bit by bit with SimulateOptions::sums
  std::uint32_t schedules =
      0; ///< number of schedules that ran, including the first that failed; 0: the size is refused
  double maxError = 0;
  bool ok = false;
};

struct SimulateResult {
  std::vector<SimulateRow> rows;
  bool ok = false;       ///< all sizes ran with right results
  bool compared = false; ///< there was something to compare: the program promises some output
  /// Returns a table of rows: size, "bits" or "in turn", schedules, max error, ok ("ran" if nothing was compared).
  std::string table() const;
  /// Returns one line for a user: "right: 2 sizes, 200 schedules", or the first wrong size.
  std::string summary() const;
};

/// Runs the simulation. A hang, a wrong element or a size that cannot run is an error in `diags`.
SimulateResult simulate(const ir::Program &program, ir::DiagnosticEngine &diags, const SimulateOptions &options = {});

} // namespace mscclc::passes
