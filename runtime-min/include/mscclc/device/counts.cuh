// Counts of live rows, for Plans with `slots` (layout.cuh). A slot holds the rows that rank `src` sends to rank `dst`,
// at most `capacity` of them. A count in device memory says how many rows are live.
//
// Each launch exchanges the counts. Block 0 of a rank sends its counts to the table of every rank, in one packet for
// each destination. A packet holds the count, limited to the rows that move; the row of the input at which these rows
// begin; and whether any count of the rank was limited. A rank reads its own counts where the caller wrote them. It
// polls a packet only if it needs that count of another rank. So a rank that only sends to fixed places waits for no
// rank.
//
// A rank ends a launch when it has the counts of all ranks. So when a rank sends the counts of launch n + 2, every rank
// has begun launch n + 1, and has ended launch n. Two tables are enough: one for even launches, and one for odd
// launches.
//
// Over nodes (MscclcKernel::ranks_per_node), a rank can write only to the tables of its own node. When it has the
// counts of its node, it puts all of them to one rank of each other node through a port: the rank with the same place
// in its node. The network writes aligned words as a whole, so packets need no signal. Before a rank ends, it waits for
// all packets that ports bring. So every put of launch n has left its source and has arrived before packets of launch n
// + 2 are written to either place.
//
// No wait for a signal depends on a count: a signal is sent for zero rows too. Programs of rows have no packets, hooks,
// pipelines or thread-block groups.
#pragma once

