// A library of a user: its errors and notes stand where it is called.
#include <mscclc/dsl.hpp>

struct Relay {
  mscclc::MemoryChannel channel;

  /// Sends chunk `index` of this rank's output to the other rank.
  void send(int index, mscclc::Place at = mscclc::Place::here()) const {
    mscclc::note({"sends chunk {}", at}, index);
    const mscclc::Chunk from = mscclc::Rank(channel.srcRank()).output().slice(index, index + 1, at);
    channel.put(mscclc::Rank(channel.dstRank()).output().slice(index, index + 1, at), from, mscclc::tb(0), at);
  }
};

/// The same, a level up.
inline void sendBoth(const Relay &relay, mscclc::Place at = mscclc::Place::here()) {
  relay.send(0, at);
  relay.send(2, at);
}
