// Parameter types that take text and lists in any form: literals, initializer lists, arrays, standard containers.
//
// They only refer to what they are given, for the length of the call.
#pragma once

#include "record.hpp"

namespace mscclc::detail {

/// Text: a literal, or anything with data() and size() of characters (std::string, std::string_view).
class Text {
public:
  constexpr Text(const char *text) : data_(text) {
    while (text && text[size_] != '\0')
      ++size_;
  }
  template <typename T>
    requires requires(const T &t) { static_cast<const char *>(t.data()), t.size(); }
  constexpr Text(const T &text) : data_(text.data()), size_(text.size()) {}

  constexpr const char *data() const { return data_; }
  constexpr std::size_t size() const { return size_; }

private:
  const char *data_;
  std::size_t size_ = 0;
};

/// An element of a braced list of integers.
struct ListedInteger {
  constexpr ListedInteger(int v) : value(v) {}
  constexpr ListedInteger(long v) : value(v) {}
  constexpr ListedInteger(long long v) : value(v) {}
  constexpr ListedInteger(unsigned v) : value(v) {}
  constexpr ListedInteger(unsigned long v) : value(static_cast<std::int64_t>(v)) {}
  constexpr ListedInteger(unsigned long long v) : value(static_cast<std::int64_t>(v)) {}
  std::int64_t value;
};

constexpr IntegerArray integers(const ListedInteger *data, std::size_t size) {
  return {data, size, 8, true};
}
constexpr IntegerArray integers(const signed char *data, std::size_t size) {
  return {data, size, 1, true};
}
constexpr IntegerArray integers(const unsigned char *data, std::size_t size) {
  return {data, size, 1, false};
}
constexpr IntegerArray integers(const short *data, std::size_t size) {
  return {data, size, 2, true};
}
constexpr IntegerArray integers(const unsigned short *data, std::size_t size) {
  return {data, size, 2, false};
}
constexpr IntegerArray integers(const int *data, std::size_t size) {
  return {data, size, 4, true};
}
constexpr IntegerArray integers(const unsigned *data, std::size_t size) {
  return {data, size, 4, false};
}
constexpr IntegerArray integers(const long *data, std::size_t size) {
  return {data, size, sizeof(long), true};
}
constexpr IntegerArray integers(const unsigned long *data, std::size_t size) {
  return {data, size, sizeof(long), false};
}
constexpr IntegerArray integers(const long long *data, std::size_t size) {
  return {data, size, 8, true};
}
constexpr IntegerArray integers(const unsigned long long *data, std::size_t size) {
  return {data, size, 8, false};
}

/// Integers (ranks, thread blocks): `{0, 1}`, an array, or any contiguous range of an integer type.
class IntegerList {
public:
  constexpr IntegerList(std::initializer_list<ListedInteger> list) : array_(integers(list.begin(), list.size())) {}
  template <typename T>
    requires requires(const T &t) { integers(t.data(), t.size()); }
  constexpr IntegerList(const T &range) : array_(integers(range.data(), range.size())) {}
  template <typename T, std::size_t n>
    requires requires(const T *t) { integers(t, n); }
  constexpr IntegerList(const T (&array)[n]) : array_(integers(array, n)) {}

  constexpr const IntegerArray &array() const { return array_; }

private:
  IntegerArray array_;
};

/// The same pointer. GCC warns of a member set to an initializer list's begin(); these lists end with the call.
template <typename Element> constexpr const Element *borrowed(const Element *data) {
  return data;
}

/// Elements of a class: `{a, b}`, an array, or any contiguous range.
template <typename Element> class ElementList {
public:
  constexpr ElementList(std::initializer_list<Element> list) : data_(borrowed(list.begin())), size_(list.size()) {}
  template <typename T>
    requires requires(const T &t) { static_cast<const Element *>(t.data()), t.size(); }
  constexpr ElementList(const T &range) : data_(range.data()), size_(range.size()) {}
  template <std::size_t n> constexpr ElementList(const Element (&array)[n]) : data_(array), size_(n) {}

  constexpr const Element *data() const { return data_; }
  constexpr std::size_t size() const { return size_; }

private:
  const Element *data_;
  std::size_t size_;
};

} // namespace mscclc::detail
