#include "compiler/guard.h"

#include "compiler/version.h"
#include "ir/internal_error.h"

#include <exception>
#include <iostream>
#include <new>
#include <string>

namespace mscclc::driver {
namespace {

ExitCode internalError(const std::string &what) {
  std::cerr << "mscclc: internal error: " << what << "\n"
            << "This is a fault of mscclc " << version()
            << ". Please report it with the input and the command line; --print-after-all shows how far it came.\n";
  return exitInternal;
}

} // namespace

ExitCode guarded(const std::function<ExitCode()> &work) {
  try {
    return work();
  } catch (const ir::InternalError &e) {
    return internalError(e.what());
  } catch (const std::bad_alloc &) {
    std::cerr << "mscclc: error: out of memory\n";
    return exitInputWrong;
  } catch (const std::exception &e) {
    return internalError(e.what());
  }
}

} // namespace mscclc::driver
