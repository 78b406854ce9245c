#include "passes/simulate/experts.h"

#include "ir/collectives.h"
#include "ir/internal_error.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

namespace mscclc::passes::sim {

namespace {
constexpr std::byte unmade{0x7e}; ///< bytes of a row that has not been made yet
} // namespace

ExpertLaunch::ExpertLaunch(const ir::Program &program, std::uint64_t slotCapacity, const RowCounts &counts,
                           std::uint64_t seed, std::uint32_t launch)
    : cells_(ir::expertCellsOf(program)),
      isDispatch_(ir::indexedBuffer(program.collective.kind) == ir::BufferKind::Input),
      oncePerRank_(program.oncePerRank == ir::OncePerRank::On), capacity_(slotCapacity / cells_.experts),
      launch_(launch), payloads_(isDispatch_ ? 1 + static_cast<std::uint32_t>((seed + launch) % 3) : 1),
      align_(static_cast<std::uint32_t>((seed + launch) % 4)), readyRows_(program.readyRows), indices_(cells_.ranks) {
  constexpr std::int64_t beyond = 3; // counts exceed the capacity by at most this number
  const std::uint32_t all = cells_.count();
  for (std::uint32_t src = 0; src < cells_.ranks; ++src) {
    Index &index = indices_[src];
    std::mt19937_64 random((seed * 64 + launch) * cells_.ranks + src);
    for (std::uint32_t expert = 0; expert < all; ++expert) {
      const std::int64_t named = std::clamp<std::int64_t>(counts.of(seed, launch, all, src, expert, capacity_), 0,
                                                          static_cast<std::int64_t>(capacity_) + beyond);
      index.experts.insert(index.experts.end(), static_cast<std::size_t>(named), expert);
      index.counts.push_back(ir::rowCountOf(named, capacity_));
    }
    const std::int64_t none[] = {-1, -1, all, -1 - static_cast<std::int64_t>(random() % 1000), INT64_MAX, INT64_MIN};
    index.choices = 1 + static_cast<std::uint32_t>(random() % 4);
    for (std::uint64_t more = random() % 7; more != 0 || index.experts.size() % index.choices != 0;
         more -= more == 0 ? 0 : 1)
      index.experts.push_back(none[random() % std::size(none)]);
    std::ranges::shuffle(index.experts, random);
    std::vector<std::uint64_t> seen(all);
    for (const std::int64_t expert : index.experts) {
      index.weights.push_back(static_cast<float>(static_cast<double>(random()) / 0x1p63 - 1));
      index.ordinals.push_back(expert >= 0 && expert < all ? seen[static_cast<std::size_t>(expert)]++ : capacity_);
    }
    index.ordinalsInSlot = index.ordinals;
    index.countsInSlot = index.counts;
    if (oncePerRank_)
      keepFirstEntries(index);
  }
}

/// Gives places in slots only to the first live entry of each row for each rank.
void ExpertLaunch::keepFirstEntries(Index &index) const {
  index.countsInSlot.assign(cells_.count(), {});
  for (std::uint32_t entry = 0; entry < index.experts.size(); ++entry) {
    const auto expert = static_cast<std::uint32_t>(index.experts[entry]);
    bool isFirst = isLive(index, entry);
    for (std::uint32_t before = entry / index.choices * index.choices; before < entry && isFirst; ++before)
      isFirst = !goesTo(index, before, expert / cells_.experts);
    index.ordinalsInSlot[entry] = isFirst ? index.countsInSlot[expert].live++ : capacity_;
  }
}

bool ExpertLaunch::isLive(const Index &index, std::uint32_t entry) const {
  return index.ordinals[entry] < capacity_;
}

/// True if the entry is live, and its expert is on rank `dst`.
bool ExpertLaunch::goesTo(const Index &index, std::uint32_t entry, std::uint32_t dst) const {
  return isLive(index, entry) && static_cast<std::uint32_t>(index.experts[entry]) / cells_.experts == dst;
}

/// Returns how many rows `src` sends to each expert of `dst`. With `inSlot`, returns how many rows each expert's cell
/// of the slot holds.
std::span<const ir::RowCount> ExpertLaunch::countsOf(std::uint32_t src, std::uint32_t dst, bool inSlot) const {
  const Index &index = indices_[src];
  return std::span(inSlot ? index.countsInSlot : index.counts)
      .subspan(std::size_t{dst} * cells_.experts, cells_.experts);
}

std::uint64_t ExpertLaunch::sent(std::uint32_t src, std::uint32_t dst) const {
  std::uint64_t rows = 0;
  for (const ir::RowCount &count : isDispatch_ ? countsOf(src, dst, true) : countsOf(dst, src))
    rows += count.live;
  return rows;
}

/// Returns the row at which entry `entry` of `src` lies in the slot between `src` and the rank of its expert. The entry
/// must have a place there.
std::uint64_t ExpertLaunch::rowInSlot(std::uint32_t src, std::uint32_t entry) const {
  const auto expert = static_cast<std::uint32_t>(indices_[src].experts[entry]);
  const std::int64_t begin =
      cells_.beginInSlot(expert % cells_.experts).valueOf(capacity_, countsOf(src, expert / cells_.experts, true));
  return static_cast<std::uint64_t>(begin) + indices_[src].ordinalsInSlot[entry];
}

/// Returns the row at which each cell of `dst` begins.
std::vector<std::uint64_t> ExpertLaunch::begins(std::uint32_t dst) const {
  std::vector<ir::RowCount> counts(cells_.count());
  for (std::uint32_t src = 0; src < cells_.ranks; ++src)
    for (std::uint32_t expert = 0; expert < cells_.experts; ++expert)
      counts[cells_.number(src, expert)] = countsOf(src, dst)[expert];
  return places().begins(counts);
}

/// Calls `use(row, cell)` for each row that experts of `dst` get from `src` with oncePerRank. Finds the rows by the
/// list of each row in the slot, as a kernel does. The lists follow from the index. `begin` holds the first row of each
/// cell of `dst`.
template <typename Use>
void ExpertLaunch::forEachListed(std::uint32_t src, std::uint32_t dst, const std::vector<std::uint64_t> &begin,
                                 const Use &use) const {
  const Index &index = indices_[src];
  for (std::uint32_t first = 0; first < index.experts.size(); ++first) {
    if (!goesTo(index, first, dst) || index.ordinalsInSlot[first] >= capacity_)
      continue;
    for (std::uint32_t entry = first; entry < (first / index.choices + 1) * index.choices; ++entry) {
      if (!goesTo(index, entry, dst))
        continue;
      const auto expert = static_cast<std::uint32_t>(index.experts[entry]) % cells_.experts;
      const std::uint32_t cell = cells_.number(src, expert);
      use(Received{src, rowInSlot(src, first), begin[cell] + index.ordinals[entry]}, cell);
    }
  }
}

/// Calls `use(row, cell)` for each row that experts of `dst` get. `cell` is the number of the row's cell.
template <typename Use> void ExpertLaunch::forEachReceived(std::uint32_t dst, const Use &use) const {
  const std::vector<std::uint64_t> begin = begins(dst);
  if (oncePerRank_) {
    for (std::uint32_t src = 0; src < cells_.ranks; ++src)
      forEachListed(src, dst, begin, use);
    return;
  }
  for (std::uint32_t src = 0; src < cells_.ranks; ++src)
    for (std::uint32_t expert = 0; expert < cells_.experts; ++expert) {
      const auto inSlot = static_cast<std::uint64_t>(cells_.beginInSlot(expert).valueOf(capacity_, countsOf(src, dst)));
      for (std::uint64_t row = 0; row < countsOf(src, dst)[expert].live; ++row)
        use(Received{src, inSlot + row, begin[cells_.number(src, expert)] + row}, cells_.number(src, expert));
    }
}

/// Calls `make(row)` and `take(row)` for each row that experts of `dst` get, in the order of a hand-over. The rows are
/// divided into blocks of rows, and each block of rows has a count. Several thread blocks make the rows. Each thread
/// block makes some rows in their order, at any speed, and adds them to the counts. The taker is the user of a
/// dispatch, or the combine itself. It takes a block of rows when all its rows are counted.
template <typename Make, typename Take>
void ExpertLaunch::handOver(std::uint32_t dst, const Make &make, const Take &take) const {
  if (readyRows_ == 0) // all rows are handed over at once
    return forEachReceived(dst, [&](const Received &row, std::uint32_t) {
      make(row);
      take(row);
    });
  struct Block {
    std::vector<Received> rows;
    std::uint64_t live = 0, counted = 0;
  };
  struct Step {
    std::size_t block, row;
    bool isLast; ///< true: the thread block makes no more rows of this block of rows, so it counts them now
  };
  const ir::ExpertPlaces places = this->places();
  const std::vector<std::uint64_t> begin = begins(dst);
  const ir::ReadyBlocks geometry{readyRows_, places.members() * capacity_};
  std::vector<Block> blocks(places.groups() * geometry.perGroup());
  std::vector<std::uint64_t> live(places.groups());
  forEachReceived(dst, [&](const Received &row, std::uint32_t cell) {
    const std::uint32_t group = cell / places.members();
    const std::uint64_t inGroup = row.place - begin[std::size_t{group} * places.members()];
    blocks[group * geometry.perGroup() + inGroup / geometry.rows].rows.push_back(row);
    ++live[group];
  });
  std::mt19937_64 random(launch_ * cells_.ranks + dst);
  std::vector<std::vector<Step>> makers(1 + random() % 4);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b].live = geometry.rowsOf(b % geometry.perGroup(), live[b / geometry.perGroup()]);
    for (std::size_t row = 0; row < blocks[b].rows.size(); ++row)
      makers[random() % makers.size()].push_back({b, row, true});
  }
  for (std::vector<Step> &steps : makers)
    for (std::size_t i = 0; i + 1 < steps.size(); ++i)
      steps[i].isLast = steps[i].block != steps[i + 1].block;
  std::vector<std::size_t> at(makers.size()), uncounted(makers.size()), left(blocks.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  for (std::size_t idle = 0; !left.empty();) {
    const std::size_t turn = random() % (makers.size() + 1);
    if (turn < makers.size() && at[turn] < makers[turn].size()) {
      const Step &step = makers[turn][at[turn]++];
      make(blocks[step.block].rows[step.row]);
      ++uncounted[turn];
      if (step.isLast)
        blocks[step.block].counted += std::exchange(uncounted[turn], 0);
      idle = 0;
      continue;
    }
    const std::size_t look = random() % left.size();
    const Block &block = blocks[left[look]];
    if (block.counted == block.live) {
      for (const Received &row : block.rows)
        take(row);
      std::swap(left[look], left.back());
      left.pop_back();
      idle = 0;
    } else if (++idle > 1000 * (left.size() + makers.size()))
      throw ir::InternalError("a block of rows is never handed over");
  }
}

