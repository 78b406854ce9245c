// Rows for experts, for Plans with `experts` experts on each rank (MscclcIndex). The operations of the kernel move
// padded slots. The functions here pack rows into the slots of a rank's input before the rank sends anything. They
// unpack the slots of its output when all work of the rank is done. A dispatch packs by the rank's index, and unpacks
// by the cells of the rank. A combine packs by the cells, and unpacks by the index.
//
// Cell (s, e) of a rank holds the rows that rank s sends to expert e of this rank. The ordinal of an entry is the
// number of entries before it that name the same expert. An entry is live if its ordinal is below the capacity of a
// cell. A slot holds the cells for one sender and one receiver, one after the other. Within a cell, the row of an entry
// is at the entry's ordinal. So the places of rows follow from the index alone, and no two rows have the same place
// (ExpertCells in ir/rows.h).
//
// In a Plan with `oncePerRank`, a slot holds each row at most once. A row may have several live entries that name
// experts of the receiver; only the first of these entries has the row in its cell. Behind its payloads, a row in a
// slot has a list with one number for each entry of the row: capacity * expert + ordinal, or `nobody` if the entry is
// not live or its expert is on another rank. The receiver copies the row to each place in the list.
//
// Each rank sends the length of each cell to the rank that has the expert, in a packet of the table of counts. A rank
// that needs its cells polls these packets. Launches use the two halves of the table in turn. This is safe for the same
// reason as for counts (counts.cuh). For a receiver in another node, a rank sends the packet to a rank of its own node:
// the one whose place in this node is the receiver's place in the other node. That rank collects such packets from all
// ranks of its node, and puts them to the receiver at once. A receiver that needs no cells still polls the packets that
// ports bring, before it ends.
#pragma once

