// Connections between machines: the same frames over TCP, which keeps no message boundaries and passes no files.
// Nothing is encrypted: the token of the rendezvous keeps out who comes by mistake, not who listens on the network.
#pragma once

#include "bootstrap/socket.h"

#include <string>

namespace mscclc::rt {

/// Listens at an address that other machines reach: that of the first running interface that NCCL_SOCKET_IFNAME allows
/// (prefixes of names, as NCCL takes them); there must be one. Where it is not set: of the first that is neither the
/// loopback nor Docker's, else of the loopback. `address` is "HOST/PORT".
Status listenOnNetwork(File &socket, std::string &address);
/// Connects, trying again until `deadline`.
Status connectOnNetwork(const std::string &address, Clock::time_point deadline, File &socket);
/// Notices a machine that is gone within half a minute, waits no longer than 10 s for the rest of a frame nor than 30 s
/// for room to send, and sends small frames at once.
void prepareStream(const File &socket);

/// Whether a socket is one of these.
bool isStream(const File &socket);
/// Sends all of it. False if the other end is gone.
bool sendAll(const File &socket, const void *bytes, size_t count);
/// Waits for all of it. False if the other end is gone.
bool receiveAll(const File &socket, void *bytes, size_t count);

} // namespace mscclc::rt