/// Calls `use(begin, bytes)` for each payload, where `begin` is its first byte in a row. A payload may have 0 bytes if
/// rows have few elements.
template <typename Use>
void ExpertLaunch::forPayloads(std::uint64_t rowBytes, std::uint32_t elementBytes, const Use &use) const {
  const auto beginOf = [&](std::uint32_t payload) {
    return rowBytes / elementBytes * payload / payloads_ * elementBytes;
  };
  for (std::uint32_t payload = 0; payload < payloads_; ++payload)
    use(beginOf(payload), beginOf(payload + 1) - beginOf(payload));
}

ExpertLaunch::Bytes ExpertLaunch::pack(std::uint32_t src, std::uint32_t dst, const Inputs &inputs,
                                       std::uint64_t rowBytes) const {
  Bytes slot(sent(src, dst) * rowBytes);
  const Index &index = indices_[src];
  const std::uint64_t rows = isDispatch_ ? rowsOf(index) : 0; // a combine has one payload
  const auto place = [&](std::uint64_t to, std::uint64_t from) {
    forPayloads(rowBytes, inputs.elementBytes(), [&](std::uint64_t begin, std::uint64_t bytes) {
      inputs.fill(src, launch_, rows * begin + from * bytes, slot.data() + to * rowBytes + begin, bytes);
    });
  };
  if (!isDispatch_) {
    Bytes made(places().room() * rowBytes, unmade);
    handOver(
        src,
        [&](const Received &row) {
          inputs.fill(src, launch_, row.place * rowBytes, made.data() + row.place * rowBytes, rowBytes);
        },
        [&](const Received &row) {
          if (row.src == dst)
            std::memcpy(slot.data() + row.inSlot * rowBytes, made.data() + row.place * rowBytes, rowBytes);
        });
  }
  for (std::uint32_t entry = 0; isDispatch_ && entry < index.experts.size(); ++entry)
    if (goesTo(index, entry, dst) && index.ordinalsInSlot[entry] < capacity_)
      place(rowInSlot(src, entry), entry / index.choices);
  return slot;
}

