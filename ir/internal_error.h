// A fault of the compiler itself, in contrast to a fault of its input.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace mscclc::ir {

/// Thrown where an invariant of the compiler is broken. The driver prints it with instructions to report it and exits
/// with 3.
class InternalError : public std::logic_error {
public:
  explicit InternalError(const std::string &what, std::source_location at = std::source_location::current())
      : std::logic_error(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": " + what) {}
};

} // namespace mscclc::ir
