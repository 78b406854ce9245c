// Rows for experts, for Plans with `experts` of them on each rank (MscclcIndex). A kernel moves padded slots. Here a
// rank packs rows into the slots of its input before it sends anything, and unpacks the slots of its output when all
// work of the rank is done: by its index on one side, and by the cells of its experts on the other side.
//
// Cell (s, e) of a rank is what rank s sends to its expert e. An entry has an ordinal: how many entries before it name
// the same expert. It is live if that is below the capacity of a cell. A slot has the cells of its sender one behind
// the other, and an entry's row is in its cell at the entry's ordinal. So the places of rows follow from the index
// alone, and no two rows have the same place (ExpertCells in ir/rows.h).
//
// A Plan with `oncePerRank` has each row at most once in a slot. It is the row of the first live entry for that rank:
// the cells of a slot hold the rows of such entries alone. At the end of a row in a slot is a list with a number for
// each entry of the row: capacity * expert + ordinal, or `nobody` if the entry is not live or its expert is elsewhere.
// The receiver copies the row to each place of its list.
//
// Each rank sends the owners of experts how often it names them, in packets of the table of counts. Whoever needs cells
// polls these. The two halves of a table are safe for the same reason as those of counts. Over nodes, packets go to the
// rank of the sender's node that has the owner's place, which puts those of all ranks of the node to the owner at once.
// An owner that needs no cells polls those that ports bring to it before it ends.
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
  const uint32_t entries, capacity; ///< of a cell, in rows
  // In MscclcIndex::work. The arrays of cells have [rank][expert].
  uint32_t *const ordinals; ///< of each entry
  uint32_t *const named;    ///< how often the index names each expert of all ranks
  uint32_t *const packed;   ///< where the rows for each of these begin in their slot
  uint32_t *const lengths;  ///< rows of each cell of this rank; while oncePerRank packs: rows placed in those of slots
  uint32_t *const inSlot;   ///< where it begins in its slot
  uint32_t *const sent;     ///< rows for each rank
  uint32_t *const inPart;   ///< [part][expert of all ranks]: how often a part of the index names the expert
  uint32_t *const placed;   ///< of each entry: its row's ordinal in the cell of the slot; `nobody`: it has none there

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
  /// Returns the expert of an entry, among those of all ranks.
  MSCCLC_DEVICE uint32_t expertOf(uint32_t entry) const {
    const MscclcIndex &index = args.index;
    const int64_t expert = index.width == 8 ? static_cast<const int64_t *>(index.entries)[entry]
                                            : static_cast<const int32_t *>(index.entries)[entry];
    return expert >= 0 && expert < cells ? static_cast<uint32_t>(expert) : nobody;
  }
  MSCCLC_DEVICE bool isLive(uint32_t entry) const { return ordinals[entry] < capacity; }
  /// True if the row of an entry has a place in a slot because of this entry.
  MSCCLC_DEVICE bool isPlaced(uint32_t entry) const { return placed[entry] < capacity; }
  /// True if an entry is live, and no live entry of its row before it is for the same rank.
  MSCCLC_DEVICE bool isFirst(uint32_t entry) const {
    if (!isLive(entry))
      return false;
    const uint32_t to = expertOf(entry) / experts;
    for (uint32_t before = entry / args.index.choices * args.index.choices; before < entry; ++before)
      if (isLive(before) && expertOf(before) / experts == to)
        return false;
    return true;
  }
  /// Returns the list of a row of a slot that begins at `row`.
  template <class Byte> MSCCLC_DEVICE Byte *listOf(Byte *row) const {
    return row + args.row_bytes - 4 * args.index.choices;
  }
  /// Returns the byte of an input or output at which the row of an entry lies that isPlaced.
  MSCCLC_DEVICE uint64_t placeOf(uint32_t entry) const {
    const uint32_t expert = expertOf(entry);
    return (expert / experts * parameters.capacity + packed[expert] + placed[entry]) * args.row_bytes;
  }
  /// Returns the packet of cell (src, expert) in the table of a rank, in the half of this launch.
  MSCCLC_DEVICE char *packetAt(uint32_t of, uint32_t src, uint32_t expert) const {
    const auto half = static_cast<uint32_t>(launch % 2);
    return static_cast<char *>(parameters.tables[of]) + MSCCLC_COUNT_TABLE_BYTES(ranks) +
           ((half * ranks + src) * experts + expert) * uint64_t{16};
  }
  /// Returns the packet in which rank `of` finds what `src`, of its node, sends to expert `expert` of the rank in its
  /// place of node `node`. There it passes it on.
  MSCCLC_DEVICE char *passedOn(uint32_t of, uint32_t node, uint32_t src, uint32_t expert) const {
    return packetAt(of, node * ranksPerNode<Plan> + src % ranksPerNode<Plan>, expert) +
           MSCCLC_EXPERT_TABLE_BYTES(ranks, experts);
  }
};

