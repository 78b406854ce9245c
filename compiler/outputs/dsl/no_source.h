#pragma once

#include <string>

namespace mscclc::dsl {

/// Thrown for a program that the language cannot express.
struct NoSource {
  std::string why; ///< the obstacle: "two barriers of the same thread blocks"
};

} // namespace mscclc::dsl