namespace mscclc::device::detail {

/// The state of a thread that packs or unpacks.
template <class PlanT> struct IndexWork {
  using Plan = PlanT;
  static constexpr uint32_t ranks = Plan::ranks, experts = Plan::experts, cells = ranks * experts;
  static constexpr uint32_t nobody = 0xffffffff;

  const Parameters<Plan> &parameters;
  const MscclcRankArgs &args;
  const int rank;
  const unsigned block, thread, threads;
  const uint64_t launch;
  const uint32_t flag;
  const uint32_t entries, capacity; ///< `capacity`: number of rows that a cell has room for
  // Arrays in MscclcIndex::work. Arrays of cells are indexed by [rank][expert].
  uint32_t *const ordinals; ///< [entry]: the ordinal of the entry
  uint32_t *const named;    ///< [rank][expert]: how often the index names the expert
  uint32_t *const packed;   ///< [rank][expert]: the row of the slot at which the rows for the expert begin
  uint32_t *const lengths;  ///< rows of each cell; while `oncePerRank` packs: rows placed in each cell of slots
  uint32_t *const inSlot;   ///< where each cell begins in its slot; after placeCells(): in the layout of experts
  uint32_t *const sent;     ///< [rank]: number of rows in the slot for the rank; after placeCells(): from the rank
  uint32_t *const inPart;   ///< [part][expert of all ranks]: how often a part of the index names the expert
  uint32_t *const placed;   ///< [entry]: the ordinal of its row in the cell of the slot; `nobody`: the row is not there

  MSCCLC_DEVICE IndexWork(const Parameters<Plan> &p, uint64_t before)
      : parameters(p), args(p.args), rank(static_cast<int>(p.args.rank)), block(blockId()), thread(threadId()),
        threads(threadCount()), launch(before), flag(packetFlag(before)),
        entries(static_cast<uint32_t>(args.index.rows * args.index.choices)),
        capacity(static_cast<uint32_t>(p.capacity / experts)), ordinals(static_cast<uint32_t *>(args.index.work)),
        named(ordinals + entries), packed(named + cells), lengths(packed + cells), inSlot(lengths + cells),
        sent(inSlot + cells), inPart(sent + ranks),
        placed(OncePerRank<Plan>::value ? inPart + MSCCLC_INDEX_PARTS * cells : ordinals) {}

  MSCCLC_DEVICE uint32_t lane() const { return block * threads + thread; }
  MSCCLC_DEVICE uint32_t lanes() const { return blockCount() * threads; }
  MSCCLC_DEVICE uint32_t live(uint32_t count) const { return count < capacity ? count : capacity; }
  /// Returns the expert that an entry names, as a number among the experts of all ranks; `nobody` if it names none.
  MSCCLC_DEVICE uint32_t expertOf(uint32_t entry) const {
    const MscclcIndex &index = args.index;
    const int64_t expert = index.width == 8 ? static_cast<const int64_t *>(index.entries)[entry]
                                            : static_cast<const int32_t *>(index.entries)[entry];
    return expert >= 0 && expert < cells ? static_cast<uint32_t>(expert) : nobody;
  }
  MSCCLC_DEVICE bool isLive(uint32_t entry) const { return ordinals[entry] < capacity; }
  /// True if entry `entry` gives its row a place in a slot.
  MSCCLC_DEVICE bool isPlaced(uint32_t entry) const { return placed[entry] < capacity; }
  /// True if an entry is live, and is the first live entry of its row that names an expert of its rank.
  MSCCLC_DEVICE bool isFirst(uint32_t entry) const {
    if (!isLive(entry))
      return false;
    const uint32_t to = expertOf(entry) / experts;
    for (uint32_t before = entry / args.index.choices * args.index.choices; before < entry; ++before)
      if (isLive(before) && expertOf(before) / experts == to)
        return false;
    return true;
  }
  /// Returns the list at the end of the row at `row`, which is a row of a slot.
  template <class Byte> MSCCLC_DEVICE Byte *listOf(Byte *row) const {
    return row + args.row_bytes - 4 * args.index.choices;
  }
  /// Returns the byte of an input or output at which the row of an entry begins. isPlaced() must be true for the entry.
  MSCCLC_DEVICE uint64_t placeOf(uint32_t entry) const {
    const uint32_t expert = expertOf(entry);
    return (expert / experts * parameters.capacity + packed[expert] + placed[entry]) * args.row_bytes;
  }
  /// Returns the packet of cell (`src`, `expert`) in the table of rank `of`, in the half for this launch.
  MSCCLC_DEVICE char *packetAt(uint32_t of, uint32_t src, uint32_t expert) const {
    const auto half = static_cast<uint32_t>(launch % 2);
    return static_cast<char *>(parameters.tables[of]) + MSCCLC_COUNT_TABLE_BYTES(ranks) +
           ((half * ranks + src) * experts + expert) * uint64_t{16};
  }
  /// Returns the packet for a cell that rank `of` passes on to node `node`. The receiver is the rank of that node with
  /// the same place in its node as rank `of`. The cell holds the rows that rank `src` sends to expert `expert` of the
  /// receiver. Rank `src` is in the node of rank `of`.
  MSCCLC_DEVICE char *passedOn(uint32_t of, uint32_t node, uint32_t src, uint32_t expert) const {
    return packetAt(of, node * ranksPerNode<Plan> + src % ranksPerNode<Plan>, expert) +
           MSCCLC_EXPERT_TABLE_BYTES(ranks, experts);
  }
};

/// Waits until all blocks of the rank have called this. All launches must have the same blocks. `operation`: see
/// MSCCLC_WAIT_STAGING.
MSCCLC_DEVICE void meetAll(const MscclcRankArgs &args, uint32_t operation) {
  meetForStaging(args, operation, 1);
  syncBlock();
}

/// Divides the index into `parts` parts. Calls take(entry) for each entry of part `part` that names `expert`, in their
/// order.
template <class W, class Take>
MSCCLC_DEVICE void forEntries(const W &w, uint32_t expert, uint32_t part, uint32_t parts, const Take &take) {
  constexpr uint32_t together = 8; // number of loads in flight
  const uint32_t each = w.entries / parts, longer = w.entries % parts;
  const auto begin = [&](uint32_t i) { return i * each + (i < longer ? i : longer); };
  for (uint32_t first = begin(part), end = begin(part + 1); first < end; first += together) {
    uint32_t named[together];
    MSCCLC_UNROLL
    for (uint32_t i = 0; i < together; ++i)
      named[i] = first + i < end ? w.expertOf(first + i) : W::nobody;
    MSCCLC_UNROLL
    for (uint32_t i = 0; i < together; ++i)
      if (named[i] == expert)
        take(first + i);
  }
}

/// Numbers the entries of each expert for which counts(entry) is true: for the k-th of them, ordinals[entry] becomes k.
/// All other entries get `nobody`. Sets named[expert] to the number of entries that got a number. A thread numbers the
/// entries of one expert in one part of the index, in their order. If there are several parts, threads first count the
/// entries of each part.
template <class W, class Counts>
MSCCLC_DEVICE void countEntries(const W &w, uint32_t *ordinals, uint32_t *named, const Counts &counts) {
  constexpr uint32_t shortest = 32; // loads of so many entries take about as long as a meeting of the blocks
  uint32_t parts = w.lanes() / W::cells, most = w.entries / shortest;
  most = most < MSCCLC_INDEX_PARTS ? most : MSCCLC_INDEX_PARTS;
  parts = parts < most ? parts : most;
  parts = parts < 2 ? 1 : parts;
  if (parts > 1) {
    for (uint32_t i = w.lane(); i < parts * W::cells; i += w.lanes()) {
      uint32_t count = 0;
      forEntries(w, i % W::cells, i / W::cells, parts, [&](uint32_t entry) { count += counts(entry) ? 1 : 0; });
      w.inPart[i] = count;
    }
    meetAll(w.args, 0);
  }
  for (uint32_t i = w.lane(); i < parts * W::cells; i += w.lanes()) {
    const uint32_t expert = i % W::cells, part = i / W::cells;
    uint32_t seen = 0;
    for (uint32_t before = 0; before < part; ++before)
      seen += w.inPart[before * W::cells + expert];
    forEntries(w, expert, part, parts, [&](uint32_t entry) { ordinals[entry] = counts(entry) ? seen++ : W::nobody; });
    if (part + 1 == parts)
      named[expert] = seen;
  }
  for (uint32_t entry = w.lane(); entry < w.entries; entry += w.lanes())
    if (w.expertOf(entry) == W::nobody)
      ordinals[entry] = W::nobody;
}

/// Computes where the rows for each expert begin in their slot. Sends the lengths of the cells to the ranks of their
/// experts. `placed`: the number of rows with a place in each cell of slots.
template <class W> MSCCLC_DEVICE void sendCells(const W &w, const uint32_t *placed) {
  for (uint32_t dst = w.lane(); dst < W::ranks; dst += w.lanes()) {
    uint32_t rows = 0;
    for (uint32_t cell = dst * W::experts; cell < (dst + 1) * W::experts; ++cell) {
      w.packed[cell] = rows;
      rows += w.live(placed[cell]);
    }
    if (ExpertsOf<typename W::Plan>::value == Experts::Dispatch)
      w.sent[dst] = rows;
  }
  if (w.block != 0)
    return;
  using Plan = typename W::Plan;
  constexpr uint32_t together = ranksPerNode<Plan>;
  const auto self = static_cast<uint32_t>(w.rank);
  const uint32_t first = firstOfNode<Plan>(self);
  bool isCut = false;
  for (uint32_t cell = 0; cell < W::cells; ++cell)
    isCut |= w.named[cell] > w.capacity;
  for (uint32_t cell = w.thread; cell < W::cells; cell += w.threads) {
    const Vec8 packet{{w.live(w.named[cell]) | (isCut ? countsAreCut : 0), 0}};
    const uint32_t owner = cell / W::experts, expert = cell % W::experts;
    storePacket16(firstOfNode<Plan>(owner) == first
                      ? w.packetAt(owner, self, expert)
                      : w.passedOn(first + owner % together, owner / together, self, expert),
                  packet, w.flag);
  }
  if constexpr (otherNodes<Plan> != 0) {
    for (uint32_t i = w.thread; i < W::ranks; i += w.threads)
      if (firstOfNode<Plan>(i) != first) // `i` means node i / together, and the sender first + i % together
        awaitAll(w, w.passedOn(self, i / together, i, 0), W::experts, first + i % together);
    sendToNodes(
        w, [&](uint32_t node) { return w.passedOn(self, node, 0, 0); }, w.packetAt(self, first, 0),
        uint64_t{16} * together * W::experts);
  }
}

/// Waits for the lengths of all cells of the rank, and computes where the cells begin. One thread handles each sender.
template <class W> MSCCLC_DEVICE void receiveCells(const W &w) {
  using Plan = typename W::Plan;
  const auto self = static_cast<uint32_t>(w.rank);
  for (uint32_t src = w.lane(); src < W::ranks; src += w.lanes()) {
    uint32_t rows = 0;
    bool isCut = false;
    for (uint32_t first = 0; first < W::experts; first += countsTogether) {
      const uint32_t left = W::experts - first;
      awaitPackets<WholeCount, countsTogether>(w, w.packetAt(self, src, first), 16,
                                               left < countsTogether ? left : countsTogether,
                                               {MSCCLC_WAIT_COUNT, 0, src, self, 1}, [&](uint32_t i, const Sent &cell) {
                                                 const uint32_t at = src * W::experts + first + i;
                                                 w.lengths[at] = w.live(cell.rows);
                                                 w.inSlot[at] = rows;
                                                 rows += w.live(cell.rows);
                                                 isCut = cell.isCut;
                                               });
    }
    if (ExpertsOf<Plan>::value == Experts::Combine)
      w.sent[src] = rows;
    if (w.args.index.status != nullptr)
      w.args.index.status[src] = isCut ? MSCCLC_COUNTS_CUT : 0;
  }
}

/// Computes where the cells of a combine begin. The combine was given their lengths (MscclcIndex::cells). Lengths above
/// the capacity are limited to it.
template <class W> MSCCLC_DEVICE void takeCells(const W &w) {
  for (uint32_t src = w.lane(); src < W::ranks; src += w.lanes()) {
    uint32_t rows = 0;
    for (uint32_t cell = src * W::experts; cell < (src + 1) * W::experts; ++cell) {
      w.lengths[cell] = w.live(w.args.index.cells[cell]);
      w.inSlot[cell] = rows;
      rows += w.lengths[cell];
    }
    w.sent[src] = rows;
  }
}

/// Waits for the lengths of all cells that ports bring to the rank.
template <class W> MSCCLC_DEVICE void awaitOtherNodes(const W &w) {
  using Plan = typename W::Plan;
  const auto self = static_cast<uint32_t>(w.rank);
  for (uint32_t src = w.lane(); src < W::ranks; src += w.lanes())
    if (firstOfNode<Plan>(src) != firstOfNode<Plan>(self))
      awaitAll(w, w.packetAt(self, src, 0), W::experts, src);
}

/// Copies `bytes` bytes of a row. The threads of a block share the work. No device has room for rows of 16 GiB, so
/// words are counted in 32 bits.
template <class W> MSCCLC_DEVICE void copyRow(const W &w, char *to, const char *from, uint64_t bytes) {
  constexpr unsigned inFlight = loadsInFlight<typename W::Plan>;
  const uint64_t bits = reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from) | bytes;
  if (bits % 16 == 0)
    stageWords<inFlight, Vec16>(to, from, w.thread, static_cast<unsigned>(bytes / 16), w.threads, Unchanged{});
  else if (bits % 4 == 0)
    stageWords<inFlight, uint32_t>(to, from, w.thread, static_cast<unsigned>(bytes / 4), w.threads, Unchanged{});
  else
    stageWords<inFlight, uint8_t>(to, from, uint64_t{w.thread}, bytes, uint64_t{w.threads}, Unchanged{});
}