/// Sets each row of `result` to the weighted sum of `rowOf(entry)` over its live entries. Each step is rounded to f32.
template <typename RowOf>
void ExpertLaunch::sum(const Index &index, DataType type, std::uint64_t rowBytes, const RowOf &rowOf,
                       Bytes &result) const {
  if (!isFloat(type) || sizeOf(type) > sizeof(float))
    throw ir::InternalError("a weighted sum of elements that are no floats of at most 32 bits");
  const std::uint64_t elements = rowBytes / sizeOf(type);
  std::vector<float> sums(elements);
  Bytes narrow;
  for (std::uint32_t row = 0; std::uint64_t{row} * index.choices < index.experts.size(); ++row) {
    std::ranges::fill(sums, 0.0f);
    for (std::uint32_t entry = row * index.choices; entry < (row + 1) * index.choices; ++entry) {
      if (!isLive(index, entry))
        continue;
      const std::byte *const from = rowOf(entry);
      for (std::uint64_t i = 0; i < elements; ++i) {
        // A double holds the product exactly, so the product is rounded only once.
        const auto product = static_cast<float>(double{index.weights[entry]} * elementAt(type, from, i));
        sums[i] = static_cast<float>(double{sums[i]} + double{product});
      }
    }
    narrow.resize(rowBytes);
    if (type == DataType::F32)
      std::memcpy(narrow.data(), sums.data(), rowBytes);
    else
      narrowElements(type, reinterpret_cast<const std::byte *>(sums.data()), rowBytes, narrow);
    std::memcpy(result.data() + row * rowBytes, narrow.data(), rowBytes);
  }
}

