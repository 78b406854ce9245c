// A launch of a kernel of a Dispatch or a Combine, and every byte that it may write, by the definition (MscclcIndex).
// For experts_client.
#pragma once

#include "client.h"
#include "combined_elements.h"
#include "mscclc/runtime.hpp"
#include "ready_user.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace mscclc::test {

using Bytes = std::vector<unsigned char>;

inline constexpr unsigned char poison = 0xa5;

struct ExpertsShape {
  uint64_t capacity; ///< rows that an expert takes from a rank
  uint64_t rowBytes;
  uint32_t width; ///< bytes of an entry
  uint32_t dtype; ///< MscclcDtype
};

/// What an index holds (experts_client.cpp).
enum class IndexKind { None, Full, Above, OneSender, AllToOne, Twice, Random, NoRows, WrongCells, End };

/// One launch: its memory on each rank, and what the definition says of it.
class ExpertsLaunch {
public:
  ExpertsLaunch(runtime::Communicator &communicator, const MscclcKernel &kernel, ExpertsShape shape, IndexKind kind)
      : ranks_(kernel.ranks), experts_(kernel.experts),
        isDispatch_(std::string(kernel.collective).rfind("dispatch", 0) == 0),
        isRankMajor_(std::string(kernel.collective).find("+rank_major") != std::string::npos),
        isSplit_((kernel.flags & MSCCLC_SPLIT) != 0), hasLists_((kernel.flags & MSCCLC_ONCE_PER_RANK) != 0),
        shape_(shape), kind_(kind), element_(elementOf(shape.dtype)), choices_(1 + static_cast<uint32_t>(kind) % 4),
        slotRow_(hasLists_ ? listedRow(shape.rowBytes, choices_) : shape.rowBytes),
        rows_(kind == IndexKind::NoRows ? 0 : (mostEntries() + choices_ - 1) / choices_),
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
  void startUsers(StartUser *start) const {
    for (uint32_t rank = 0; readyRows_ != 0 && rank < ranks_; ++rank) {
      ReadyUser user{};
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
      if (bringsCells() && kind_ != IndexKind::WrongCells) {
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
        if (bringsCells() && kind_ == IndexKind::WrongCells) // rows are any
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
    case IndexKind::None:
      return nowhere;
    case IndexKind::Full: // each expert as often as fits
      return entry < static_cast<uint64_t>(all) * shape_.capacity ? static_cast<int64_t>(entry) % all : -1;
    case IndexKind::Above: // and two more
      return static_cast<int64_t>(entry) % all;
    case IndexKind::OneSender:
      return rank == 1 % ranks_ ? any : -1;
    case IndexKind::AllToOne:
      return random() % 2 == 0 ? all - 1 : nowhere;
    case IndexKind::Twice:
      return static_cast<int64_t>(entry / choices_) % all;
    case IndexKind::Random:
    case IndexKind::NoRows:
    case IndexKind::WrongCells:
    case IndexKind::End:
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
    const std::string launch = "kind " + std::to_string(static_cast<int>(kind_)) + ", capacity " +
                               std::to_string(shape_.capacity) + ", rows of " + std::to_string(shape_.rowBytes) +
                               " bytes, entries of " + std::to_string(shape_.width);
    return test::differs(launch, what, rank, buffer, expected);
  }

  const uint32_t ranks_, experts_; ///< of each rank
  const bool isDispatch_, isRankMajor_, isSplit_, hasLists_;
  const ExpertsShape shape_;
  const IndexKind kind_;
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

} // namespace mscclc::test
