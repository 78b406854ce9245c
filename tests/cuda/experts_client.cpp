// Launches a kernel of a Dispatch or a Combine as users do, and compares every byte that it may write with the
// definition (MscclcIndex):
//
//   experts_client [--threads N] [--capacities LIST] [--row-bytes LIST] LIBRARY
//
// For each capacity of an expert, row length and width of entries it launches, in a row, one launch for each kind of
// index: no expert at all, all experts full, more rows than fit, one sender, all to one expert, rows that name an
// expert twice, random ones with numbers of no expert, and no rows. A combine with an index of 8 bytes brings the cells
// of its dispatch or, in a kind of its own, cells that are far too large. Rows of a dispatch have one to three
// payloads, which leave a part of the row unused or not. Groups of rows have places of their own, are packed, or begin
// at multiples of 3 or 4 rows. If rows come once, they are longer by a list. Then it does all of it again with other
// random indices. Of a split kernel, every third launch is one call, and the others are one that sends and one that
// receives. A kernel that hands rows over (.readyRows) has a user that runs at the same time, and is started before it
// or after it (ready_user.cuh). Prints what was run. Exits with 1 where a byte is wrong, or where a call without an
// index, or a part of a launch out of turn, is not refused.
#include "client.h"
#include "combined_elements.h"
#include "mscclc/runtime.hpp"
#include "ready_user.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace mscclc;
using Bytes = std::vector<unsigned char>;
using test::Element;
using test::elementOf;

constexpr unsigned char poison = 0xa5;

struct Options {
  uint32_t threads = 0;
  std::vector<uint64_t> capacities{0, 1, 5, 33}, rowBytes{16, 40, 6, 1};
};

struct Shape {
  uint64_t capacity, rowBytes;
  uint32_t width, dtype;
};

enum class Kind { None, Full, Above, OneSender, AllToOne, Twice, Random, NoRows, WrongCells, End };

/// One launch: its memory on each rank, and what the definition says of it.
class Launch {
public:
  Launch(runtime::Communicator &communicator, const MscclcKernel &kernel, Shape shape, Kind kind)
      : ranks_(kernel.ranks), experts_(kernel.experts),
        isDispatch_(std::string(kernel.collective).rfind("dispatch", 0) == 0),
        isRankMajor_(std::string(kernel.collective).find("+rank_major") != std::string::npos),
        isSplit_((kernel.flags & MSCCLC_SPLIT) != 0), hasLists_((kernel.flags & MSCCLC_ONCE_PER_RANK) != 0),
        shape_(shape), kind_(kind), element_(elementOf(shape.dtype)), choices_(1 + static_cast<uint32_t>(kind) % 4),
        slotRow_(hasLists_ ? listedRow(shape.rowBytes, choices_) : shape.rowBytes),
        rows_(kind == Kind::NoRows ? 0 : (mostEntries() + choices_ - 1) / choices_),
        cells_(uint64_t{ranks_} * experts_ * shape.capacity), payloads_(payloadsOf()), align_(alignOf()),
        room_(groups() * taken(cells_ / groups())), input_(communicator.allocate(some(cells_ * slotRow_))),
        output_(communicator.allocate(some(cells_ * slotRow_))),
        from_(communicator.allocate(some((isDispatch_ ? rows_ : room_) * shape.rowBytes))),
        to_(communicator.allocate(some(resultBytes()))), index_(communicator.allocate(some(entries() * 12))),
        numbers_(communicator.allocate(4 * numbers())),
        work_(communicator.allocate(MSCCLC_INDEX_WORK_BYTES(ranks_, experts_, entries()))),
        readyRows_(kernel.ready_rows), blocks_(readyRows_ == 0 ? 0 : mscclc_ready_blocks(&kernel, shape.capacity)),
        words_(communicator.allocate(some(4 * mscclc_ready_words(&kernel, shape.capacity)))),
        mirror_(communicator.allocate(some(room_ * shape.rowBytes))),
        seen_(communicator.allocate(16 * groups() + 4 * (groups() * blocks_ + numbers()))) {
    for (uint32_t rank = 0; rank < ranks_; ++rank)
      words_.write(rank, Bytes(words_.bytes()));
  }