void ExpertLaunch::unpack(std::uint32_t rank, const std::vector<Bytes> &slots, DataType type, std::uint64_t rowBytes,
                          Bytes &result) const {
  if (isDispatch_) {
    Bytes made(result.size(), unmade); // rows that are made; `result` gets them later
    const auto forParts = [&](const Received &row, const auto &use) {
      forPayloads(rowBytes, sizeOf(type), [&](std::uint64_t begin, std::uint64_t bytes) {
        use(rowsOfResult(rank) * begin + row.place * bytes, row.inSlot * rowBytes + begin, bytes);
      });
    };
    handOver(
        rank,
        [&](const Received &row) {
          forParts(row, [&](std::uint64_t at, std::uint64_t from, std::uint64_t bytes) {
            std::memcpy(made.data() + at, slots[row.src].data() + from, bytes);
          });
        },
        [&](const Received &row) {
          forParts(row, [&](std::uint64_t at, std::uint64_t, std::uint64_t bytes) {
            std::memcpy(result.data() + at, made.data() + at, bytes);
          });
        });
    return;
  }
  const Index &index = indices_[rank];
  const auto rowOf = [&](std::uint32_t entry) {
    return slots[static_cast<std::size_t>(index.experts[entry]) / cells_.experts].data() +
           rowInSlot(rank, entry) * rowBytes;
  };
  sum(index, type, rowBytes, rowOf, result);
}

