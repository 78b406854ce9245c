// Folders of kernels, as `python -m mscclc library` makes them: whether all kernels for a call sum in one order.
#pragma once

#include "compiler/options.h"

#include <string_view>

namespace mscclc::driver {

/// The words in a kernel whose sums are not taken in one order everywhere.
inline constexpr std::string_view sumsDiffer = "in an order that depends on the chunk";

/// Returns true if `path` is a folder with a list of kernels, manifest.json.
bool isKernelFolder(const std::string &path);

/// Compares the order of sums of all entries of a collective, number of ranks and nodes, and root. Prints a line for
/// each of these. Reports an error and returns false if entries differ, or if an entry sums elements in different
/// orders. A kernel for sums says its order in the entry's "sums"; others do not sum.
bool compareKernels(const Options &options, ir::DiagnosticEngine &diags);

} // namespace mscclc::driver