  /// Lets the user of each rank begin to work on the launch, if the kernel hands rows over.
  void startUsers(test::StartUser *start) const {
    for (uint32_t rank = 0; readyRows_ != 0 && rank < ranks_; ++rank) {
      test::ReadyUser user{};
      user.words = static_cast<uint32_t *>(words_.address(rank));
      uint64_t before = 0;
      for (size_t i = 0; i < payloads_.size(); before += payloads_[i++]) {
        char *const rows = static_cast<char *>((isDispatch_ ? to_ : from_).address(rank)) + before * room_;
        char *const mirror = static_cast<char *>(mirror_.address(rank)) + before * room_;
        user.payloads[i] =
            isDispatch_ ? MscclcPayload{rows, mirror, payloads_[i]} : MscclcPayload{mirror, rows, payloads_[i]};
      }
      char *const seen = static_cast<char *>(seen_.address(rank));
      user.begins = reinterpret_cast<const uint64_t *>(seen);
      user.live = user.begins + groups();
      user.groups = groups();
      user.rows = readyRows_;
      user.blocks = blocks_;
      user.isDispatch = isDispatch_ ? 1 : 0;
      user.numbers = static_cast<const uint32_t *>(numbers_.address(rank)) + ranks_;
      user.count = isDispatch_ ? static_cast<uint32_t>(numbers() - ranks_) : 0;
      user.seenLive = reinterpret_cast<uint32_t *>(seen + 16 * groups());
      user.seenNumbers = user.seenLive + groups() * blocks_;
      start(&user, rank);
    }
  }

