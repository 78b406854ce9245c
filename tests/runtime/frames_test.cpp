// Frames over streams, with the runtime's own functions.
#include "fixture.h"
#include "nccl-engine/own_address.h"
#include "rendezvous/socket.h"

#include <fcntl.h>

using namespace mscclc::rt;

namespace {

struct Pair {
  Connection left, right;
  Pair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    left = Connection(File(ends[0]));
    right = Connection(File(ends[1]));
  }
  void say(const void *bytes, size_t count) {
    REQUIRE(::send(left.file(), bytes, count, 0) == static_cast<ssize_t>(count));
  }
};

/// The bytes of a frame with this payload.
Bytes frameOf(const Bytes &payload) {
  Pair pair;
  REQUIRE(pair.left.send({}, payload));
  Bytes bytes(sizeof(FrameHeader) + payload.size());
  REQUIRE(::recv(pair.right.file(), bytes.data(), bytes.size(), MSG_WAITALL) == static_cast<ssize_t>(bytes.size()));
  return bytes;
}

} // namespace

TEST_CASE("Nobody waits for the rest of a frame") {
  const Bytes payload(40, 7), sent = frameOf(payload);
  Pair pair;
  Frame frame;
  CHECK(pair.right.receive(frame, payload.size()) == Received::Nothing);
  for (size_t at = 0; at < sent.size(); ++at) {
    pair.say(&sent[at], 1);
    REQUIRE(pair.right.receive(frame, payload.size()) == (at + 1 == sent.size() ? Received::Frame : Received::Nothing));
  }
  CHECK(frame.payload == payload);
}

TEST_CASE("Frames keep their bounds and their files, however fast they come") {
  Pair pair;
  int pipe[2];
  REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
  const File reads(pipe[0]), writes(pipe[1]);
  const Bytes longest(48 << 10, 3);
  REQUIRE(pair.left.send({}, {}));
  REQUIRE(pair.left.send({}, longest, {writes.get(), reads.get()}));
  REQUIRE(pair.left.send({}, Bytes(5, 3), {writes.get()}));
  Frame frame;
  REQUIRE(pair.right.receive(frame) == Received::Frame);
  CHECK((frame.payload.empty() && frame.files.empty()));
  REQUIRE(pair.right.receive(frame) == Received::Frame);
  CHECK((frame.payload == longest && frame.files.size() == 2));
  CHECK(::write(frame.files[0].get(), "x", 1) == 1);
  char read = 0;
  CHECK((::read(reads.get(), &read, 1) == 1 && read == 'x'));
  REQUIRE(pair.right.receive(frame) == Received::Frame);
  CHECK((frame.payload == Bytes(5, 3) && frame.files.size() == 1));
  CHECK(pair.right.receive(frame) == Received::Nothing);
}

TEST_CASE("A stranger that says something else, or ends, is not heard to the end") {
  const Bytes sent = frameOf(Bytes(4000, 7));
  Frame frame;
  for (const bool other : {false, true}) {
    Pair pair;
    if (other)
      pair.say("GET / HTTP/1.1\r\nHost: of somebody else\r\n\r\n", 42);
    else
      pair.say(sent.data(), sizeof(FrameHeader));
    CHECK(pair.right.receive(frame, 40) == Received::Closed);
  }
  Pair pair;
  pair.say(sent.data(), 4);
  CHECK(pair.right.receive(frame) == Received::Nothing);
  pair.left = Connection();
  CHECK(pair.right.receive(frame) == Received::Closed);
}

TEST_CASE("An interface that is asked for must be there") {
  Address address;
  ::setenv("NCCL_SOCKET_IFNAME", "=nosuch0", 1);
  const Status none = ownAddress(address);
  CHECK(none.code == MSCCLC_ERROR_RENDEZVOUS);
  CHECK(testing::contains(none.text, "NCCL_SOCKET_IFNAME='=nosuch0'"));
  ::setenv("NCCL_SOCKET_IFNAME", "=lo", 1);
  REQUIRE(ownAddress(address).ok());
  ::unsetenv("NCCL_SOCKET_IFNAME");
  File listener;
  const Status loopback = listenAt(address, listener);
  INFO(loopback.text);
  CHECK(loopback.ok());
  Connection other;
  CHECK(Connection::to(address, Clock::now() + std::chrono::seconds(10), other).ok());
  // If nobody listens, or the listener does not accept, the deadline ends the call.
  listener = File();
  const Clock::time_point begin = Clock::now();
  CHECK(Connection::to(address, begin + std::chrono::milliseconds(200), other).code != MSCCLC_OK);
  CHECK(Clock::now() - begin < std::chrono::seconds(5));
}