/// Calls use(payload, begin) for each payload. `begin` is the byte at which the payload begins in a row of a slot.
template <class W, class Use> MSCCLC_DEVICE void forPayloads(const W &w, Use use) {
  uint64_t begin = 0;
  for (const MscclcPayload &payload : w.args.index.payloads) {
    if (payload.bytes == 0)
      return;
    use(payload, begin);
    begin += payload.bytes;
  }
}

/// The number of groups into which the cells of a rank are divided, and the number of cells in each group
/// (MscclcIndex).
template <class Plan> constexpr uint32_t groupsOf = Plan::isExpertMajor ? Plan::experts : Plan::ranks;
template <class Plan> constexpr uint32_t membersOf = Plan::ranks * Plan::experts / groupsOf<Plan>;

/// Returns the cell that is member `member` of group `group`.
template <class Plan> MSCCLC_DEVICE uint32_t memberAt(uint32_t group, uint32_t member) {
  return Plan::isExpertMajor ? member * Plan::experts + group : group * Plan::experts + member;
}

/// Returns the number of live rows of a group if rows are handed over by blocks. Otherwise returns 0, and the result is
/// not used.
template <class Plan, class W> MSCCLC_DEVICE uint32_t liveOf(const W &w, uint32_t group) {
  uint32_t rows = 0;
  for (uint32_t member = 0; ReadyRows<Plan>::value != 0 && member < membersOf<Plan>; ++member)
    rows += w.lengths[memberAt<Plan>(group, member)];
  return rows;
}