  void fill(std::mt19937 &random) {
    named_.assign(ranks_, {});
    weights_.assign(ranks_, {});
    given_.clear();
    before_.clear();
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      for (uint64_t entry = 0; entry < entries(); ++entry) {
        named_[rank].push_back(expertOf(random, rank, entry));
        weights_[rank].push_back(static_cast<float>(random() % 20011) / 10007 - 1);
      }
      Bytes index(entries() * 12, poison);
      for (uint64_t entry = 0; entry < entries(); ++entry) {
        std::memcpy(&index[entry * shape_.width], &named_[rank][entry], shape_.width); // little endian
        std::memcpy(&index[entries() * 8 + entry * 4], &weights_[rank][entry], sizeof(float));
      }
      index_.write(rank, index);
      work_.write(rank, Bytes(MSCCLC_INDEX_WORK_BYTES(ranks_, experts_, entries()), poison));
      Bytes rows((isDispatch_ ? rows_ : room_) * shape_.rowBytes);
      for (unsigned char &byte : rows)
        byte = static_cast<unsigned char>(random() % 251);
      if (!isDispatch_)
        for (uint64_t at = 0; at < rows.size(); at += element_.bytes)
          element_.write(&rows[at], static_cast<float>(static_cast<int32_t>(random() % 65521) - 32761) / 4099);
      const bool isHandedOver = readyRows_ != 0 && !isDispatch_;
      from_.write(rank, isHandedOver ? Bytes(rows.size(), poison) : rows);
      mirror_.write(rank, isHandedOver ? rows : Bytes(room_ * shape_.rowBytes, poison));
      to_.write(rank, Bytes(resultBytes(), poison));
      given_.push_back(std::move(rows));
    }
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      seen_.write(rank, placesOf(rank));
      Bytes numbers(4 * this->numbers(), poison);
      if (bringsCells() && kind_ != Kind::WrongCells) {
        Bytes result(resultBytes()), all = numbers;
        expect(rank, result, all);
        const auto cells = static_cast<std::ptrdiff_t>(4 * (ranks_ + experts_));
        std::copy(all.begin() + cells, all.end(), numbers.begin() + cells);
      }
      numbers_.write(rank, numbers);
      before_.push_back(std::move(numbers));
    }
  }

  runtime::Call call(const MscclcVariant &variant) const {
    std::vector<MscclcIndex> indices;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      char *const index = static_cast<char *>(index_.address(rank));
      auto *const numbers = static_cast<uint32_t *>(numbers_.address(rank));
      MscclcIndex one{};
      if (rows_ != 0) {
        one.entries = index;
        one.weights = reinterpret_cast<const float *>(index + entries() * 8);
      }
      uint64_t before = 0;
      for (size_t i = 0; i < payloads_.size(); before += payloads_[i++]) {
        MscclcPayload &payload = one.payloads[i];
        payload.bytes = payloads_[i];
        if (rows_ != 0 || !isDispatch_)
          payload.from = static_cast<char *>(from_.address(rank)) + before * (isDispatch_ ? rows_ : room_);
        if (rows_ != 0 || isDispatch_)
          payload.to = static_cast<char *>(to_.address(rank)) + before * (isDispatch_ ? room_ : rows_);
      }
      one.status = numbers;
      one.received = numbers + ranks_;
      if (isDispatch_ || bringsCells())
        one.cells = numbers + ranks_ + experts_;
      one.work = work_.address(rank);
      if (readyRows_ != 0)
        one.ready = static_cast<uint32_t *>(words_.address(rank));
      one.rows = rows_;
      one.choices = choices_;
      one.width = shape_.width;
      one.align = align_;
      indices.push_back(one);
    }
    runtime::Call call;
    call.on(input_, output_).of(cells_ * slotRow_, shape_.dtype).rows(slotRow_).indexedBy(indices);
    call.packet = variant.packet;
    call.withPdl();
    return call;
  }

  /// Returns the bytes of a row in a slot that has a list for that many choices.
  static uint64_t listedRow(uint64_t rowBytes, uint64_t choices) { return (rowBytes + 3) / 4 * 4 + 4 * choices; }

  /// Returns the bytes that a row with one choice has room for.
  uint64_t rowBytes() const { return hasLists_ ? slotRow_ - 4 : shape_.rowBytes; }
  bool hasLists() const { return hasLists_; }
  bool adds() const { return !isDispatch_; }

  bool bringsCells() const { return !isDispatch_ && (shape_.width == 8 || isSplit_); }
  /// Returns the number of ranks with a wrong byte.
  unsigned countWrong() const {
    unsigned wrong = 0;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      Bytes result(resultBytes(), poison), numbers(4 * this->numbers(), poison);
      expect(rank, result, numbers);
      if (!isDispatch_) { // it writes the status alone, and not even that if it has cells
        const auto written = static_cast<std::ptrdiff_t>(bringsCells() ? 0 : 4 * ranks_);
        std::copy(before_[rank].begin() + written, before_[rank].end(), numbers.begin() + written);
        if (bringsCells() && kind_ == Kind::WrongCells) // rows are any
          result = to_.read<unsigned char>(rank, result.size());
      }
      wrong += differs("the result", rank, to_, result) + differs("the numbers", rank, numbers_, numbers);
      if (readyRows_ == 0 || isDispatch_)
        wrong += differs("the rows", rank, from_, given_[rank]);
      if (readyRows_ != 0)
        wrong += countWrongBlocks(rank, result, numbers);
    }
    return wrong;
  }

