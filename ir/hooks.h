// Compares the hooks of a program with each other, and describes wire formats.
#pragma once

#include "ir/program.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::ir {

/// An array that two hooks use.
struct SharedArray {
  std::string name;
  const Hook *other = nullptr;
};

/// Returns an array that `hooks[index]` writes and another hook reads or writes; nothing if there is none. The proof
/// follows values but no arrays, so it does not know the order in which two hooks use such an array.
std::optional<SharedArray> sharedArray(const std::vector<Hook> &hooks, std::size_t index);

/// The properties of a wire format.
struct WireInfo {
  std::string_view word;                  ///< name of the format in the language, and in the name of its class
  std::string_view header;                ///< the kernels' header that declares the class
  std::uint32_t elementBytes, scaleBytes; ///< size of an encoded element; size of a block's scale, or 0
  std::uint32_t messageBytes;             ///< size of an element before encoding, in the usual type
  std::vector<std::string> types;         ///< the types whose elements become smaller in the format
};
/// Returns the properties of a format other than None.
const WireInfo &info(Wire wire);

/// Returns the name of the class with which kernels encode in `wire`, with blocks of `block` elements.
std::string functionOf(Wire wire, std::uint32_t block);

} // namespace mscclc::ir
