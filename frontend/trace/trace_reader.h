// Reads a recording record by record, and trusts none of its bytes.
#pragma once

#include "frontend/trace/trace.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace mscclc::frontend {

/// A walk through the records of a trace. It checks that each record lies inside the trace. The caller must check
/// handles and places.
class TraceReader {
public:
  explicit TraceReader(std::span<const std::byte> trace);

  /// Moves to the next record. False at the end, or if the bytes cannot be a record. damaged() distinguishes the two.
  bool next();

  bool damaged() const { return damaged_; }
  /// True if records are missing because the region was full.
  bool full() const { return full_; }
  /// Returns the offset of the current record, in bytes.
  std::size_t offset() const { return offset_; }

  const RecordHead &head() const { return head_; }
  RecordKind kind() const { return static_cast<RecordKind>(head_.kind); }
  bool isCall() const { return kind() >= RecordKind::Call; }
  /// Returns the call of the current record. It must be the record of a call.
  detail::Call call() const {
    return static_cast<detail::Call>(head_.kind - static_cast<std::uint32_t>(RecordKind::Call));
  }

  /// Returns the fixed part of the current record, which has the kind `Record`.
  template <typename Record> Record as() const {
    Record record;
    std::memcpy(&record, bytes_.data() + offset_, sizeof record);
    return record;
  }
  /// Each is about the elements after the fixed part: their number, and element `index`.
  std::size_t extraCount() const { return extraCount_; }
  template <typename Element> Element extra(std::size_t index) const {
    Element element;
    std::memcpy(&element, bytes_.data() + offset_ + fixed_ + index * sizeof element, sizeof element);
    return element;
  }
  /// Returns the bytes after the fixed part as text.
  std::string_view text() const {
    return {reinterpret_cast<const char *>(bytes_.data()) + offset_ + fixed_, extraCount_};
  }

private:
  template <typename Record> Record peek() const {
    Record record;
    std::memcpy(&record, bytes_.data() + next_, sizeof record);
    return record;
  }
  bool measure();

  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0, next_ = 0;
  std::size_t fixed_ = 0, extraCount_ = 0, extraSize_ = 1;
  RecordHead head_{};
  bool damaged_ = false, full_ = false;
};

} // namespace mscclc::frontend