private:
  /// Returns what `seen_` holds before a launch: where the groups of a rank begin, their live rows, and poison.
  Bytes placesOf(uint32_t rank) const {
    std::vector<uint64_t> places(2 * groups());
    bool isCut = false;
    uint64_t begin = 0;
    for (uint32_t group = 0; group < groups(); ++group) {
      for (uint32_t other = 0; other < (isRankMajor_ ? experts_ : ranks_); ++other)
        places[groups() + group] +=
            live(isRankMajor_ ? group : other, rank, isRankMajor_ ? other : group, isCut).size();
      places[group] = begin;
      begin += taken(places[groups() + group]);
    }
    Bytes bytes(seen_.bytes(), poison);
    std::memcpy(bytes.data(), places.data(), places.size() * sizeof places[0]);
    return bytes;
  }
  /// Compares what the user has seen of the rows that a dispatch has handed over, and looks whether all words are back
  /// at 0. Returns the number of wrong arrays.
  unsigned countWrongBlocks(uint32_t rank, const Bytes &result, const Bytes &numbers) const {
    const unsigned wrong = differs("the words", rank, words_, Bytes(words_.bytes(), 0));
    if (!isDispatch_)
      return wrong;
    Bytes seen = placesOf(rank);
    for (uint64_t block = 0; block < groups() * blocks_; ++block) {
      uint64_t live = 0;
      std::memcpy(&live, &seen[8 * (groups() + block / blocks_)], sizeof live);
      const uint64_t first = std::min(live, block % blocks_ * readyRows_);
      const auto word = static_cast<uint32_t>(std::min<uint64_t>(live - first, readyRows_));
      std::memcpy(&seen[16 * groups() + 4 * block], &word, sizeof word);
    }
    if (blocks_ != 0) // else there is no word by which they are seen
      std::copy(numbers.begin() + static_cast<std::ptrdiff_t>(4 * ranks_), numbers.end(),
                seen.end() - static_cast<std::ptrdiff_t>(numbers.size()));
    return wrong + differs("the rows that the user has seen", rank, mirror_, result) +
           differs("the numbers that the user has seen", rank, seen_, seen);
  }
  /// Returns the bytes of each payload of a row.
  std::vector<uint64_t> payloadsOf() const {
    const uint64_t row = shape_.rowBytes, part = row / 4;
    switch (isDispatch_ ? static_cast<int>(kind_) % 4 : 0) {
    case 1:
      return part == 0 ? std::vector{row} : std::vector{row - part, part};
    case 2:
      return part == 0 ? std::vector{row} : std::vector{part, row - 2 * part, part};
    case 3:
      return part == 0 ? std::vector{row} : std::vector{2 * part, part};
    default:
      return {row};
    }
  }
  uint32_t alignOf() const {
    constexpr uint32_t aligns[] = {0, 3, 1, 4};
    return aligns[(static_cast<uint64_t>(kind_) + shape_.capacity + shape_.width / 4) % 4];
  }
  uint32_t groups() const { return isRankMajor_ ? ranks_ : experts_; }
  /// Returns the rows that a group of `rows` rows takes in the layout of experts.
  uint64_t taken(uint64_t rows) const {
    if (align_ == 0)
      return cells_ / groups();
    uint64_t end = rows == 0 && align_ > 1 ? 1 : rows;
    while (end % align_ != 0)
      ++end;
    return end;
  }
  static uint64_t some(uint64_t bytes) { return std::max(bytes, uint64_t{1}); }
  uint64_t mostEntries() const { return uint64_t{ranks_} * experts_ * (shape_.capacity + 2); }
  uint64_t entries() const { return rows_ * choices_; }
  uint64_t numbers() const { return ranks_ + experts_ + uint64_t{ranks_} * experts_; }
  uint64_t resultBytes() const { return (isDispatch_ ? room_ : rows_) * shape_.rowBytes; }

  int64_t expertOf(std::mt19937 &random, uint32_t rank, uint64_t entry) const {
    const int64_t all = int64_t{ranks_} * experts_, any = static_cast<int64_t>(random() % static_cast<uint64_t>(all));
    const int64_t largest = shape_.width == 4 ? INT32_MAX : INT64_MAX;
    const int64_t none[] = {-1, all, -1 - all, largest, -largest - 1};
    const int64_t nowhere = none[random() % 5];
    switch (kind_) {
    case Kind::None:
      return nowhere;
    case Kind::Full: // each expert as often as fits
      return entry < static_cast<uint64_t>(all) * shape_.capacity ? static_cast<int64_t>(entry) % all : -1;
    case Kind::Above: // and two more
      return static_cast<int64_t>(entry) % all;
    case Kind::OneSender:
      return rank == 1 % ranks_ ? any : -1;
    case Kind::AllToOne:
      return random() % 2 == 0 ? all - 1 : nowhere;
    case Kind::Twice:
      return static_cast<int64_t>(entry / choices_) % all;
    case Kind::Random:
    case Kind::NoRows:
    case Kind::WrongCells:
    case Kind::End:
      break;
    }
    return random() % 3 == 0 ? nowhere : any;
  }

  /// Returns the live entries of rank `src` for expert `expert` of rank `dst`.
  std::vector<uint64_t> live(uint32_t src, uint32_t dst, uint32_t expert, bool &isCut) const {
    std::vector<uint64_t> found;
    for (uint64_t entry = 0; entry < entries(); ++entry)
      if (named_[src][entry] == int64_t{dst} * experts_ + expert) {
        isCut = isCut || found.size() == shape_.capacity;
        if (found.size() < shape_.capacity)
          found.push_back(entry);
      }
    return found;
  }
  /// Calls use(src, entry, row) for each row of the experts of `dst`.
  template <class Use> void forEachRow(uint32_t dst, Use use) const {
    bool isCut = false;
    const uint32_t within = isRankMajor_ ? experts_ : ranks_;
    uint64_t begin = 0;
    for (uint32_t group = 0; group < groups(); ++group) {
      uint64_t row = begin;
      for (uint32_t other = 0; other < within; ++other)
        for (const uint64_t entry : live(isRankMajor_ ? group : other, dst, isRankMajor_ ? other : group, isCut))
          use(isRankMajor_ ? group : other, entry, row++);
      begin += taken(row - begin);
    }
  }

  void expect(uint32_t rank, Bytes &result, Bytes &numbers) const {
    const auto put = [&](uint64_t at, uint64_t value) {
      const auto word = static_cast<uint32_t>(value);
      std::memcpy(&numbers[at * 4], &word, sizeof word);
    };
    std::vector<uint64_t> received(experts_);
    for (uint32_t src = 0; src < ranks_; ++src) {
      bool isCut = false;
      for (uint32_t dst = 0; dst < ranks_; ++dst)
        for (uint32_t expert = 0; expert < experts_; ++expert) {
          const uint64_t rows = live(src, dst, expert, isCut).size();
          if (dst != rank)
            continue;
          received[expert] += rows;
          put(ranks_ + experts_ + src * experts_ + expert, rows);
        }
      put(src, isCut ? MSCCLC_COUNTS_CUT : 0);
    }
    for (uint32_t expert = 0; expert < experts_; ++expert)
      put(ranks_ + expert, received[expert]);
    const uint64_t bytes = shape_.rowBytes;
    if (isDispatch_) {
      forEachRow(rank, [&](uint32_t src, uint64_t entry, uint64_t row) {
        uint64_t before = 0;
        for (const uint64_t payload : payloads_) {
          std::memcpy(&result[before * room_ + row * payload],
                      &given_[src][before * rows_ + entry / choices_ * payload], payload);
          before += payload;
        }
      });
      return;
    }
    std::vector<const unsigned char *> rowOf(entries());
    for (uint32_t dst = 0; dst < ranks_; ++dst)
      forEachRow(dst, [&](uint32_t src, uint64_t entry, uint64_t row) {
        if (src == rank)
          rowOf[entry] = &given_[dst][row * bytes];
      });
    for (uint64_t row = 0; row < rows_; ++row)
      for (uint64_t at = 0; at < bytes; at += element_.bytes) {
        float sum = 0;
        for (uint64_t entry = row * choices_; entry < (row + 1) * choices_; ++entry)
          if (rowOf[entry] != nullptr) {
            const volatile float product = weights_[rank][entry] * element_.read(rowOf[entry] + at);
            sum += product;
          }
        element_.write(&result[row * bytes + at], sum);
      }
  }

  unsigned differs(const char *what, uint32_t rank, const runtime::Buffer &buffer, const Bytes &expected) const {
    const Bytes found = buffer.read<unsigned char>(rank, expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      if (found[i] != expected[i]) {
        std::printf(
            "kind %d, capacity %llu, rows of %llu bytes, entries of %u: byte %zu of %s of rank %u is %u, not %u\n",
            static_cast<int>(kind_), static_cast<unsigned long long>(shape_.capacity),
            static_cast<unsigned long long>(shape_.rowBytes), shape_.width, i, what, rank, found[i], expected[i]);
        return 1;
      }
    return 0;
  }

  const uint32_t ranks_, experts_; ///< of each rank
  const bool isDispatch_, isRankMajor_, isSplit_, hasLists_;
  const Shape shape_;
  const Kind kind_;
  const Element element_;
  const uint32_t choices_;
  const uint64_t slotRow_;               ///< bytes
  const uint64_t rows_;                  ///< of a rank's index
  const uint64_t cells_;                 ///< rows that the experts of a rank have room for
  const std::vector<uint64_t> payloads_; ///< bytes of a row
  const uint32_t align_;                 ///< of groups, in rows
  const uint64_t room_;                  ///< rows of the layout of experts
  runtime::Buffer input_, output_, from_, to_, index_, numbers_, work_;
  const uint32_t readyRows_; ///< of a block that is handed over; 0: none is
  const uint64_t blocks_;    ///< of a group
  /// Words of blocks; the rows of experts on the user's side; what it needs and has seen.
  runtime::Buffer words_, mirror_, seen_;
  std::vector<std::vector<int64_t>> named_; ///< [rank][entry]
  std::vector<std::vector<float>> weights_;
  std::vector<Bytes> given_, before_; ///< [rank]: rows, and what is in `numbers_` before the launch
};

