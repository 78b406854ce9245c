// Finds the address at which other machines reach this one.
#pragma once

#include "rendezvous/socket.h"

namespace mscclc::rt {

/// At any port: the first running interface that NCCL_SOCKET_IFNAME allows (prefixes of names, as NCCL takes them);
/// there must be one. Where it is not set: the first that is neither the loopback nor Docker's, else the loopback.
Status ownAddress(Address &result);

} // namespace mscclc::rt
