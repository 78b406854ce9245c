// What the runtime knows of launches that hang (mscclc/hang.hpp has what follows from it), and the dump of it.
#pragma once

#include "mscclc/hang.hpp"
#include "status.h"

namespace mscclc::rt {

/// Appends the stalls of a rank's status. Returns how many more there were than it has room for.
uint32_t addWaits(const MscclcKernel &kernel, const MscclcStatus &status, hang::Report &report);
/// Empties a status whose waits go on.
void forgetStalls(MscclcStatus &status);

/// The names of a communicator and of the file of MSCCLC_DUMP.
struct HangNames {
  std::string communicator; ///< the same in all processes, and no other communicator's
  std::string rank;         ///< of the process's first rank; empty: all ranks are here
};

/// Writes what is known of the hangs of all communicators of the process, as JSON, to the file that the variable
/// MSCCLC_DUMP names. Where the process has not all ranks its first one comes before the file's extension: hang.json
/// becomes hang.3.json. Nothing without the variable. A file that cannot be written is said on stderr.
void dumpHang(const HangNames &names, const Status &reason, const hang::Report &report);
/// Writes a line to stderr, unless MSCCLC_DEBUG is NONE.
void warn(const std::string &line);

} // namespace mscclc::rt