/// Hands over the rows of a group by blocks of rows (MscclcIndex::ready). Each block of threads visits the rows that it
/// copies in their order. If `toSlots`, it waits before each row until the user has announced the row's block.
/// Otherwise it counts the rows that it has copied. The block of threads that counts the last row of a block of rows
/// announces that block. If the Plan has no `readyRows`, the functions do nothing.
template <bool toSlots, class W> struct HandedOver {
  static constexpr uint32_t rows = ReadyRows<typename W::Plan>::value;
  const W &w;
  uint32_t first; ///< number of the group's first block of rows, among those of all groups
  uint32_t live;  ///< number of live rows of the group
  uint32_t at = W::nobody, copied = 0;

  MSCCLC_DEVICE static uint32_t perGroup(const W &w) {
    return (membersOf<typename W::Plan> * w.capacity + rows - 1) / rows;
  }
  MSCCLC_DEVICE HandedOver(const W &work, uint32_t group, uint32_t rowsOfGroup) : w(work), first(0), live(rowsOfGroup) {
    if constexpr (rows != 0)
      first = group * perGroup(w);
  }
  /// Must be called before row `row` of the group is copied.
  MSCCLC_DEVICE void take([[maybe_unused]] uint32_t row) {
    if constexpr (rows != 0) {
      if (row / rows != at) {
        leave();
        at = row / rows;
        if (toSlots) {
          if (w.thread == 0)
            awaitBlock(w, first + at);
          syncBlock();
        }
      }
      ++copied;
    }
  }
  /// Counts the rows that were copied since the last call. All of them are of one block of rows.
  MSCCLC_DEVICE void leave() {
    if constexpr (rows != 0 && !toSlots) {
      if (copied == 0)
        return;
      syncBlock();
      const uint32_t behind = live - at * rows;
      if (w.thread == 0)
        ready::announce(w.args.index.ready, first + at, copied, behind < rows ? behind : rows);
      copied = 0;
    }
  }
  /// Must be called after the last row of the group. Announces blocks without live rows, too. The threads of the rank
  /// share these blocks.
  MSCCLC_DEVICE void end() {
    leave();
    if constexpr (rows != 0 && !toSlots)
      for (uint32_t i = (live + rows - 1) / rows + w.lane(); i < perGroup(w); i += w.lanes())
        ready::announce(w.args.index.ready, first + i, 0, 0);
  }

  MSCCLC_DEVICE static void awaitBlock(const W &w, uint32_t block) {
    const uint32_t *const word = ready::wordOf(w.args.index.ready, block);
    spin(w.args, {MSCCLC_WAIT_READY, 0, MSCCLC_UNPAIRED, block, 0}, [&](uint64_t &seen) {
      uint32_t value = 0;
      const bool isSet = ready::isSet(word, value);
      seen = value;
      return isSet;
    });
  }
  /// Calls use(number) for each block of rows of all groups. The threads of the rank share the calls.
  template <class Use> MSCCLC_DEVICE static void forAll(const W &w, Use use) {
    if constexpr (rows != 0)
      for (uint32_t i = w.lane(); i < groupsOf<typename W::Plan> * perGroup(w); i += w.lanes())
        use(i);
  }
};