/// Waits until all blocks of the rank have come here. All launches have the same blocks. `operation`: see
/// MSCCLC_WAIT_STAGING.
MSCCLC_DEVICE void meetAll(const MscclcRankArgs &args, uint32_t operation) {
  meetForStaging(args, operation, 1);
  syncBlock();
}

/// Calls take(entry) for each entry of part `part` of `parts` that names `expert`, in their order.
template <class W, class Take>
MSCCLC_DEVICE void forEntries(const W &w, uint32_t expert, uint32_t part, uint32_t parts, const Take &take) {
  constexpr uint32_t together = 8; // loads in flight
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

/// Numbers the entries of each expert for which counts(entry) is true: the k-th one gets ordinals[entry] = k. All other
/// entries get `nobody`. Sets `named` [expert] to the number of entries that count. A thread numbers the entries of one
/// expert in one part of the index, in their order. If there are several parts, the entries of each part are counted
/// first.
template <class W, class Counts>
MSCCLC_DEVICE void countEntries(const W &w, uint32_t *ordinals, uint32_t *named, const Counts &counts) {
  constexpr uint32_t shortest = 32; // to load so many takes about as long as blocks take to meet
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

/// Finds where the rows for each expert begin in their slot, and sends their numbers to its rank. `placed`: how many
/// rows have a place in a cell of a slot.
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
      if (firstOfNode<Plan>(i) != first) // node i / together, and rank first + i % together as the sender
        awaitAll(w, w.passedOn(self, i / together, i, 0), W::experts, first + i % together);
    sendToNodes(
        w, [&](uint32_t node) { return w.passedOn(self, node, 0, 0); }, w.packetAt(self, first, 0),
        uint64_t{16} * together * W::experts);
  }
}

/// Waits for all cells of the rank, and finds where they begin. One thread does it for each sender.
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

/// Finds where the cells begin that a combine brings. Those that are too large are limited.
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

/// Waits for all cells that ports bring to the rank.
template <class W> MSCCLC_DEVICE void awaitOtherNodes(const W &w) {
  using Plan = typename W::Plan;
  const auto self = static_cast<uint32_t>(w.rank);
  for (uint32_t src = w.lane(); src < W::ranks; src += w.lanes())
    if (firstOfNode<Plan>(src) != firstOfNode<Plan>(self))
      awaitAll(w, w.packetAt(self, src, 0), W::experts, src);
}

/// Copies `bytes` bytes of a row. The threads of a block share them. No device has room for rows of 16 GiB, so words
/// are counted in 32 bits.
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

/// Calls use(payload, byte of a row in a slot at which it begins) for each payload.
template <class W, class Use> MSCCLC_DEVICE void forPayloads(const W &w, Use use) {
  uint64_t begin = 0;
  for (const MscclcPayload &payload : w.args.index.payloads) {
    if (payload.bytes == 0)
      return;
    use(payload, begin);
    begin += payload.bytes;
  }
}

/// The cells of a rank are divided into groups of equal size (MscclcIndex).
template <class Plan> constexpr uint32_t groupsOf = Plan::isExpertMajor ? Plan::experts : Plan::ranks;
template <class Plan> constexpr uint32_t membersOf = Plan::ranks * Plan::experts / groupsOf<Plan>;

/// Returns member `member` of group `group` of the cells of a rank.
template <class Plan> MSCCLC_DEVICE uint32_t memberAt(uint32_t group, uint32_t member) {
  return Plan::isExpertMajor ? member * Plan::experts + group : group * Plan::experts + member;
}

/// Returns the live rows of a group, if rows are handed over by blocks; else 0, which nobody reads.
template <class Plan, class W> MSCCLC_DEVICE uint32_t liveOf(const W &w, uint32_t group) {
  uint32_t rows = 0;
  for (uint32_t member = 0; ReadyRows<Plan>::value != 0 && member < membersOf<Plan>; ++member)
    rows += w.lengths[memberAt<Plan>(group, member)];
  return rows;
}

