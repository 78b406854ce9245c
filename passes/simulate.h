// The CPU executor: runs a program with real data under random schedules, and compares with the collective.
//
// Blocks are a few threads each, which take turns at every legal point: between elements of one operation, between
// operations that no nop separates, with port puts done later by an engine of their own, and with ranks that are a
// launch ahead of others. Which thread moves which element is drawn anew for each operation, as the model promises
// nothing about it; operands of one operation share it. Before each launch a rank's user writes new inputs (once its
// own port puts have been sent), and after it reads the outputs: all at the rank's own pace.
// Requires: a program that ir::checkStructure accepts.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::passes {

enum class DataType : std::uint8_t { F32, F16, BF16, I32, U32, U8 };
std::string_view toString(DataType type);                      ///< "f32"
std::optional<DataType> parseDataType(std::string_view words); ///< nothing if it names none
std::uint32_t sizeOf(DataType type);                           ///< bytes

struct SimulateOptions {
  /// Message sizes in bytes: of the input, or for an AllGather of the output. Empty: two small ones that fit,
  /// and where there are pipelines one that makes them go round (run under few schedules if it is long).
  std::vector<std::uint64_t> sizes;
  DataType type = DataType::F32;
  /// For each size. None: 100, or fewer where a message is longer than 1 MiB.
  std::optional<std::uint32_t> schedules;
  std::uint32_t launches = 0; ///< in each schedule; 0: one more than scratch takes to come round
  std::uint64_t seed = 1;
  /// Told how far it is, from 0 to 1, now and then. Returning false stops.
  std::function<bool(double)> progress;
};

struct SimulateRow {
  std::uint64_t size = 0;
  std::uint32_t schedules = 0; ///< run, up to and with the first that failed; 0: the size is refused
  double maxError = 0;
  bool ok = false;
};

struct SimulateResult {
  std::vector<SimulateRow> rows;
  bool ok = false; ///< all sizes ran, and right
  /// A table of rows: size, schedules, max error, ok.
  std::string table() const;
  /// "right: 2 sizes, 200 schedules", or the first size that is not: one line for a user.
  std::string summary() const;
};

/// Runs; a hang, a wrong element or a size that cannot be run is an error in `diags`.
SimulateResult simulate(const ir::Program &program, ir::DiagnosticEngine &diags, const SimulateOptions &options = {});

} // namespace mscclc::passes
