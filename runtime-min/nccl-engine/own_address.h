// Finds the address at which other machines reach this one.
#pragma once

#include "rendezvous/socket.h"

namespace mscclc::rt {

/// Returns the address of an interface, with port 0 (any port). If NCCL_SOCKET_IFNAME is set, it is the first running
/// interface that the variable allows, by prefixes of names as in NCCL; fails if there is none. Otherwise it is the
/// first one that is neither the loopback nor Docker's, or else the loopback.
Status ownAddress(Address &result);

} // namespace mscclc::rt