/// Copies the rows of a cell from its slot to the layout of experts, from row `place` on, or back if `toSlots`. Blocks
/// take turns at rows. `first`: the first row that this block copies, which is less than the number of blocks.
/// `before`: the number of rows of the group before the cell.
template <bool toSlots, class W>
MSCCLC_DEVICE void copyCell(const W &w, HandedOver<toSlots, W> &blocks, char *slots, uint32_t cell, uint32_t first,
                            uint32_t before, uint32_t place) {
  const uint32_t slot = paddedPlace(w, cell / W::experts) + w.inSlot[cell];
  for (uint32_t row = first; row < w.lengths[cell]; row += blockCount()) {
    blocks.take(before + row);
    forPayloads(w, [&](const MscclcPayload &payload, uint64_t begin) {
      char *const inSlot = slots + (slot + row) * w.args.row_bytes + begin;
      const uint64_t at = (place + row) * payload.bytes;
      if (toSlots)
        copyRow(w, inSlot, static_cast<const char *>(payload.from) + at, payload.bytes);
      else
        copyRow(w, static_cast<char *>(payload.to) + at, inSlot, payload.bytes);
    });
  }
}

/// Returns how many rows of the layout of experts a group of `rows` rows takes (ExpertPlaces in ir/expert_places.h).
/// `most`: the number of rows in a full group.
MSCCLC_DEVICE uint32_t takenBy(uint32_t rows, uint32_t most, uint32_t align) {
  if (align == 0)
    return most;
  return rows == 0 && align != 1 ? align : (rows + align - 1) / align * align;
}