namespace mscclc::device::detail {

/// The bit in a count's packet that is set if the sender limited any of its counts.
constexpr uint32_t countsAreCut = uint32_t{1} << 31;

/// Returns number `i` of an array of the caller. The numbers have `counts.width` bytes.
MSCCLC_DEVICE int64_t numberAt(const MscclcCounts &counts, const void *numbers, uint32_t i) {
  return counts.width == 8 ? static_cast<const int64_t *>(numbers)[i] : static_cast<const int32_t *>(numbers)[i];
}
MSCCLC_DEVICE void storeNumber(const MscclcCounts &counts, void *numbers, uint32_t i, uint64_t value) {
  if (numbers == nullptr)
    return;
  if (counts.width == 8)
    static_cast<int64_t *>(numbers)[i] = static_cast<int64_t>(value);
  else
    static_cast<int32_t *>(numbers)[i] = static_cast<int32_t>(value);
}

/// Returns the number of rows that a packed buffer has room for. `given`: MscclcCounts::in_rows or out_rows.
template <class K> MSCCLC_DEVICE uint64_t roomOf(const K &k, uint64_t given) {
  const uint64_t all = k.parameters.capacity * K::Plan::ranks;
  return given != 0 && given < all ? given : all;
}

/// The rows that a rank sends to one rank.
struct Sent {
  uint32_t begin; ///< row of the input at which they begin
  uint32_t rows;
  bool isCut; ///< true: a count of the caller was limited
};
/// Returns the rows that this rank sends to `dst`. `begin`: for a packed input, the number of rows in the slots before.
template <class K> MSCCLC_DEVICE Sent sentAt(const K &k, uint32_t dst, uint64_t begin) {
  using Plan = typename K::Plan;
  const uint64_t capacity = k.parameters.capacity, end = roomOf(k, k.args.counts.in_rows);
  const int64_t given = numberAt(k.args.counts, k.args.counts.sent, dst);
  uint64_t rows = given < 0 ? 0 : static_cast<uint64_t>(given);
  if (!isPacked<Plan>)
    begin = dst * capacity;
  const uint64_t room = begin < end ? end - begin : 0, most = room < capacity ? room : capacity;
  rows = rows < most ? rows : most;
  return {static_cast<uint32_t>(begin < end ? begin : end), static_cast<uint32_t>(rows),
          static_cast<int64_t>(rows) != given};
}
/// Returns the number of rows that the slot for `dst` takes in a packed input. The caller's count is not limited to the
/// capacity, but only to the length of the input.
template <class K> MSCCLC_DEVICE uint64_t takenBy(const K &k, uint32_t dst) {
  const int64_t given = numberAt(k.args.counts, k.args.counts.sent, dst);
  const uint64_t most = roomOf(k, k.args.counts.in_rows), rows = given < 0 ? 0 : static_cast<uint64_t>(given);
  return rows < most ? rows : most;
}
/// Returns the rows that this rank sends to `dst`. The loop is not unrolled: the counts are in one or two cache lines,
/// so it waits for memory only once.
template <class K> MSCCLC_DEVICE Sent sentTo(const K &k, uint32_t dst) {
  uint64_t begin = 0;
  MSCCLC_NO_UNROLL
  for (uint32_t d = 0; isPacked<typename K::Plan> && d < dst; ++d)
    begin += takenBy(k, d);
  return sentAt(k, dst, begin);
}

/// Returns the packet of the count from `src` to `dst` in the table of rank `rank`, in the half for this launch.
template <class K> MSCCLC_DEVICE char *countAt(const K &k, uint32_t rank, uint32_t src, uint32_t dst) {
  constexpr uint32_t ranks = K::Plan::ranks;
  const auto half = static_cast<uint32_t>(k.launch % 2);
  return static_cast<char *>(k.parameters.tables[rank]) + ((half * ranks + src) * ranks + dst) * uint64_t{16};
}

/// Returns the first rank of the node of `rank`.
template <class Plan> MSCCLC_DEVICE uint32_t firstOfNode(uint32_t rank) {
  return rank / ranksPerNode<Plan> * ranksPerNode<Plan>;
}

/// The number of counts that a thread polls at once. Each batch takes a round trip to the device's own memory. Twice as
/// many counts would need more registers than a thread of a block of 1,024 threads has.
constexpr uint32_t countsTogether = 4;

/// The two ways to read the packet of a count: WholeCount reads all of it, and RowsOfCount reads only its first word,
/// which has its own flag.
struct WholeCount {
  Vec8 packet;
  uint32_t first, second;
  MSCCLC_DEVICE void load(const char *at) { loadPacket16(at, packet, first, second); }
  MSCCLC_DEVICE bool hasCome(uint32_t flag) const { return first == flag && second == flag; }
  MSCCLC_DEVICE Sent sent() const {
    return {packet.w[1], packet.w[0] & ~countsAreCut, (packet.w[0] & countsAreCut) != 0};
  }
};
struct RowsOfCount {
  uint32_t rows, first;
  MSCCLC_DEVICE void load(const char *at) { loadPacket8(at, rows, first); }
  MSCCLC_DEVICE bool hasCome(uint32_t flag) const { return first == flag; }
  MSCCLC_DEVICE Sent sent() const { return {0, rows & ~countsAreCut, (rows & countsAreCut) != 0}; }
};

/// Waits for `count` packets of counts, at most N. The first one is at `packets`, and the others follow at distances of
/// `stride` bytes. Then calls take(i, sent) for each packet in turn. If the wait gives up, take() is not called.
/// `info.expected` must be `count` if each packet comes from a different rank, and 1 if all come from one rank.
template <class Read, uint32_t N, class K, class Take>
MSCCLC_DEVICE void awaitPackets(const K &k, const char *packets, uint64_t stride, uint32_t count, const WaitInfo &info,
                                Take take) {
  const uint32_t flag = k.flag;
  const char *const at = apart(packets);
  Read reads[N];
  const auto haveCome = [&](uint64_t &) {
    bool all = true;
    MSCCLC_UNROLL
    for (uint32_t i = 0; i < N; ++i)
      if (i < count) {
        reads[i].load(at + i * stride);
        all &= reads[i].hasCome(flag);
      }
    return all;
  };
  const auto look = [&](uint64_t &seen) {
    seen = 0;
    for (uint32_t i = 0; i < N && info.expected == count; ++i) // if several packets come from one rank, `seen` is 0
      seen |= uint64_t{i < count && reads[i].hasCome(flag)} << i;
  };
  if (!spin(k.args, info, haveCome, look))
    return;
  MSCCLC_UNROLL
  for (uint32_t i = 0; i < N; ++i)
    if (i < count)
      take(i, reads[i].sent());
}
/// Waits for the counts of rows that `count` ranks from `first` on, at most N, send to `dst`. Calls take(i, sent) for
/// each rank `first` + i. `sent.isCut` is true if any count of that rank was limited.
template <class Read, uint32_t N, class K, class Take>
MSCCLC_DEVICE void awaitCounts(const K &k, uint32_t first, uint32_t count, uint32_t dst, Take take) {
  awaitPackets<Read, N>(k, countAt(k, static_cast<uint32_t>(k.rank), first, dst), uint64_t{16} * K::Plan::ranks, count,
                        {MSCCLC_WAIT_COUNT, 0, first, dst, count}, take);
}
template <class K> MSCCLC_DEVICE Sent awaitCount(const K &k, uint32_t src, uint32_t dst) {
  Sent found{0, 0, false};
  awaitCounts<WholeCount, 1>(k, src, 1, dst, [&](uint32_t, const Sent &sent) { found = sent; });
  return found;
}
/// Returns the rows that `src` sends to `dst`.
template <class K> MSCCLC_DEVICE Sent sentBy(const K &k, uint32_t src, uint32_t dst) {
  return static_cast<int>(src) == k.rank ? sentTo(k, dst) : awaitCount(k, src, dst);
}

/// Waits for `count` packets that `src` has written one behind the other, from `packets` on.
template <class K> MSCCLC_DEVICE void awaitAll(const K &k, const char *packets, uint32_t count, uint32_t src) {
  for (uint32_t i = 0; i < count; i += countsTogether)
    awaitPackets<WholeCount, countsTogether>(
        k, packets + uint64_t{16} * i, 16, count - i < countsTogether ? count - i : countsTogether,
        {MSCCLC_WAIT_COUNT, 0, src, static_cast<uint32_t>(k.rank), 1}, [](uint32_t, const Sent &) {});
}

/// For each other node, puts `bytes` bytes of this rank's table into the table of the rank with the same place in its
/// node (port.cuh). from(node) returns where the bytes begin in this rank's table. In the other table, they go to the
/// place that `to` has in this rank's table. All threads of a block call it.
template <class K, class From>
MSCCLC_DEVICE void sendToNodes(const K &k, const From &from, const char *to, uint64_t bytes);

/// Sends the counts of this rank to all ranks.
template <class K> MSCCLC_DEVICE void sendCounts(const K &k) {
  using Plan = typename K::Plan;
  constexpr uint32_t ranks = Plan::ranks, together = ranksPerNode<Plan>;
  if (k.block != 0)
    return;
  const auto self = static_cast<uint32_t>(k.rank);
  const uint32_t first = firstOfNode<Plan>(self);
  for (uint32_t mine = k.thread; mine < ranks; mine += k.threads) {
    Sent toMine{};
    bool isCut = false;
    uint64_t begin = 0;
    MSCCLC_NO_UNROLL
    for (uint32_t dst = 0; dst < ranks; ++dst) {
      const Sent sent = sentAt(k, dst, begin);
      isCut |= sent.isCut;
      if (dst == mine)
        toMine = sent;
      begin += takenBy(k, dst);
    }
    const Vec8 packet{{toMine.rows | (isCut ? countsAreCut : 0), toMine.begin}};
    MSCCLC_NO_UNROLL
    for (uint32_t peer = first; peer < first + together; ++peer)
      storePacket16(countAt(k, peer, self, mine), packet, k.flag);
  }
  if constexpr (otherNodes<Plan> != 0) {
    for (uint32_t src = k.thread; src < together; src += k.threads)
      awaitAll(k, countAt(k, self, first + src, 0), ranks, first + src);
    const char *const ofNode = countAt(k, self, first, 0);
    sendToNodes(k, [&](uint32_t) { return ofNode; }, ofNode, uint64_t{16} * together * ranks);
  }
}

/// The rows that a rank receives from one rank.
struct Received {
  uint32_t begin; ///< row of the output at which they begin
  uint32_t rows;
  bool isCut; ///< true: any count of the sender was limited
};
/// Returns the row of a padded output at which the rows of `src` begin.
template <class K> MSCCLC_DEVICE uint32_t paddedPlace(const K &k, uint32_t src) {
  return src * static_cast<uint32_t>(k.parameters.capacity);
}
/// Waits for the count of rows that `src` sends to `dst`. In a packed output, these rows follow the rows of earlier
/// ranks, so it also waits for the counts of those ranks.
template <class K> MSCCLC_DEVICE Received awaitReceived(const K &k, uint32_t src, uint32_t dst) {
  using Plan = typename K::Plan;
  if constexpr (!isPacked<Plan>) {
    const Sent sent = awaitCount(k, src, dst);
    return {paddedPlace(k, src), sent.rows, sent.isCut};
  } else {
    Received last{0, 0, false};
    constexpr uint32_t together = Plan::ranks < countsTogether ? Plan::ranks : countsTogether;
    const uint32_t asked = src + 1;
    MSCCLC_NO_UNROLL
    for (uint32_t from = 0; from < asked; from += together)
      awaitCounts<RowsOfCount, together>(
          k, from, asked - from < together ? asked - from : together, dst,
          [&](uint32_t, const Sent &sent) { last = {last.begin + last.rows, sent.rows, sent.isCut}; });
    return last;
  }
}
/// Returns the number of rows that `dst` receives, or would receive if its output had room for them. A padded output
/// counts all slots in full.
template <class K> MSCCLC_DEVICE uint32_t allReceived(const K &k, uint32_t dst) {
  using Plan = typename K::Plan;
  if constexpr (!isPacked<Plan>)
    return paddedPlace(k, Plan::ranks);
  const Received last = awaitReceived(k, Plan::ranks - 1, dst);
  return last.begin + last.rows;
}
MSCCLC_DEVICE uint32_t rowsWithRoom(uint32_t begin, uint32_t rows, uint64_t room) {
  const uint64_t left = begin < room ? room - begin : 0;
  return rows < left ? rows : static_cast<uint32_t>(left);
}

/// Returns the extent of row `row` of an input or output: the live bytes for which the buffer has room.
template <class K> MSCCLC_DEVICE Extent liveExtent(const K &k, const Rows &rows, unsigned row) {
  using Plan = typename K::Plan;
  const uint32_t chunk = static_cast<uint32_t>(rows.first) + row, slot = chunk / Plan::groupChunks,
                 part = chunk % Plan::groupChunks;
  const auto owner = static_cast<uint32_t>(rows.owner);
  const uint64_t bytes = k.args.row_bytes;
  if (rows.buffer == MSCCLC_INPUT) {
    const Sent sent = sentBy(k, owner, slot);
    return liveExtentOf<Plan>(sent.begin * bytes, sent.rows * bytes, sent.rows * bytes, part);
  }
  Received received;
  if constexpr (isPacked<Plan>)
    received = awaitReceived(k, slot, owner);
  else
    received = {paddedPlace(k, slot), sentBy(k, slot, owner).rows, false};
  const uint32_t room = rowsWithRoom(received.begin, received.rows, roomOf(k, k.args.counts.out_rows));
  return liveExtentOf<Plan>(received.begin * bytes, received.rows * bytes, room * bytes, part);
}

/// Returns the number of live bytes in row `row` of scratch, which holds a chunk of a slot.
template <class K> MSCCLC_DEVICE uint64_t heldBytes(const K &k, const Rows &rows, unsigned row) {
  using Plan = typename K::Plan;
  const uint32_t held = static_cast<uint32_t>(rows.slot + static_cast<int>(row) * rows.slotStep),
                 slot = held / Plan::groupChunks;
  const uint64_t live = sentBy(k, slot / Plan::ranks, slot % Plan::ranks).rows * k.args.row_bytes;
  return liveExtentOf<Plan>(0, live, live, held % Plan::groupChunks).bytes;
}

/// Waits for the counts of all ranks. Then writes the arrays of MscclcCounts that tell the caller what the rank has
/// received.
template <class K> MSCCLC_DEVICE void receiveCounts(const K &k) {
  using Plan = typename K::Plan;
  constexpr uint32_t ranks = Plan::ranks;
  if (k.block != 0)
    return;
  const MscclcCounts &counts = k.args.counts;
  const auto self = static_cast<uint32_t>(k.rank);
  const uint64_t room = roomOf(k, counts.out_rows);
  for (uint32_t other = k.thread; other < ranks; other += k.threads) {
    if constexpr (otherNodes<Plan> != 0)
      awaitAll(k, countAt(k, self, other, 0), ranks, other);
    const Received received = awaitReceived(k, other, self);
    storeNumber(counts, counts.received, other, rowsWithRoom(received.begin, received.rows, room));
    storeNumber(counts, counts.received_offsets, other, received.begin < room ? received.begin : room);
    storeNumber(counts, counts.sent_offsets, other, sentTo(k, other).begin);
    if (counts.status == nullptr)
      continue;
    uint32_t status = received.isCut ? MSCCLC_COUNTS_CUT : 0;
    if (other == self && allReceived(k, self) > room)
      status |= MSCCLC_RECEIVED_CUT;
    counts.status[other] = status;
  }
}

} // namespace mscclc::device::detail
