// Folders of kernels, as `python -m mscclc library` makes them: checks that all kernels for a call sum in the same
// order.
#pragma once

#include "compiler/options.h"

#include <string_view>

namespace mscclc::driver {

/// The text in a list of kernels about a kernel that sums different chunks in different orders.
inline constexpr std::string_view sumsDiffer = "in an order that depends on the chunk";

/// Returns true if `path` is a folder with a list of kernels, manifest.json.
bool isKernelFolder(const std::string &path);

/// Compares the order of sums of all kernels for the same call: the same collective, number of ranks and nodes, and
/// root. Prints a line for each call. Reports an error and returns false if kernels differ, or if a kernel sums
/// elements in different orders. The field "sums" of an entry describes the order; it is absent if the kernel does not
/// sum.
bool compareKernels(const Options &options, ir::DiagnosticEngine &diags);

} // namespace mscclc::driver
