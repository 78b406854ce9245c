// A growable array for algorithms that want to keep channels, chunks or buffers at hand.
//
// std::vector works as well; this one costs Clang next to nothing to read, where <vector> takes several times as long
// as all the rest of a compilation.
#pragma once

#include <initializer_list>

/// Ends the algorithm with an error at the call that led here.
extern "C" [[noreturn]] void __mscclc_index_out_of_range(unsigned long long index, unsigned long long size);

namespace mscclc {

/// A growable array of `T`, with the part of std::vector's interface that algorithms need.
/// Indices are checked: one out of range is an error of the algorithm, reported where it happens.
template <typename T> class List {
public:
  List() = default;
  List(std::initializer_list<T> items) {
    reserve(items.size());
    for (const T &item : items)
      push_back(item);
  }
  /// `count` copies of `value`.
  List(std::size_t count, const T &value) {
    reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      push_back(value);
  }
  List(const List &other) {
    reserve(other.size_);
    for (const T &item : other)
      push_back(item);
  }
  List(List &&other) noexcept : items_(other.items_), size_(other.size_), capacity_(other.capacity_) {
    other.items_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  List &operator=(List other) noexcept {
    T *items = items_;
    const std::size_t size = size_, capacity = capacity_;
    items_ = other.items_, size_ = other.size_, capacity_ = other.capacity_;
    other.items_ = items, other.size_ = size, other.capacity_ = capacity;
    return *this;
  }
  ~List() {
    if constexpr (needsDestruction)
      clear();
    ::operator delete(items_);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T *data() { return items_; }
  const T *data() const { return items_; }
  T *begin() { return items_; }
  T *end() { return items_ + size_; }
  const T *begin() const { return items_; }
  const T *end() const { return items_ + size_; }
  T &operator[](std::size_t index) {
    check(index);
    return items_[index];
  }
  const T &operator[](std::size_t index) const {
    check(index);
    return items_[index];
  }
  T &back() { return (*this)[size_ - 1]; }
  const T &back() const { return (*this)[size_ - 1]; }

  void push_back(const T &item) {
    if (size_ == capacity_) {
      const T copy(item); // may lie in the memory that reserve() leaves
      reserve(capacity_ < 8 ? 8 : capacity_ * 2);
      new (static_cast<void *>(items_ + size_)) Slot{copy};
    } else {
      new (static_cast<void *>(items_ + size_)) Slot{item};
    }
    ++size_;
  }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_)
      return;
    // A size that no memory holds is asked for as it is, not wrapped round.
    const std::size_t bytes = capacity <= ~std::size_t{0} / sizeof(T) ? capacity * sizeof(T) : ~std::size_t{0};
    T *grown = static_cast<T *>(::operator new(bytes));
    for (std::size_t i = 0; i < size_; ++i) {
      new (static_cast<void *>(grown + i)) Slot{static_cast<T &&>(items_[i])};
      if constexpr (needsDestruction)
        items_[i].~T();
    }
    ::operator delete(items_);
    items_ = grown;
    capacity_ = capacity;
  }
  void clear() {
    if constexpr (needsDestruction)
      for (std::size_t i = 0; i < size_; ++i)
        items_[i].~T();
    size_ = 0;
  }

private:
  // <type_traits> takes long to read as well.
#ifdef __clang__
  static constexpr bool needsDestruction = !__is_trivially_destructible(T);
#else
  static constexpr bool needsDestruction = !__has_trivial_destructor(T);
#endif

  /// An element as it is constructed. Its placement new stands in for that of <new>, which takes longer to read than
  /// all headers of the DSL together.
  struct Slot {
    T value;
    static void *operator new(std::size_t, void *place) noexcept { return place; }
    static void operator delete(void *, void *) noexcept {}
  };

  void check(std::size_t index) const {
    if (index >= size_)
      __mscclc_index_out_of_range(index, size_);
  }
  T *items_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

} // namespace mscclc
