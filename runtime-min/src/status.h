// Failures of the runtime's functions: a code and a text, which are passed up to the C interface.
#pragma once

#include "mscclc/runtime.h"

#include <string>

namespace mscclc::rt {

struct [[nodiscard]] Status {
  int32_t code = MSCCLC_OK;
  std::string text;

  bool ok() const { return code == MSCCLC_OK; }
};

/// Makes a failure with a printf-style text.
Status failure(int32_t code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Makes a failure of the operating system: `what` and the text of errno.
Status systemFailure(const std::string &what);
/// Makes a failure from a code of a kernel's own functions.
Status kernelFailure(int32_t code, const char *kernel, uint32_t rank);

/// Converts a number for %llu.
inline unsigned long long wide(uint64_t number) {
  return number;
}
/// Returns a printf-style text.
std::string format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Keeps the text for mscclc_last_error, and returns the code.
int32_t report(const Status &status);

} // namespace mscclc::rt

/// Returns from the enclosing function if `expression` failed.
#define MSCCLC_TRY(expression)                                                                                         \
  do {                                                                                                                 \
    if (::mscclc::rt::Status status_ = (expression); !status_.ok())                                                    \
      return status_;                                                                                                  \
  } while (false)
