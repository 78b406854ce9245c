// The simulator runs a program with real data under random schedules, and compares the outputs with the collective.
//
// A block has two threads, which represent those of a GPU (simulate/machine.h). Schedules switch between threads at
// every legal point: between elements of one operation, and between operations that no nop separates. Each port has an
// engine that does its puts later. Other blocks may see plain stores as late as synchronisation allows. Ranks may be a
// launch ahead of others. Before each launch a rank's user writes new inputs. After it, the user reads the outputs and
// uses both buffers for something else, at the rank's own pace. Launches are of one size, then of several sizes in a
// row.
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
/// Returns the names of all types, in the order of DataType: "f32".
std::span<const std::string_view> dataTypeNames();
std::string_view toString(DataType type);                      ///< "f32"
std::optional<DataType> parseDataType(std::string_view words); ///< nothing if no type has this name
std::uint32_t sizeOf(DataType type);                           ///< bytes

struct SimulateOptions {
  /// Message sizes in bytes: of the input, or for an AllGather of the output. Empty: the sizes of smallSizes(), with
  /// few schedules for a long one. The sizes run one by one. If the program keeps data from launch to launch, launches
  /// of several sizes also run in a row. A 0 among other sizes adds calls for 0 bytes to this row; they launch nothing.
  std::vector<std::uint64_t> sizes;
  DataType type = DataType::F32;
  /// The number of schedules for each row. Absent: 100, or fewer if a message is longer than 1 MiB, or if `sizes` is
  /// empty and there are many sizes.
  std::optional<std::uint32_t> schedules;
  std::uint32_t launches = 0; ///< launches in each schedule; 0: 3, or 4 with double scratch
  std::uint64_t seed = 1;
  bool inTurn = true;        ///< also runs launches of several sizes in a row
  bool relaxedShows = false; ///< a relaxed signal shows earlier stores, like a strong one
  /// The user of a rank does not touch its buffers until the rank's ports have finished all requests.
  bool userAwaitsPorts = false;
  /// Sets the three options above. `names` are the findings of the verifier that --allow permits.
  void allow(const ir::AllowedNames &names);
  /// The reduction trees of outputs. If they are given, floats also have rows with other inputs: mantissas of full
  /// length, both signs and several exponents, so that sums are not exact. In these rows, each output must have the
  /// bits that its tree gives. Chunks without a tree are not compared there.
  const OutputSums *sums = nullptr;
  /// Only for programs of rows: the slots that operands hold, as the proof has found them, and the counts of rows. A
  /// row has as many bytes as the program's buffer alignment, or as an element if this is more.
  const ir::RowSlots *rows = nullptr;
  RowCounts counts = {};
  /// A function that is called with the completed share, 0 to 1: after each schedule, and every few milliseconds within
  /// a schedule. If it returns false, the simulation stops.
  std::function<bool(double)> progress;
};

struct SimulateRow {
  std::uint64_t size = 0;
  bool inTurn = false; ///< true: launches have several sizes, in random order
  bool bits = false;   ///< outputs were compared bit by bit with SimulateOptions::sums
  std::uint32_t schedules =
      0; ///< number of schedules that ran, including the first that failed; 0: the size is refused
  double maxError = 0;
  bool ok = false;
};

struct SimulateResult {
  std::vector<SimulateRow> rows;
  bool ok = false;       ///< all sizes ran with right results
  bool compared = false; ///< the program promises some output, so there was something to compare
  /// Returns a table with a line for each row: its size (or "in turn"; "bits" if bits were compared), its schedules,
  /// the max error, and ok ("ran" if nothing was compared).
  std::string table() const;
  /// Returns one line for a user: "right: 2 sizes, 200 schedules", or the first wrong size.
  std::string summary() const;
};

/// Runs the simulation. A hang, a wrong element or a size that cannot run is an error in `diags`.
SimulateResult simulate(const ir::Program &program, ir::DiagnosticEngine &diags, const SimulateOptions &options = {});

} // namespace mscclc::passes
