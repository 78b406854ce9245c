// The values that a reader expects, and the variables for them. The readers of a plan's levels state what they expect,
// and value_reader.h checks it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace mscclc::json {

struct Expected;
class ObjectReader;

/// Any value; it is skipped.
struct Ignored {};
struct WholeNumber {
  std::uint64_t min, max;
  std::function<void(std::uint64_t)> take;
};
struct Truth {
  std::function<void(bool)> take;
};
struct Text {
  std::function<void(std::string_view)> take;
};
/// Expects one of `words`. Its index is the value.
struct Word {
  std::span<const std::string_view> words;
  std::function<void(std::size_t)> take;
};
/// Expects any number of values. element() is called for each value, before it is read.
struct List {
  std::function<Expected()> element;
};
struct Expected : std::variant<Ignored, WholeNumber, Truth, Text, Word, List, ObjectReader *> {
  using variant::variant;
};

// The expectations of most fields. `out` is set when the value arrives. It stays unchanged if the value is not as
// expected.

template <typename T> Expected number(T &out) {
  return WholeNumber{0, std::numeric_limits<T>::max(), [&out](std::uint64_t value) { out = static_cast<T>(value); }};
}
inline Expected positive(std::uint32_t &out) {
  return WholeNumber{1, std::numeric_limits<std::uint32_t>::max(),
                     [&out](std::uint64_t value) { out = static_cast<std::uint32_t>(value); }};
}
inline Expected boolean(bool &out) {
  return Truth{[&out](bool value) { out = value; }};
}
inline Expected string(std::string &out) {
  return Text{[&out](std::string_view value) { out = value; }};
}
/// Expects one of `words`, which are the names of the enumerators of E, from `First` on.
template <auto First, typename E = decltype(First)> Expected word(std::span<const std::string_view> words, E &out) {
  return Word{words, [&out](std::size_t index) { out = static_cast<E>(static_cast<std::size_t>(First) + index); }};
}
template <typename E> Expected word(std::span<const std::string_view> words, E &out) {
  return word<E{}>(words, out);
}
inline Expected list(std::function<Expected()> element) {
  return List{std::move(element)};
}
inline Expected list(ObjectReader &element) {
  return List{[&element] { return Expected(&element); }};
}

/// The fields of an object, at most 32. Each of them must be there unless its bit in `optional` is set.
struct ObjectSchema {
  std::span<const std::string_view> fields;
  std::uint32_t optional = 0;
};

/// An object that was read completely.
struct ReadObject {
  std::uint32_t fields; ///< bit set of the fields that the object has
  std::size_t begin;    ///< the byte at which the object begins
  bool clean;           ///< no error was found in the object
};

/// Reads the objects of one level one after another, and their fields in the order of the text.
class ObjectReader {
public:
  explicit ObjectReader(ObjectSchema schema) : schema(schema) {}
  virtual ~ObjectReader() = default;

  virtual void begin(std::size_t /*at*/) {} ///< called when an object opens at byte `at`
  /// Returns the expected value of field `k` of the schema. Called when that field arrives.
  virtual Expected field(std::size_t k) = 0;
  virtual void end(const ReadObject &) {}

  const ObjectSchema schema;
};

/// An object whose fields do not depend on each other.
class PlainObject final : public ObjectReader {
public:
  PlainObject(ObjectSchema schema, std::function<Expected(std::size_t)> fields)
      : ObjectReader(schema), fields_(std::move(fields)) {}
  Expected field(std::size_t k) override { return fields_(k); }

private:
  std::function<Expected(std::size_t)> fields_;
};

} // namespace mscclc::json