void ExpertLaunch::define(std::uint32_t rank, const Inputs &inputs, DataType type, std::uint64_t rowBytes,
                          Bytes &result) const {
  const bool byExpert = cells_.layout == ir::ExpertLayout::ExpertMajor;
  const std::uint32_t groups = byExpert ? cells_.experts : cells_.ranks;
  // Returns the entries whose rows go to experts of rank `dst`: a list for each group, in order.
  const auto received = [&](std::uint32_t dst) {
    std::vector<std::vector<Entry>> lists(groups);
    for (std::uint32_t src = 0; src < cells_.ranks; ++src)
      for (std::uint32_t expert = 0; expert < cells_.experts; ++expert) {
        std::uint64_t room = capacity_;
        for (std::uint32_t entry = 0; entry < indices_[src].experts.size(); ++entry)
          if (indices_[src].experts[entry] == std::int64_t{dst} * cells_.experts + expert && room != 0) {
            lists[byExpert ? expert : src].push_back({src, entry});
            --room;
          }
      }
    return lists;
  };
  // Returns the row at which each group begins. Groups follow each other, or have fixed places if `align_` is 0.
  const auto beginsOf = [&](const std::vector<std::vector<Entry>> &lists) {
    std::vector<std::uint64_t> begins{0};
    for (const std::vector<Entry> &list : lists) {
      std::uint64_t end = begins.back() + list.size();
      if (list.empty() && align_ > 1)
        ++end;
      while (align_ != 0 && end % align_ != 0)
        ++end;
      begins.push_back(align_ == 0 ? begins.back() + cells_.count() / groups * capacity_ : end);
    }
    return begins;
  };
  if (isDispatch_) {
    const auto lists = received(rank);
    const std::vector<std::uint64_t> begins = beginsOf(lists);
    for (std::uint32_t group = 0; group < groups; ++group)
      for (std::size_t i = 0; i < lists[group].size(); ++i) {
        const Entry &got = lists[group][i];
        const Index &index = indices_[got.src];
        forPayloads(rowBytes, sizeOf(type), [&](std::uint64_t begin, std::uint64_t bytes) {
          inputs.fill(got.src, launch_, rowsOf(index) * begin + got.entry / index.choices * bytes,
                      result.data() + rowsOfResult(rank) * begin + (begins[group] + i) * bytes, bytes);
        });
      }
    return;
  }
  std::vector<Bytes> rows(indices_[rank].experts.size());
  for (std::uint32_t dst = 0; dst < cells_.ranks; ++dst) {
    const auto lists = received(dst);
    const std::vector<std::uint64_t> begins = beginsOf(lists);
    for (std::uint32_t group = 0; group < groups; ++group)
      for (std::size_t i = 0; i < lists[group].size(); ++i)
        if (const Entry &got = lists[group][i]; got.src == rank) {
          rows[got.entry].resize(rowBytes);
          inputs.fill(dst, launch_, (begins[group] + i) * rowBytes, rows[got.entry].data(), rowBytes);
        }
  }
  sum(indices_[rank], type, rowBytes, [&](std::uint32_t entry) { return rows[entry].data(); }, result);
}

std::uint64_t ExpertLaunch::rowsOfResult(std::uint32_t rank) const {
  return isDispatch_ ? places().room() : rowsOf(indices_[rank]);
}

} // namespace mscclc::passes::sim