/// Copies the rows of all cells from slots to the layout of experts, or back if `toSlots`. It visits cells in the order
/// of that layout, so the place of a cell is the sum of the rows before it.
template <bool toSlots, class W> MSCCLC_DEVICE void copyCells(const W &w, char *slots) {
  using Plan = typename W::Plan;
  constexpr uint32_t members = membersOf<Plan>;
  uint32_t first = w.block; // `first` changes with each cell, because most cells have fewer rows than there are blocks
  uint32_t begin = 0;
  for (uint32_t group = 0; group < groupsOf<Plan>; ++group) {
    HandedOver<toSlots, W> blocks(w, group, liveOf<Plan>(w, group));
    uint32_t rows = 0;
    for (uint32_t member = 0; member < members; ++member) {
      const uint32_t cell = memberAt<Plan>(group, member);
      copyCell(w, blocks, slots, cell, first, rows, begin + rows);
      first = first == 0 ? blockCount() - 1 : first - 1;
      rows += w.lengths[cell];
    }
    blocks.end();
    begin += takenBy(rows, members * w.capacity, w.args.index.align);
  }
}

/// Copies the rows of all placed entries to their places in the slots. With `oncePerRank`, also writes the list of each
/// row.
template <class W> MSCCLC_DEVICE void copyEntries(const W &w, char *slots) {
  const uint32_t choices = w.args.index.choices;
  for (uint32_t entry = w.block; entry < w.entries; entry += blockCount()) {
    if (!w.isPlaced(entry))
      continue;
    char *const place = slots + w.placeOf(entry);
    forPayloads(w, [&](const MscclcPayload &payload, uint64_t begin) {
      copyRow(w, place + begin, static_cast<const char *>(payload.from) + entry / choices * payload.bytes,
              payload.bytes);
    });
    if constexpr (OncePerRank<typename W::Plan>::value) {
      const uint32_t to = w.expertOf(entry) / W::experts, first = entry / choices * choices;
      for (uint32_t i = w.thread; i < choices; i += w.threads) {
        const uint32_t expert = w.expertOf(first + i);
        const bool isThere = w.isLive(first + i) && expert / W::experts == to;
        storeWord<uint32_t>(w.listOf(place), i,
                            isThere ? expert % W::experts * w.capacity + w.ordinals[first + i] : W::nobody);
      }
    }
  }
}

/// Writes to `inSlot` the row of the layout of experts at which each cell begins, and to `sent` the number of rows of
/// each slot. The rank has finished sending, so its own counts in `sent` are no longer needed. 32 bits are enough for
/// the number of a row.
template <class W> MSCCLC_DEVICE void placeCells(const W &w) {
  for (uint32_t src = w.lane(); src < W::ranks; src += w.lanes())
    w.sent[src] = awaitCount(w, src, static_cast<uint32_t>(w.rank)).rows;
  using Plan = typename W::Plan;
  constexpr uint32_t members = membersOf<Plan>;
  for (uint32_t own = w.lane(); own < groupsOf<Plan>; own += w.lanes()) {
    uint32_t begin = 0;
    for (uint32_t group = 0; group < own; ++group) {
      uint32_t rows = 0;
      for (uint32_t member = 0; member < members && w.args.index.align != 0; ++member)
        rows += w.lengths[memberAt<Plan>(group, member)];
      begin += takenBy(rows, members * w.capacity, w.args.index.align);
    }
    for (uint32_t member = 0; member < members; ++member) {
      const uint32_t cell = memberAt<Plan>(own, member);
      w.inSlot[cell] = begin;
      begin += w.lengths[cell];
    }
  }
}