/// What must be refused. Returns the number of calls that were not.
unsigned countAccepted(runtime::Instance &instance, const MscclcVariant &variant, uint32_t ranks,
                       const Launch &launch) {
  unsigned wrong = 0;
  const auto refuses = [&](const char *what, const std::vector<MscclcIndex> &index) {
    runtime::Call call = launch.call(variant);
    call.indexedBy(index);
    wrong += test::isRefused(instance, call, MSCCLC_ERROR_COUNTS, what) ? 0 : 1;
  };
  refuses("a call without an index", {});
  std::vector<MscclcIndex> index(ranks);
  refuses("an index without entries", index);
  for (MscclcIndex &one : index) {
    one.entries = one.work = &index;
    one.payloads[0] = {&index, &index, launch.rowBytes()};
    one.weights = reinterpret_cast<const float *>(&index);
    one.rows = one.choices = 1;
    one.width = 3;
    if (instance.kernel().ready_rows != 0)
      one.ready = reinterpret_cast<uint32_t *>(&index);
  }
  refuses("a width of 3", index);
  index.back().width = 4;
  index.back().rows = uint64_t{1} << 31;
  std::swap(index.front(), index.back());
  refuses("2^31 entries", index);
  for (MscclcIndex &one : index) {
    one.rows = 1;
    one.width = 4;
  }
  const auto behind = [&](uint64_t bytes) -> void * { return reinterpret_cast<char *>(&index) + bytes; };
  std::vector<MscclcIndex> unaligned = index;
  unaligned.back().entries = behind(2);
  refuses("an array of entries at no multiple of 4", unaligned);
  unaligned = index;
  unaligned.back().status = static_cast<uint32_t *>(behind(2));
  refuses("an array of states at no multiple of 4", unaligned);
  unaligned = index;
  unaligned.back().payloads[0].from = behind(1);
  if (launch.adds() && elementOf(variant.dtype).bytes > 1)
    refuses("an array of rows to add at an odd address", unaligned);
  std::vector<MscclcIndex> payloads = index;
  payloads.back().payloads[0] = {};
  refuses("an index without payloads", payloads);
  payloads.back().payloads[0] = {&index, &index, launch.rowBytes() + 1};
  refuses("a payload that is longer than a row", payloads);
  payloads.back().payloads[0].bytes = launch.rowBytes();
  payloads.back().payloads[1] = {&index, &index, ~uint64_t{0}};
  refuses("payloads whose bytes have no sum", payloads);
  payloads.back().payloads[1] = {};
  payloads.back().payloads[0] = {nullptr, nullptr, launch.rowBytes()};
  refuses("a payload without memory", payloads);
  std::vector<MscclcIndex> words = index;
  for (MscclcIndex &one : words)
    one.ready = one.ready == nullptr ? static_cast<uint32_t *>(behind(0)) : nullptr;
  refuses(words[0].ready == nullptr ? "no words for rows that are handed over" : "words where none are", words);
  if (launch.adds() && (instance.kernel().flags & MSCCLC_SPLIT) != 0)
    refuses("a split combine without cells", index);
  if (launch.hasLists()) {
    runtime::Call call = launch.call(variant);
    call.indexedBy(index).rows(2);
    if (elementOf(variant.dtype).bytes == 1) // other rows are multiples of an element
      wrong += test::isRefused(instance, call, MSCCLC_ERROR_COUNTS, "rows with lists at no multiple of 4") ? 0 : 1;
    payloads = index;
    payloads.back().choices = 2;
    if (ranks > 1)
      refuses("lists of two lengths", payloads);
  }
  if (launch.adds() || launch.rowBytes() == 1) // these have one payload
    return wrong;
  payloads = index;
  for (MscclcIndex &one : payloads)
    one.payloads[0].bytes = launch.rowBytes() - 1;
  payloads.front().payloads[2] = {&index, &index, 1};
  refuses("a payload behind one of 0 bytes", payloads);
  std::swap(payloads.front().payloads[1], payloads.front().payloads[2]);
  if (ranks > 1)
    refuses("fewer payloads than those of the first rank", payloads);
  return wrong;
}

