// Tests chains of data: if data is passed on from rank to rank, its sources are ordered before everything that is made
// of it.
#include "prove.h"

#include <functional>

using namespace plan;

namespace {

/// Rank 0 puts its input to rank 1, 1 puts it to 2, and 2 puts it back over the input of 0; similarly for `n` ranks.
/// `more` adds operations to rank 0 at a mark: 0 before its signal, 1 after it.
Plan handToHand(
    std::uint32_t n, bool relaxed = false, int mark = -1, const std::function<void(Block &)> &more = [](Block &) {}) {
  Plan p(CollectiveKind::Test, n, 1, 1, false, 1);
  for (std::uint32_t r = 0; r < n; ++r) {
    p.channel(r, (r + 1) % n);
    p.channel(r, (r + n - 1) % n);
  }
  for (std::uint32_t r = 0; r < n; ++r) {
    const std::uint32_t next = (r + 1) % n;
    const auto weak = [&](std::uint32_t sender) { return relaxed && sender == 1; };
    Block b = p.on(r);
    if (r != 0)
      (weak(r - 1) ? b.relaxedWait({1}) : b.wait({1})).nop();
    const Chunk to = next == 0 ? b.of(0, BufferKind::Input, 0) : b.of(next, BufferKind::Scratch, 0);
    b.remote(OpKind::Put, {to}, {r == 0 ? in(0) : scratch(0)});
    if (r == 0 && mark == 0)
      more(b);
    b.nop();
    weak(r) ? b.relaxedSignal({0}) : b.signal({0});
    if (r == 0 && mark == 1)
      more(b);
    if (r == 0)
      b.wait({1});
  }
  return p;
}

} // namespace

TEST_CASE("what the first rank read is written by the last, to whom it came by all others") {
  for (const std::uint32_t n : {3u, 4u, 9u}) {
    CHECK(prove(handToHand(n).program).result.proven);
    CHECK_FALSE(prove(handToHand(n, true).program).result.proven); // a relaxed signal hands nothing on
  }
}

TEST_CASE("what the first rank does behind its part of the chain is not ordered by it") {
  const auto readAgain = [](Block &b) { b.copy(out(0), in(0)); };
  for (const std::uint32_t n : {3u, 4u, 9u}) {
    CHECK(prove(handToHand(n, false, 0, readAgain).program).result.proven);
    const Proof proof = prove(handToHand(n, false, 1, readAgain).program);
    CHECK(proof.has("race"));
  }
}