/// Copies each row of the slots to the places in its list. Blocks take turns at rows.
template <class W> MSCCLC_DEVICE void copyListed(const W &w, const char *slots) {
  using Plan = typename W::Plan;
  uint32_t first = w.block; // `first` changes with each slot, as in copyCells()
  for (uint32_t src = 0; src < W::ranks; ++src) {
    for (uint32_t row = first; row < w.sent[src]; row += blockCount()) {
      const char *const inSlot = slots + (src * w.parameters.capacity + row) * w.args.row_bytes;
      for (uint32_t i = 0; i < w.args.index.choices; ++i) {
        const auto place = loadWord<uint32_t>(w.listOf(inSlot), i);
        if (place == W::nobody)
          continue;
        const uint32_t expert = place / w.capacity, group = Plan::isExpertMajor ? expert : src;
        const uint32_t to = w.inSlot[src * W::experts + expert] + place % w.capacity;
        const uint32_t firstCell = memberAt<Plan>(group, 0), lastCell = memberAt<Plan>(group, membersOf<Plan> - 1);
        HandedOver<false, W> blocks(w, group, w.inSlot[lastCell] + w.lengths[lastCell] - w.inSlot[firstCell]);
        blocks.take(to - w.inSlot[firstCell]);
        forPayloads(w, [&](const MscclcPayload &payload, uint64_t begin) {
          copyRow(w, static_cast<char *>(payload.to) + to * payload.bytes, inSlot + begin, payload.bytes);
        });
        blocks.leave();
      }
    }
    first = first == 0 ? blockCount() - 1 : first - 1;
  }
  for (uint32_t group = 0; group < groupsOf<Plan>; ++group)
    HandedOver<false, W>(w, group, liveOf<Plan>(w, group)).end();
}

/// Computes `words` words of row `row` of a combine's result. A word is one element, or 16 bytes of elements.
template <class T, class Word, class W>
MSCCLC_DEVICE void sumWords(const W &w, uint32_t row, char *to, const char *from, uint64_t words) {
  constexpr unsigned count = sizeof(Word) / sizeof(T);
  struct Elements {
    T e[count];
  };
  const uint32_t choices = w.args.index.choices;
  for (uint64_t i = w.thread; i < words; i += w.threads) {
    float sum[count] = {};
    for (uint32_t entry = row * choices; entry < (row + 1) * choices; ++entry) {
      if (!w.isLive(entry))
        continue;
      const float weight = w.args.index.weights[entry];
      const Elements elements = bitCast<Elements>(loadWord<Word>(from + w.placeOf(entry), i));
      float value[count];
      Number<T>::widen(elements.e, value);
      MSCCLC_UNROLL
      for (unsigned n = 0; n < count; ++n)
        sum[n] = add(sum[n], multiply(weight, value[n]));
    }
    Elements result;
    Number<T>::narrow(sum, result.e);
    storeWord<Word>(to, i, bitCast<Word>(result));
  }
}

/// Computes the rows of a combine's result. Each block takes some of the rows.
template <class T, class W> MSCCLC_DEVICE void sumEntries(const W &w, char *to, const char *from) {
  static_assert(std::is_same_v<typename Number<T>::Sum, float>, "a combine adds floats of at most 32 bits");
  const uint64_t bytes = w.args.row_bytes,
                 bits = reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from) | bytes;
  for (uint32_t row = w.block; row < w.args.index.rows; row += blockCount())
    if (bits % 16 == 0)
      sumWords<T, Vec16>(w, row, to + row * bytes, from, bytes / 16);
    else
      sumWords<T, T>(w, row, to + row * bytes, from, bytes / sizeof(T));
}

