#include "communicator.h"

#include "numbers.h"

#include <algorithm>
#include <cstring>

namespace fake {
namespace {

/// A part of a message, [begin, begin + bytes), that all ranks have put into their slots.
struct Piece {
  size_t begin, bytes;
};

/// Bytes of a rank's input; 0 for one that sends nothing.
size_t inputBytes(const ncclComm &comm, const Operation &o, int rank) {
  const size_t n = o.count * bytesOf(o.type), all = n * static_cast<size_t>(comm.ranks);
  switch (o.kind) {
  case Kind::ReduceScatter:
  case Kind::AllToAll:
    return all;
  case Kind::Broadcast:
    return rank == o.root ? n : 0;
  case Kind::Scatter:
    return rank == o.root ? all : 0;
  case Kind::AllReduce:
  case Kind::AllGather:
  case Kind::Reduce:
  case Kind::Gather:
  case Kind::Send:
  case Kind::Recv:
    return n;
  }
  return 0;
}

/// Returns the part of a piece that is in [first, first + bytes).
Piece within(const Piece &piece, size_t first, size_t bytes) {
  const size_t begin = std::max(piece.begin, first), end = std::min(piece.begin + piece.bytes, first + bytes);
  return {begin, begin < end ? end - begin : 0};
}

void reduceSlots(const ncclComm &comm, const Operation &o, const Piece &all, const Piece &part, size_t first) {
  const char *from[mostRanks];
  for (int rank = 0; rank < comm.ranks; ++rank)
    from[rank] = comm.shared->slots[rank] + (part.begin - all.begin);
  if (part.bytes != 0)
    reduce(static_cast<char *>(o.recv) + (part.begin - first), from, comm.ranks, part.bytes / bytesOf(o.type), o.type,
           o.op);
}

void take(const ncclComm &comm, const Operation &o, const Piece &piece) {
  const size_t n = o.count * bytesOf(o.type), mine = n * static_cast<size_t>(comm.rank);
  const auto copy = [&](int from, const Piece &part, size_t to) {
    if (part.bytes != 0)
      std::memcpy(static_cast<char *>(o.recv) + to, comm.shared->slots[from] + (part.begin - piece.begin), part.bytes);
  };
  const Piece share = within(piece, mine, n);
  switch (o.kind) {
  case Kind::AllReduce:
    return reduceSlots(comm, o, piece, piece, 0);
  case Kind::Reduce:
    if (comm.rank == o.root)
      reduceSlots(comm, o, piece, piece, 0);
    return;
  case Kind::ReduceScatter:
    return reduceSlots(comm, o, piece, share, mine);
  case Kind::Gather:
  case Kind::AllGather:
    for (int from = 0; from < comm.ranks && (o.kind == Kind::AllGather || comm.rank == o.root); ++from)
      copy(from, piece, n * static_cast<size_t>(from) + piece.begin);
    return;
  case Kind::AllToAll:
    for (int from = 0; from < comm.ranks; ++from)
      copy(from, share, n * static_cast<size_t>(from) + share.begin - mine);
    return;
  case Kind::Broadcast:
    return copy(o.root, piece, piece.begin);
  case Kind::Scatter:
    return copy(o.root, share, share.begin - mine);
  case Kind::Send:
  case Kind::Recv:
    return;
  }
}

void runCollective(ncclComm &comm, const Operation &o) {
  const size_t own = inputBytes(comm, o, comm.rank), longest = std::max(own, inputBytes(comm, o, o.root));
  const auto *begin = static_cast<const char *>(o.send);
  std::vector<char> input;
  if (own != 0)
    input.assign(begin, begin + own);
  if (o.op >= ncclNumOps)
    scale(input.data(), own / bytesOf(o.type), o.type, o.scalar.at != nullptr ? o.scalar.at : o.scalar.bytes.data());
  for (size_t at = 0; at < longest; at += slotBytes) {
    const Piece piece{at, std::min(slotBytes, longest - at)};
    if (own != 0)
      std::memcpy(comm.shared->slots[comm.rank], input.data() + at, piece.bytes);
    if (!comm.shared->barrier(static_cast<uint32_t>(comm.ranks)))
      return;
    take(comm, o, piece);
    if (!comm.shared->barrier(static_cast<uint32_t>(comm.ranks)))
      return;
  }
}

/// A send or a receive that has not ended.
struct Transfer {
  const Operation *operation;
  size_t done, bytes;
  bool sends;
  Mail *mail;
};

/// Moves the next part, if possible. Returns whether it did.
bool advance(Transfer &t) {
  if (t.done == t.bytes || t.mail->full != (t.sends ? 0U : 1U))
    return false;
  if (t.sends) {
    t.mail->bytes = static_cast<uint32_t>(std::min(mailBytes, t.bytes - t.done));
    std::memcpy(t.mail->data, static_cast<const char *>(t.operation->send) + t.done, t.mail->bytes);
  } else {
    std::memcpy(static_cast<char *>(t.operation->recv) + t.done, t.mail->data, t.mail->bytes);
  }
  t.done += t.mail->bytes;
  t.mail->full = t.sends ? 1 : 0;
  return true;
}

void runTransfers(ncclComm &comm, const std::vector<Operation> &operations) {
  std::vector<Transfer> transfers;
  for (const Operation &o : operations) {
    const bool sends = o.kind == Kind::Send;
    transfers.push_back({&o, 0, o.count * bytesOf(o.type), sends,
                         sends ? &comm.shared->mail[comm.rank][o.root] : &comm.shared->mail[o.root][comm.rank]});
  }
  const auto isOpen = [](const Transfer &t) { return t.done != t.bytes; };
  while (comm.shared->aborted == 0 && std::any_of(transfers.begin(), transfers.end(), isOpen)) {
    bool advanced = false;
    for (size_t i = 0; i < transfers.size(); ++i) {
      // Transfers of one pair and direction run one after the other.
      const auto before = transfers.begin() + static_cast<ptrdiff_t>(i);
      if (std::none_of(transfers.begin(), before, [&](const Transfer &t) {
            return isOpen(t) && t.mail == transfers[i].mail && t.sends == transfers[i].sends;
          }))
        advanced |= advance(transfers[i]);
    }
    if (!advanced)
      pause();
  }
}

} // namespace

void run(Work &work) {
  const std::lock_guard<std::mutex> lock(work.comm->running);
  const Kind kind = work.operations.front().kind;
  if (kind == Kind::Send || kind == Kind::Recv)
    runTransfers(*work.comm, work.operations);
  else
    runCollective(*work.comm, work.operations.front());
}

} // namespace fake
