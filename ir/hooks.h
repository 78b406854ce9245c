// The hooks of a program, compared with each other.
#pragma once

#include "ir/program.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::ir {

/// An array that two hooks take.
struct SharedArray {
  std::string name;
  const Hook *other = nullptr;
};

/// Returns an array that `hooks[index]` writes and another one reads or writes; nothing if there is none. The proof
/// follows values and no arrays, so it could not say in which order two hooks see such an array.
std::optional<SharedArray> sharedArray(const std::vector<Hook> &hooks, std::size_t index);

/// What is special about a wire format.
struct WireInfo {
  std::string_view word;                  ///< its name in the language, and in that of its class
  std::string_view header;                ///< the header of kernels that has the class
  std::uint32_t elementBytes, scaleBytes; ///< in the format: of an element, and of what each block has besides
  std::uint32_t messageBytes;             ///< of an element of the message, of the usual type
  std::vector<std::string> types;         ///< of elements of messages; other types would not become smaller
};
/// Returns that of a format other than None.
const WireInfo &info(Wire wire);

/// Returns the class of kernels that encodes in `wire` with blocks of `block` elements.
std::string functionOf(Wire wire, std::uint32_t block);

} // namespace mscclc::ir