/// Packs the rows of the rank, and then begins its launch, as stageInput() does.
template <class Plan, class T> MSCCLC_DEVICE void packRows(const Parameters<Plan> &parameters, uint64_t launch) {
  const IndexWork<Plan> w(parameters, launch);
  char *const slots = static_cast<char *>(parameters.own.input);
  countEntries(w, w.ordinals, w.named, [](uint32_t) { return true; });
  meetAll(w.args, 0);
  if constexpr (OncePerRank<Plan>::value) {
    countEntries(w, w.placed, w.lengths, [&](uint32_t entry) { return w.isFirst(entry); });
    meetAll(w.args, 0);
    sendCells(w, w.lengths);
  } else {
    sendCells(w, w.named);
  }
  if constexpr (ExpertsOf<Plan>::value == Experts::Combine) {
    if (w.args.index.cells != nullptr)
      takeCells(w);
    else
      receiveCells(w);
  }
  meetAll(w.args, 0);
  if (loadRelaxed(&w.args.staging_state[1]) == 0) { // if a wait gave up, places may be wrong
    if constexpr (ExpertsOf<Plan>::value == Experts::Combine)
      copyCells<true>(w, slots);
    else
      copyEntries(w, slots);
  }
  using Blocks = HandedOver<ExpertsOf<Plan>::value == Experts::Combine, IndexWork<Plan>>;
  if constexpr (ExpertsOf<Plan>::value == Experts::Combine)
    Blocks::forAll(w, [&](uint32_t block) { Blocks::awaitBlock(w, block); }); // also blocks without live rows
  meetForStaging(w.args, 0, 1);
  if (w.thread == 0)
    launchBegins(w.args.rank, launch);
  syncBlock();
  if constexpr (ExpertsOf<Plan>::value == Experts::Combine) // no block waits for these words any more
    Blocks::forAll(w, [&](uint32_t block) { *ready::wordOf(w.args.index.ready, block) = 0; });
  fenceSystem();
}

/// Unpacks the rows that the rank has received. If a wait gave up, only `status` and the words of `ready` are written,
/// and `status` may be incomplete.
template <class Plan, class T> MSCCLC_DEVICE void unpackRows(const Parameters<Plan> &parameters, uint64_t launch) {
  const IndexWork<Plan> w(parameters, launch);
  char *const slots = static_cast<char *>(parameters.own.output);
  if constexpr (ExpertsOf<Plan>::value == Experts::Dispatch)
    receiveCells(w);
  else if (otherNodes<Plan> != 0 && w.args.index.cells != nullptr)
    awaitOtherNodes(w);
  meetAll(w.args, 1);
  if constexpr (OncePerRank<Plan>::value) {
    placeCells(w);
    meetAll(w.args, 1);
  }
  if (loadRelaxed(&w.args.staging_state[1]) != 0) {
    if constexpr (ExpertsOf<Plan>::value == Experts::Dispatch) // so that no kernel of the user waits for ever
      HandedOver<false, IndexWork<Plan>>::forAll(
          w, [&](uint32_t block) { ready::announce(w.args.index.ready, block, 0, 0); });
    return;
  }
  if constexpr (ExpertsOf<Plan>::value == Experts::Combine) {
    sumEntries<T>(w, static_cast<char *>(w.args.index.payloads[0].to), slots);
  } else {
    for (uint32_t cell = w.lane(); w.args.index.cells != nullptr && cell < w.cells; cell += w.lanes())
      w.args.index.cells[cell] = w.lengths[cell];
    for (uint32_t expert = w.lane(); w.args.index.received != nullptr && expert < w.experts; expert += w.lanes()) {
      uint32_t rows = 0;
      for (uint32_t cell = expert; cell < w.cells; cell += w.experts)
        rows += w.lengths[cell];
      w.args.index.received[expert] = rows;
    }
    if constexpr (ReadyRows<Plan>::value != 0)
      meetAll(w.args, 1); // the first block of rows that is announced publishes these numbers
    if constexpr (OncePerRank<Plan>::value)
      copyListed(w, slots);
    else
      copyCells<false>(w, slots);
  }
}

} // namespace mscclc::device::detail