/// Launches what a call says: a split kernel in one call or in two, by turns. Returns the number of calls out of turn
/// that were not refused.
unsigned launchInParts(runtime::Instance &instance, const runtime::Call &call, size_t number) {
  const bool isSplit = (instance.kernel().flags & MSCCLC_SPLIT) != 0;
  unsigned wrong = 0;
  const auto refuses = [&](const char *what, MscclcPart part) {
    wrong += test::isRefused(instance, runtime::Call(call).only(part), MSCCLC_ERROR_PART, what) ? 0 : 1;
  };
  if (number == 0)
    refuses("to receive before anything is sent", MSCCLC_RECEIVE);
  if (number == 0 && !isSplit)
    refuses("a part of a kernel that has none", MSCCLC_SEND);
  if (!isSplit || number % 3 == 0) {
    instance.launch(call);
    return wrong;
  }
  instance.launch(runtime::Call(call).only(MSCCLC_SEND));
  if (number == 1) {
    refuses("to send twice", MSCCLC_SEND);
    refuses("a launch before what was sent is received", MSCCLC_WHOLE);
    runtime::Call other = call;
    other.message_bytes += instance.kernel().message_shares * instance.kernel().experts * call.row_bytes;
    wrong += test::isRefused(instance, other.only(MSCCLC_RECEIVE), MSCCLC_ERROR_PART, "another size") ? 0 : 1;
  }
  instance.launch(runtime::Call(call).only(MSCCLC_RECEIVE));
  return wrong;
}

