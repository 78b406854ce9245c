// Reads values of a given type from a JSON text and reports what is not as expected, with its path, line and column.
#pragma once

#include "backend-json/diagnostics.h"
#include "backend-json/json_cursor.h"
#include "backend-json/json_path.h"

#include <limits>
#include <span>
#include <vector>

namespace mscclc::json {

/// The fields of an object, all of which must be there unless their bit in `optional` is set. At most 32.
struct ObjectSchema {
  std::span<const std::string_view> fields;
  std::uint32_t optional = 0;
};

class ValueReader {
public:
  /// `filename` is shown as it is.
  ValueReader(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine)
      : cursor_(text), text_(text), filename_(filename), engine_(engine) {}

protected:
  /// Errors after which reading stops.
  static constexpr std::size_t maxErrors = 20;

  /// Reads an object; calls onField(k) to read the value of field k. Reports unknown, repeated and missing fields.
  /// Returns the set of fields read; nothing if the value is no object.
  template <typename F> std::optional<std::uint32_t> object(const ObjectSchema &schema, F onField);
  /// Reads a list; calls onElement() to read each element. False if the value is no list.
  template <typename F> bool array(F onElement);
  /// Reads a whole number that `T` holds. On an error false, and `out` is left alone; so the following.
  template <typename T> bool number(T &out) {
    std::uint64_t value = 0;
    if (!wholeNumber(std::numeric_limits<T>::max(), value))
      return false;
    out = static_cast<T>(value);
    return true;
  }
  bool positive(std::uint32_t &out);
  bool boolean(bool &out);
  bool string(std::string &out);
  /// Reads one of `words`; sets `out` to its enumerator, words counting from `first`.
  template <typename E> bool word(std::span<const std::string_view> words, E &out, E first = E{}) {
    std::size_t index = 0;
    if (!wordIndex(words, index))
      return false;
    out = static_cast<E>(index + static_cast<std::size_t>(first));
    return true;
  }
  bool expect(JsonKind kind);

  /// Reports at the byte `offset`, under the current path.
  void error(const ir::DiagInfo &info, std::size_t offset, const std::vector<ir::DiagArg> &args = {}) {
    report(info, path_, offset, args);
  }
  /// Reports at the value that `path` leads to, which is looked for from the text's beginning.
  void errorAt(const JsonPath &path, const ir::DiagInfo &info, const std::vector<ir::DiagArg> &args = {}) {
    if (!full())
      report(info, path, path.find(text_), args);
  }
  /// True after so many errors that nothing more is reported.
  bool full() const { return numErrors_ >= maxErrors; }
  /// The value that `path` leads to, for a report of another's.
  ir::ShownPlace shownPlace(const JsonPath &path) {
    ir::ShownPlace shown;
    shown.file = placeText(path, path.find(text_));
    return shown;
  }
  /// Reports what made the text unreadable, if anything did. Then nothing else is worth reporting.
  void reportSyntax();
  std::size_t numErrors() const { return numErrors_; }
  ir::DiagnosticEngine &engine() { return engine_; }
  std::string_view filename() const { return filename_; }

  JsonCursor cursor_;
  JsonPath path_;

private:
  bool wholeNumber(std::uint64_t max, std::uint64_t &out);
  bool wordIndex(std::span<const std::string_view> words, std::size_t &index);
  std::string placeText(const JsonPath &path, std::optional<std::size_t> offset);
  void report(const ir::DiagInfo &info, const JsonPath &path, std::optional<std::size_t> offset,
              const std::vector<ir::DiagArg> &args);
  void reportMissing(const ObjectSchema &schema, std::uint32_t seen, std::size_t offset);
  static std::size_t find(std::span<const std::string_view> fields, std::string_view key, std::size_t hint);

  std::string_view text_;
  std::string filename_;
  ir::DiagnosticEngine &engine_;
  std::size_t numErrors_ = 0;
  std::size_t knownOffset_ = 0, knownLine_ = 1, knownLineStart_ = 0; ///< where the last line count ended
};

/// `text` for a message: control characters replaced, cut when long.
std::string shown(std::string_view text);

template <typename F> std::optional<std::uint32_t> ValueReader::object(const ObjectSchema &schema, F onField) {
  if (!expect(JsonKind::Object))
    return std::nullopt;
  const std::size_t begin = cursor_.offset();
  std::uint32_t seen = 0;
  std::size_t hint = 0;
  cursor_.enterObject();
  for (std::string_view key; cursor_.nextMember(key);) {
    const std::size_t field = find(schema.fields, key, hint);
    const bool known = field < schema.fields.size();
    if (!known || (seen >> field & 1) != 0) {
      error(known ? diag::duplicate_field : diag::unknown_field, cursor_.keyOffset(), {shown(key)});
      cursor_.skipValue();
      continue;
    }
    seen |= 1u << field;
    hint = field + 1;
    path_.push(schema.fields[field]);
    onField(field);
    if (cursor_.failed())
      return seen; // the path stays for reportSyntax()
    path_.pop();
  }
  const std::uint32_t all = (std::uint64_t{1} << schema.fields.size()) - 1;
  if ((seen | schema.optional | ~all) != ~std::uint32_t{0} && !cursor_.failed())
    reportMissing(schema, seen, begin);
  return seen;
}

template <typename F> bool ValueReader::array(F onElement) {
  if (!expect(JsonKind::Array))
    return false;
  cursor_.enterArray();
  path_.push(std::size_t{0});
  for (std::size_t i = 0; cursor_.nextElement(); ++i) {
    path_.setIndex(i);
    onElement();
  }
  if (!cursor_.failed())
    path_.pop();
  return true;
}

} // namespace mscclc::json
