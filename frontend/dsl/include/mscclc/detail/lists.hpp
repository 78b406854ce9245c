// Parameter types for text and lists in any form: literals, initializer lists, arrays, standard containers.
//
// Objects of these types refer to their argument, so they are valid only during the call.
#ifndef MSCCLC_DETAIL_LISTS_HPP
#define MSCCLC_DETAIL_LISTS_HPP

#include "record.hpp"

namespace mscclc::detail {

/// Text: a literal, or anything with data() and size() of characters (std::string, std::string_view).
class Text {
public:
  Text(const char *text);
  template <typename T>
    requires requires(const T &t) { static_cast<const char *>(t.data()), t.size(); }
  Text(const T &text) : data_(text.data()), size_(text.size()) {}

  const char *data() const { return data_; }
  std::size_t size() const { return size_; }

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

// Arrays of these types are lists of integers.
IntegerArray integers(const ListedInteger *data, std::size_t size);
IntegerArray integers(const signed char *data, std::size_t size);
IntegerArray integers(const unsigned char *data, std::size_t size);
IntegerArray integers(const short *data, std::size_t size);
IntegerArray integers(const unsigned short *data, std::size_t size);
IntegerArray integers(const int *data, std::size_t size);
IntegerArray integers(const unsigned *data, std::size_t size);
IntegerArray integers(const long *data, std::size_t size);
IntegerArray integers(const unsigned long *data, std::size_t size);
IntegerArray integers(const long long *data, std::size_t size);
IntegerArray integers(const unsigned long long *data, std::size_t size);

/// Integers (ranks, thread blocks): `{0, 1}`, an array, or any contiguous range of an integer type.
class IntegerList {
public:
  IntegerList(std::initializer_list<ListedInteger> list);
  template <typename T>
    requires requires(const T &t) { integers(t.data(), t.size()); }
  IntegerList(const T &range) : array_(integers(range.data(), range.size())) {}
  template <typename T, std::size_t n>
    requires requires(const T *t) { integers(t, n); }
  IntegerList(const T (&array)[n]) : array_(integers(array, n)) {}

  const IntegerArray &array() const { return array_; }

private:
  IntegerArray array_;
};

/// A list of objects of a class: `{a, b}`, an array, or any contiguous range.
template <typename Element> class ElementList {
public:
  ElementList(std::initializer_list<Element> list);
  template <typename T>
    requires requires(const T &t) { static_cast<const Element *>(t.data()), t.size(); }
  ElementList(const T &range) : data_(range.data()), size_(range.size()) {}
  template <std::size_t n> ElementList(const Element (&array)[n]) : data_(array), size_(n) {}

  const Element *data() const { return data_; }
  std::size_t size() const { return size_; }

private:
  const Element *data_;
  std::size_t size_;
};

} // namespace mscclc::detail

#endif // MSCCLC_DETAIL_LISTS_HPP
