// The hooks of a program, compared with each other.
#pragma once

#include "ir/program.h"

#include <optional>
#include <string>

namespace mscclc::ir {

/// An array that two hooks take.
struct SharedArray {
  std::string name;
  const Hook *other = nullptr;
};

/// Returns an array that `hooks[index]` writes and another one reads or writes; nothing if there is none. The proof
/// follows values and no arrays, so it could not say in which order two hooks see such an array.
std::optional<SharedArray> sharedArray(const std::vector<Hook> &hooks, std::size_t index);

/// Returns the class of kernels that encodes in Wire::F8E4m3 with blocks of `block` elements.
std::string functionOfF8E4m3(std::uint32_t block);

} // namespace mscclc::ir