/// Returns what starts a user of the kernel, in its library; null if the kernel hands no rows over.
test::StartUser *userOf(const MscclcKernel &kernel) {
  if (kernel.ready_rows == 0)
    return nullptr;
  Dl_info info{};
  if (::dladdr(kernel.name, &info) == 0)
    throw std::runtime_error("a kernel of no library");
  void *const library = ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  auto *const start = reinterpret_cast<test::StartUser *>(::dlsym(library, "mscclc_test_user"));
  return start != nullptr ? start : throw std::runtime_error("the library has no user of its kernel");
}

unsigned run(const Options &options, const MscclcKernel &kernel) {
  if ((kernel.flags & MSCCLC_TAKES_INDEX) == 0)
    throw std::runtime_error(std::string("no index in ") + kernel.name);
  runtime::Communicator communicator{runtime::CommunicatorOptions(kernel.ranks)};
  // Memory is kept until the end. The machine that runs PTX has no end of memory, so it would find races between its
  // users and those that get it afterwards.
  std::list<runtime::Instance> instances;
  std::list<std::vector<std::unique_ptr<Launch>>> kept;
  test::StartUser *const user = userOf(kernel);
  unsigned wrong = 0;
  for (uint32_t v = 0; v < kernel.num_variants; ++v) {
    const MscclcVariant &variant = kernel.variants[v];
    const uint32_t dtype = variant.dtype == MSCCLC_ANY_DTYPE ? uint32_t{MSCCLC_U8} : variant.dtype;
    unsigned bad = 0, ran = 0;
    for (const uint64_t rowBytes : options.rowBytes) {
      if (rowBytes % elementOf(dtype).bytes != 0)
        continue;
      const uint64_t largest = *std::max_element(options.capacities.begin(), options.capacities.end());
      constexpr uint64_t mostChoices = 4;
      const uint64_t longest =
          (kernel.flags & MSCCLC_ONCE_PER_RANK) != 0 ? Launch::listedRow(rowBytes, mostChoices) : rowBytes;
      runtime::Instance &instance =
          instances.emplace_back(communicator.load(kernel, largest * kernel.experts * kernel.ranks * longest, longest));
      std::vector<std::unique_ptr<Launch>> &launches = kept.emplace_back();
      for (const uint64_t capacity : options.capacities)
        for (const uint32_t width : {4u, 8u})
          for (int kind = 0; kind < static_cast<int>(Kind::End); ++kind)
            launches.push_back(std::make_unique<Launch>(communicator, kernel, Shape{capacity, rowBytes, width, dtype},
                                                        static_cast<Kind>(kind)));
      std::mt19937 random(static_cast<uint32_t>(rowBytes));
      for (int round = 0; round < 2; ++round) {
        std::shuffle(launches.begin(), launches.end(), random);
        for (const std::unique_ptr<Launch> &launch : launches)
          launch->fill(random);
        for (size_t i = 0; i < launches.size(); ++i) {
          runtime::Call call = launches[i]->call(variant);
          call.threads = options.threads;
          if (i % 2 == 0) // else it begins after the launch
            launches[i]->startUsers(user);
          bad += launchInParts(instance, call, i);
          if (i % 2 != 0)
            launches[i]->startUsers(user);
        }
        communicator.synchronize();
        for (uint32_t rank = 0; user != nullptr && rank < kernel.ranks; ++rank)
          user(nullptr, rank);
        for (const std::unique_ptr<Launch> &launch : launches)
          bad += launch->countWrong();
        ran += static_cast<unsigned>(launches.size());
      }
      bad += countAccepted(instance, variant, kernel.ranks, *launches[0]);
    }
    std::printf("type %u: %u launches, %u wrong\n", dtype, ran, bad);
    wrong += ran == 0 ? 1 : bad;
  }
  return wrong;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  const test::Arguments arguments{{{"--threads", test::takeNumber(options.threads)},
                                   {"--capacities", test::takeNumbers(options.capacities)},
                                   {"--row-bytes", test::takeNumbers(options.rowBytes)}},
                                  {}};
  return test::runClient("experts_client", argc, argv, arguments,
                         [&](const MscclcKernel &kernel) { return run(options, kernel); });
}
