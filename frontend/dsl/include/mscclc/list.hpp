// A growable array, in which algorithms can keep channels, chunks or buffers.
//
// std::vector works as well. But Clang reads this header in almost no time, while <vector> takes several times as long
// as the rest of a compilation. No function is inline, so that mscclc can contain the functions of common lists
// (dsl.hpp).
#ifndef MSCCLC_LIST_HPP
#define MSCCLC_LIST_HPP

#include <initializer_list>

extern "C" {
/// Returns memory of zeros, aligned like that of operator new. If there is not enough memory, ends the algorithm with
/// an error at the user's call.
void *__mscclc_allocate(std::size_t bytes);
/// Releases memory of __mscclc_allocate; null is allowed.
void __mscclc_release(void *memory);
/// Ends the algorithm with an error at the user's call.
[[noreturn]] void __mscclc_index_out_of_range(unsigned long long index, unsigned long long size);
}

namespace mscclc {

/// A growable array of `T`, with the part of std::vector's interface that algorithms need. Indices are checked. An
/// index out of range is an error of the algorithm, reported at the user's call.
template <typename T> class List {
public:
  List();
  List(std::initializer_list<T> items);
  /// Makes `count` copies of `value`.
  List(std::size_t count, const T &value);
  List(const List &other);
  List(List &&other) noexcept;
  List &operator=(List other) noexcept;
  ~List();

  std::size_t size() const;
  bool empty() const;
  T *data();
  const T *data() const;
  T *begin();
  T *end();
  const T *begin() const;
  const T *end() const;
  T &operator[](std::size_t index);
  const T &operator[](std::size_t index) const;
  T &back();
  const T &back() const;

  void push_back(const T &item);
  void reserve(std::size_t capacity);
  void clear();

private:
  // A builtin of the compiler is used, because <type_traits> takes long to read.
#ifdef __clang__
  static constexpr bool needsDestruction = !__is_trivially_destructible(T);
#else
  static constexpr bool needsDestruction = !__has_trivial_destructor(T);
#endif

  /// An element during its construction. It has its own placement new, because <new> takes longer to read than all
  /// headers of the DSL together.
  struct Slot {
    T value;
    static void *operator new(std::size_t, void *place) noexcept { return place; }
    static void operator delete(void *, void *) noexcept {}
  };

  T *items_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

template <typename T> List<T>::List() {}
template <typename T> List<T>::List(std::initializer_list<T> items) {
  reserve(items.size());
  for (const T &item : items)
    push_back(item);
}
template <typename T> List<T>::List(std::size_t count, const T &value) {
  reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    push_back(value);
}
template <typename T> List<T>::List(const List &other) {
  reserve(other.size_);
  for (std::size_t i = 0; i < other.size_; ++i)
    push_back(other.items_[i]);
}
template <typename T>
List<T>::List(List &&other) noexcept : items_(other.items_), size_(other.size_), capacity_(other.capacity_) {
  other.items_ = nullptr;
  other.size_ = other.capacity_ = 0;
}
template <typename T> List<T> &List<T>::operator=(List other) noexcept {
  T *items = items_;
  const std::size_t size = size_, capacity = capacity_;
  items_ = other.items_, size_ = other.size_, capacity_ = other.capacity_;
  other.items_ = items, other.size_ = size, other.capacity_ = capacity;
  return *this;
}
template <typename T> List<T>::~List() {
  if constexpr (needsDestruction)
    clear();
  __mscclc_release(items_);
}

template <typename T> std::size_t List<T>::size() const {
  return size_;
}
template <typename T> bool List<T>::empty() const {
  return size_ == 0;
}
template <typename T> T *List<T>::data() {
  return items_;
}
template <typename T> const T *List<T>::data() const {
  return items_;
}
template <typename T> T *List<T>::begin() {
  return items_;
}
template <typename T> T *List<T>::end() {
  return items_ + size_;
}
template <typename T> const T *List<T>::begin() const {
  return items_;
}
template <typename T> const T *List<T>::end() const {
  return items_ + size_;
}
template <typename T> T &List<T>::operator[](std::size_t index) {
  if (index >= size_)
    __mscclc_index_out_of_range(index, size_);
  return items_[index];
}
template <typename T> const T &List<T>::operator[](std::size_t index) const {
  if (index >= size_)
    __mscclc_index_out_of_range(index, size_);
  return items_[index];
}
template <typename T> T &List<T>::back() {
  return (*this)[size_ - 1];
}
template <typename T> const T &List<T>::back() const {
  return (*this)[size_ - 1];
}

template <typename T> void List<T>::push_back(const T &item) {
  if (size_ == capacity_) {
    const T copy(item); // `item` may be in the memory that reserve() releases
    reserve(capacity_ < 8 ? 8 : capacity_ * 2);
    new (static_cast<void *>(items_ + size_)) Slot{copy};
  } else {
    new (static_cast<void *>(items_ + size_)) Slot{item};
  }
  ++size_;
}
template <typename T> void List<T>::reserve(std::size_t capacity) {
  if (capacity <= capacity_)
    return;
  // If the size in bytes is too large for an integer, the largest integer is passed. No memory is that large.
  const std::size_t bytes = capacity <= ~std::size_t{0} / sizeof(T) ? capacity * sizeof(T) : ~std::size_t{0};
  T *grown = static_cast<T *>(__mscclc_allocate(bytes));
  for (std::size_t i = 0; i < size_; ++i) {
    new (static_cast<void *>(grown + i)) Slot{static_cast<T &&>(items_[i])};
    if constexpr (needsDestruction)
      items_[i].~T();
  }
  __mscclc_release(items_);
  items_ = grown;
  capacity_ = capacity;
}
template <typename T> void List<T>::clear() {
  if constexpr (needsDestruction)
    for (std::size_t i = 0; i < size_; ++i)
      items_[i].~T();
  size_ = 0;
}

} // namespace mscclc

#endif // MSCCLC_LIST_HPP