/// The blocks of rows of a group that are handed over (MscclcIndex::ready). A block of threads visits the rows that it
/// copies in their order. toSlots: it waits until the user has announced the block of the row. Else it counts the rows
/// that it has copied; the last one who does announces the block. Without words there is nothing to do.
template <bool toSlots, class W> struct HandedOver {
  static constexpr uint32_t rows = ReadyRows<typename W::Plan>::value;
  const W &w;
  uint32_t first; ///< number of the group's first block, among those of all groups
  uint32_t live;  ///< rows of the group
  uint32_t at = W::nobody, copied = 0;

  MSCCLC_DEVICE static uint32_t perGroup(const W &w) {
    return (membersOf<typename W::Plan> * w.capacity + rows - 1) / rows;
  }
  MSCCLC_DEVICE HandedOver(const W &work, uint32_t group, uint32_t rowsOfGroup) : w(work), first(0), live(rowsOfGroup) {
    if constexpr (rows != 0)
      first = group * perGroup(w);
  }
  /// Before row `row` of the group is copied.
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
  /// After the last row of a block of rows.
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
  /// After the last row of the group: announces blocks without rows. The threads of the rank share them.
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
  /// Calls use(number) for the blocks of all groups. The threads of the rank share them.
  template <class Use> MSCCLC_DEVICE static void forAll(const W &w, Use use) {
    if constexpr (rows != 0)
      for (uint32_t i = w.lane(); i < groupsOf<typename W::Plan> * perGroup(w); i += w.lanes())
        use(i);
  }
};

/// Copies the rows of a cell from its slot to row `place` of the layout of experts, or back. Blocks take turns at rows.
/// `first`: the first row of this block's, less than the number of blocks. `before`: rows of the group before the cell.
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

/// Returns the rows of a buffer of experts that a group of `rows` rows takes (ExpertPlaces in ir/expert_places.h).
/// `most`: those of a full group.
MSCCLC_DEVICE uint32_t takenBy(uint32_t rows, uint32_t most, uint32_t align) {
  if (align == 0)
    return most;
  return rows == 0 && align != 1 ? align : (rows + align - 1) / align * align;
}

/// Copies the rows of all cells from slots to the layout of experts, or back. It visits cells in the order of places,
/// so the place of a cell is the sum of the rows before it.
template <bool toSlots, class W> MSCCLC_DEVICE void copyCells(const W &w, char *slots) {
  using Plan = typename W::Plan;
  constexpr uint32_t members = membersOf<Plan>;
  uint32_t first = w.block; // another row in each cell, as most cells have fewer rows than there are blocks
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

/// Copies the rows of all entries that have places in slots there, with their lists.
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
/// each slot. The rank has finished sending, so nothing reads its own counts any more. 32 bits are enough for a row.
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

/// Copies each row of the slots to the places of its list. Blocks take turns at rows.
template <class W> MSCCLC_DEVICE void copyListed(const W &w, const char *slots) {
  using Plan = typename W::Plan;
  uint32_t first = w.block; // another row in each slot, as in copyCells
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

/// Sets `words` words of a row of sums. A word is an element, or 16 bytes of them.
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

/// Sets the rows of a combine's result. Each block takes some of them.
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

/// Packs the rows of the rank, and begins its launch, as stageInput does.
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
  if (loadRelaxed(&w.args.staging_state[1]) == 0) { // else places may be wrong
    if constexpr (ExpertsOf<Plan>::value == Experts::Combine)
      copyCells<true>(w, slots);
    else
      copyEntries(w, slots);
  }
  using Blocks = HandedOver<ExpertsOf<Plan>::value == Experts::Combine, IndexWork<Plan>>;
  if constexpr (ExpertsOf<Plan>::value == Experts::Combine)
    Blocks::forAll(w, [&](uint32_t block) { Blocks::awaitBlock(w, block); }); // also those without live rows
  meetForStaging(w.args, 0, 1);
  if (w.thread == 0)
    launchBegins(w.args.rank, launch);
  syncBlock();
  if constexpr (ExpertsOf<Plan>::value == Experts::Combine) // no block waits for these words any more
    Blocks::forAll(w, [&](uint32_t block) { *ready::wordOf(w.args.index.ready, block) = 0; });
  fenceSystem();
}

/// Unpacks what has come to the rank. If a wait gave up, nothing is written but `status`, which may be incomplete.
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
    if constexpr (ExpertsOf<Plan>::value == Experts::Dispatch) // so that no user waits for ever
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
