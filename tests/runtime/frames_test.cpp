// Frames between machines, with the runtime's own functions.
#include "bootstrap/tcp.h"
#include "fixture.h"

#include <sys/socket.h>

using namespace mscclc::rt;

namespace {

struct Pair {
  File left, right;
  Pair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    left = File(ends[0]);
    right = File(ends[1]);
  }
};

/// The bytes of a frame with this payload.
Bytes frameOf(const Bytes &payload) {
  Pair pair;
  REQUIRE(sendFrame(pair.left, {}, payload.data(), payload.size()).ok());
  Bytes bytes(sizeof(FrameHeader) + payload.size());
  REQUIRE(receiveAll(pair.right, bytes.data(), bytes.size()));
  return bytes;
}

} // namespace

TEST_CASE("Nobody waits for the rest of a stranger's frame") {
  const Bytes payload(40, 7), sent = frameOf(payload);
  Pair pair;
  Bytes heard;
  Frame frame;
  CHECK(hearFrame(pair.right, payload.size(), heard, frame) == Received::Nothing);
  for (size_t at = 0; at < sent.size(); ++at) {
    REQUIRE(sendAll(pair.left, &sent[at], 1));
    const Received expected = at + 1 == sent.size() ? Received::Frame : Received::Nothing;
    REQUIRE(hearFrame(pair.right, payload.size(), heard, frame) == expected);
  }
  CHECK(frame.payload == payload);
}

TEST_CASE("A stranger that says something else, or ends, is not heard to the end") {
  const Bytes sent = frameOf(Bytes(4000, 7));
  for (const bool other : {false, true}) {
    Pair pair;
    Bytes heard;
    Frame frame;
    if (other)
      REQUIRE(sendAll(pair.left, "GET / HTTP/1.1\r\nHost: of somebody else\r\n\r\n", 42));
    else
      REQUIRE(sendAll(pair.left, sent.data(), sizeof(FrameHeader)));
    CHECK(hearFrame(pair.right, 40, heard, frame) == Received::Closed);
  }
  Pair pair;
  Bytes heard;
  Frame frame;
  REQUIRE(sendAll(pair.left, sent.data(), 4));
  CHECK(hearFrame(pair.right, 4000, heard, frame) == Received::Nothing);
  {
    const File gone = std::move(pair.left);
  }
  CHECK(hearFrame(pair.right, 4000, heard, frame) == Received::Closed);
}

TEST_CASE("An interface that is asked for must be there") {
  File socket;
  std::string address;
  ::setenv("NCCL_SOCKET_IFNAME", "=nosuch0", 1);
  const Status none = listenOnNetwork(socket, address);
  CHECK(none.code == MSCCLC_ERROR_RENDEZVOUS);
  CHECK(testing::contains(none.text, "NCCL_SOCKET_IFNAME='=nosuch0'"));
  ::setenv("NCCL_SOCKET_IFNAME", "=lo", 1);
  const Status loopback = listenOnNetwork(socket, address);
  INFO(loopback.text);
  CHECK(loopback.ok());
  ::unsetenv("NCCL_SOCKET_IFNAME");
  File other;
  CHECK(connectOnNetwork(address, Clock::now() + std::chrono::seconds(10), other).ok());
  // Nobody listens, or somebody does not accept: the deadline holds.
  socket = File();
  const Clock::time_point begin = Clock::now();
  CHECK(connectOnNetwork(address, begin + std::chrono::milliseconds(200), other).code != MSCCLC_OK);
  CHECK(Clock::now() - begin < std::chrono::seconds(5));
}
